/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads of each rank share every step, and the one that calls MPI looks at a number in memory until the other one
 * is through. That has three times as much to do on rank 1: its loop is the cause, and not the one that looks.
 *
 * ranks: 2
 * expect: loop=part rank=1 share=0.7 call=MPI_Barrier wait="wait at barrier" waiters=0 counted_kind=more-work
 */
#include "known.h"
#include <pthread.h>
#include <stdatomic.h>

enum { STEPS = 30 };
static atomic_int begun, done;
static long links;

static double part(double x)
{
    /* begin part */
    for (long i = 0; i < links; i++)
        x = LINK(x);
    /* end part */
    return x;
}

static void look(const atomic_int *number, int until)
{
    while (atomic_load_explicit(number, memory_order_acquire) < until)
        ;
}

static void *help(void *unused)
{
    double x = 0.3;
    for (int step = 1; step <= STEPS; step++) {
        x = LINK(x); /* else this loop and the one in look() begin at one instruction, and are one */
        look(&begun, step);
        x = part(x);
        atomic_store_explicit(&done, step, memory_order_release);
    }
    known_sink = x;
    return unused;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    pthread_t helper;
    links = rank == 1 ? 6000000 : 2000000;
    if (pthread_create(&helper, NULL, help, NULL) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 1; step <= STEPS; step++) {
        atomic_store_explicit(&begun, step, memory_order_release);
        common_work(1500000);
        look(&done, step);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    pthread_join(helper, NULL);
    MPI_Finalize();
    return 0;
}
