/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways that no guess foresees: of a hundred values one goes the long way, by loops that hardly ever go round. */
#include <mpi.h>
#include <stdio.h>

static volatile unsigned sum;

__attribute__((noinline)) static void often(unsigned x)
{
    sum += x;
}

__attribute__((noinline)) static void seldom(unsigned x)
{
    sum ^= x;
}

__attribute__((noinline)) static void skewed(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (i % 100 == 7) {
            seldom(i);
            for (unsigned k = i; k % 16; k /= 2)
                seldom(k);
        } else if (i % 50 == 3) {
            seldom(i + 1);
        } else {
            often(i);
            if (i % 25 == 1)
                seldom(i + 2);
            often(i + 1);
        }
        while (sum % 4096 == 1)
            seldom(1);
    }
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; i++) {
        skewed(10000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%u\n", sum);
    MPI_Finalize();
    return 0;
}
