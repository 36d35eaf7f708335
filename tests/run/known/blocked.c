/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 writes to a file and sleeps, in a loop, before every barrier.
 *
 * ranks: 3
 * expect: loop=writing rank=1 share=0.8 call=MPI_Barrier wait="wait at barrier" waiters=0,2 kind=blocked
 */
#define _GNU_SOURCE
#include "known.h"
#include <time.h>
#include <unistd.h>

enum { BLOCK_BYTES = 1 << 16 };

static void write_blocks(FILE *file, int n)
{
    static char block[BLOCK_BYTES];
    const struct timespec pause = {.tv_nsec = 1000000};
    /* begin writing */
    for (int i = 0; i < n; i++) {
        if (pwrite(fileno(file), block, sizeof block, i * (long)sizeof block) < 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
        nanosleep(&pause, NULL);
    }
    /* end writing */
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    FILE *file = tmpfile();
    if (!file)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int step = 0; step < 20; step++) {
        common_work(3000000);
        if (rank == 1)
            write_blocks(file, 50);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
