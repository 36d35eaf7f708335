/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks write to a file together in every step, and rank 1 has prepared its part for longer. The standard lets each
 * go on by itself, but MPI libraries let them wait for each other before they write: the others wait for rank 1.
 *
 * ranks: 3
 * expect: loop=prepares_part rank=1 share=0.8 call=MPI_File_write_at_all wait="wait at collective I/O" waiters=0,2
 *         counted_kind=more-work
 */
#include "known.h"
#include <unistd.h>

enum { STEPS = 30, PART = 1000 };
static double part[PART];

static void prepare(int times)
{
    /* begin prepares_part */
    for (int i = 0; i < PART; i++)
        for (int k = 0; k < times; k++)
            part[i] = LINK(part[i]);
    /* end prepares_part */
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), id = (int)getpid();
    char name[64];
    MPI_File file;
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(name, sizeof name, "known-file-%d.bin", id);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &file);
    for (int step = 0; step < STEPS; step++) {
        prepare(rank == 1 ? 9000 : 1000);
        MPI_Offset at = (MPI_Offset)(step * 3 + rank) * (MPI_Offset)sizeof part;
        MPI_File_write_at_all(file, at, part, PART, MPI_DOUBLE, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
