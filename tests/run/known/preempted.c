/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks do the same work, each on a core of its own, but on that of rank 1 another process computes as well. Who
 * else is on this machine may come to either core: each rank measures how long it is off the CPU.
 *
 * ranks: 2
 * expect: loop=work rank=off share=0.7 call=MPI_Barrier wait="wait at barrier" kind=descheduled
 */
#define _GNU_SOURCE
#include "crowd.h"
#include "known.h"

int main(int argc, char **argv)
{
    const char *text = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    int rank = text ? atoi(text) : 0;
    use_core(rank);
    pid_t competitor = rank == 1 ? compete() : 0;
    known_start(&argc, &argv);
    use_core(rank);
    double x = known_sink, off_s = 0;
    for (int step = 0; step < 24; step++) {
        off_s -= off_cpu_s();
        /* begin work */
        for (long i = 0; i < 10000000; i++)
            x = LINK(x);
        /* end work */
        off_s += off_cpu_s();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    known_sink = x;
    fprintf(stderr, "rank %d was off for %.0f ns\n", rank, 1e9 * off_s);
    if (competitor > 0)
        kill(competitor, SIGKILL);
    MPI_Finalize();
    return 0;
}
