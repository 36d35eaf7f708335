/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 has thirty times the work in each seventh step. Its neighbours in a ring wait for it, in calls of their own,
 * and now and then for each other as well; in most steps nobody waits. With KNOWN_SWAPS each step passes data on twice,
 * in a loop, with some work in between, and once more behind it: each seventh step is still one time in seven.
 *
 * ranks: 3
 * expect: loop=smooth rank=1 share=0.75 call=MPI_Sendrecv when="every 7th time" counted_kind=more-work
 */
#include "known.h"

static void smooth(long n)
{
    double x = known_sink;
    /* begin smooth */
    for (long i = 0; i < n; i++)
        x = LINK(x);
    /* end smooth */
    known_sink = x;
}

static void pass_on(int rank, int n_ranks)
{
    double mine = known_sink, other;
    MPI_Sendrecv(&mine, 1, MPI_DOUBLE, (rank + 1) % n_ranks, 0, &other, 1, MPI_DOUBLE, (rank + n_ranks - 1) % n_ranks,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), n_ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int step = 0; step < 140; step++) {
        smooth(rank == 1 && step % 7 == 6 ? 3000000 : 100000);
#ifdef KNOWN_SWAPS
        for (int swap = 1; swap < n_ranks; swap++) {
            pass_on(rank, n_ranks);
            common_work(100000);
        }
#endif
        pass_on(rank, n_ranks);
    }
    MPI_Finalize();
    return 0;
}
