/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two models that are coupled: the second one's first rank takes longer for its forecast, which the first model waits
 * for in a broadcast over an intercommunicator. The other rank of the second model has nothing to do with that.
 *
 * ranks: 4
 * expect: loop=forecast rank=2 share=0.8 call=MPI_Bcast waiters=0,1
 */
#include "known.h"

static void forecast(long n)
{
    double x = known_sink;
    /* begin forecast */
    for (long i = 0; i < n; i++)
        x = LINK(x);
    /* end forecast */
    known_sink = x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), is_second = rank >= 2;
    MPI_Comm model, both;
    MPI_Comm_split(MPI_COMM_WORLD, is_second, rank, &model);
    MPI_Intercomm_create(model, 0, MPI_COMM_WORLD, is_second ? 0 : 2, 0, &both);
    double field = 1;
    for (int day = 0; day < 40; day++) {
        forecast(rank == 2 ? 3000000 : 100000);
        MPI_Bcast(&field, 1, MPI_DOUBLE, rank == 2 ? MPI_ROOT : is_second ? MPI_PROC_NULL : 0, both);
    }
    MPI_Comm_free(&both);
    MPI_Comm_free(&model);
    MPI_Finalize();
    return 0;
}
