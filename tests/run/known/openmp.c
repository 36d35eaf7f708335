/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads share a loop on each rank. On rank 1 the second one has nearly all of the work, and more of it: the main
 * thread sleeps until it is done, but the process is at work.
 *
 * ranks: 2
 * expect: loop=skewed rank=1 share=0.7 call=MPI_Barrier wait="wait at barrier" fewer_threads=1 one_thread=0.95
 *         says="one of 2 threads of rank 1 has" next="divide it evenly among the threads of rank 1 first: another
 * schedule"
 */
#include "known.h"
#include <omp.h>

static double shared_loop(int n, int is_skewed)
{
    double sum = 0;
/* begin skewed */
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < n; i++) {
        long links = !is_skewed ? 20000 : i < n / 2 ? 5000 : 100000;
        double x = i;
        for (long j = 0; j < links; j++)
            x = LINK(x);
        sum += x;
    }
    /* end skewed */
    return sum;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    omp_set_num_threads(2);
    for (int step = 0; step < 15; step++) {
        known_sink += shared_loop(500, rank == 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
