/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks of a team of two threads walk a binary tree, which has eight times as many leaves on rank 0. Which thread runs
 * which task, and from where in the run-time library, differs from run to run: the walk is one cause.
 *
 * ranks: 2
 * expect: loop=leaves rank=0 share=0.7 rows=1 call=MPI_Barrier waiters=1 says_not="called at"
 */
#include "known.h"

static double leaf_sum(int seed)
{
    double x = seed;
    /* begin leaves */
    for (int i = 0; i < 20000; i++)
        x = LINK(x);
    /* end leaves */
    return x;
}

static double walk(int depth, int seed)
{
    double left, right;
    if (depth == 0)
        return leaf_sum(seed);
#pragma omp task shared(left)
    left = walk(depth - 1, 2 * seed);
#pragma omp task shared(right)
    right = walk(depth - 1, 2 * seed + 1);
#pragma omp taskwait
    return left + right;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 20; step++) {
        double sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
        sum = walk(rank == 0 ? 9 : 6, 1);
        known_sink = sum;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
