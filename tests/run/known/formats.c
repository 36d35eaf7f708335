/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks print as many numbers in a loop, rank 1 with many digits. Nearly all of that passes inside the C library,
 * which has no counts and calls nothing back: how many instructions an iteration takes is not known, only how long.
 *
 * ranks: 2
 * expect: loop=prints rank=1 share=0.8 call=MPI_Barrier waiters=0 counted_kind=any says_not="the instructions"
 */
#include "known.h"

__attribute__((noinline)) static int print(char *text, int i, int has_digits)
{
    return has_digits ? snprintf(text, 64, "%24.17g", i * 0.1) : snprintf(text, 64, "%d", i);
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), n = 0;
    char text[64];
    for (int step = 0; step < 60; step++) {
        /* begin prints */
        for (int i = 0; i < 8000; i++)
            n += print(text, i, rank == 1);
        /* end prints */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    known_sink = n;
    MPI_Finalize();
    return 0;
}
