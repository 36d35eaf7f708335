/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks relax for as long in every step, but for one step in which rank 1 has more of it. That is one stall. The
 * compiler goes back from that step on a way of its own, but the loop over steps is one, and the others relax in it
 * too.
 *
 * ranks: 2
 * expect: loop=relax rank=1 share=0.8 call=MPI_Allreduce when="once, for"
 *         says_not="next to nothing" counted_kind=more-work
 */
#include "known.h"

__attribute__((noinline)) static void relax(long n)
{
    double x = known_sink;
    /* begin relax */
    for (long i = 0; i < n; i++)
        x = LINK(x);
    /* end relax */
    known_sink = x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    double all;
    for (int step = 0; step < 300; step++) {
        relax(rank == 1 && step == 100 ? 150000000 : 100000);
        double mine = known_sink;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
