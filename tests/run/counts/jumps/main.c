/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames between: they see neither setjmp nor longjmp, as the callers of a library with error handling do not. */
#include "tasks.h"
#include <mpi.h>
#include <stdio.h>

static int sum;

__attribute__((noinline)) static void inner(int n)
{
    sum += n; /* executed 1000 times */
    if (n % 4 == 0)
        give_up(n); /* executed 250 times */
    sum++;          /* executed 750 times */
}

__attribute__((noinline)) void task(int n)
{
    for (int i = 0; i <= n % 3; i++) {
        if (i < n % 3)
            continue;
        inner(n); /* executed 1000 times */
    }
    if (n > 400 && n % 60 == 1)
        MPI_Barrier(MPI_COMM_WORLD); /* executed 10 times */
    sum += 2;                        /* executed 750 times */
}

int main(int argc, char **argv)
{
    int n_failed = 0;
    for (int n = 0; n < 400; n++)
        n_failed += attempt(task, n); /* executed 400 times */
    MPI_Init(&argc, &argv);
    for (int n = 400; n < 1000; n++)
        n_failed += attempt(task, n); /* executed 600 times */
    printf("%d %d\n", n_failed, sum);
    MPI_Finalize();
    return 0;
}
