/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Particles are spread unevenly: rank 0 has four times as many to push before every Allreduce.
 *
 * ranks: 2
 * expect: loop=push rank=0 share=0.9 call=MPI_Allreduce wait="wait at N x N" waiters=1 counted_kind=more-work
 */
#include "known.h"

static double push(long n)
{
    double energy = 0;
    /* begin push */
    for (long i = 0; i < n; i++)
        energy = LINK(energy);
    /* end push */
    return energy;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 50; round++) {
        double mine = push(rank == 0 ? 8000000 : 2000000), all;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        known_sink = all;
    }
    MPI_Finalize();
    return 0;
}
