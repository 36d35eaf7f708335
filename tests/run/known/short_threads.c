/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank begins two threads in each step, which live for a few milliseconds. Those of rank 1 have three times the
 * work. Sampling finds few of the short ones; how long they had a CPU is known.
 *
 * ranks: 2
 * expect: loop=grind rank=1 share=0.3 call=MPI_Barrier times=2.7:0.4 alike=0.5 counted_kind=more-work
 *         says_not="few samples"
 */
#include "known.h"
#include <pthread.h>

enum { STEPS = 40, THREADS = 2, LINKS = 1500000 };

static double out[THREADS];
static long links;

static void *grind(void *at)
{
    double x = 0.3;
    /* begin grind */
    for (long i = 0; i < links; i++)
        x = LINK(x);
    /* end grind */
    *(double *)at = x;
    return NULL;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    pthread_t threads[THREADS];
    links = rank == 1 ? 3 * LINKS : LINKS;
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < THREADS; i++)
            if (pthread_create(&threads[i], NULL, grind, &out[i]) != 0)
                MPI_Abort(MPI_COMM_WORLD, 1);
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    known_sink = out[0];
    MPI_Finalize();
    return 0;
}
