/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks work, and look for a message after each small piece of it. Rank 1 has four times as many pieces as rank 0,
 * which then waits for its message: from the end of its own work, not from the first look that found nothing. With
 * KNOWN_TURNS each looks at two places by turns. With KNOWN_LUMPS all the work lies in each hundredth piece.
 *
 * ranks: 2
 * yield: no
 * expect: loop=pieces rank=1 share=0.6 call=MPI_Recv waiters=0 waiting>=0.25 waiting<=0.42 events=10000
 */
#include "known.h"

static void look(int tag)
{
    int is_there;
    MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    if (is_there)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

static void work(int n, double *data)
{
    /* begin pieces */
    for (int piece = 0; piece < n; piece++) {
#ifdef KNOWN_LUMPS
        int n_links = (piece + 1) % 100 ? 0 : 200000;
#else
        int n_links = 2000;
#endif
        for (int i = 0; i < n_links; i++)
            *data = LINK(*data);
        look(1);
#ifdef KNOWN_TURNS
        look(2);
#endif
    }
    /* end pieces */
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    double data = 1;
    for (int round = 0; round < 40; round++) {
        work(rank ? 1200 : 300, &data);
        if (rank)
            MPI_Send(&data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    known_sink = data;
    MPI_Finalize();
    return 0;
}
