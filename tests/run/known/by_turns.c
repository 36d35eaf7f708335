/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 has more to do in each fifth step, rank 1 in each seventh. Where both fall on one step, only the rest of the
 * longer one is waited for: gaps between what is otherwise each fifth step are of ten steps now and then.
 *
 * ranks: 2
 * expect: loop=regrid rank=0 also=remap:1 share=0.85 rows=2 call=MPI_Allreduce when="every 5th time"
 *         counted_kind=more-work
 */
#include "known.h"

__attribute__((noinline)) static void regrid(long n)
{
    double x = known_sink;
    /* begin regrid */
    for (long i = 0; i < n; i++)
        x = LINK(x);
    /* end regrid */
    known_sink = x;
}

__attribute__((noinline)) static void remap(long n)
{
    double x = known_sink;
    /* begin remap */
    for (long i = 0; i < n; i++)
        x = LINK(x) + 1e-9;
    /* end remap */
    known_sink = x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 1; step <= 210; step++) {
        common_work(100000);
        if (rank == 0 && step % 5 == 0)
            regrid(4000000);
        if (rank == 1 && step % 7 == 0)
            remap(2000000);
        double mine = known_sink, sum;
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
