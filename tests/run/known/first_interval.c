/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks wait for happens as soon as MPI_Init has returned, and is over some 30 ms later.
 *
 * ranks: 2
 * expect: loop=first_work rank=1 share=0.8 call=MPI_Barrier measured=0.3
 */
#include "known.h"
#include <time.h>

static long long cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    long long begin_ns = cpu_ns();
    if (rank == 1) {
        double x = known_sink;
        /* begin first_work */
        for (long i = 0; i < 20000000; i++)
            x = LINK(x);
        /* end first_work */
        known_sink = x;
        fprintf(stderr, "measured %lld ns\n", cpu_ns() - begin_ns);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
