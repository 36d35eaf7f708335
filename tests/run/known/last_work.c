/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library hangs its last work on MPI_COMM_SELF: MPI_Finalize deletes the attribute, and the function for that
 * computes and meets the other rank. Both belong to the run.
 *
 * ranks: 2
 * expect: loop=flushing rank=1 share=0.8 call=MPI_Barrier at=last_meeting instances=1 waiting>=0.25 site_in=close_all
 */
#include "known.h"

static MPI_Comm both;
static int rank;

static void flush(void)
{
    double x = known_sink;
    /* begin flushing */
    for (long i = 0; i < 100000000; i++)
        x = LINK(x);
    /* end flushing */
    known_sink = x;
}

static int close_all(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    if (rank == 1)
        flush();
    /* begin last_meeting */
    MPI_Barrier(both);
    /* end last_meeting */
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int key;
    rank = known_start(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &both);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_all, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    MPI_Comm_free_keyval(&key);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
