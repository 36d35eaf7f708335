/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recorded with --last: of a run whose first part has another cause, the second part is kept, with the persistent
 * requests and the communicator that were made at the start. With KNOWN_KILLED a rank kills itself at the end. The two
 * halves of the world know nothing of each other: now and then they meet, or on a busy machine the half without a cause
 * may be last, and the newest part its own.
 *
 * ranks: 4
 * exit: any
 * expect: loop=lately rank=1 share=0.9 call=MPI_Waitall note="the newest"
 */
#include "known.h"
#include <signal.h>
#include <unistd.h>

enum { TURNS = 1200, ROUNDS = 10, MEETING = 50, WORK = 1500000 };

static double early(double x)
{
    for (long i = 0; i < WORK; i++)
        x = LINK(x);
    return x;
}

static double lately(double x)
{
    /* begin lately */
    for (long i = 0; i < WORK; i++)
        x = LINK(x);
    /* end lately */
    return x;
}

int main(int argc, char **argv)
{
    double out[2] = {1, 1}, in[2], sum = 0, x = 1;
    MPI_Request requests[2];
    MPI_Comm half;
    int rank = known_start(&argc, &argv);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    MPI_Send_init(out, 1, MPI_DOUBLE, rank ^ 1, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(in, 1, MPI_DOUBLE, rank ^ 1, 1, MPI_COMM_WORLD, &requests[1]);
    for (int turn = 0; turn < TURNS; turn++) {
        if (turn < TURNS / 2 && rank == 2)
            x = early(x);
        if (turn >= TURNS / 2 && rank == 1)
            x = lately(x);
        for (int round = 0; round < ROUNDS; round++) {
            MPI_Startall(2, requests);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, half);
        if (turn % MEETING == MEETING - 1)
            MPI_Barrier(MPI_COMM_WORLD);
    }
#ifdef KNOWN_KILLED
    MPI_Barrier(MPI_COMM_WORLD);
    kill(getpid(), SIGKILL);
#endif
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Finalize();
    return 0;
}
