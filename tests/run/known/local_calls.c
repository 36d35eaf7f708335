/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between its work and the call that waits a program asks MPI for its rank, as many do. The executions counted belong
 * to the work, not to the instant after that: rank 1 goes round a hundred times as often, at the same cost.
 *
 * ranks: 2
 * expect: loop=local_uneven rank=1 share=0.7 call=MPI_Allreduce counted_kind=more-work alike=0.5
 */
#include "known.h"

static void uneven(long n)
{
    double x = known_sink;
    /* begin local_uneven */
    for (long i = 0; i < n; i++)
        x = LINK(x);
    /* end local_uneven */
    known_sink = x;
}

int main(int argc, char **argv)
{
    known_start(&argc, &argv);
    for (int step = 0; step < 60; step++) {
        int rank;
        double in = step, out;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        common_work(150000);
        uneven(rank == 1 ? 1500000 : 15000);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        known_sink += out * 1e-9;
    }
    MPI_Finalize();
    return 0;
}
