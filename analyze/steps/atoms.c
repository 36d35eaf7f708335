/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/atoms.h"
#include <math.h>
#include <string.h>

enum { AS_SAMPLED = -1 };

enum step_state amount_state(int amount)
{
    static const enum step_state states[N_AMOUNTS] = {STEP_DESCHEDULED, STEP_BLOCKED,   STEP_COMPUTING,
                                                      STEP_COMPUTING,   STEP_COMPUTING, STEP_DESCHEDULED};
    return states[amount];
}

/* In proportion to the weights, `ns` in all; nothing where there are none. */
static void add_in_state(struct sparse *out, const struct sparse *weights, double ns, struct steps *steps, int state)
{
    double sum = sparse_sum(weights);
    for (size_t i = 0; i < weights->n && ns > 0; i++) {
        uint32_t step = (uint32_t)weights->at[i].key;
        step = state < 0 ? step : steps_in_state(steps, step, (enum step_state)state);
        sparse_add(out, step, ns * weights->at[i].ns / sum);
    }
}

/* Samples of several workers may overlap, so it is the least that they can have spun. */
double pool_team_idle(const struct pool *pool)
{
    if (!(pool->team_idle_ns > 0) || !(pool->blocked.n || pool->sync.n || pool->calling.n))
        return 0;
    double worker_ns = sparse_sum(&pool->worker), ran_ns = fmax(pool->team_ns, 1);
    return fmin(fmax(1 - worker_ns / ran_ns, 0), pool->team_idle_ns / (worker_ns + pool->team_idle_ns));
}

static void gather_asleep(struct steps *steps, const struct pool *pool, double ns, struct sparse *out)
{
    double blocked_ns = sparse_sum(&pool->blocked), all_ns = blocked_ns + sparse_sum(&pool->sync);
    if (all_ns > 0) {
        add_in_state(out, &pool->blocked, ns * blocked_ns / all_ns, steps, AS_SAMPLED);
        add_in_state(out, &pool->sync, ns * (1 - blocked_ns / all_ns), steps, AS_SAMPLED);
    } else {
        add_in_state(out, &pool->calling, ns, steps, AS_SAMPLED);
    }
}

static void gather_team(struct steps *steps, const struct pool *pool, struct sparse *out)
{
    double idle = pool_team_idle(pool);
    if (idle > 0)
        gather_asleep(steps, pool, idle, out);
    add_in_state(out, &pool->worker, 1 - idle, steps, AS_SAMPLED);
}

/* A thread that spins for its team does what that does. If nobody in it was seen at work, it waits for another process.
 */
static void gather_on(const struct pool *pool, struct steps *steps, struct sparse *out)
{
    const struct sparse *meanwhile = pool->worker.n ? &pool->worker : &pool->idle;
    sparse_add_all(out, &pool->on, 1);
    add_in_state(out, meanwhile, fmax(0, sparse_sum(&pool->idle) - pool->team_idle_ns), steps, AS_SAMPLED);
}

/* Where samples tell nothing better: where the thread or its team was seen at all. What young threads do nothing tells
 * but where the main thread waits for them. */
static void gather_anything(struct steps *steps, const struct pool *pool, int amount, struct sparse *out)
{
    const struct sparse *all[] = {&pool->idle, &pool->blocked, &pool->sync, &pool->beside};
    struct sparse seen = {0};
    bool is_of_young = false;
    sparse_add_all(&seen, &pool->on, 1);
    sparse_add_all(&seen, &pool->worker, 1);
    for (size_t i = 0; i < sizeof all / sizeof *all && !seen.n; i++) {
        sparse_add_all(&seen, all[i], 1);
        is_of_young = all[i] == &pool->sync;
    }
    bool as_sampled = amount == ON_CPU && !is_of_young;
    add_in_state(out, &seen, 1, steps, as_sampled ? AS_SAMPLED : (int)amount_state(amount));
    sparse_release(&seen);
}

void atom_weigh(struct steps *steps, const struct pool *pool, int amount, struct sparse *out)
{
    if (amount == OFF_BLOCKED)
        gather_asleep(steps, pool, 1, out);
    else if (amount == BY_TEAM)
        gather_team(steps, pool, out);
    else if (amount == ON_CPU)
        gather_on(pool, steps, out);
    else if (amount == BY_OTHERS || amount == OTHERS_LACK)
        add_in_state(out, &pool->beside, 1, steps, amount == BY_OTHERS ? AS_SAMPLED : (int)amount_state(amount));
    if (!out->n)
        gather_anything(steps, pool, amount, out);
}

static struct shares shares_make(struct pools *pools, const struct pool *pool, int amount)
{
    struct sparse weights = {0};
    atom_weigh(pools->sites->steps, pool, amount, &weights);
    sparse_pack(&weights);
    double sum = sparse_sum(&weights);
    struct shares shares = {.at = arena_copy(&pools->arena, weights.at, weights.n * sizeof *weights.at),
                            .n = weights.n};
    for (size_t i = 0; i < shares.n; i++) {
        shares.at[i].ns /= sum;
        const struct step_key *key = steps_key(pools->sites->steps, (uint32_t)shares.at[i].key);
        shares.code += step_state_is_code((enum step_state)key->state) ? shares.at[i].ns : 0;
    }
    sparse_release(&weights);
    return shares;
}

uint32_t atom_of_pool(struct pools *pools, uint32_t id, int amount)
{
    struct shares *shares = &pools->at[id].shares[amount];
    if (!shares->at)
        *shares = shares_make(pools, &pools->at[id], amount);
    return ATOM_IS_POOL | (id * N_AMOUNTS + (uint32_t)amount);
}

void atoms_forget(struct pools *pools)
{
    for (size_t i = 0; i < pools->n; i++)
        memset(pools->at[i].shares, 0, sizeof pools->at[i].shares);
    pools->gaps.n = 0;
    arena_release(&pools->arena);
}

void atoms_know(struct pools *pools, const struct sparse *atoms)
{
    for (size_t i = 0; i < atoms->n; i++) {
        uint32_t atom = key_atom(atoms->at[i].key), number = atom & ~ATOM_IS_POOL;
        if (atom & ATOM_IS_POOL)
            atom_of_pool(pools, number / N_AMOUNTS, (int)(number % N_AMOUNTS));
    }
}

void atoms_translate(const struct numbers *numbers, struct sparse *atoms)
{
    for (size_t i = 0; i < atoms->n; i++) {
        uint64_t key = atoms->at[i].key;
        if (!(key_atom(key) & ATOM_IS_POOL))
            atoms->at[i].key = (key & ~(uint64_t)UINT32_MAX) | numbers_step(numbers, key_atom(key));
    }
    atoms->n_packed = 0;
    sparse_pack(atoms);
}
