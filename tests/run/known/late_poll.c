/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 looks for a message every 20 ms and sleeps between two looks. The message comes after a fifth of the first
 * nap: up to there rank 0 waited for rank 1, the rest it slept on its own account, and rank 1 waits for it in the
 * barrier.
 *
 * ranks: 2
 * expect: routine=nap rank=0 kind=blocked share=0.6 call=MPI_Barrier wait="wait at barrier"
 */
#include "known.h"
#include <time.h>

__attribute__((noinline)) static void nap(void)
{
    nanosleep(&(struct timespec){0, 20000000}, NULL);
}

static void look_for_message(double *data)
{
    int found = 0;
#ifdef KNOWN_PROBE
    while (MPI_Iprobe(1, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE), !found)
        nap();
    MPI_Recv(data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#else
    MPI_Request request;
    MPI_Irecv(data, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, &request);
    while (MPI_Test(&request, &found, MPI_STATUS_IGNORE), !found)
        nap();
#endif
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    double data = 0;
    for (int round = 0; round < 30; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            look_for_message(&data);
            continue;
        }
        common_work(1300000);
        MPI_Send(&data, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
