/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hundred barriers; rank 1 runs an extra loop before all but the first. Two kinds of waits at one call: the first
 * instance (start-up) and the other 99, whose explanation is the extra loop alone.
 *
 * ranks: 2
 * expect: loop=extra rank=1 share=0.9 call=MPI_Barrier waiters=0 class=99 classes<=1 counted_kind=more-work
 */
#include "known.h"

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int round = 0; round < 100; round++) {
        common_work(400000);
        if (rank == 1 && round > 0) {
            double x = known_sink;
            /* begin extra */
            for (long i = 0; i < 3000000; i++)
                x = LINK(x);
            /* end extra */
            known_sink = x;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
