/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that nobody sees arrive whole. The first ones are too long for their receives, blocking and not; the last of
 * them goes to a receive that is freed while it is pending. All have one tag: each later receive still meets the send
 * of its own step.
 *
 * ranks: 2
 * expect: loop=sending rank=1 share=0.9 call=MPI_Recv at=receiving waiting>=0.3 transfer=0.05
 */
#include "known.h"

enum { TAG = 5, LONG = 8, SHORT = 4, STEPS = 20, CUT = 6 };

static void send_long(const int *data)
{
    for (int i = 0; i < CUT; i++)
        MPI_Send(data, LONG, MPI_INT, 0, TAG, MPI_COMM_WORLD);
}

static void receive_short(int *data)
{
    MPI_Request request, both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Message message;
    MPI_Status status, statuses[2];
    int index;
    MPI_Recv(data, SHORT, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(data, SHORT, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(data, SHORT, MPI_INT, 1, TAG, MPI_COMM_WORLD, &both[0]);
    MPI_Waitall(2, both, statuses);
    MPI_Irecv(data, SHORT, MPI_INT, 1, TAG, MPI_COMM_WORLD, &both[1]);
    MPI_Waitany(2, both, &index, &status);
    MPI_Recv_init(data, SHORT, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (request != MPI_REQUEST_NULL)
        MPI_Request_free(&request);
    MPI_Mprobe(1, TAG, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(data, SHORT, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static void work(void)
{
    double x = known_sink;
    /* begin sending */
    for (long i = 0; i < 6000000; i++)
        x = LINK(x);
    /* end sending */
    known_sink = x;
}

int main(int argc, char **argv)
{
    static int data[LONG], late[LONG];
    int rank = known_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1) {
        send_long(data);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Send(data, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
    } else {
        MPI_Request freed;
        receive_short(data);
        MPI_Irecv(late, LONG, MPI_INT, 1, TAG, MPI_COMM_WORLD, &freed);
        MPI_Request_free(&freed);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int step = 0; step < STEPS; step++) {
        if (rank == 1) {
            work();
            MPI_Send(data, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
        } else {
            /* begin receiving */
            MPI_Recv(data, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            /* end receiving */
        }
    }
    MPI_Finalize();
    return 0;
}
