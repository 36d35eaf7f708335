/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A comparison that calls MPI, called from the C library's sort at many depths of its recursion: that is one call site,
 * since what happens inside the library is no path of the program.
 *
 * ranks: 2
 * expect: loop=comparison rank=1 share=0.7 call=MPI_Allreduce wait="wait at N x N" waiters=0 sites=1
 */
#include "known.h"

static int rank;

static int compare(const void *a, const void *b)
{
    int left = *(const int *)a, right = *(const int *)b;
    long links = rank == 1 ? 6000000 : 600000; /* longer than a scheduler takes a CPU away for */
    double x = left, all;
    /* begin comparison */
    for (long i = 0; i < links; i++)
        x = LINK(x);
    /* end comparison */
    MPI_Allreduce(&x, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    known_sink = all;
    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    int numbers[16];
    rank = known_start(&argc, &argv);
    for (int i = 0; i < 16; i++)
        numbers[i] = i * 7 % 16;
    qsort(numbers, 16, sizeof *numbers, compare);
    MPI_Finalize();
    return 0;
}
