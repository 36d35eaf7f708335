/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eight ranks, most likely more than cores, pass messages round that are too large to be buffered. While one of them
 * has no CPU its neighbours poll for the rest of a message: that is the machine's doing as well, and the loop that
 * makes rank 2 late stands first.
 *
 * ranks: 8
 * expect: loop=crowded rank=2 share=0.5 transfer=0.15 call=MPI_Sendrecv
 */
#include "known.h"

enum { LENGTH = 1 << 14, ROUNDS = 30, PASSES = 3 };

static double out[LENGTH], in[LENGTH];

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), n;
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    double x = rank;
    for (int round = 0; round < ROUNDS; round++) {
        common_work(1000000);
        if (rank == 2) {
            /* begin crowded */
            for (long i = 0; i < 15000000; i++)
                x = LINK(x);
            /* end crowded */
        }
        for (int pass = 0; pass < PASSES; pass++)
            MPI_Sendrecv(out, LENGTH, MPI_DOUBLE, (rank + 1) % n, 0, in, LENGTH, MPI_DOUBLE, (rank + n - 1) % n, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    known_sink = x;
    MPI_Finalize();
    return 0;
}
