/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 has posted two receives and completes them together. What rank 1 sent fits; rank 2 sent with another tag,
 * which nobody receives. So rank 0 waits for rank 2, though its older receive is from rank 1, and ranks 1 and 2 wait
 * for rank 0, until its alarm ends it after a second.
 *
 * ranks: 3
 * exit: any
 * expect: deadlock=0,2 open=MPI_Waitall open_for=0:2,1:0,2:0 other_tag=0:4
 */
#include "known.h"
#include <unistd.h>

int main(int argc, char **argv)
{
    enum { TAG = 3, WRONG_TAG = 4 };
    int rank = known_start(&argc, &argv), mine = 1, theirs[2];
    MPI_Request requests[2];
    if (rank == 0) {
        alarm(1);
        for (int i = 0; i < 2; i++)
            MPI_Irecv(&theirs[i], 1, MPI_INT, 1 + i, TAG, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Send(&mine, 1, MPI_INT, 0, rank == 1 ? TAG : WRONG_TAG, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
