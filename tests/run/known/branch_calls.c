/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A branch leads to a call of the C library, on rank 1 nine times of ten, on rank 0 once. The library is not counted,
 * and the iterations and instructions of the loop are as many on both: it is more work, since more calls are made.
 *
 * ranks: 2
 * expect: loop=branch_calls rank=1 share=0.7 call=MPI_Barrier waiters=0 counted_kind=more-work
 */
#include "known.h"
#include <math.h>

enum { FLAGS = 1 << 17 };
static unsigned char flags[FLAGS];

__attribute__((noinline)) static void go_round(void)
{
    double x = known_sink;
    /* begin branch_calls */
    for (long i = 0; i < FLAGS; i++)
        if (flags[i])
            x = sin(x) + 1.0;
        else
            x = LINK(x);
    /* end branch_calls */
    known_sink = x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (long i = 0; i < FLAGS; i++)
        flags[i] = (i * 7919 % 10 < 1) == (rank != 1);
    for (int round = 0; round < 100; round++) {
        common_work(100000);
        go_round();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
