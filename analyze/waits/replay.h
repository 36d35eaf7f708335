/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls in the order of their dependences. Which send or which collective a call waited for is often known only when
 * the call ends, or when another process's does; meanwhile calls queue up, for each location in order. The first of a
 * queue is entered (its points get their chain), then, when what it depends on has been entered too, resolved. It
 * waited for the latest of what released it, or for nothing. Queues are as long as processes are apart.
 *
 * Certain before inferred: a wait is explained up to its certain release first (waits.h), and what is inferred explains
 * only what is left. Whoever goes on from a process that polls needs to know what led that one there, which is known
 * when its polling has found something. So points inside a polling are set at its end, in the order of time, as far as
 * what that depends on has been set. All dependences lead back in time, so that somebody can always go on.
 */
#pragma once
#include "analyze/result/result.h"
#include "analyze/steps/rounds.h"
#include "analyze/waits/absences.h"
#include "analyze/waits/call.h"
#include "analyze/waits/call_steps.h"
#include "analyze/waits/matching.h"
#include "analyze/waits/onesided.h"
#include "analyze/waits/links.h"
#include "analyze/waits/progress.h"
#include "analyze/waits/sink.h"

/* Sums of one rank over the run: of its main thread, and of further threads that call MPI. */
struct rank_time {
    _Alignas(CACHE_LINE) double compute_ns;
    double outside_ns; /* outside MPI */
    double mpi_ns, transfer_ns, waiting_ns, blocked_ns, descheduled_ns;
    double preempted_ns; /* of outside_ns, off the CPU although runnable */
    double beside_ns;    /* what further threads last in all, but for what those that only serve wait */
    double asleep_ns;    /* any thread, outside MPI, until another one woke it */
    double unrecorded_ns;
    double ended_ns;            /* from the last event of its main thread to the end of the run */
    float lacks_ns[WHEN_PARTS]; /* descheduled_ns, by part of the run */
    /* At the end: */
    struct sparse atoms; /* time by atom_key, waiting left out */
    struct sparse counts;
    struct sparse served; /* of atoms, done by threads that only serve */
};

/* Of a location at a site: how often it was called, when last, and how long after the call before that; also by what
 * its rank did meanwhile outside MPI (sink.h). */
struct calls_at_site {
    uint32_t n;
    float did_since_ns;
    uint64_t enter_ns, since_ns;
    double did_ns;
};

/* Of a location: how often it has left each loop (rounds.h). */
struct loops_left {
    VEC(uint32_t) n;
};

/* Two lines of the cache: with many locations each call is another one's. */
struct queue_of_calls {
    _Alignas(CACHE_LINE) uint32_t rank;
    bool is_main; /* other threads run beside it */
    bool has_begun;
    bool has_open;          /* something has happened since the tip */
    bool waits_for_polling; /* asleep until another one's polling is explained */
    struct call *first, *last;
    struct mark *tip; /* held */
    uint64_t now_ns;
    double lack_ns; /* since it last waited: ready to run, but without a CPU */
    struct sleepers *asleep_on;
    VEC(struct calls_at_site) calls; /* by site */
    uint32_t loop;                   /* innermost around the last call; TRACE_NONE */
    struct polling polling;
};

struct replay {
    const struct trace *trace;
    uint64_t begin_ns, end_ns; /* of what is replayed */
    struct links *links;
    struct messages *messages;
    struct gatherings *gatherings;
    struct locks *locks;
    struct relays relays;
    const struct absences *absences; /* of all locations, up to the last event that was read */
    absence_list found;              /* scratch */
    struct time_sink times;
    const struct sites *sites;
    const bool *serves; /* by location: a thread that only serves, whose waits are no loss (services.h) */
    const struct call_steps *call_steps;
    struct rounds rounds;
    uint32_t thread_start_step, clock_step, off_step; /* as WHAT_START, WHAT_CLOCK, WHAT_OFF */
    struct queue_of_calls *lanes;                     /* by location */
    struct loops_left *left;                          /* likewise */
    struct rank_time *ranks;
    struct call *spare;
    size_t n_queued;
    uint32_t n_wait_for_polling; /* locations */
    uint64_t n_forced;
    uint64_t longest_wait_ns;
    double unexplained_ns;
    struct mark *origin;
};

/* The borrowed fields are set, and all sites known. */
void replay_begin(struct replay *replay);
void replay_release(struct replay *replay);
/* An empty call, to be filled in and queued. */
struct call *replay_call(struct replay *replay);
void replay_queue(struct replay *replay, uint32_t lane, struct call *call);
/* Runs what can be run. With too many calls queued, gives up what the oldest depends on. */
void replay_run(struct replay *replay);
/* True when there are too many, also where all locations wait for each other and none is awake. */
bool replay_is_full(const struct replay *replay);
/* The end of the trace: everything queued is run, known or not. */
void replay_finish(struct replay *replay);
