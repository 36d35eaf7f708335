/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two models are coupled, again and again. The second one's first rank takes longer to get ready for it, so that all
 * others wait in the call that makes the intercommunicator, the first model as well, whose communicator that rank is
 * not in.
 *
 * ranks: 4
 * expect: loop=get_ready rank=2 share=0.8 call=MPI_Intercomm_create waiters=0,1,3
 */
#include "known.h"

static void get_ready(long n)
{
    double x = known_sink;
    /* begin get_ready */
    for (long i = 0; i < n; i++)
        x = LINK(x);
    /* end get_ready */
    known_sink = x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), is_second = rank >= 2;
    MPI_Comm model, both;
    MPI_Comm_split(MPI_COMM_WORLD, is_second, rank, &model);
    for (int time = 0; time < 20; time++) {
        get_ready(rank == 2 ? 6000000 : 100000);
        MPI_Intercomm_create(model, 0, MPI_COMM_WORLD, is_second ? 0 : 2, 0, &both);
        MPI_Comm_free(&both);
    }
    MPI_Comm_free(&model);
    MPI_Finalize();
    return 0;
}
