/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The main thread leaves the work of every step to a thread that it begins and joins. On rank 1 that has three times as
 * much to do.
 *
 * ranks: 2
 * expect: loop=part rank=1 share=0.9 call=MPI_Barrier wait="wait at barrier" counted_kind=more-work
 */
#include "known.h"
#include <pthread.h>

static void *work(void *value)
{
    const int *n = value;
    double x = 0;
    /* begin part */
    for (int i = 0; i < *n; i++)
        x = LINK(x);
    /* end part */
    known_sink += x;
    return NULL;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    int n = rank == 1 ? 75000000 : 25000000;
    for (int step = 0; step < 5; step++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, &n) != 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
        pthread_join(thread, NULL);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
