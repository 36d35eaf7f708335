/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One call of MPI stands in a routine that is inlined into two others, and on rank 1 it takes long in both. Copies of
 * one line are one place.
 *
 * ranks: 2
 * expect: loop=pack rank=1 share=0.85 rows=1 call=MPI_Barrier kind=transfer
 */
#include "known.h"

enum { N = 200000 };

static double field[2 * N], packed[N];

/* begin pack */
static inline __attribute__((always_inline)) void pack(MPI_Datatype strided, int n)
{
    for (int i = 0; i < n; i++) {
        int at = 0;
        MPI_Pack(field, 1, strided, packed, (int)sizeof packed, &at, MPI_COMM_WORLD);
    }
}
/* end pack */

__attribute__((noinline)) static void pack_velocity(MPI_Datatype strided, int n)
{
    pack(strided, n);
    known_sink = packed[1];
}

__attribute__((noinline)) static void pack_pressure(MPI_Datatype strided, int n)
{
    pack(strided, n);
    known_sink = packed[2];
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    MPI_Datatype strided;
    MPI_Type_vector(N, 1, 2, MPI_DOUBLE, &strided);
    MPI_Type_commit(&strided);
    for (int step = 0; step < 20; step++) {
        pack_velocity(strided, rank == 1 ? 20 : 1);
        pack_pressure(strided, rank == 1 ? 20 : 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Type_free(&strided);
    MPI_Finalize();
    return 0;
}
