/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between two meetings all ranks nap for 2 ms, and in three steps of ten one of them, another one each time, naps for
 * 10 ms more at another place. With KNOWN_EQUAL both naps last 4 ms; with KNOWN_FIRST the rare one comes first, by
 * poll(); with KNOWN_THIRD it is a select() of 6 ms, between two naps of each rank.
 *
 * ranks: 3
 * expect: loop=rare rank=any share=0.85 kind=blocked call=MPI_Allreduce
 */
#define _GNU_SOURCE
#include "known.h"
#include <poll.h>
#include <sys/select.h>

/* A nap is over that was to last `ns`. */
static void note_napped(double begin_ns, long ns)
{
    if (known_overslept_ns == 0)
        atexit(known_tell_overslept);
    known_overslept_ns += known_clock_ns() - begin_ns - (double)ns;
}

enum { STEPS = 120, MS = 1000000 };
#ifdef KNOWN_EQUAL
enum { RARE = 4 * MS, USUAL = 4 * MS };
#elif defined KNOWN_THIRD
enum { RARE = 6 * MS, USUAL = 2 * MS };
#else
enum { RARE = 10 * MS, USUAL = 2 * MS };
#endif

/* begin rare */
__attribute__((noinline)) static void nap_rarely(void)
{
    double begin_ns = known_clock_ns();
#if defined KNOWN_FIRST
    poll(NULL, 0, RARE / MS);
#elif defined KNOWN_THIRD
    select(0, NULL, NULL, NULL, &(struct timeval){.tv_usec = RARE / 1000});
#else
    nanosleep(&(struct timespec){.tv_nsec = RARE}, NULL);
#endif
    note_napped(begin_ns, RARE);
}
/* end rare */

__attribute__((noinline)) static void nap_each_time(void)
{
    known_nap(USUAL);
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), size;
    unsigned dice = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 0; step < STEPS; step++) {
        double mine = rank, sum;
        dice = dice * 1664525 + 1013904223; /* the same on all ranks */
        int is_rare = (dice >> 16) % 10 < 3 && (int)(dice >> 24) % size == rank;
#ifndef KNOWN_FIRST
        nap_each_time();
#endif
        if (is_rare)
            nap_rarely();
#if defined KNOWN_FIRST || defined KNOWN_THIRD
        nap_each_time();
#endif
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        known_sink = sum;
    }
    MPI_Finalize();
    return 0;
}
