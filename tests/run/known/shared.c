/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop that makes rank 0 wait lies in a shared library of the program (shared_library.c).
 *
 * ranks: 2
 * expect: loop=library_loop rank=1 share=0.9 call=MPI_Barrier waiters=0
 */
#include "known.h"

double library_work(long n);

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int round = 0; round < 36; round++) {
        known_sink = library_work(rank == 1 ? 7000000 : 1000000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
