/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An exchange that is overlapped: between two looks whether it is complete a rank works for some microseconds, rank 1
 * half as often again. A sample makes such work longer, and is a sample of all of it.
 *
 * ranks: 2
 * expect: loop=interior rank=1 share=0.8 call=MPI_Waitall counted_kind=more-work
 */
#include "known.h"

enum { STEPS = 1500, CELLS = 2000, LINKS = 5000 };

__attribute__((noinline)) static void interior(void)
{
    double x = known_sink;
    /* begin interior */
    for (long i = 0; i < LINKS; i++)
        x = LINK(x);
    /* end interior */
    known_sink = x;
}

int main(int argc, char **argv)
{
    static double sent[CELLS], received[CELLS];
    int rank = known_start(&argc, &argv), is_done;
    for (int step = 0; step < STEPS; step++) {
        MPI_Request requests[2];
        MPI_Irecv(received, CELLS, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(sent, CELLS, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
        for (int part = 0; part < 20 + 10 * rank; part++) {
            interior();
            MPI_Testall(2, requests, &is_done, MPI_STATUSES_IGNORE);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
