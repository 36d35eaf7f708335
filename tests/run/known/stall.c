/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 sleeps once, in one of a hundred steps, and for longer than all the others take together: one stall, although
 * it is most of the run.
 *
 * ranks: 3
 * expect: loop=checkpoint rank=1 share=0.9 call=MPI_Sendrecv kind=blocked
 *         when="once, for"
 */
#include "known.h"
#include <unistd.h>

/* begin checkpoint */
__attribute__((noinline)) static void checkpoint(void)
{
    sleep(1);
    known_sink = known_sink * 0.5; /* the call above is no jump */
}
/* end checkpoint */

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), n_ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int step = 0; step < 100; step++) {
        common_work(100000);
        if (rank == 1 && step == 50)
            checkpoint();
        double mine = known_sink, others;
        MPI_Sendrecv(&mine, 1, MPI_DOUBLE, (rank + 1) % n_ranks, 0, &others, 1, MPI_DOUBLE,
                     (rank + n_ranks - 1) % n_ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
