/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reduction of the program's own, which MPI calls inside a collective, naps on rank 1, many times between two looks
 * of the recorder, and computes a little on both. That is time of the program off the CPU, not of MPI.
 *
 * ranks: 2
 * expect: loop=napping rank=1 share=0.9 call=MPI_Allreduce|MPI_Barrier waiters=0 kind=blocked transfer=0.05
 */
#include "known.h"

static int rank;

static void merge(void *in, void *in_out, int *n, MPI_Datatype *type)
{
    double *sum = in_out;
    int naps = rank == 1 ? 8 : 0;
    (void)type;
    for (int i = 0; i < 2000; i++)
        known_sink = LINK(known_sink);
    /* begin napping */
    for (int i = 0; i < naps; i++)
        known_nap(200000);
    /* end napping */
    for (int i = 0; i < *n; i++)
        sum[i] += ((double *)in)[i];
}

int main(int argc, char **argv)
{
    rank = known_start(&argc, &argv);
    MPI_Op op;
    MPI_Op_create(merge, 1, &op);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 120; round++) {
        double mine = rank, all = 0;
        common_work(200000);
        known_nap(100000);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
        known_sink = all;
    }
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
