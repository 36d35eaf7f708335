/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times of stretches, before anybody asks which steps they were.
 *
 * An atom is a step, or an amount of time that a pool shares out among steps (pool, amount). Its steps are looked up
 * when a wait is explained: a stretch costs one look-up however many loops it ran through.
 */
#pragma once
#include "analyze/steps/pools.h"

/* An atom beside steps: a pool's number times N_AMOUNTS plus the amount of which its shares are meant. */
#define ATOM_IS_POOL 0x80000000u

/* The atom of an amount of a stretch that a pool tells about. */
uint32_t atom_of_pool(struct pools *pools, uint32_t pool, int amount);
/* Steps, in proportion to the samples of a pool that tell about an amount of time: adds weights to `out`. */
void atom_weigh(struct steps *steps, const struct pool *pool, int amount, struct sparse *out);
/* The state of steps that an amount of time is of. */
enum step_state amount_state(int amount);
/* Of the time for which workers ran while the main thread was off the CPU, that in which none did more than spin: a
 * share. */
double pool_team_idle(const struct pool *pool);
/* All shares are made anew, when they are asked for. */
void atoms_forget(struct pools *pools);
/* The steps of pools among these atoms are known, which were given out before shares were forgotten. */
void atoms_know(struct pools *pools, const struct sparse *atoms);
/* The keys of a section's vector by atom_key become those of the run. */
void atoms_translate(const struct numbers *numbers, struct sparse *atoms);
/* How much of an atom is what the program's code did (step_state_is_code). */
static inline double atom_code(const struct pools *pools, uint32_t atom)
{
    uint32_t number = atom & ~ATOM_IS_POOL;
    if (atom & ATOM_IS_POOL)
        return pools->at[number / N_AMOUNTS].shares[number % N_AMOUNTS].code;
    return steps_is_code(pools->sites->steps, atom);
}
/* How many samples tell an atom's shares, each of which stands for so much time on a CPU, or how many looks; 0: it is a
 * step. */
static inline double atom_samples(const struct pools *pools, uint32_t atom, double sample_ns)
{
    uint32_t number = atom & ~ATOM_IS_POOL;
    if (!(atom & ATOM_IS_POOL))
        return 0;
    const struct pool *pool = &pools->at[number / N_AMOUNTS];
    double on_ns = sparse_sum(&pool->worker) + (number % N_AMOUNTS == ON_CPU ? sparse_sum(&pool->on) : 0);
    return number % N_AMOUNTS == OFF_BLOCKED ? pool->n_blocked + pool->n_sync : on_ns / sample_ns;
}
/* The steps and shares that an atom stands for. Any step is an atom of itself: then they are what `single` holds. Any
 * thread may ask for atoms that were given out before. */
static inline struct shares atom_expand(const struct pools *pools, uint32_t atom, struct term *single)
{
    uint32_t number = atom & ~ATOM_IS_POOL;
    if (atom & ATOM_IS_POOL)
        return pools->at[number / N_AMOUNTS].shares[number % N_AMOUNTS];
    *single = (struct term){.key = atom, .ns = 1};
    return (struct shares){.at = single, .n = 1};
}
