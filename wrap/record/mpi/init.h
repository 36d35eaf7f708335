/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start and end of recording, whichever language initialises MPI. All may be called again, and do nothing then.
 *
 * Programs that have sessions and never call MPI_Init. They have no MPI_COMM_WORLD, over which the recorder could agree
 * on ranks, clocks and a directory; and nothing collective may be done when a session begins, because other processes
 * may have none. So recording begins with the first communicator over all processes of "mpi://WORLD": its members are
 * in a collective call just then. It ends with a process's last session, and the archive is made. What comes in a later
 * session, or in one after MPI_Finalize, is not recorded: a line says so.
 */
#pragma once
#include "wrap/record/pmpi/next.h"
#include <stdbool.h>
#include <stdint.h>

/* MPI_Init or MPI_Init_thread is about to be called. Threads that it begins are the library's, until
 * workers_resume. */
void mpi_begins(void);
/* MPI_Init or kin succeeded. */
void mpi_began(uint16_t id, const void *return_address, const void *frame_address);
/* MPI_Finalize is about to be called. */
void mpi_ends(uint16_t id, const void *return_address, const void *frame_address);
/* It has returned. */
void mpi_ended(void);

/* After MPI_Session_init has succeeded. */
void session_began(MPI_Session session);
/* Before MPI_Session_finalize, and after it. */
void session_ends(const void *return_address, const void *frame_address);
void session_ended(void);
/* A communicator was made from a group while nothing is recorded. */
void session_made(MPI_Comm made, const void *return_address, const void *frame_address);
