/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs of known cause share. Each states in its head comment what a report must find, for the script
 * `known` to check; the lines of a cause are marked in the code as "begin NAME" and "end NAME" comments.
 *
 * Work is counted, not timed: every run does the same. A chain of dependent additions and multiplications can be
 * neither vectorised nor shortened, about 3 ns a link.
 */
#pragma once
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define LINK(x) ((x)*0.999999 + 1e-6)

static volatile double known_sink;

/* Work that all ranks do alike. */
__attribute__((noinline, unused)) static void common_work(long n)
{
    double x = known_sink;
    for (long i = 0; i < n; i++)
        x = LINK(x);
    known_sink = x;
}

__attribute__((unused)) static int known_start(int *argc, char ***argv)
{
    int rank;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}
