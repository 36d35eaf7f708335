/* SPDX-License-Identifier: BSD-3-Clause */
/* Every way of C to ask for memory, with the sum that the program itself keeps; rank 1 asks for most, in the loop that
 * makes the others wait. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long long asked;
static void *volatile last; /* what nobody looks at need not be allocated */

static size_t ask(size_t bytes)
{
    asked += bytes;
    return bytes;
}

/* Straight-line code: every function of the family once. */
static __attribute__((noinline)) void ask_once(size_t n)
{
    void *block = NULL;
    free(last = malloc(ask(n)));
    last = calloc(n, ask(8 * n) / n);
    free(last = realloc(last, ask(2 * n)));
    if (posix_memalign(&block, 64, ask(64 * n)) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    free(last = block);
    free(last = aligned_alloc(32, ask(32 * n)));
}

static __attribute__((noinline)) double build(int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double *list = malloc(ask(1000 * sizeof *list)); /* LOOP */
        for (int k = 0; k < 1000; k++)
            list[k] = k + i;
        for (int round = 0; round < 8; round++)
            for (int k = 0; k < 1000; k++)
                sum += list[k] * list[(k * 7 + i) % 1000];
        free(list);
    }
    return sum;
}

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 100; step++) {
        ask_once(1000 + rank);
        sum += build(rank == 1 ? 1200 : 3);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (sum < 0)
        return 1;
    fprintf(stderr, "asked %d %llu\n", rank, asked);
    MPI_Finalize();
    return 0;
}
