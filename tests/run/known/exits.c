/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The barriers again, but the program never calls MPI_Finalize: the run is reported all the same, and how it ended.
 *
 * ranks: 2
 * exit: any
 * expect: loop=unfinished rank=1 share=0.9 call=MPI_Barrier waiters=0 ends=exit,exit
 */
#include "known.h"
#include <string.h>

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int round = 0; round < 50; round++) {
        common_work(400000);
        if (rank == 1) {
            double x = known_sink;
            /* begin unfinished */
            for (long i = 0; i < 6000000; i++)
                x = LINK(x);
            /* end unfinished */
            known_sink = x;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (argc > 1 && !strcmp(argv[1], "aborts"))
        MPI_Abort(MPI_COMM_WORLD, 7);
    exit(0);
}
