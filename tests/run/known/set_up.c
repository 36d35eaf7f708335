/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Before the first barrier main calls the C library once on rank 1, outside of any loop. That takes time inside the
 * library; the line of the call is named, not all of main, which calls other things as well.
 *
 * ranks: 2
 * expect: loop=sorting rank=1 share=0.5 call=MPI_Barrier waiters=0 instances=1 when="once, for"
 *         counted_kind=more-work
 */
#include "known.h"
#include <string.h>

enum { N_NAMES = 1 << 19, NAME_BYTES = 8 };
static char names[N_NAMES][NAME_BYTES];

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    unsigned random = 1;
    for (int i = 0; i < N_NAMES; i++)
        for (int k = 0; k < NAME_BYTES - 1; k++)
            names[i][k] = (char)('a' + ((random = random * 1664525 + 1013904223) >> 24) % 26);
    /* begin sorting */
    if (rank == 1)
        qsort(names, N_NAMES, NAME_BYTES, (int (*)(const void *, const void *))strcmp);
    /* end sorting */
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < 20; step++) {
        common_work(1000000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
