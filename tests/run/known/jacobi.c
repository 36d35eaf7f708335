/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The demonstration: heat in a plate, solved by Jacobi's method, rows shared out among the ranks. Rank 2 got a region
 * in which the material law costs more iterations, so that the others wait for it in every step.
 *
 * ranks: 4
 * expect: loop=relaxation rank=2 share=0.5 call=MPI_Sendrecv|MPI_Allreduce
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 2000, ROWS = 200, STEPS = 40, SLOW_RANK = 2 };

struct plate {
    int rank, n_ranks, n_steps;
    double now[ROWS + 2][WIDTH], next[ROWS + 2][WIDTH];
};

static void exchange(struct plate *plate)
{
    int above = plate->rank > 0 ? plate->rank - 1 : MPI_PROC_NULL;
    int below = plate->rank + 1 < plate->n_ranks ? plate->rank + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(plate->now[1], WIDTH, MPI_DOUBLE, above, 0, plate->now[ROWS + 1], WIDTH, MPI_DOUBLE, below, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(plate->now[ROWS], WIDTH, MPI_DOUBLE, below, 1, plate->now[0], WIDTH, MPI_DOUBLE, above, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* How many times the material law is iterated at each point. */
static int law_iterations(const struct plate *plate)
{
    return plate->rank == SLOW_RANK ? 24 : 4;
}

static double relax(struct plate *plate)
{
    double change = 0;
    int iterations = law_iterations(plate);
    /* begin relaxation */
    for (int i = 1; i <= ROWS; i++) {
        for (int j = 1; j < WIDTH - 1; j++) {
            double heat =
                0.25 * (plate->now[i - 1][j] + plate->now[i + 1][j] + plate->now[i][j - 1] + plate->now[i][j + 1]);
            double conducted = heat;
            for (int k = 0; k < iterations; k++)
                conducted = 0.5 * (conducted + heat / (1 + 0.001 * conducted));
            change += fabs(conducted - plate->now[i][j]);
            plate->next[i][j] = conducted;
        }
    }
    /* end relaxation */
    memcpy(plate->now[1], plate->next[1], sizeof plate->now[0] * ROWS);
    return change;
}

static double solve(struct plate *plate)
{
    double all = 0;
    for (int step = 0; step < plate->n_steps; step++) {
        exchange(plate);
        double change = relax(plate);
        MPI_Allreduce(&change, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    return all;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    struct plate *plate = calloc(1, sizeof *plate);
    if (!plate)
        MPI_Abort(MPI_COMM_WORLD, 1);
    plate->n_steps = argc > 1 ? atoi(argv[1]) : STEPS;
    MPI_Comm_rank(MPI_COMM_WORLD, &plate->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &plate->n_ranks);
    for (int j = 0; j < WIDTH; j++)
        plate->now[0][j] = plate->next[0][j] = plate->rank == 0 ? 100 : 0;
    double change = solve(plate);
    if (plate->rank == 0)
        printf("last change %.6e\n", change);
    free(plate);
    MPI_Finalize();
    return 0;
}
