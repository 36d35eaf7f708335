/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of the program that MPI calls: reductions of its own (MPI_Op_create).
 *
 * MPI is given a function of ours in their place, which calls the program's between record_callback_begin and _end.
 * What MPI passes to it does not tell which reduction it is of, so each of the program's functions has one of ours.
 * These are never given back: a program has few such functions, however often it makes reductions of them. Beyond
 * CALLBACK_MOST of them, what they do counts as time in MPI.
 */
#pragma once
#include "wrap/record/pmpi/next.h"

enum { CALLBACK_MOST = 256 };

/* In C: two vectors, their length (an int, or a count) and the type; in Fortran the same, as integers. */
typedef void callback_reduce(void *in, void *in_out, void *length, void *type);
/* What to give MPI for a function of the program. */
callback_reduce *callback_of_reduction(callback_reduce *function);
