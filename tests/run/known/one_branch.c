/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 writes what it has gathered, in three loops of a routine in which all wait as well: one branch leads it there,
 * and nobody else. That is one imbalance, though nothing that does not wait is around the three. Steps are of six
 * lengths: of equal ones, a sampling period one and a half times as long would see two of the three loops.
 *
 * ranks: 3
 * expect: loop=one_branch routine=write_all rank=0 share=0.85 rows=1 parts=3 call=MPI_Gather|MPI_Barrier
 *         first="and 2 more places"
 *         counted_kind=more-work
 */
#include "known.h"

enum { N_MOST = 4 };

__attribute__((noinline)) static void write_all(int rank, int n_ranks, long length)
{
    double x = known_sink, all[N_MOST] = {0};
    MPI_Gather(&x, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    /* begin one_branch */
    if (rank == 0) {
        x = all[n_ranks - 1];
        for (long i = 0; i < length; i++)
            x = LINK(x);
        all[0] = x;
        for (long i = 0; i < length; i++)
            x = LINK(x) + 1e-9;
        all[1] = x;
        for (long i = 0; i < length; i++)
            x = LINK(x) - 1e-9;
        all[2] = x;
    }
    /* end one_branch */
    known_sink = all[0] + all[1] + all[2] + x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), n_ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int step = 0; step < 80; step++) {
        write_all(rank, n_ranks, 300000 + 40000 * (step % 6) + argc);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
