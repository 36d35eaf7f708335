/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank has four times the work of the other in ten steps, then the other: nobody has more of it over the run, but
 * whoever is late has more of it then.
 *
 * ranks: 2
 * expect: loop=moving rank=any share=0.75 call=MPI_Allreduce counted_kind=more-work
 *         next="in each step another rank has more of it: divide"
 */
#include "known.h"

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 100; step++) {
        long links = step / 10 % 2 == rank ? 4000000 : 1000000;
        double x = known_sink, all;
        /* begin moving */
        for (long i = 0; i < links; i++)
            x = LINK(x);
        /* end moving */
        MPI_Allreduce(&x, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        known_sink = all;
    }
    MPI_Finalize();
    return 0;
}
