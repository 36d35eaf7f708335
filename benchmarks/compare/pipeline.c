/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbours exchange halos; rank 1 has as many more particles as the first argument says, in per cent
 * (0 = balanced), which the next rank feels as a late sender. The second argument makes the loop over the field, a
 * fifth of the run, slower on rank 1, in per cent. */
#include <mpi.h>
#include <stdlib.h>

enum { FIELD = 30000, PARTICLES = 20000, TURNS = 80 };
static double field[FIELD], place[PARTICLES];
static volatile double sink;

static __attribute__((noinline)) void push(int n)
{
    for (int k = 0; k < 280; k++)
        for (int i = 0; i < n; i++) { /* particles */
            double x = place[i % PARTICLES];
            x += 0.01 * (1.0 - x * x) / (1.0 + 0.5 * x * x);
            place[i % PARTICLES] = x;
        }
}

static __attribute__((noinline)) void solve(int n)
{
    double x = 1;
    for (int i = 0; i < n; i++) { /* field */
        x = x * 0.999999 + 1e-9;
        field[i % FIELD] += x;
    }
    sink = x;
}

int main(int argc, char **argv)
{
    int rank, n_ranks, more = argc > 1 ? atoi(argv[1]) : 0, slower = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    int left = rank ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < n_ranks ? rank + 1 : MPI_PROC_NULL;
    for (int turn = 0; turn < TURNS; turn++) {
        push(rank == 1 ? PARTICLES + PARTICLES / 100 * more : PARTICLES);
        MPI_Sendrecv(&field[1], 500, MPI_DOUBLE, left, 0, &field[FIELD - 501], 500, MPI_DOUBLE, right, 0,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        solve(rank == 1 ? 1000000 + 10000 * slower : 1000000);
        MPI_Sendrecv(&field[FIELD - 501], 500, MPI_DOUBLE, right, 1, &field[1], 500, MPI_DOUBLE, left, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
