/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A loop in a routine of a stripped library that has no name: it is told by a number, the library, and the routine
 * that leads there.
 *
 * ranks: 2
 * expect: routine="" file=none name=", below library_work()" nameless_below=library_work rank=1 share=0.7
 *         call=MPI_Barrier wait="wait at barrier"
 */
#include "known.h"

double library_work(long n);

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 30; step++) {
        known_sink = library_work(rank == 1 ? 6000000 : 600000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
