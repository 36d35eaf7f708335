/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The root of a broadcast reads its input for longer than the others have work.
 *
 * ranks: 2
 * expect: loop=root_reads rank=0 share=0.9 call=MPI_Bcast wait="late broadcast" waiters=1
 */
#include "known.h"

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    double input[1000] = {0};
    for (int round = 0; round < 50; round++) {
        common_work(400000);
        if (rank == 0) {
            double x = input[0];
            /* begin root_reads */
            for (long i = 0; i < 7000000; i++)
                x = LINK(x);
            /* end root_reads */
            input[0] = x;
        }
        MPI_Bcast(input, 1000, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        known_sink = input[0];
    }
    MPI_Finalize();
    return 0;
}
