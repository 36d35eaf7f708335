/* SPDX-License-Identifier: BSD-3-Clause */
/* A stencil that is bound by memory and a sum over all ranks; the last rank has as many more rows as the first argument
 * says, in per cent (0 = balanced). */
#include <mpi.h>
#include <stdlib.h>

enum { ROWS = 600, COLUMNS = 1200, TURNS = 160 };
static double from[2 * ROWS][COLUMNS], to[2 * ROWS][COLUMNS];

static __attribute__((noinline)) double relax(int rows)
{
    double change = 0;
    for (int i = 1; i < rows - 1; i++)
        for (int j = 1; j < COLUMNS - 1; j++) { /* stencil */
            to[i][j] = 0.25 * (from[i - 1][j] + from[i + 1][j] + from[i][j - 1] + from[i][j + 1]);
            change += to[i][j] > from[i][j] ? to[i][j] - from[i][j] : from[i][j] - to[i][j];
        }
    return change;
}

static __attribute__((noinline)) void copy(int rows)
{
    for (int i = 1; i < rows - 1; i++)
        for (int j = 1; j < COLUMNS - 1; j++)
            from[i][j] = to[i][j] + 1e-6 * to[i][COLUMNS - 1 - j];
}

int main(int argc, char **argv)
{
    int rank, n_ranks, more = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    int rows = rank == n_ranks - 1 ? ROWS + ROWS / 100 * more : ROWS;
    for (int i = 0; i < 2 * ROWS; i++)
        from[i][0] = from[i][COLUMNS - 1] = 100;
    for (int turn = 0; turn < TURNS; turn++) {
        double mine = relax(rows), all;
        copy(rows);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (all < 0)
            break;
    }
    MPI_Finalize();
    return 0;
}
