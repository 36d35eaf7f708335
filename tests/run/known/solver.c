/* SPDX-License-Identifier: BSD-3-Clause */
/* The library of solver_inside.c: in its file's name it is a numerical one. */
#include <mpi.h>

void pdplanted_(void);

static volatile int n_calls;

void pdplanted_(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    n_calls++; /* no tail call */
}
