/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stretch, all that a location did between two MPI calls: how long it was on a CPU and off it, what samples,
 * switches, counters and user regions tell of that time, and what other threads of its process did meanwhile.
 */
#pragma once
#include "analyze/steps/sleeps.h"
#include "wrap/base/containers.h"
#include "wrap/base/sparse.h"

enum off_kind { OFF_PREEMPTED, OFF_BLOCKED, OFF_N };
/* The parts of a stretch: time off the CPU by kind; on it; and off it while workers ran. Of time asleep, what other
 * threads that call MPI did meanwhile, and lacked a CPU for. */
enum { ON_CPU = OFF_N, BY_TEAM, BY_OTHERS, OTHERS_LACK, N_AMOUNTS };

/* The members that each stretch uses come first: a line of the cache and half of the next one. */
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

/* Nothing is known of it yet. Memory stays. */
void stretch_clear(struct stretch *stretch);
void stretch_release(struct stretch *stretch);
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
/* Workers that were young were on a CPU no longer than they say. */
void stretch_take_back(struct stretch *stretch);
/* `ns` of `n` looks that found the thread waiting in a step for another thread stand for that one's sleep in
 * `slept_in`.
 */
void stretch_sleeps_in(struct stretch *stretch, uint32_t slept_in, uint32_t waited_in, uint32_t n, double ns);
