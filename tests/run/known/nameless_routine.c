/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two loops in a routine of a stripped library that has no name are one cause: the routine is told by a number, the
 * library, and the routine that leads there.
 *
 * ranks: 2
 * expect: routine="" file=none name=", below library_loops()" nameless_below=library_loops rank=1 share=0.7
 *         call=MPI_Barrier wait="wait at barrier"
 */
#include "known.h"

double library_loops(long n);

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 30; step++) {
        known_sink = library_loops(rank == 1 ? 3000000 : 300000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
