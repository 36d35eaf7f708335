/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long each step of a stretch took.
 *
 * The length of a stretch and its time off the CPU are measured; samples only share out what is left, so that steps
 * always sum to the measured length. A stretch with few samples has no shares of its own: stretches of one process
 * between the same two call sites, of like length (half an octave), are pooled, and each gets the shares of its pool. A
 * pool that is poor itself borrows a few samples from that of all lengths; one that has next to none gives way to it,
 * and that one to the pool of like length of all processes together: who takes as long there runs the same code, as a
 * rule, and time that both sides of a wait spend has to have one name to cancel. Where that is poor too, one or two
 * samples of the process count if they agree; then what all processes do for as long before the same call, after the
 * same function of MPI wherever they call it (a process at the border has other neighbours); then what any do between
 * the same two calls, up to four times as long (with more of the data); otherwise it is "the code between X and Y".
 * Pools are filled in a first pass over the trace.
 *
 * Samples of a pool weigh as much as the part of the stretch in which they were taken is long (slices.h).
 *
 * Sleeps whose lengths are known one by one have pools of their own (sleeps.h).
 *
 * A stretch that takes its shares from a pool is kept as atoms (pool, what), whose steps are looked up when a wait is
 * explained: a stretch costs one look-up however many loops it ran through.
 */
#pragma once
#include "analyze/steps/lanes.h"
#include "analyze/steps/numbers.h"

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
        double blocked;  /* likewise, asleep or in the kernel */
    } shares[N_AMOUNTS]; /* of being preempted, blocked, on the CPU, off it while workers ran; made for the first
                            stretch that takes them */
};

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

/* An atom beside steps: a pool's number times N_AMOUNTS plus the amount of which its shares are meant. */
#define ATOM_IS_POOL 0x80000000u

/* What a stretch came to. */
struct spent {
    double on_ns, off_ns[OFF_N];
    double asleep_ns;     /* of the time blocked: until another thread of the process woke it */
    double unrecorded_ns; /* all of it, while recording was switched off */
    double noise_ns2;
    uint32_t led_by; /* 1 + location of the thread that it slept for and that was inside MPI until then; 0 = none */
    uint64_t led_until_ns;
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
/* Second pass: adds the stretch's atoms to `out`, keys made by atom_key; they sum to its length. Sets `spent`. Adds
 * to `lent` what the way that led here has beside these atoms, which sums to 0 (other threads' doings instead of a
 * sleep for them); NULL = not wanted. */
void pools_spread(struct pools *pools, uint32_t rank, struct stretch *stretch, struct sparse *out, struct sparse *lent,
                  struct spent *spent);

/* All shares are made anew, when they are asked for. */
void pools_forget_shares(struct pools *pools);
/* The steps of pools among these atoms are known, which were given out before shares were forgotten. */
void pools_know(struct pools *pools, const struct sparse *atoms);
/* The keys of a section's vector by atom_key become those of the run. */
void atoms_translate(const struct numbers *numbers, struct sparse *atoms);
/* Gives the pools of a section away; adds them to those of the run. Before they are complete. */
void pools_pack(struct pools *pools, struct packing *packing);
void pools_unpack(struct pools *pools, struct unpacking *unpacking, const struct numbers *numbers);

/* How much of an atom is what the program's code did (step_state_is_code). */
static inline double pools_atom_code(const struct pools *pools, uint32_t atom)
{
    uint32_t number = atom & ~ATOM_IS_POOL;
    if (atom & ATOM_IS_POOL)
        return pools->at[number / N_AMOUNTS].shares[number % N_AMOUNTS].code;
    return steps_is_code(pools->sites->steps, atom);
}
/* How many samples tell an atom's shares, each of which stands for so much time on a CPU, or how many looks; 0: it is a
 * step. */
static inline double pools_atom_samples(const struct pools *pools, uint32_t atom, double sample_ns)
{
    uint32_t number = atom & ~ATOM_IS_POOL;
    if (!(atom & ATOM_IS_POOL))
        return 0;
    const struct pool *pool = &pools->at[number / N_AMOUNTS];
    double on_ns = sparse_sum(&pool->worker) + (number % N_AMOUNTS == ON_CPU ? sparse_sum(&pool->on) : 0);
    return number % N_AMOUNTS == OFF_BLOCKED ? pool->n_blocked + pool->n_sync : on_ns / sample_ns;
}
/* The pool of all lengths and processes between two calls. INTERN_NONE: nobody was sampled there. */
uint32_t pools_between_calls(const struct pools *pools, uint32_t from, uint32_t to);
/* Likewise, between the same two calls; itself where it is of several. */
uint32_t pools_between(const struct pools *pools, uint32_t pool);
/* Is it that of all lengths, of one process, between two calls? Sets `rank` then. */
bool pools_is_of_process(const struct pools *pools, uint32_t pool, uint32_t *rank);
/* The steps and shares that an atom stands for. Any step is an atom of itself: then they are what `single` holds. Any
 * thread may ask for atoms that were given out before. */
static inline struct shares pools_expand(const struct pools *pools, uint32_t atom, struct term *single)
{
    uint32_t number = atom & ~ATOM_IS_POOL;
    if (atom & ATOM_IS_POOL)
        return pools->at[number / N_AMOUNTS].shares[number % N_AMOUNTS];
    *single = (struct term){.key = atom, .ns = 1};
    return (struct shares){.at = single, .n = 1};
}
