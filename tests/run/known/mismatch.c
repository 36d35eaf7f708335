/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 goes another way and reduces where ranks 0 and 2 have a barrier: nobody ever comes back. After a second rank
 * 0's alarm ends it, and with it the job. All three wait for who takes part in the other operation, and the report says
 * that they do not match.
 *
 * ranks: 3
 * exit: any
 * expect: deadlock=0,1 open=MPI_Allreduce open_for=0:1,1:0,2:1 unlike=0:1,1:0,2:1
 */
#include "known.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), mine = 1, all = 0;
    for (int i = 0; i < 100; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        alarm(1);
    if (rank == 1)
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
