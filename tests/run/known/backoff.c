/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 waits for a message by testing for it and sleeps between two tests, longer each time: it waits all the same.
 *
 * ranks: 2
 * expect: loop=late_answer rank=1 share=0.8 call=MPI_Test waiters=0 waiting>=0.25
 */
#include "known.h"
#include <time.h>

static void test_now_and_then(double *data)
{
    MPI_Request request;
    MPI_Irecv(data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    long sleep_ns = 10000;
    for (int done = 0; !done;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done)
            break;
        nanosleep(&(struct timespec){0, sleep_ns}, NULL);
        sleep_ns = sleep_ns < 500000 ? 2 * sleep_ns : sleep_ns;
    }
}

static void answer(double *data)
{
    /* begin late_answer */
    for (long i = 0; i < 8000000; i++)
        *data = LINK(*data);
    /* end late_answer */
    MPI_Send(data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    double data = 0;
    for (int round = 0; round < 30; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            test_now_and_then(&data);
        else
            answer(&data);
    }
    MPI_Finalize();
    return 0;
}
