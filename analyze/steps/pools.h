/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of stretches that are alike.
 *
 * A stretch with few samples has no shares of its own: stretches of one process between the same two call sites, of
 * like length (half an octave), are pooled, and each gets the shares of its pool. A pool that is poor itself borrows a
 * few samples from that of all lengths; one that has next to none gives way to it, and that one to the pool of like
 * length of all processes together: who takes as long there runs the same code, as a rule, and time that both sides of
 * a wait spend has to have one name to cancel. Where that is poor too, one or two samples of the process count if they
 * agree; then what all processes do for as long before the same call, after the same function of MPI wherever they call
 * it (a process at the border has other neighbours); then what any do between the same two calls, up to four times as
 * long (with more of the data); otherwise it is "the code between X and Y". Pools are filled in a first pass over the
 * trace.
 *
 * Samples of a pool weigh as much as the part of the stretch in which they were taken is long (slices.h).
 *
 * Sleeps whose lengths are known one by one have pools of their own (sleeps.h).
 */
#pragma once
#include "analyze/steps/numbers.h"
#include "analyze/steps/sites.h"
#include "analyze/steps/slices.h"
#include "analyze/steps/stretch.h"

struct pool {
    struct sparse on, blocked, sync, worker, idle, calling, beside;
    struct slices slices;         /* of `on`; gone when pools are complete */
    double team_ns, team_idle_ns; /* others ran while these threads were off the CPU; workers were seen to spin */
    double by_workers_ns;         /* of `beside`, by threads that never call MPI */
    uint32_t n_samples, n_worker, n_blocked, n_sync;
    uint32_t all; /* the pool of all lengths; INTERN_NONE = it is that itself */
    bool is_of_all_ranks;
    struct shares {
        struct term *at; /* step, share; sums to 1 */
        size_t n;
        double code;     /* of it, what the program's code did (step_state_is_code) */
    } shares[N_AMOUNTS]; /* of being preempted, blocked, on the CPU, off it while workers ran; made for the first
                            stretch that takes them */
};

enum { POOL_ALL_RANKS = UINT32_MAX };

/* Which pool stands for stretches of a kind, once it has been looked for. */
struct pool_found {
    uint32_t rank, from, to, bucket_plus_1; /* 0 = nothing yet */
    uint32_t pool;
};

struct pools {
    struct sites *sites;
    struct costs *costs;
    struct intern keys;
    struct pool *at;
    size_t n, cap;
    struct arena arena;
    VEC(struct pool_found) found; /* a power of two: each place keeps the last that belonged there */
    VEC(struct gap_steps {
        uint32_t of[N_AMOUNTS]; /* plus 1; 0 = not made yet */
    })
    gaps; /* by pair of sites: code of which nothing is known */
};

void pools_begin(struct pools *pools, struct sites *sites, struct costs *costs);
void pools_release(struct pools *pools);
/* First pass: a stretch of `rank` is complete. */
void pools_add_samples(struct pools *pools, uint32_t rank, const struct stretch *stretch);
static inline void pools_add(struct pools *pools, uint32_t rank, const struct stretch *stretch)
{
    if (stretch_n_samples(stretch))
        pools_add_samples(pools, rank, stretch);
}
/* After it. */
void pools_complete(struct pools *pools);
/* Gives the pools of a section away; adds them to those of the run. Before they are complete. */
void pools_pack(struct pools *pools, struct packing *packing);
void pools_unpack(struct pools *pools, struct unpacking *unpacking, const struct numbers *numbers);

/* The pool of all lengths and processes between two calls. INTERN_NONE: nobody was sampled there. */
uint32_t pools_between_calls(const struct pools *pools, uint32_t from, uint32_t to);
/* Likewise, between the same two calls; itself where it is of several. */
uint32_t pools_between(const struct pools *pools, uint32_t pool);
/* Is it that of all lengths, of one process, between two calls? Sets `rank` then. */
bool pools_is_of_process(const struct pools *pools, uint32_t pool, uint32_t *rank);

/* The pool that tells of a stretch. Pools are complete. INTERN_NONE = none does, here and below. */
uint32_t pools_of_stretch(struct pools *pools, uint32_t rank, const struct stretch *stretch);
/* Where a stretch slept: where looks found other stretches asleep, for another thread or not,
 * between the same two calls of this process or else of any; else before the same call (a loop comes to its first call
 * from elsewhere), else after it. Sleeps that are shorter than a look takes are nowhere seen: then where samples were
 * in a system call, in the same order. */
uint32_t pools_of_looks(struct pools *pools, uint32_t rank, const struct stretch *stretch);
/* Where sleeps of a kind are. */
uint32_t pools_of_sleep(const struct pools *pools, uint32_t rank, const struct stretch *stretch, uint32_t kind);
/* All sleeps of a length, wherever they are, of a process or of POOL_ALL_RANKS. */
uint32_t pools_of_length(const struct pools *pools, uint32_t rank, uint32_t kind);
/* All stretches of a process between the same two calls, if they have samples. */
uint32_t pools_of_calls(const struct pools *pools, uint32_t rank, const struct stretch *stretch);
