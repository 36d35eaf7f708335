/* SPDX-License-Identifier: BSD-3-Clause */
/* A loop of the source of which GCC makes a second one with -O3, for the rounds in which nothing is looked for. */
#include <mpi.h>
#include <stdio.h>

enum { STEPS = 60, ROUNDS = 400, CELLS = 1000 };
static double cells[CELLS + 1];

static void smooth(void)
{
    for (int i = 1; i <= CELLS; i++)
        cells[i] = cells[i - 1] * 0.9 + 1e-3;
}

__attribute__((noipa)) static void look(int *is_found, int round)
{
    *is_found = round == ROUNDS / 4;
}

static void look_meanwhile(void)
{
    int is_found = 0;
    for (int round = 0; round < ROUNDS; round++) {
        smooth();
        if (!is_found)
            look(&is_found, round);
    }
    if (!is_found)
        look(&is_found, ROUNDS);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < 1 + rank; i++)
            look_meanwhile();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("%.6f\n", cells[CELLS]);
    fprintf(stderr, "expected of smooth() on rank %d: %d\n", rank, (1 + rank) * STEPS * ROUNDS * CELLS);
    MPI_Finalize();
    return 0;
}
