/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between two meetings ranks run one loop of a header with two lambdas, one after the other: the first as long on both,
 * the second three times as long on rank 1. Steps are about as long as the time between two samples.
 *
 * ranks: 2
 * expect: routine=flux rank=1 share=0.85 call=MPI_Allreduce counted_kind=more-work next="rebuild with mpicxx"
 */
#include "known.h"
#include "header_each.h"

__attribute__((noinline)) static double smooth(long n)
{
    double x = known_sink;
    each(n, [&](long) { x = x * 1.0000001 + 1e-9; });
    return x;
}

__attribute__((noinline)) static double flux(long n)
{
    double x = known_sink;
    each(n, [&](long) { x = x * 1.0000002 + 2e-9; });
    return x;
}

int main(int argc, char **argv)
{
    enum { STEPS = 45, LINKS_PER_MS = 450000 };
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < STEPS; step++) {
        double x = smooth(4L * LINKS_PER_MS) + flux((rank == 1 ? 12L : 4L) * LINKS_PER_MS), y;
        MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        known_sink = y;
    }
    MPI_Finalize();
    return 0;
}
