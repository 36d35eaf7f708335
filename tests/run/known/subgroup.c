/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The odd ranks alone make a communicator; then rank 3 comes late to barriers of all. Making it was no collective
 * operation of the world: each barrier must find the same one on the other ranks.
 *
 * ranks: 4
 * expect: loop=late rank=3 share=0.6 call=MPI_Barrier waiters=0,1,2
 */
#include "known.h"

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    if (rank % 2) {
        const int odd[] = {1, 3};
        MPI_Group world, group;
        MPI_Comm comm;
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        MPI_Group_incl(world, 2, odd, &group);
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 0, &comm);
        MPI_Group_free(&group);
        MPI_Group_free(&world);
        MPI_Comm_free(&comm);
    }
    for (int round = 0; round < 15; round++) {
        if (rank == 3) {
            double x = known_sink;
            /* begin late */
            for (long i = 0; i < 20000000; i++)
                x = LINK(x);
            /* end late */
            known_sink = x;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
