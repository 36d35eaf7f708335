/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks do the same little work and exchange large blocks: nobody is late, and most of the time goes into moving
 * data.
 *
 * ranks: 2
 * expect: transfers="MPI_Alltoall volume.c" answer=transfers first="oving data takes"
 */
#include "known.h"
#include <string.h>

enum { BLOCK = 2 << 20 };

int main(int argc, char **argv)
{
    known_start(&argc, &argv);
    char *out = malloc(2 * BLOCK), *in = malloc(2 * BLOCK);
    memset(out, 1, 2 * BLOCK);
    memset(in, 0, 2 * BLOCK);
    for (int step = 0; step < 150; step++) {
        common_work(20000);
        MPI_Alltoall(out, BLOCK, MPI_BYTE, in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
