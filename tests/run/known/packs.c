/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 has a little more work in each step, and rank 0 packs its results with MPI in each tenth. That time is inside
 * MPI, but it needs no partner: it is of the path that the program took, so these steps are a class of their own.
 *
 * ranks: 2
 * expect: routine=MPI_Pack kind=transfer rank=0 share=0.4 call=MPI_Barrier instances=12 when="every 10th time"
 */
#include "known.h"

enum { ROWS = 200000, PARTS = 16 };

__attribute__((noinline)) static void fill(double *table, double *packed)
{
    for (int i = 0; i < 4 * ROWS; i++)
        table[i] = packed[i / 4] = i;
}

static void pack(const double *table, double *packed, MPI_Datatype column, int bytes)
{
    int at = 0;
    MPI_Pack(table, 1, column, packed, bytes, &at, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    double *table = calloc(4 * ROWS, sizeof *table), *packed = calloc(ROWS, sizeof *packed);
    MPI_Datatype column;
    MPI_Type_vector(ROWS, 1, 4, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    fill(table, packed);
    for (int step = 0; step < 120; step++) {
        common_work(rank == 1 ? 1100000 : 1000000);
        for (int i = 0; rank == 0 && step % 10 == 9 && i < PARTS; i++)
            pack(table, packed, column, ROWS * (int)sizeof *packed);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Type_free(&column);
    free(table);
    free(packed);
    MPI_Finalize();
    return 0;
}
