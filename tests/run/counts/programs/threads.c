/* SPDX-License-Identifier: BSD-3-Clause */
/* flags: -fopenmp
 * OpenMP: every thread counts for itself; static schedules, so that each thread's work is the same in every run. The
 * sum is an integer's, which one instruction adds: a double's would be a loop that is repeated when two threads meet.
 */
#include "tests/run/counts/sync.h"
#include <omp.h>
#include <stdio.h>

void counts_thread(int number);

enum { N = 4000, THREADS = 4 };
static double a[N], b[N];

static void in_turn(int id)
{
    for (int turn = 0; turn < THREADS; turn++) {
#pragma omp barrier
        if (turn == id)
            counts_sync();
    }
}

int main(void)
{
    long sum = 0;
    omp_set_num_threads(THREADS);
    for (int round = 0; round < 3; round++) {
#pragma omp parallel reduction(+ : sum)
        {
            int id = omp_get_thread_num();
            counts_thread(id);
#pragma omp for schedule(static)
            for (int i = 0; i < N; i++) {
                a[i] += i % 7;
                if (i % (id + 2) == 0)
                    b[i] += a[i];
            }
            in_turn(id);
#pragma omp for schedule(static, 16)
            for (int i = 0; i < N; i++)
                sum += (long)(a[i] * b[N - 1 - i]);
            in_turn(id);
        }
        counts_sync();
    }
    printf("%ld\n", sum);
    return 0;
}
