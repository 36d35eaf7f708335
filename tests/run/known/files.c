/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 alone writes to a file of all before every barrier: the call is the cause, and the report says of which file,
 * how much and in how many calls.
 *
 * ranks: 3
 * expect: routine=File_write rank=1 share=0.5 call=MPI_Barrier waiters=0,2 kind=blocked moves=data.bin:1:335544320:10
 *         next="collective MPI-IO"
 */
#include "known.h"

enum { STEPS = 10, BLOCK_BYTES = 32 << 20 };

int main(int argc, char **argv)
{
    static char block[BLOCK_BYTES];
    int rank = known_start(&argc, &argv), how = MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE;
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, "data.bin", how, MPI_INFO_NULL, &file);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < STEPS; step++) {
        common_work(1000000);
        if (rank == 1)
            MPI_File_write_at(file, 0, block, sizeof block, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
