/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of a process that share a cause. The same work takes twice as long when half as many threads do it, and that
 * is neither more work nor slower work. Samples of all threads of a process in a place, over the time that the process
 * spent there, tell how many ran it at a time.
 *
 * Takes every event of the first reading. Gives each rank of a cause its threads: how many, and which part one of them
 * has. It tells as well for how long they lacked a CPU, and what was on a CPU but not sampled.
 */
#pragma once
#include "analyze/blame/blame.h"
#include "analyze/result/result.h"
#include "analyze/steps/calltree.h"
#include "analyze/steps/lanes.h"

/* Of a place in which all threads of a process were sampled for so long, n_at_once of which can be on a CPU at once,
 * and in which the process itself was for so long. 0 = unknown: where more of them would share it, a thread ran there
 * while the main thread computed elsewhere, was inside MPI or had no CPU. */
double threads_at_a_time(double sampled_ns, double computing_ns, uint32_t n_at_once);

struct thread_life {
    uint64_t first_ns, last_ns; /* seen at work; 0 = never */
    uint64_t lacked_ns;         /* ready to run outside MPI, but without a CPU, up to its last sleep (team.h) */
    uint64_t ready_ns, used_ns; /* since then: so it was ready, and so long it ran */
    uint64_t off_ns, on_ns;     /* since when it is ready, or runs after that; 0 = it is not so */
    double young_ns;        /* of other threads, too young to be sampled for sure: this one counts their CPU time, */
    double young_needed_ns; /* and that in which they were ready without a CPU as well */
    bool calls_mpi;
};
struct thread_use {
    struct sparse sampled, n;      /* samples on a CPU, by frame and location: their time, and how many */
    VEC(struct thread_life) lives; /* by location */
};

/* Up to now. */
uint64_t thread_life_lacked_ns(const struct thread_life *life);

void thread_use_take(struct thread_use *use, struct sites *sites, const struct lane *lane, const struct event *event);
void thread_use_switch(struct thread_use *use, const struct event *event);
void thread_use_young(struct thread_use *use, const struct trace *trace, const struct event *event);
/* First reading: every event, after lanes_feed. */
static inline void thread_use_feed(struct thread_use *use, struct sites *sites, const struct lane *lane,
                                   const struct event *event)
{
    if (!lane->has_team)
        return;
    if (event->kind == EV_BINS)
        thread_use_young(use, sites->trace, event);
    else if (event->kind == EV_SAMPLE && !lane->depth && !(event->flags & WW_S_BLOCKED))
        thread_use_take(use, sites, lane, event);
    else if ((event->kind == EV_OFF || event->kind == EV_ON) && !lane->depth)
        thread_use_switch(use, event);
}
/* Gives that of a section away; adds it to that of the run. */
void thread_use_pack(struct thread_use *use, struct packing *packing);
void thread_use_unpack(struct thread_use *use, struct unpacking *unpacking);
/* After it. */
void thread_use_complete(struct thread_use *use);
void thread_use_release(struct thread_use *use);
/* Adds for how long young threads of each process needed a CPU, all together, to `by_rank`. */
void thread_use_add_young(const struct thread_use *use, const struct trace *trace, double *by_rank);
/* To every cause that is a place in the code where threads without MPI calls were seen. A late rank whose threads did
 * half as much is late no more (late.h). Causes and steps are complete. */
void thread_use_add_to_causes(struct analysis *analysis, struct sites *sites, const struct survey *survey,
                              const struct thread_use *use);
