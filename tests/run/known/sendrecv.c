/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring shift with MPI_Sendrecv in which rank 0 comes late.
 *
 * ranks: 2
 * expect: loop=late_shift rank=0 share=0.9 call=MPI_Sendrecv wait="late sender" waiters=1
 */
#include "known.h"

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    double out = rank, in = 0;
    for (int round = 0; round < 50; round++) {
        common_work(400000);
        if (rank == 0) {
            /* begin late_shift */
            for (long i = 0; i < 7000000; i++)
                out = LINK(out);
            /* end late_shift */
        }
        MPI_Sendrecv(&out, 1, MPI_DOUBLE, 1 - rank, 0, &in, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        known_sink = in;
    }
    MPI_Finalize();
    return 0;
}
