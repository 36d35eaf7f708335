/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 waits for a message by testing for it, millions of times: one wait each, explained like any other. With
 * KNOWN_BACKOFF it sleeps between two tests, longer each time, and waits all the same, as with KNOWN_YIELDS, where it
 * offers its CPU to others. With KNOWN_TURNS it looks for messages of two other kinds by turns, and all that is one
 * wait. With KNOWN_SENDS it tests whether its own message has been received.
 *
 * ranks: 2
 * expect: loop=answer rank=1 share=0.8 call=MPI_Test|MPI_Iprobe waiters=0 waiting>=0.2 events=10000
 */
#include "known.h"
#include <sched.h>
#include <time.h>

/* Between two polls. */
static void back_off(long n_failed)
{
#ifdef KNOWN_TURNS
    for (int tag = 1, is_there; tag <= 2; tag++)
        if (MPI_Iprobe(1, tag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE), is_there)
            MPI_Abort(MPI_COMM_WORLD, 1);
#endif
#ifdef KNOWN_YIELDS
    for (int i = 0; i < 5; i++)
        sched_yield();
#endif
#ifdef KNOWN_BACKOFF
    known_nap(n_failed < 6 ? 10000L << n_failed : 500000);
#else
    (void)n_failed;
#endif
}

static void poll_for_answer(double *data)
{
    MPI_Request request;
#ifdef KNOWN_SENDS
    MPI_Issend(data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
#else
    MPI_Irecv(data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
#endif
    long n_failed = 0;
    for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done; n_failed++)
        back_off(n_failed);
}

static void answer(double *data)
{
    /* begin answer */
    for (long i = 0; i < 8000000; i++)
        *data = LINK(*data);
    /* end answer */
#ifdef KNOWN_SENDS
    MPI_Recv(data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
    MPI_Send(data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
#endif
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    double data = 0;
    for (int round = 0; round < 40; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        common_work(400000);
        if (rank == 0)
            poll_for_answer(&data);
        else
            answer(&data);
    }
    MPI_Finalize();
    return 0;
}
