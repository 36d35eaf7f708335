/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recording is switched off for a phase in which rank 0 makes the other wait by far the most. What is reported is the
 * phase after it, in which rank 1 is late. A message is sent while recording is off and received while it is on: the
 * matching of those that follow must not shift.
 *
 * ranks: 2
 * expect: loop=recorded rank=1 share=0.8 call=MPI_Recv waiters=0 waiting<=0.3 unrecorded=0.3
 */
#include "known.h"

static void exchange(int rank, int tag)
{
    int value = tag;
    if (rank == 1)
        MPI_Send(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    else
        MPI_Recv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (value != tag)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void unrecorded_phase(int rank)
{
    MPI_Pcontrol(0);
    for (int round = 0; round < 20; round++) {
        if (rank == 0)
            common_work(20000000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 1)
        exchange(rank, 1000);
    MPI_Pcontrol(1);
    if (rank == 0)
        exchange(rank, 1000);
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    unrecorded_phase(rank);
    for (int round = 0; round < 40; round++) {
        common_work(400000);
        if (rank == 1) {
            double x = known_sink;
            /* begin recorded */
            for (long i = 0; i < 4000000; i++)
                x = LINK(x);
            /* end recorded */
            known_sink = x;
        }
        exchange(rank, round);
    }
    MPI_Finalize();
    return 0;
}
