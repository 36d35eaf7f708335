/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks start a reduction and compute before they complete it, rank 1 for longer. The reduction goes on only while
 * everybody is in MPI: rank 0 waits for what rank 1 does after its start.
 *
 * ranks: 2
 * expect: loop=longer rank=1 share=0.6 call=MPI_Wait wait="wait for progress" waiters=0
 */
#include "known.h"

enum { COUNT = 1500 };

int main(int argc, char **argv)
{
    static double in[COUNT], out[COUNT];
    int rank = known_start(&argc, &argv);
    for (int round = 0; round < 40; round++) {
        MPI_Request request;
        double x = round;
        MPI_Iallreduce(in, out, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        common_work(1000000);
        if (rank == 1) {
            /* begin longer */
            for (long i = 0; i < 6000000; i++)
                x = LINK(x);
            /* end longer */
        }
        known_sink = x;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
