/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks work, rank 0 in small pieces, after each of which it looks for the message that rank 1 sends at the end of
 * its own work. Another process computes on the core of rank 0, which therefore comes last to the barrier. It waits for
 * nobody: where it lost its core between two looks, it was at work.
 *
 * ranks: 2
 * expect: loop=pieces rank=off share=0.3 call=MPI_Barrier wait="wait at barrier" kind=descheduled waiting<=0.27
 */
#define _GNU_SOURCE
#include "crowd.h"
#include "known.h"

static double work(double x, int n_pieces, int n_links, int *n_looks)
{
    /* begin pieces */
    for (int piece = 0; piece < n_pieces; piece++) {
        for (int i = 0; i < n_links; i++)
            x = LINK(x);
        int is_there = 0;
        if (n_looks)
            MPI_Iprobe(1, 0, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
        if (n_looks)
            *n_looks += !is_there;
    }
    /* end pieces */
    return x;
}

int main(int argc, char **argv)
{
    enum { LINKS = 60000, PIECES = 160 };
    const char *text = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    int rank = text ? atoi(text) : 0, n_looks = 0;
    use_core(rank);
    pid_t competitor = rank == 0 ? compete() : 0;
    known_start(&argc, &argv);
    use_core(rank);
    double x = known_sink, off_s = 0;
    for (int round = 0; round < 20; round++) {
        off_s -= off_cpu_s();
        x = rank ? work(x, 1, LINKS * PIECES / 5 * 6, NULL) : work(x, PIECES, LINKS, &n_looks);
        off_s += off_cpu_s();
        if (rank)
            MPI_Send(&x, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&x, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    known_sink = x + n_looks;
    fprintf(stderr, "rank %d was off for %.0f ns\n", rank, 1e9 * off_s);
    if (competitor > 0)
        kill(competitor, SIGKILL);
    MPI_Finalize();
    return 0;
}
