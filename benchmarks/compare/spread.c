/* SPDX-License-Identifier: BSD-3-Clause */
/* One imbalance spread over thirty loops: rank 1 repeats the step as often as the first argument says (1 = balanced).
 */
#include <mpi.h>
#include <stdlib.h>

enum { CELLS = 4000, TURNS = 60 };
static double a[CELLS], b[CELLS];
static volatile double sink;

#define LOOP(k)                                                                                                        \
    for (int i = 1; i < CELLS - 1; i++)                                                                                \
        b[i] = b[i] * (0.5 + 1e-3 * (k)) + 0.1 * (a[i - 1] + a[i + 1]) / (1.0 + a[i] * a[i]);
/* Each loop on a line of its own. */
static __attribute__((noinline)) void pressure(void)
{
    LOOP(1)
    LOOP(2)
    LOOP(3)
    LOOP(4)
    LOOP(5)
    LOOP(6)
}

static __attribute__((noinline)) void energy(void)
{
    LOOP(7)
    LOOP(8)
    LOOP(9)
    LOOP(10)
    LOOP(11)
    LOOP(12)
}

static __attribute__((noinline)) void velocity(void)
{
    LOOP(13)
    LOOP(14)
    LOOP(15)
    LOOP(16)
    LOOP(17)
    LOOP(18)
}

static __attribute__((noinline)) void viscosity(void)
{
    LOOP(19)
    LOOP(20)
    LOOP(21)
    LOOP(22)
    LOOP(23)
    LOOP(24)
}

static __attribute__((noinline)) void volume(void)
{
    LOOP(25)
    LOOP(26)
    LOOP(27)
    LOOP(28)
    LOOP(29)
    LOOP(30)
}

static __attribute__((noinline)) void step(int repetitions)
{
    for (int turn = 0; turn < repetitions; turn++) { /* repeated */
        pressure();
        energy();
        velocity();
        viscosity();
        volume();
    }
}

int main(int argc, char **argv)
{
    int rank, n_ranks, repetitions = argc > 1 ? atoi(argv[1]) : 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    for (int i = 0; i < CELLS; i++)
        a[i] = b[i] = i % 7;
    for (int turn = 0; turn < TURNS; turn++) {
        double mine = b[turn], all;
        step(80 * (rank == 1 ? repetitions : 1));
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        sink = all;
    }
    MPI_Finalize();
    return 0;
}
