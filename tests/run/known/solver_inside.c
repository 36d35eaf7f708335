/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stripped program waits inside a numerical library, which is told as the line that calls it; without lines, the name
 * of what is called there is all that a reader knows.
 *
 * ranks: 2
 * expect: file=none routine="" rank=1 share=0.8 call=MPI_Barrier through="pdplanted_()"
 */
#include "known.h"

void pdplanted_(void);

int main(int argc, char **argv)
{
    static double x[1000];
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 60; step++) {
        for (int i = 0; i < (rank == 1 ? 4000000 : 400000); i++)
            x[i % 1000] += 1 / (1 + x[i % 1000]);
        pdplanted_();
    }
    known_sink = x[7];
    MPI_Finalize();
    return 0;
}
