/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stripped program that reaches its only reduction through seven routines, in two ways that differ in the eighth
 * caller and are alike again behind it: the calls are two sites, and read so.
 *
 * ranks: 2
 * expect: file=none routine="" name=" of nameless_paths" rank=1 share=0.8 call=MPI_Allreduce sites=2 waiters=0
 */
#include "known.h"

static volatile unsigned n_calls; /* no tail calls: all callers are on the stack */

#define CALLER(name, next, addend)                                                                                     \
    __attribute__((noinline)) static double name(double x)                                                             \
    {                                                                                                                  \
        double sum = next(x + (addend));                                                                               \
        n_calls += (addend);                                                                                           \
        return sum;                                                                                                    \
    }

__attribute__((noinline)) static double reduce(double x)
{
    double sum = 0;
    MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    n_calls++;
    return sum;
}
CALLER(norm, reduce, 2)
CALLER(residual, norm, 3)
CALLER(smooth, residual, 4)
CALLER(cycle, smooth, 5)
CALLER(precondition, cycle, 6)
CALLER(solve, precondition, 7)

#define STAGE(name, addend)                                                                                            \
    __attribute__((noinline)) static double name(int n)                                                                \
    {                                                                                                                  \
        double x = known_sink;                                                                                         \
        for (int i = 0; i < n; i++)                                                                                    \
            x = LINK(x) + (addend);                                                                                    \
        double sum = solve(x);                                                                                         \
        n_calls += (addend);                                                                                           \
        return sum;                                                                                                    \
    }
STAGE(predict, 8)
STAGE(correct, 9)

int main(int argc, char **argv)
{
    static double (*const volatile stages[])(int) = {predict, correct};
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 60; step++)
        known_sink = stages[step % 2](rank == 1 ? 3000000 : 300000);
    MPI_Finalize();
    return 0;
}
