/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From events to calls: for every location, whether it is inside MPI, and what happened since it last was (a stretch).
 *
 * Both passes over the trace use it. A thread that never calls MPI is a worker: its samples belong to the stretch of
 * its process's main thread, so that the loop inside a parallel region is found. It keeps them until that stretch ends;
 * a thread that calls MPI before that keeps them for good.
 *
 * A thread off the CPU may wait for another thread of its process, and then that one's doings explain its time
 * (team.h). A main thread is taken to wait for its workers, as long as no other thread calls MPI; of several threads
 * that call MPI one waits for another only where looks found it in a call that waits for a thread. The other thread may
 * have slept itself, for something outside the process. Then its sleep explains that of the one it wakes.
 */
#pragma once
#include "analyze/steps/numbers.h"
#include "analyze/steps/path_steps.h"
#include "analyze/steps/sites.h"
#include "analyze/steps/sleepers.h"
#include "analyze/steps/slices.h"
#include "analyze/steps/stretch.h"
#include "analyze/steps/team.h"
#include "analyze/trace/trace.h"
#include "wrap/base/containers.h"
#include "wrap/base/sparse.h"

struct lane {
    _Alignas(CACHE_LINE) uint32_t rank;
    uint32_t depth;               /* of regions entered since MPI was, MPI's included; 0 = outside MPI */
    uint32_t context;             /* of user regions entered */
    uint32_t left_context;        /* the outermost one left since the last was entered, or MPI; TRACE_NONE */
    uint32_t region, site, frame; /* of the present or last MPI call */
    bool is_worker;
    bool has_team; /* its process has other threads */
    bool is_begun, is_ended;
    bool is_off_cpu;
    bool is_off;       /* as its rank was when the present or last MPI call began */
    bool has_bins;     /* of its own: the next call is the one at which they were taken */
    bool was_counted;  /* at a call before */
    bool is_listed;    /* among its rank's busy workers */
    bool has_switches; /* recorded: time off the CPU is known by them alone */
    uint64_t enter_ns; /* of that call; later by what it has called functions of the program back for */
    uint64_t mark_ns;  /* up to here the stretch's paths are accounted for */
    /* Since when it has called one back, 0 = it does not. A stretch lasts from then until that returns, outside MPI. */
    uint64_t callback_ns;
    struct stretch stretch;
    uint64_t off_since_ns; /* while it is; 0 is a time like any other */
    enum off_kind off_kind;
    bool may_sleep_since; /* nothing tells of it before: it may have been found asleep, when sampling began */
    struct sleeper sleeper;
    uint32_t next_worker; /* among the busy ones of its rank; TRACE_NONE */
    bool is_stopped;      /* off the CPU with its process */
    uint64_t stopped_ns;  /* all such times */
    struct team_member member;
    struct team_sums off_sums; /* the team's, when it left the CPU */
    struct team_sums run_sums; /* likewise, when the stretch began, */
    double lacked_ns;          /* and what threads had lacked by then */
    struct sparse bins;        /* taken since the last call at which they were, this process's workers' among them */
    uint64_t young_ns, young_ready_ns; /* told with them */
    double uncounted_ns;               /* on a CPU, in the stretches since */
    uint32_t counted_frame;            /* call stack when bins were last taken, plus 1; 0 = none */
};

struct lanes {
    struct sites *sites;
    uint64_t begin_ns; /* of what is read */
    const struct trace *trace;
    struct lane *at;        /* by location */
    uint32_t *rank_lane;    /* main thread's location of each rank */
    uint32_t *rank_workers; /* a worker that was sampled in the main thread's stretch; TRACE_NONE */
    struct team *rank_team;
    struct ended_sleep *rank_woke; /* the last sleep of its threads that ended */
    uint32_t *rank_callers;        /* threads that call MPI beside the main thread */
    uint32_t *rank_left;           /* the location that left MPI last */
    bool *rank_is_off;             /* the program has switched recording off there */
    bool has_young;                /* of some lane is told what its young workers did */
    bool is_first;                 /* reading */
    /* Of that: times, by the step that a thread slept in and the step in which another one waited for it (key_pair). */
    struct sparse awaited;
    struct path_steps paths;
};

enum lane_news {
    LANE_NOTHING,
    LANE_ENTERED,  /* an MPI call began: the stretch is complete */
    LANE_CALLED,   /* it has called a function of the program: a stretch begins */
    LANE_RETURNED, /* which returned: that stretch is complete, and the call goes on */
    LANE_LEFT,     /* it ended; a new stretch begins */
    LANE_ENDED,    /* the location's last event: the stretch is complete when it is outside MPI */
};

void lanes_begin(struct lanes *lanes, struct sites *sites);
/* The first event again, for the second reading, or that of a section of the run that begins then. What was learned
 * about workers is kept. */
void lanes_rewind(struct lanes *lanes, uint64_t begin_ns);
void lanes_release(struct lanes *lanes);
/* Gives away what a section has taught about locations and contexts, for the second reading; adds it to what the run
 * has.
 */
void lanes_pack(struct lanes *lanes, struct packing *packing);
void lanes_unpack(struct lanes *lanes, struct unpacking *unpacking, const struct numbers *numbers);
/* Steps from this number on are none any more. */
void lanes_forget_steps(struct lanes *lanes, uint32_t from);
static inline bool lanes_rank_is_off(const struct lanes *lanes, uint32_t rank)
{
    return rank < lanes->trace->n_ranks && lanes->rank_is_off[rank];
}
enum lane_news lanes_take(struct lanes *lanes, const struct event *event);
/* What the event is to its lane. Records of what a call does are nothing to it, once it has begun. */
static inline enum lane_news lanes_feed(struct lanes *lanes, const struct event *event)
{
    enum {
        TAKEN = 1u << EV_ENTER | 1u << EV_LEAVE | 1u << EV_SAMPLE | 1u << EV_OFF | 1u << EV_ON | 1u << EV_BINS |
                1u << EV_CONTROL | 1u << EV_END
    };
    bool is_nothing = !(TAKEN >> event->kind & 1) && lanes->at[event->loc].is_begun;
    return is_nothing ? LANE_NOTHING : lanes_take(lanes, event);
}
