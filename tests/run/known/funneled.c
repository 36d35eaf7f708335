/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The main thread of each rank exchanges messages while a second one computes, five times as much on rank 1. On rank 0
 * that passes while the main thread waits, and is hardly any time of the process outside MPI, but the counts are of all
 * threads: by these times the loop would be dearer on rank 1.
 *
 * ranks: 2
 * expect: loop=interior rank=1 share=0.5 call=MPI_Sendrecv waiters=0 counted_kind=any says_not="x the cost"
 */
#include "known.h"
#include <omp.h>

static double compute_interior(long n)
{
    double x = 0.3;
    /* begin interior */
    for (long i = 0; i < n; i++)
        x = LINK(x);
    /* end interior */
    return x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), other = !rank;
    double border = 0.1, received;
    for (int step = 0; step < 40; step++) {
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 0)
            MPI_Sendrecv(&border, 1, MPI_DOUBLE, other, 0, &received, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        else
            known_sink = compute_interior(rank == 1 ? 10000000 : 2000000);
    }
    MPI_Finalize();
    return 0;
}
