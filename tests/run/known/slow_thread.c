/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Of two threads the second one has nine tenths of the work, on rank 1 three times as much as on rank 0. The main
 * thread sleeps for it. By how much rank 1 takes longer is known as well as the times of its threads are.
 *
 * ranks: 2
 * expect: loop=thread_part rank=1 share=0.9 call=MPI_Barrier wait="wait at barrier" waiters=0 counted_kind=more-work
 *         alike=0.2 says_not="threads share it at a time" says="one of 2 threads of rank 1 has" one_thread=0.91
 */
#include "known.h"
#include <omp.h>

enum { STEPS = 50 };

static double work_part(long links)
{
    double x = 0.3;
    /* begin thread_part */
    for (long i = 0; i < links; i++)
        x = LINK(x);
    /* end thread_part */
    return x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < STEPS; step++) {
        double sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
        {
            long large = rank == 1 ? 5000000 : 1660000;
            sum += work_part(omp_get_thread_num() ? large : 500000);
        }
        known_sink = sum;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
