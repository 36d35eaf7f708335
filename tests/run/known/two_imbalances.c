/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two imbalances inside one routine, of one rank in every other step and of another rank in those between: two causes,
 * though one loop is around them. Long enough for samples to tell, which are rare where ranks share a CPU.
 *
 * ranks: 4
 * expect: loop=first_imbalance routine=advance rank=1 also=second_imbalance:3 rows=2 share=0.85
 *         call=MPI_Barrier counted_kind=more-work
 */
#include "known.h"

__attribute__((noinline)) static void advance(int first_late, int second_late)
{
    double x = known_sink;
    for (int sweep = 0; sweep < 4; sweep++) {
        /* begin first_imbalance */
        for (long i = 0; i < (first_late ? 1500000 : 200000); i++)
            x = LINK(x);
        /* end first_imbalance */
        /* begin second_imbalance */
        for (long i = 0; i < (second_late ? 700000 : 200000); i++)
            x = LINK(x) + 1e-9;
        /* end second_imbalance */
    }
    known_sink = x;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 90; step++) {
        advance(rank == 1 && step % 2 == 0, rank == 3 && step % 2 == 1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
