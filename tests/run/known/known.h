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
#include <time.h>

#define LINK(x) ((x) * 0.999999 + 1e-6)

static volatile double known_sink;

/* What common_work took on this rank's core, told when the process ends: what differs is the machine's. */
static struct {
    long links;
    double ns, best_ns;
} known_common __attribute__((unused));

__attribute__((unused)) static void known_tell_common(void)
{
    fprintf(stderr, "common work: %ld links in %.0f ns, %.4f ns each at best\n", known_common.links, known_common.ns,
            known_common.best_ns);
}

__attribute__((unused)) static double known_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* Work that all ranks do alike. Called by one thread. */
__attribute__((noinline, unused)) static void common_work(long n)
{
    double x = known_sink, begin_ns = known_cpu_ns();
    for (long i = 0; i < n; i++)
        x = LINK(x);
    known_sink = x;
    double took_ns = known_cpu_ns() - begin_ns;
    if (n == 0)
        return;
    if (known_common.links == 0)
        atexit(known_tell_common);
    if (known_common.links == 0 || took_ns / (double)n < known_common.best_ns)
        known_common.best_ns = took_ns / (double)n;
    known_common.links += n;
    known_common.ns += took_ns;
}

/* How long naps lasted beyond what was asked for, told when the process ends: the machine had something else to do. */
static double known_overslept_ns __attribute__((unused));

__attribute__((unused)) static void known_tell_overslept(void)
{
    fprintf(stderr, "overslept %.0f ns\n", known_overslept_ns);
}

static inline double known_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

/* Between two polls. */
__attribute__((always_inline, unused)) static inline void known_nap(long ns)
{
    double begin_ns = known_clock_ns();
    struct timespec pause = {0, ns};
    nanosleep(&pause, NULL);
    if (known_overslept_ns == 0)
        atexit(known_tell_overslept);
    known_overslept_ns += known_clock_ns() - begin_ns - (double)ns;
}

__attribute__((unused)) static int known_start(int *argc, char ***argv)
{
    int rank;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}
