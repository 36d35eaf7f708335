/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording is off while all is set up, in which rank 0 works and allocates twenty times as much as in the rest; and
 * once more in the middle, in a routine that was entered before. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 20000, STEPS = 30, BYTES = 1000 };

__attribute__((noinline)) static double work(double x, long n)
{
    char *volatile p = malloc(BYTES); /* a compiler may do without one that nobody can see */
    for (long i = 0; i < n; i++)
        x = x * 0.999999 + 1e-6; /* LOOP */
    if (p)
        p[0] = (char)x;
    x += p ? p[0] & 1 : 0;
    free(p);
    return x;
}

__attribute__((noinline)) static double pause_in(double x, int rank)
{
    MPI_Pcontrol(0);
    x = work(x, rank ? N : 20l * STEPS * N);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    return x * 0.5;
}

int main(int argc, char **argv)
{
    int rank;
    double x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    x = pause_in(x, rank);
    for (int step = 0; step < STEPS; step++) {
        x = work(x, rank ? 2 * N : N); /* CALL */
        MPI_Barrier(MPI_COMM_WORLD);
        if (step % 10 == 9) /* AFTER */
            x = pause_in(x, rank);
    }
    printf("%.6f\n", x);
    MPI_Finalize();
    return 0;
}
