/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads of each rank put pieces together under one lock, so that only one of them works at a time. On rank 1 each
 * piece is three times as long. Threads that take turns do not compete for CPUs: nobody lacked one.
 *
 * ranks: 2
 * expect: loop=piece rank=1 share=0.85 call=MPI_Barrier wait="wait at barrier" waiters=0 counted_kind=more-work
 *         alike=0.2 one_thread=0.5 says="2 threads of rank 1 take turns in it, one at a time"
 *         next="let the threads of rank 1 work at the same time" calm=1
 */
#include "known.h"
#include <omp.h>

enum { STEPS = 40, PIECES = 24 };

static double add_piece(double x, long links)
{
    /* begin piece */
    for (long i = 0; i < links; i++)
        x = LINK(x);
    /* end piece */
    return x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    long links = rank == 1 ? 180000 : 60000;
    double total = 0.3;
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel num_threads(2)
        for (int i = 0; i < PIECES; i++) {
#pragma omp critical
            total = add_piece(total, links);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    known_sink = total;
    MPI_Finalize();
    return 0;
}
