/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned sends. MPI_Start only permits one to begin: what its receiver waits for is the last part, which any
 * thread of the process may declare ready. So a partitioned send is told as started in the call by which all its parts
 * are ready, and that call is where the message leaves.
 */
#pragma once
#include "wrap/record/pmpi/next.h"
#include <stdbool.h>

/* Each is called after the MPI call has succeeded, by the request as the program has it. */
void partitioned_made(MPI_Request request, int n_parts);
/* True if that is a partitioned send: none of its parts are ready. */
bool partitioned_started(MPI_Request request);
/* True if its last parts were among these. */
bool partitioned_ready(MPI_Request request, int n_parts);
void partitioned_freed(MPI_Request request);
