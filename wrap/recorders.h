/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorders, one for each binary interface of MPI: X(interface, its name, library in ../lib of the tool). */
#pragma once

#define RECORDERS(X)                                                                                                   \
    X(OPEN_MPI, "Open MPI", "libwhywait.so")                                                                           \
    X(MPICH, "MPICH", "libwhywait-mpich.so")                                                                           \
    X(STANDARD_ABI, "the standard ABI of MPI", "libwhywait-abi.so")
