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
#include "analyze/steps/sites.h"
#include "analyze/steps/sleeps.h"
#include "analyze/steps/slices.h"
#include "analyze/steps/team.h"
#include "analyze/steps/numbers.h"
#include "analyze/trace/trace.h"
#include "wrap/base/containers.h"
#include "wrap/base/sparse.h"

enum off_kind { OFF_PREEMPTED, OFF_BLOCKED, OFF_N };
/* What a stretch is made of: time off the CPU by kind; on it; and off it while workers ran. Of time asleep, what other
 * threads that call MPI did meanwhile, and lacked a CPU for. */
enum { ON_CPU = OFF_N, BY_TEAM, BY_OTHERS, OTHERS_LACK, N_AMOUNTS };

/* What a location did between two MPI calls. What every one has comes first: a line of the cache and half of the next
 * one. */
struct stretch {
    uint64_t begin_ns, end_ns;
    uint32_t from, to; /* sites */
    uint64_t off_ns[OFF_N];
    uint64_t run_ns[OFF_N], kept_ns[OFF_N]; /* of off_ns: other threads ran; were ready, and none ran */
    double lacked; /* while threads ran, such a part of the time others lacked a CPU (team.h) */
    uint32_t n_on, n_blocked, n_sync, n_worker, n_idle, n_beside;
    uint32_t led_by;       /* 1 + location of a thread that was inside MPI for most of a time asleep; 0 = none */
    uint64_t led_until_ns; /* it left MPI then, the last one to do so before this thread went on */
    bool is_alone;         /* no other thread of the process calls MPI */
    bool is_off;           /* recording was switched off: nothing is known of it but its length */
    bool is_counted;
    bool is_count_whole;               /* they had been taken before: it is known from when they are */
    uint64_t young_ns, young_ready_ns; /* workers that ended unsampled were on a CPU, or had none, all together */
    uint64_t taken_ns;                 /* workers that nothing tells of but their end were taken to run for so long */
    double count_more_ns;              /* the counts are also of so much time on a CPU, in stretches before this one */
    struct sparse paths;               /* exact durations by step (regions of foreign archives) */
    struct sparse on, blocked, worker; /* sampled weights by step */
    VEC(struct sighting) sightings;    /* those of `on`, one by one */
    struct sparse calling;             /* those of `on` that were in a system call: on the way to sleep, perhaps */
    struct sparse sync;                /* likewise, asleep until another thread wakes it */
    struct sparse idle;                /* likewise, spinning inside a threading run-time */
    struct sparse beside;              /* what other threads did while this one, which calls MPI as others do, slept */
    double by_workers_ns;              /* of it, by threads that never call MPI, for this thread */
    double team_idle_ns;               /* workers spun so */
    struct sleeps sleeps;              /* as far as switches are recorded; without what others ran meanwhile */
    struct sparse counts;              /* bins and frames in flight (executions.h), when is_counted */
};

/* For something outside the process, or for another thread that slept for that. The thread that goes on next may have
 * waited for it. */
struct ended_sleep {
    uint32_t step; /* plus 1; 0 = there was none */
    uint64_t begin_ns, end_ns;
};

/* Likewise. */
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
    bool may_sleep_since;        /* nothing tells of it before: it may have been found asleep, when sampling began */
    uint32_t n_seen, n_sync;     /* looks that found it asleep, this time; of them, until another thread wakes it, */
    double sync_ns;              /* and what these stand for */
    uint32_t naps_in, awaits_in; /* plus 1: the steps in which the last look found it so; 0 = none has */
    struct ended_sleep slept;    /* the last one, with those before it in the same step */
    uint32_t next_worker;        /* among the busy ones of its rank; TRACE_NONE */
    uint64_t lacked_long_ns;     /* ready to run but without a CPU, all times that may be a stop (wrap/notes.h) */
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
    VEC(bool) is_part;        /* by context: it is not around all of a location's calls of MPI */
    VEC(uint32_t) path_steps; /* by context: plus 1, the step of time in it; 0 = it tells nothing, as far as is known */
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
/* Splits a stretch's length exactly into its own amounts, none of them of others: what the clock of the scheduler and
 * ours disagree about is taken from the times off the CPU. */
void stretch_split(const struct stretch *stretch, double amounts[N_AMOUNTS]);
/* What other threads did in `off_ns`, its time off the CPU of a kind, and for how long they lacked a CPU. */
struct others_did {
    double ran_ns, lacked_ns;
};
struct others_did stretch_others(const struct stretch *stretch, enum off_kind kind, double off_ns);
uint64_t stretch_length(const struct stretch *stretch);
/* On a CPU from its begin until now. */
uint64_t stretch_on_until(const struct stretch *stretch, uint64_t now_ns);
static inline uint32_t stretch_n_samples(const struct stretch *stretch)
{
    return stretch->n_on + stretch->n_blocked + stretch->n_sync + stretch->n_worker + stretch->n_idle +
           stretch->n_beside;
}
