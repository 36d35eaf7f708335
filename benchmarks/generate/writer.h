/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Archives of runs that never took place: events of simulated processes as whywait's recorder would have written them
 * (call stacks at MPI calls, samples of what ran in between), or as other tools do (user regions that are entered and
 * left). Each process has one location; its events must come in order of time.
 *
 * Of many processes some thousand at a time have an open file. The run takes place once for each such share, and only
 * events of that share are written.
 */
#pragma once
#include "analyze/archive/archive.h"
#include "analyze/archive/prediction.h"
#include "analyze/archive/starts.h"
#include "wrap/base/containers.h"

enum style { STYLE_OURS, STYLE_FOREIGN };

/* What the simulated program consists of. Cause: who is late runs LOAD for longer than the others. */
enum routine { ROUTINE_MAIN, ROUTINE_LOAD, ROUTINE_WORK, N_ROUTINES };
/* More of them, in archives of other tools: code that runs, and places around calls. */
enum { PARTS = 64, PLACES = 1000, ROUTINE_PART = N_ROUTINES, ROUTINE_PLACE = ROUTINE_PART + PARTS };

enum { SAMPLE_PERIOD_NS = 1000000, NO_PROCESS = UINT32_MAX };

struct written_comm {
    const char *name;
    VEC(uint64_t) members; /* ranks */
};

struct writer {
    OTF2_Archive *archive;
    OTF2_AttributeList *attributes;
    const char *dir;
    enum style style;
    uint32_t n_ranks;
    uint64_t n_events, end_ns;
    struct written_process {
        OTF2_EvtWriter *events; /* NULL = its events are written another time */
        struct prediction stacks;
        struct starts starts;
        struct map begun; /* receive that is pending -> as starts_begin has it */
        uint64_t n_calls;
        uint64_t unsampled_ns, n_events, end_ns;
        uint32_t n_in, n_out, neighbors[2]; /* in its topology on MPI_COMM_WORLD */
    } *processes;
    VEC(struct written_comm) comms; /* 0 is MPI_COMM_WORLD */
    bool has_failed;
};

int writer_begin(struct writer *writer, const char *dir, enum style style, uint32_t n_ranks);
/* Before the run takes place: events of processes from `first` on will be written; returns the first of the next share,
 * or n_ranks. */
uint32_t writer_begin_share(struct writer *writer, uint32_t first);
/* Writes the definitions and closes the archive. 0, or -1 when a write has failed. */
int writer_end(struct writer *writer);
/* The process is in the routine from one time to the other. */
void writer_run(struct writer *writer, uint32_t rank, uint32_t routine, uint64_t from_ns, uint64_t to_ns);
/* What comes between is called there. */
void writer_open(struct writer *writer, uint32_t rank, uint32_t routine, uint64_t time_ns);
void writer_close(struct writer *writer, uint32_t rank, uint32_t routine, uint64_t time_ns);
void writer_enter(struct writer *writer, uint32_t rank, uint32_t call, uint64_t time_ns);
void writer_leave(struct writer *writer, uint32_t rank, uint32_t call, uint64_t time_ns);
/* Records inside a call. */
void writer_send(struct writer *writer, uint32_t rank, uint64_t time_ns, uint32_t to, uint32_t tag);
void writer_recv(struct writer *writer, uint32_t rank, uint64_t time_ns, uint32_t from, uint32_t tag);
void writer_isend(struct writer *writer, uint32_t rank, uint64_t time_ns, uint32_t to, uint32_t tag, uint64_t request);
void writer_isend_done(struct writer *writer, uint32_t rank, uint64_t time_ns, uint64_t request);
void writer_irecv(struct writer *writer, uint32_t rank, uint64_t time_ns, uint64_t request);
void writer_irecv_done(struct writer *writer, uint32_t rank, uint64_t time_ns, uint32_t from, uint32_t tag,
                       uint64_t request);
void writer_collective(struct writer *writer, uint32_t rank, uint32_t call, uint32_t comm, uint64_t enter_ns,
                       uint64_t leave_ns);
