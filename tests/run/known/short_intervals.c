/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 200,000 intervals of some 5 us, far below any sampling period. Rank 1 has an extra loop in each. The program times
 * that loop itself: the mean over intervals that were not interrupted, times their number. Where other processes take
 * slices of time, it ends after half a minute; to yield in each of the intervals would give them all of it.
 *
 * ranks: 2
 * yield: no
 * expect: loop=short_extra rank=1 share=0.5 call=MPI_Allreduce wait="wait at N x N" counted_kind=more-work
 * measured=0.15
 */
#include "known.h"
#include <time.h>

enum { INTERVALS = 120000, COMMON = 2000, EXTRA = 700, INTERRUPTED_NS = 10000 };
static const long LONGEST_NS = 30000000000;

static long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    double x = known_sink, is_long, ends = 0;
    long extra_ns = 0, n_timed = 0, clock_ns = now_ns();
    for (int i = 0; i < 1000; i++)
        now_ns();
    clock_ns = (now_ns() - clock_ns) / 1000;
    long start_ns = now_ns();
    int interval;
    for (interval = 0; interval < INTERVALS && ends == 0; interval++) {
        for (int i = 0; i < COMMON; i++)
            x = LINK(x);
        long begin_ns = now_ns();
        if (rank == 1) {
            /* begin short_extra */
            for (int i = 0; i < EXTRA; i++)
                x = LINK(x);
            /* end short_extra */
        }
        long took_ns = now_ns() - begin_ns - clock_ns;
        if (took_ns < INTERRUPTED_NS) {
            extra_ns += took_ns;
            n_timed++;
        }
        is_long = now_ns() - start_ns > LONGEST_NS;
        MPI_Allreduce(&is_long, &ends, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    known_sink = x;
    if (rank == 1)
        fprintf(stderr, "measured %.0f ns\n", (double)extra_ns / (double)n_timed * interval);
    MPI_Finalize();
    return 0;
}
