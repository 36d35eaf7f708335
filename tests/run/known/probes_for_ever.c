/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 looks again and again for a message that rank 1 never sends, and naps between two looks. After a second its
 * alarm ends it in a nap. The looks are a call that never came back: no data is moved, and rank 1 hangs because of it.
 *
 * ranks: 2
 * exit: any
 * expect: open=MPI_Improbe open_for=1:0 in_mpi>=0.8 answer=hang first="polled with MPI_Improbe"
 */
#include "known.h"
#include <unistd.h>

enum { NAP_US = 80000 };

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), has_come = 0;
    MPI_Message message;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        alarm(1);
        while (MPI_Improbe(1, 0, MPI_COMM_WORLD, &has_come, &message, MPI_STATUS_IGNORE), !has_come)
            usleep(NAP_US);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
