/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 computes each part of what it sends before it declares it ready: rank 0 waits for the last, not for the start.
 * The messages are received by MPI_Wait, and every second one by MPI_Parrived for one part after another, with a little
 * work on each.
 *
 * ranks: 2
 * expect: loop=part rank=1 share=0.8 call=MPI_Parrived waiters=0
 */
#include "known.h"

enum { PARTS = 8, COUNT = 100, ROUNDS = 20 };

static double data[PARTS * COUNT];

static void fill(int part)
{
    double x = part;
    /* begin part */
    for (long i = 0; i < 1500000; i++)
        x = LINK(x);
    /* end part */
    data[part * COUNT] = x;
}

static void send_parts(MPI_Request request, int round)
{
    int order[PARTS - 1];
    if (round % 3 == 0)
        for (int part = 0; part < PARTS; part++) {
            fill(part);
            MPI_Pready(part, request);
        }
    for (int part = 0; part < PARTS && round % 3; part++)
        fill(part);
    if (round % 3 == 1)
        MPI_Pready_range(0, PARTS - 1, request);
    if (round % 3 == 2) {
        for (int i = 0; i < PARTS - 1; i++)
            order[i] = PARTS - 1 - i;
        MPI_Pready_list(PARTS - 1, order, request);
        MPI_Pready(0, request);
    }
}

int main(int argc, char **argv)
{
    MPI_Request request;
    int rank = known_start(&argc, &argv);
    if (rank == 1)
        MPI_Psend_init(data, PARTS, COUNT, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(data, PARTS, COUNT, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Start(&request);
        common_work(1000000);
        if (rank == 1)
            send_parts(request, round);
        for (int part = rank || round % 2 ? PARTS : 0; part < PARTS; part++) {
            for (int has_come = 0; !has_come;)
                MPI_Parrived(request, part, &has_come);
            common_work(20000);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    MPI_Finalize();
    return 0;
}
