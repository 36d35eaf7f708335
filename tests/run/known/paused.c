/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 switches recording off for a part of each step, and rank 0 waits for it meanwhile: what was done is not known,
 * and no advice speaks of sharing it out.
 *
 * ranks: 2
 * expect: name="the time while recording was off" routine="" file=none kind=any rank=1 share=0.8 call=MPI_Recv
 *         waiters=0 says="rank 1 is not there yet" next="leave recording on"
 */
#include "known.h"

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), value = 0;
    for (int step = 0; step < 30; step++) {
        common_work(1000000);
        if (rank == 1) {
            MPI_Pcontrol(0);
            for (int part = 0; part < 10; part++)
                common_work(1000000);
            MPI_Pcontrol(1);
            MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
