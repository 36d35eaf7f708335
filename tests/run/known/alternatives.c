/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks 0 and 3 hand out work, and ranks 1 and 2 do as much of it, each by another way of one condition. Rank 2's way
 * strides through memory. The condition by which others hand out does not lead rank 2 there: rank 1 decides it as rank
 * 2 does.
 *
 * ranks: 4
 * expect: loop=strides rank=2 share=0.5 call=MPI_Recv|MPI_Barrier says="never; ranks that go the other way"
 */
#include "known.h"

enum { SIDE = 1024 };
static float table[SIDE][SIDE];

static double sum_table(int strides)
{
    double sum = 0;
    if (strides) {
        /* begin strides */
        for (int j = 0; j < SIDE; j++)
            for (int i = 0; i < SIDE; i++)
                sum += table[i][j];
        /* end strides */
    } else {
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++)
                sum += table[i][j];
    }
    return sum;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int i = 0; i < SIDE * SIDE; i++)
        table[i / SIDE][i % SIDE] = (float)(i % 9);
    for (int round = 0; round < 150; round++) {
        double x = round;
        if (rank % 3 == 0) {
            int worker = rank == 0 ? 1 : 2;
            MPI_Send(&x, 1, MPI_DOUBLE, worker, 0, MPI_COMM_WORLD);
            MPI_Recv(&x, 1, MPI_DOUBLE, worker, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            int from = rank == 1 ? 0 : 3;
            MPI_Recv(&x, 1, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            x += sum_table(rank == 2);
            MPI_Send(&x, 1, MPI_DOUBLE, from, 1, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
