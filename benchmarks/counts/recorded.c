/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes an MPI program of a kernel, so that its run can be recorded. */
#include <mpi.h>
#include <stdlib.h>

static void end(void)
{
    MPI_Finalize();
}

__attribute__((constructor)) static void begin(void)
{
    MPI_Init(NULL, NULL);
    atexit(end);
}
