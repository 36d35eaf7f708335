/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank alone does what a condition guards. The first thing there is inlined from a system header: the condition
 * leads to the first line after it of which the program itself has code, not to one of the header.
 *
 * ranks: 2
 * expect: loop=guarded rank=1 share=0.9 call=MPI_Barrier waiters=0 counted_kind=more-work
 *         says="the condition at guarded.cc:18 leads to line 20 every time, but on rank 0 never"
 */
#include "known.h"
#include <numeric>
#include <vector>

__attribute__((noinline)) static double gather(int rank, std::size_t n)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double sum = 0;
    if (rank == 1) {
        std::vector<double> all(n, 1.5);
        all[0] = known_sink;
        /* begin guarded */
        for (int i = 0; i < 6000000; i++)
            sum = LINK(sum) + all[i % 16];
        /* end guarded */
    }
    return sum;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int round = 0; round < 20; round++)
        known_sink = gather(rank, 1000 + round);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
