/* SPDX-License-Identifier: BSD-3-Clause */
/* What the first reading of the trace gathers for costs, for the routine profile and for the tree of loops and calls:
 * time by process and call stack. */
#pragma once
#include "analyze/counts/executions.h"
#include "analyze/steps/lanes.h"
#include "wrap/base/vec.h"

/* One call stack of one process, threads added up. */
struct survey_entry {
    uint32_t rank, frame;
    uint32_t region; /* the MPI function that is called there; TRACE_NONE */
    uint64_t n_calls;
    uint64_t in_mpi_ns;  /* how long those calls took */
    uint64_t sampled_ns; /* weights of samples there, outside MPI and on a CPU */
    uint64_t blocked_ns; /* likewise, asleep */
    uint64_t kernel_ns;  /* of them, in the kernel: system calls and page faults */
    uint64_t n_samples;  /* how many they are */
    bool is_workers;     /* threads that do not call MPI were there as well */
};

struct survey {
    struct map index; /* rank << 32 | frame -> entry */
    VEC(struct survey_entry) entries;
};

/* `lane` is that of the event's location and has been fed the event, with this news. */
void survey_feed(struct survey *survey, const struct lane *lane, enum lane_news news, const struct event *event);
/* After the last event: entries stand by rank, then frame. */
void survey_finish(struct survey *survey);
/* Where the counts of threads that never call MPI may be missing, places where such threads were seen are not counted
 * at all. */
void survey_leave_out_workers(const struct survey *survey, struct sites *sites, struct executions *executions);
void survey_release(struct survey *survey);
