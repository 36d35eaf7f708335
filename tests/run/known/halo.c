/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A halo exchange with non-blocking messages; rank 1 owns three times as many rows, so that rank 0 waits in Waitall.
 *
 * ranks: 2
 * expect: loop=rows rank=1 share=0.85 call=MPI_Waitall wait="late sender" waiters=0
 */
#include "known.h"

enum { WIDTH = 2000, MOST_ROWS = 600 };
static double grid[MOST_ROWS + 2][WIDTH], next[MOST_ROWS + 2][WIDTH];

static void relax(int rows)
{
    /* begin rows */
    for (int sweep = 0; sweep < 4; sweep++)
        for (int i = 1; i <= rows; i++)
            for (int j = 1; j < WIDTH - 1; j++)
                next[i][j] =
                    0.25 * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]) / (1 + next[i][j]);
    /* end rows */
    known_sink = next[rows][WIDTH / 2];
}

static void exchange(int rank, int rows)
{
    MPI_Request requests[2];
    double *mine = rank == 0 ? next[rows] : next[1], *theirs = rank == 0 ? next[rows + 1] : next[0];
    MPI_Irecv(theirs, WIDTH, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(mine, WIDTH, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), rows = rank == 1 ? MOST_ROWS : MOST_ROWS / 3;
    for (int i = 0; i < rows + 2; i++)
        for (int j = 0; j < WIDTH; j++)
            grid[i][j] = i + j;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 240; round++) {
        relax(rows);
        exchange(rank, rows);
    }
    MPI_Finalize();
    return 0;
}
