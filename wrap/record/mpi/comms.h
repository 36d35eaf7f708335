/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder's knowledge of communicators, windows and matched messages.
 *
 * Looking a handle up compares its value and asks MPI nothing, so any value that a program passes is safe. Learning a
 * handle asks MPI (group, size, topology) and writes its WW_COMM or WW_WIN. It is done only when a call on that handle
 * has just succeeded: the program's error handlers never see a query of ours. All of it may be called from any thread.
 */
#pragma once
#include "wrap/record/mpi/handle_map.h"
#include "wrap/record/pmpi/next.h"
#include <stddef.h>

struct comm_info {
    uint32_t id, parent;
    int rank, size;
    int remote_size; /* 0: an intracommunicator */
    bool known;      /* the numbers above and below are valid */
    bool written;    /* its WW_COMM is in the spool */
    int n_in, n_out; /* neighbours, MPI_PROC_NULL included */
    int *neighbors;  /* sources, then destinations; MPI_PROC_NULL where there is none */
    struct comm_info *next_free;
    uint32_t n_collectives[2]; /* blocking, non-blocking */
};

/* MPI is initialised: the predefined communicators get their ids. */
void comms_start(void);
bool comms_are_started(void);
/* MPI was finalised, and what the recorder would ask about others with it: nothing is learned any more. */
void comms_end(void);
/* NULL: not seen yet, or not a communicator at all. */
const struct comm_info *comm_find(MPI_Comm comm);
/* As comm_find, but asks MPI and writes what is missing. `comm` must be valid. NULL when recording cannot go on. */
const struct comm_info *comm_learn(MPI_Comm comm);
/* A communicator was made from `parent` (id; 0 = unknown). Gives it an id now; pending: it cannot be asked yet. */
void comm_created(MPI_Comm comm, uint32_t parent, bool pending);
/* Around MPI_Comm_free: the handle may be given out again as soon as the real call has begun. */
struct comm_info *comm_forget(MPI_Comm comm);
void comm_restore(MPI_Comm comm, struct comm_info *info);
void comm_drop(struct comm_info *info);

uint32_t win_find(MPI_Win win);
uint32_t win_learn(MPI_Win win, uint32_t comm);
uint32_t win_forget(MPI_Win win);
void win_restore(MPI_Win win, uint32_t id);

/* Communicator ids of matched messages; 0 = unknown. */
void message_set(MPI_Message message, uint32_t comm);
uint32_t message_find(MPI_Message message);

/* Writes a WW_NAME; text need not end in a zero. */
void name_write(enum ww_named what, uint32_t id, const char *text, size_t bytes);
