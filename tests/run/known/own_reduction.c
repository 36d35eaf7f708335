/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reduction of the program's own, which MPI calls inside a collective, has four times as much to do on rank 1. That
 * is work of the program, not of MPI.
 *
 * ranks: 2
 * expect: loop=merge rank=1 share=0.9 call=MPI_Allreduce|MPI_Barrier waiters=0 counted_kind=more-work
 *         transfer=0.05
 */
#include "known.h"

static int rank;

static void merge(void *in, void *in_out, int *n, MPI_Datatype *type)
{
    double x = known_sink, *sum = in_out;
    long links = rank == 1 ? 8000000 : 2000000;
    (void)type;
    /* begin merge */
    for (long i = 0; i < links; i++)
        x = LINK(x);
    /* end merge */
    known_sink = x;
    for (int i = 0; i < *n; i++)
        sum[i] += ((double *)in)[i];
}

int main(int argc, char **argv)
{
    rank = known_start(&argc, &argv);
    MPI_Op op;
    MPI_Op_create(merge, 1, &op);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < 40; round++) {
        double mine = rank, all = 0;
        common_work(1000000);
#if defined KNOWN_REDUCE
        MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, op, 1, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
#else
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
#endif
        known_sink = all;
    }
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
