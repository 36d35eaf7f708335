/* SPDX-License-Identifier: BSD-3-Clause */
/* The window of one-sided communication: memory that MPI allocates (it may then be shared between processes), or, built
 * with -DKNOWN_OWN_MEMORY, the program's own. */
#pragma once
#include "known.h"

static MPI_Win known_window(double **memory)
{
    MPI_Win window;
#ifdef KNOWN_OWN_MEMORY
    static double own[100];
    *memory = own;
    MPI_Win_create(own, sizeof own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
#else
    MPI_Win_allocate(100 * sizeof **memory, sizeof **memory, MPI_INFO_NULL, MPI_COMM_WORLD, memory, &window);
#endif
    **memory = 0;
    return window;
}
