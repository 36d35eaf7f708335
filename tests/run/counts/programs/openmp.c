/* SPDX-License-Identifier: BSD-3-Clause */
/* flags: -fopenmp */
/* OpenMP: outlined regions, worksharing, reductions, tasks, critical sections; the main thread's counts. */
#include "tests/run/counts/sync.h"
#include <omp.h>
#include <stdio.h>

static __attribute__((noinline)) long fib(int n)
{
    long a, b;
    if (n < 8)
        return n;
#pragma omp task shared(a) if (0)
    a = fib(n - 1);
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

int main(void)
{
    static double x[5000];
    long sum = 0;
    long tasks = 0;
    omp_set_dynamic(0);
    for (int round = 0; round < 6; round++) {
#pragma omp parallel for schedule(static) num_threads(3) reduction(+ : sum)
        for (int i = 0; i < 5000; i++) {
            x[i] += i % 7 ? 1.5 : 0.5;
            sum += x[i] > 2 ? 1 : 0;
        }
        counts_sync();
#pragma omp parallel num_threads(2)
        {
#pragma omp critical
            tasks += omp_get_thread_num() == 0;
#pragma omp master
            x[round] = 1;
        }
        tasks += fib(12);
    }
    counts_sync();
    printf("%ld %ld\n", sum, tasks);
    return 0;
}
