/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 takes back a buffer with a message that rank 1 would receive only after another one, which rank 0 sends later.
 * After a second rank 0's alarm ends it, and with it the job.
 *
 * ranks: 2
 * exit: any
 * expect: deadlock=0,1 open=MPI_Buffer_detach
 */
#include "known.h"
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 1 << 20, FIRST = 1, SECOND };

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), size = BYTES + MPI_BSEND_OVERHEAD;
    char *data = calloc(1, BYTES);
    void *buffer = malloc((size_t)size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        alarm(1);
        MPI_Buffer_attach(buffer, size);
        MPI_Bsend(data, BYTES, MPI_CHAR, 1, SECOND, MPI_COMM_WORLD);
        MPI_Buffer_detach(&buffer, &size);
        MPI_Send(data, 1, MPI_CHAR, 1, FIRST, MPI_COMM_WORLD);
    } else {
        MPI_Recv(data, 1, MPI_CHAR, 0, FIRST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, BYTES, MPI_CHAR, 0, SECOND, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    free(data);
    free(buffer);
    return 0;
}
