/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that have sessions and never call MPI_Init. They have no MPI_COMM_WORLD, over which the recorder could agree
 * on ranks, clocks and a directory; and nothing collective may be done when a session begins, because other processes
 * may have none. So recording begins with the first communicator over all processes of "mpi://WORLD": its members are
 * in a collective call just then. It ends with a process's last session.
 */
#pragma once
#include "wrap/record/pmpi/next.h"
#include <stdbool.h>

#if MPI_VERSION >= 4
/* After MPI_Session_init has succeeded. */
void session_began(MPI_Session session);
/* Before MPI_Session_finalize, and after it. */
void session_ends(const void *return_address, const void *frame_address);
void session_ended(void);
/* A communicator was made from a group while nothing is recorded. */
void session_made(MPI_Comm made, const void *return_address, const void *frame_address);
#endif
/* True while sessions are what keeps recording going: MPI_Finalize does not end it then. */
bool sessions_go_on(void);
