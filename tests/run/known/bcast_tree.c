/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A broadcast moves along a tree: rank 3 gets from rank 2 what the root has sent long ago, and rank 2 comes late. So
 * what rank 2 does, and not the root, holds up rank 3.
 *
 * ranks: 4
 * expect: loop=late_branch rank=2 share=0.7 call=MPI_Bcast
 */
#include "known.h"

enum { COUNT = 400 };

int main(int argc, char **argv)
{
    static double buffer[COUNT];
    int rank = known_start(&argc, &argv);
    for (int round = 0; round < 25; round++) {
        double x = round;
        common_work(200000);
        if (rank == 2) {
            /* begin late_branch */
            for (long i = 0; i < 6000000; i++)
                x = LINK(x);
            /* end late_branch */
        }
        known_sink = x;
        MPI_Bcast(buffer, COUNT, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
