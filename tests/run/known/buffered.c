/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 leaves large messages in a buffer and takes that back, which lasts until rank 1 has received them. Rank 1 is
 * busy with something else before.
 *
 * ranks: 2
 * expect: loop=busy rank=1 share=0.9 call=MPI_Buffer_detach wait="late receiver" waiters=0
 */
#include "known.h"
#include <stdlib.h>

enum { MESSAGES = 2, BYTES = 1 << 20 };

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), size = MESSAGES * (BYTES + MPI_BSEND_OVERHEAD);
    char *data = calloc(1, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 40; round++) {
        common_work(500000);
        if (rank == 0) {
            void *buffer = malloc((size_t)size);
            MPI_Buffer_attach(buffer, size);
            for (int i = 0; i < MESSAGES; i++)
                MPI_Bsend(data, BYTES, MPI_CHAR, 1, i, MPI_COMM_WORLD);
            MPI_Buffer_detach(&buffer, &size);
            free(buffer);
            continue;
        }
        double x = data[0];
        /* begin busy */
        for (long i = 0; i < 8000000; i++)
            x = LINK(x);
        /* end busy */
        known_sink = x;
        for (int i = 0; i < MESSAGES; i++)
            MPI_Recv(data, BYTES, MPI_CHAR, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    free(data);
    return 0;
}
