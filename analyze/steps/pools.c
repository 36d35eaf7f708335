/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/pools.h"
#include "analyze/constants/constants.h"
#include "analyze/steps/costs.h"
#include "wrap/base/containers.h"
#include <math.h>
#include <string.h>

enum { FROM_FUNCTION = 0x80000000u }; /* a key's `from` is no site but a function of MPI */
enum { BUCKET_ALL = UINT32_MAX, RANK_ALL = UINT32_MAX, SITE_ANY = UINT32_MAX, AS_SAMPLED = -1 };
enum { KINDS_LOG2 = 4, KINDS_A_RANK = 1 << KINDS_LOG2 }; /* of stretches that a process repeats in its loops */

void pools_begin(struct pools *pools, struct sites *sites, struct costs *costs)
{
    *pools = (struct pools){.sites = sites, .costs = costs};
}

void pools_release(struct pools *pools)
{
    for (size_t i = 0; i < pools->n; i++) {
        sparse_release(&pools->at[i].on);
        sparse_release(&pools->at[i].blocked);
        sparse_release(&pools->at[i].sync);
        sparse_release(&pools->at[i].worker);
        sparse_release(&pools->at[i].idle);
        sparse_release(&pools->at[i].calling);
    }
    vec_free(pools->at);
    vec_release(&pools->found);
    vec_release(&pools->gaps);
    intern_release(&pools->keys);
    arena_release(&pools->arena);
}

struct pool_key {
    uint32_t rank, from, to, bucket;
};

/* Half octaves of the time that was not taken away by the scheduler. */
static uint32_t stretch_bucket(const struct stretch *stretch)
{
    double amounts[N_AMOUNTS];
    int octave;
    stretch_split(stretch, amounts);
    bool is_upper = frexp(amounts[ON_CPU] + amounts[OFF_BLOCKED] + 1, &octave) >= M_SQRT1_2;
    return 2 * (uint32_t)(octave - 1) + is_upper;
}

static uint32_t pool_add(struct pools *pools, struct pool_key key, const struct stretch *stretch)
{
    uint32_t id = intern_put(&pools->keys, &key, sizeof key);
    if (id == pools->n)
        vec_push(pools);
    struct pool *pool = &pools->at[id];
    sparse_add_all(&pool->on, &stretch->on, 1);
    sparse_add_all(&pool->blocked, &stretch->blocked, 1);
    sparse_add_all(&pool->sync, &stretch->sync, 1);
    sparse_add_all(&pool->worker, &stretch->worker, 1);
    sparse_add_all(&pool->idle, &stretch->idle, 1);
    sparse_add_all(&pool->calling, &stretch->calling, 1);
    pool->n_samples += stretch_n_samples(stretch);
    pool->n_blocked += stretch->n_blocked;
    pool->n_sync += stretch->n_sync;
    pool->worker_preempted_ns += (double)stretch->worker_preempted_ns;
    pool->n_worker += stretch->n_worker;
    return id;
}

/* What looks tell of all stretches before a call, and after one, of this process and of any. */
static void add_looks(struct pools *pools, uint32_t rank, const struct stretch *stretch)
{
    const struct pool_key keys[] = {{.from = SITE_ANY, .to = stretch->to, .bucket = BUCKET_ALL},
                                    {.from = stretch->from, .to = SITE_ANY, .bucket = BUCKET_ALL}};
    for (size_t i = 0; i < 2 * (sizeof keys / sizeof *keys); i++) {
        struct pool_key key = keys[i / 2];
        key.rank = i % 2 ? RANK_ALL : rank;
        uint32_t id = pool_add(pools, key, stretch);
        pools->at[id].all = INTERN_NONE;
    }
}

/* All stretches of like length before a call, of all processes, that begin with the same function of MPI: a process may
 * call that elsewhere, or for other neighbours, and still do the same after. */
static struct pool_key key_of_neighbours(const struct pools *pools, uint32_t from, uint32_t to, uint32_t bucket)
{
    return (struct pool_key){RANK_ALL, FROM_FUNCTION | sites_at(pools->sites, from)->region, to, bucket};
}

void pools_add_samples(struct pools *pools, uint32_t rank, const struct stretch *stretch)
{
    if (stretch->n_blocked || stretch->n_sync || stretch->calling.n)
        add_looks(pools, rank, stretch);
    struct pool_key key = {.rank = rank, .from = stretch->from, .to = stretch->to, .bucket = stretch_bucket(stretch)};
    uint32_t alike = pool_add(pools, key, stretch);
    key.rank = RANK_ALL;
    uint32_t everybody = pool_add(pools, key, stretch);
    struct pool_key of_neighbours = key_of_neighbours(pools, key.from, key.to, key.bucket);
    uint32_t neighbours = pool_add(pools, of_neighbours, stretch);
    key.rank = rank;
    key.bucket = BUCKET_ALL;
    uint32_t all = pool_add(pools, key, stretch);
    key.rank = RANK_ALL;
    uint32_t anybody = pool_add(pools, key, stretch);
    pools->at[anybody].all = INTERN_NONE;
    pools->at[alike].all = all;
    pools->at[all].all = pools->at[everybody].all = pools->at[neighbours].all = INTERN_NONE;
    pools->at[everybody].is_of_all_ranks = pools->at[neighbours].is_of_all_ranks = true;
}

uint32_t pools_between(const struct pools *pools, uint32_t pool)
{
    struct pool_key key = *(const struct pool_key *)pools->keys.items[pool].bytes;
    key.rank = RANK_ALL;
    key.bucket = BUCKET_ALL;
    uint32_t between = intern_find(&pools->keys, &key, sizeof key);
    return between == INTERN_NONE ? pool : between;
}

void pools_complete(struct pools *pools)
{
    for (size_t i = 0; i < pools->n; i++) {
        struct pool *pool = &pools->at[i];
        if (pool->all != INTERN_NONE && pool->n_samples >= POOL_SAMPLES_MIN && pool->n_samples < POOL_SAMPLES_OWN) {
            /* As if so many of its samples were those of all lengths, in the same proportions. */
            const struct pool *all = &pools->at[pool->all];
            double part = (double)POOL_SAMPLES_PRIOR / all->n_samples;
            sparse_add_all(&pool->on, &all->on, part);
            sparse_add_all(&pool->blocked, &all->blocked, part);
            sparse_add_all(&pool->sync, &all->sync, part);
            sparse_add_all(&pool->worker, &all->worker, part);
            sparse_add_all(&pool->idle, &all->idle, part);
            pool->n_samples += POOL_SAMPLES_PRIOR;
            pool->n_blocked += all->n_blocked > 0;
            pool->n_sync += all->n_sync > 0;
            pool->n_worker += all->n_worker > 0;
            pool->worker_preempted_ns += part * all->worker_preempted_ns;
        }
    }
    for (size_t i = 0; i < pools->n; i++)
        sparse_pack(&pools->at[i].on);
    size_t n = KINDS_A_RANK;
    while (n < (size_t)KINDS_A_RANK * pools->sites->trace->n_ranks)
        n *= 2;
    vec_resize(&pools->found, n);
}

static uint32_t pool_with_samples(struct pools *pools, struct pool_key key)
{
    uint32_t id = intern_find(&pools->keys, &key, sizeof key);
    return id != INTERN_NONE && pools->at[id].n_samples >= POOL_SAMPLES_MIN ? id : INTERN_NONE;
}

/* All samples found one step: as far as anybody looked, that is all that runs there. */
static bool pool_agrees(const struct pool *pool)
{
    const struct sparse *all[] = {&pool->on, &pool->blocked, &pool->sync, &pool->worker, &pool->idle};
    const struct term *first = NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k < all[i]->n; k++) {
            first = first ? first : &all[i]->at[k];
            if (all[i]->at[k].key != first->key)
                return false;
        }
    return first;
}

static uint32_t pool_find(struct pools *pools, struct pool_key key)
{
    uint32_t bucket = key.bucket;
    uint32_t id = pool_with_samples(pools, key);
    if (id != INTERN_NONE)
        return id;
    key.bucket = BUCKET_ALL;
    id = pool_with_samples(pools, key);
    if (id != INTERN_NONE)
        return id;
    struct pool_key of_all_ranks = {.rank = RANK_ALL, .from = key.from, .to = key.to, .bucket = bucket};
    uint32_t of_all = pool_with_samples(pools, of_all_ranks);
    if (of_all != INTERN_NONE || sites_is_start(pools->sites, key.from))
        return of_all;
    id = intern_find(&pools->keys, &key, sizeof key);
    if (id != INTERN_NONE && pool_agrees(&pools->at[id]))
        return id;
    return pool_with_samples(pools, key_of_neighbours(pools, key.from, key.to, bucket));
}

/* Pools are complete: what was found for stretches of a kind stays. */
static uint32_t pool_of_stretch(struct pools *pools, uint32_t rank, const struct stretch *stretch)
{
    if (!pools->n)
        return INTERN_NONE;
    struct pool_key key = {.rank = rank, .from = stretch->from, .to = stretch->to, .bucket = stretch_bucket(stretch)};
    uint64_t mixed = (key_pair(key.from, key.to) + key.bucket) * 0x9e3779b97f4a7c15u;
    struct pool_found *found =
        &pools->found.at[(rank * (size_t)KINDS_A_RANK + (mixed >> (64 - KINDS_LOG2))) & (pools->found.n - 1)];
    if (found->bucket_plus_1 != key.bucket + 1 || found->rank != rank || found->from != key.from || found->to != key.to)
        *found = (struct pool_found){rank, key.from, key.to, key.bucket + 1, pool_find(pools, key)};
    return found->pool;
}

/* Where a stretch slept in which nobody looked: where looks found other stretches asleep, for another thread or not,
 * between the same two calls of this process or else of any; else before the same call (a loop comes to its first call
 * from elsewhere), else after it. Sleeps that are shorter than a look takes are nowhere seen: then where samples were
 * in a system call, in the same order. INTERN_NONE where the stretch has looks of its own, beside enough samples, or
 * where other threads come into it: they computed while it slept, or while the others did as a rule. */
static uint32_t pool_asleep(struct pools *pools, uint32_t rank, const struct stretch *stretch, bool has_enough)
{
    uint32_t calling = INTERN_NONE;
    if (((stretch->n_blocked || stretch->n_sync) && has_enough) || stretch->n_worker)
        return INTERN_NONE;
    struct pool_key keys[] = {
        {.rank = rank, .from = stretch->from, .to = stretch->to, .bucket = stretch_bucket(stretch)},
        {.rank = rank, .from = stretch->from, .to = stretch->to, .bucket = BUCKET_ALL},
        {.rank = RANK_ALL, .from = stretch->from, .to = stretch->to, .bucket = BUCKET_ALL},
        {.rank = rank, .from = SITE_ANY, .to = stretch->to, .bucket = BUCKET_ALL},
        {.rank = RANK_ALL, .from = SITE_ANY, .to = stretch->to, .bucket = BUCKET_ALL},
        {.rank = rank, .from = stretch->from, .to = SITE_ANY, .bucket = BUCKET_ALL},
        {.rank = RANK_ALL, .from = stretch->from, .to = SITE_ANY, .bucket = BUCKET_ALL},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        uint32_t id = intern_find(&pools->keys, &keys[i], sizeof keys[i]);
        if (id == INTERN_NONE)
            continue;
        const struct pool *pool = &pools->at[id];
        if (pool->n_worker > pool->n_blocked + pool->n_sync)
            return INTERN_NONE;
        if (pool->n_blocked || pool->n_sync)
            return id;
        calling = calling == INTERN_NONE && pool->calling.n ? id : calling;
    }
    return calling;
}

/* What a process did while its main thread slept: weights of samples, and of times without one. */
struct asleep {
    double worker_ns, preempted_ns; /* its workers computed, or would have */
    double sync_ns, blocked_ns;     /* its main thread slept and nobody computed */
};

static void asleep_scale(struct asleep *asleep, double workers, double sync, double blocked)
{
    asleep->worker_ns *= workers;
    asleep->preempted_ns *= workers;
    asleep->sync_ns *= sync;
    asleep->blocked_ns *= blocked;
}

/*
 * While a main thread sleeps its workers may be busy, and then they are what the process does, for as long as they are.
 * A main thread that is known to wait for another thread waits for busy workers all the time, though the first part of
 * a young worker's work is not sampled.
 */
static struct asleep asleep_of(const struct sparse *worker, const struct sparse *sync, const struct sparse *blocked,
                               double preempted_ns)
{
    struct asleep asleep = {
        .worker_ns = sparse_sum(worker), .sync_ns = sparse_sum(sync), .blocked_ns = sparse_sum(blocked)};
    asleep.preempted_ns = asleep.worker_ns > 0 ? preempted_ns : 0; /* else nobody knows in what */
    double busy_ns = asleep.worker_ns + asleep.preempted_ns, asleep_ns = asleep.sync_ns + asleep.blocked_ns;
    double left = asleep_ns > busy_ns ? (asleep_ns - busy_ns) / asleep_ns : 0;
    if (busy_ns < asleep.sync_ns && busy_ns > asleep.sync_ns / 2)
        asleep_scale(&asleep, asleep.sync_ns / busy_ns, 0, 1);
    else
        asleep_scale(&asleep, 1, left, left);
    return asleep;
}

/* In proportion to the weights, `ns` in all. */
static void add_in_state(struct sparse *out, const struct sparse *weights, double ns, struct steps *steps, int state)
{
    double sum = sparse_sum(weights);
    for (size_t i = 0; i < weights->n && ns > 0; i++) {
        uint32_t step = (uint32_t)weights->at[i].key;
        step = state < 0 ? step : steps_in_state(steps, step, (enum step_state)state);
        sparse_add(out, step, ns * weights->at[i].ns / sum);
    }
}

/* Which samples tell about an amount of time, and the state they mean. */
static void shares_gather(struct steps *steps, const struct pool *pool, int amount, struct sparse *out)
{
    static const enum step_state off_state[OFF_N] = {STEP_DESCHEDULED, STEP_BLOCKED};
    if (amount == OFF_BLOCKED && (pool->n_worker || pool->n_blocked || pool->n_sync)) {
        struct asleep asleep = asleep_of(&pool->worker, &pool->sync, &pool->blocked, pool->worker_preempted_ns);
        add_in_state(out, &pool->worker, asleep.worker_ns, steps, AS_SAMPLED);
        add_in_state(out, &pool->worker, asleep.preempted_ns, steps, STEP_DESCHEDULED);
        add_in_state(out, &pool->sync, asleep.sync_ns, steps, AS_SAMPLED);
        add_in_state(out, &pool->blocked, asleep.blocked_ns, steps, AS_SAMPLED);
        return;
    }
    if (amount == OFF_BLOCKED && pool->calling.n) {
        add_in_state(out, &pool->calling, 1, steps, AS_SAMPLED);
        return;
    }
    struct sparse from = {0};
    sparse_add_all(&from, &pool->on, 1);
    sparse_add_all(&from, &pool->worker, 1);
    if (!from.n)
        sparse_add_all(&from, &pool->idle, 1);
    if (!from.n)
        sparse_add_all(&from, &pool->blocked, 1);
    /* What young threads do, which nothing tells but where the main thread waits for them. */
    bool is_of_young = !from.n;
    if (!from.n)
        sparse_add_all(&from, &pool->sync, 1);
    for (size_t i = 0; i < from.n; i++) {
        uint32_t step = (uint32_t)from.at[i].key;
        if (amount != ON_CPU)
            step = steps_in_state(steps, step, off_state[amount]);
        else if (is_of_young)
            step = steps_in_state(steps, step, STEP_COMPUTING);
        sparse_add(out, step, from.at[i].ns);
    }
    sparse_release(&from);
}

static struct shares shares_make(struct pools *pools, const struct pool *pool, int amount)
{
    struct sparse weights = {0};
    shares_gather(pools->sites->steps, pool, amount, &weights);
    sparse_pack(&weights);
    double sum = sparse_sum(&weights);
    struct shares shares = {.at = arena_copy(&pools->arena, weights.at, weights.n * sizeof *weights.at),
                            .n = weights.n};
    for (size_t i = 0; i < shares.n; i++) {
        shares.at[i].ns /= sum;
        shares.code += steps_is_code(pools->sites->steps, (uint32_t)shares.at[i].key) ? shares.at[i].ns : 0;
    }
    sparse_release(&weights);
    return shares;
}

/* What stands for an amount of a stretch that its pool tells about. */
static uint32_t pool_atom(struct pools *pools, uint32_t id, int amount)
{
    struct shares *shares = &pools->at[id].shares[amount];
    if (!shares->at)
        *shares = shares_make(pools, &pools->at[id], amount);
    return ATOM_IS_POOL | (id * N_AMOUNTS + (uint32_t)amount);
}

/* With its own samples, or what stands for them: the stretch is a pool of one. */
static void spread_own(struct pools *pools, uint32_t rank, const struct stretch *stretch, const struct sparse *on,
                       const double *amounts, struct sparse *out)
{
    struct pool pool = {.on = *on,
                        .blocked = stretch->blocked,
                        .sync = stretch->sync,
                        .worker = stretch->worker,
                        .idle = stretch->idle,
                        .calling = stretch->calling,
                        .worker_preempted_ns = (double)stretch->worker_preempted_ns,
                        .n_blocked = stretch->n_blocked,
                        .n_sync = stretch->n_sync,
                        .n_worker = stretch->n_worker};
    for (int amount = 0; amount < N_AMOUNTS; amount++) {
        if (!amounts[amount])
            continue;
        struct sparse weights = {0};
        shares_gather(pools->sites->steps, &pool, amount, &weights);
        sparse_pack(&weights);
        /* Whole nanoseconds in proportion to the weights, exactly `amount` in all. */
        double sum = sparse_sum(&weights), seen = 0, given = 0;
        for (size_t i = 0; i < weights.n; i++) {
            seen += weights.at[i].ns;
            double until = i + 1 == weights.n ? amounts[amount] : floor(amounts[amount] * (seen / sum));
            sparse_add(out, atom_key(rank, (uint32_t)weights.at[i].key), until - given);
            given = until;
        }
        sparse_release(&weights);
    }
}

static uint32_t step_of_start(struct pools *pools)
{
    return steps_put(pools->sites->steps, STEP_UNKNOWN, WHAT_START, 0, TRACE_NONE);
}

/* Of a stretch on the CPU, by its counts. */
static bool counted_steps(struct pools *pools, uint32_t rank, const struct stretch *stretch, struct sparse *on)
{
    struct pool_key all = {.rank = rank, .from = stretch->from, .to = stretch->to, .bucket = BUCKET_ALL};
    uint32_t pool = pool_with_samples(pools, all);
    return costs_of_stretch(pools->costs, rank, stretch, pool == INTERN_NONE ? NULL : &pools->at[pool].on, on);
}

/*
 * By exact counts and costs that were fitted, and by the stretch's own samples. As a rule the fit is off by as much as
 * FIT_SAMPLES samples would be. Where it foresees another length it is off by that as well: what a stretch takes beyond
 * (pages that are touched for the first time) only its samples tell. Returns how many samples the fit is worth; 0 when
 * there is none, or when threads share the work.
 */
static double spread_counted(struct pools *pools, uint32_t rank, const struct stretch *stretch, uint32_t pool,
                             const double *amounts, struct sparse *out)
{
    struct sparse on = {0};
    bool is_parallel = stretch->n_worker || (pool != INTERN_NONE && pools->at[pool].n_worker);
    if (!stretch->is_counted || is_parallel || !counted_steps(pools, rank, stretch, &on))
        return 0;
    double sample_ns = stretch->n_on ? sparse_sum(&stretch->on) / stretch->n_on : 1, sum = sparse_sum(&on);
    double counted_ns = amounts[ON_CPU] + stretch->count_more_ns;
    double off = counted_ns > 0 ? (counted_ns - sum) / counted_ns : 0;
    double worth = 1 / (1. / FIT_SAMPLES + off * off);
    for (size_t i = 0; i < on.n; i++)
        on.at[i].ns *= worth * sample_ns / sum;
    sparse_add_all(&on, &stretch->on, 1);
    spread_own(pools, rank, stretch, &on, amounts, out);
    sparse_release(&on);
    return worth;
}

static uint32_t step_of_gap(struct pools *pools, uint32_t pair, int amount)
{
    static const enum step_state states[N_AMOUNTS] = {STEP_DESCHEDULED, STEP_BLOCKED, STEP_COMPUTING};
    if (pair >= pools->gaps.n)
        vec_resize(&pools->gaps, (size_t)pair + 1);
    uint32_t *step_plus_1 = &pools->gaps.at[pair].of[amount];
    if (!*step_plus_1)
        *step_plus_1 = 1 + steps_put(pools->sites->steps, states[amount], WHAT_GAP, pair, TRACE_NONE);
    return *step_plus_1 - 1;
}

/* Nothing is known of the steps but the calls around them. While a process starts up nobody knows what it sleeps for;
 * that it had no CPU is known there as elsewhere. */
static void spread_unknown(struct pools *pools, uint32_t rank, const struct stretch *stretch, const double *amounts,
                           struct sparse *out)
{
    struct steps *steps = pools->sites->steps;
    bool is_start = sites_is_start(pools->sites, stretch->from);
    uint32_t pair = is_start ? 0 : sites_pair(pools->sites, stretch->from, stretch->to);
    for (int amount = 0; amount < N_AMOUNTS; amount++) {
        if (!amounts[amount])
            continue;
        uint32_t step = !is_start                 ? step_of_gap(pools, pair, amount)
                        : amount == OFF_PREEMPTED ? steps_in_state(steps, step_of_start(pools), STEP_DESCHEDULED)
                                                  : step_of_start(pools);
        sparse_add(out, atom_key(rank, step), amounts[amount]);
    }
}

/* How many samples the shares are worth; 0 = exact, or nothing is known. `asleep`: pool_asleep. */
static double spread_by_knowledge(struct pools *pools, uint32_t rank, const struct stretch *stretch, uint32_t asleep,
                                  const double *measured, struct sparse *out)
{
    uint32_t n_own = stretch_n_samples(stretch), pool = pool_of_stretch(pools, rank, stretch);
    double n_on = stretch->n_on, amounts[N_AMOUNTS];
    memcpy(amounts, measured, sizeof amounts);
    if (asleep != INTERN_NONE) {
        sparse_add(out, atom_key(rank, pool_atom(pools, asleep, OFF_BLOCKED)), amounts[OFF_BLOCKED]);
        amounts[OFF_BLOCKED] = 0;
    }
    double fit = spread_counted(pools, rank, stretch, pool, amounts, out);
    if (fit > 0)
        return n_on > 0 ? (fit + n_on) * (fit + n_on) / n_on : 0;
    if (n_own >= POOL_SAMPLES_OWN) {
        spread_own(pools, rank, stretch, &stretch->on, amounts, out);
        return n_own;
    }
    if (pool == INTERN_NONE) {
        spread_unknown(pools, rank, stretch, amounts, out);
        return 0;
    }
    for (int amount = 0; amount < N_AMOUNTS; amount++)
        if (amounts[amount] != 0)
            sparse_add(out, atom_key(rank, pool_atom(pools, pool, amount)), amounts[amount]);
    return pools->at[pool].is_of_all_ranks ? 1 : pools->at[pool].n_samples;
}

/* What the time blocked was, by what told where it was. */
static void spent_asleep(struct pools *pools, uint32_t rank, const struct stretch *stretch, uint32_t id,
                         struct spent *spent)
{
    double blocked_ns = spent->off_ns[OFF_BLOCKED];
    if (id == INTERN_NONE && stretch_n_samples(stretch) < POOL_SAMPLES_OWN)
        id = pool_of_stretch(pools, rank, stretch);
    const struct pool *pool = id == INTERN_NONE ? NULL : &pools->at[id];
    struct asleep asleep =
        pool ? asleep_of(&pool->worker, &pool->sync, &pool->blocked, pool->worker_preempted_ns)
             : asleep_of(&stretch->worker, &stretch->sync, &stretch->blocked, (double)stretch->worker_preempted_ns);
    double all_ns = asleep.worker_ns + asleep.preempted_ns + asleep.sync_ns + asleep.blocked_ns;
    if (!(all_ns > 0))
        return;
    asleep_scale(&asleep, blocked_ns / all_ns, blocked_ns / all_ns, blocked_ns / all_ns);
    spent->asleep_ns = asleep.sync_ns;
    spent->off_ns[OFF_BLOCKED] -= asleep.worker_ns + asleep.preempted_ns;
    spent->off_ns[OFF_PREEMPTED] += asleep.preempted_ns;
    spent->on_ns += asleep.worker_ns;
}

/*
 * A thread that has next to nothing to compute, and is off the CPU although runnable while its workers compute, was
 * most likely preempted by them on its way to sleep: nobody waits for it then, but for them.
 */
static void take_for_asleep(struct pools *pools, uint32_t rank, const struct stretch *stretch,
                            double amounts[N_AMOUNTS])
{
    if (amounts[OFF_PREEMPTED] < OFF_FOR_LONG * amounts[ON_CPU])
        return;
    uint32_t pool = stretch->n_worker ? INTERN_NONE : pool_of_stretch(pools, rank, stretch);
    if (!stretch->n_worker && (pool == INTERN_NONE || !pools->at[pool].n_worker))
        return;
    amounts[OFF_BLOCKED] += amounts[OFF_PREEMPTED];
    amounts[OFF_PREEMPTED] = 0;
}

void pools_spread(struct pools *pools, uint32_t rank, struct stretch *stretch, struct sparse *out, struct spent *spent)
{
    double amounts[N_AMOUNTS], length_ns = (double)stretch_length(stretch), n_samples = 0;
    uint32_t asleep = INTERN_NONE;
    if (stretch->is_off) {
        uint32_t step = steps_put(pools->sites->steps, STEP_UNKNOWN, WHAT_OFF, 0, TRACE_NONE);
        sparse_add(out, atom_key(rank, step), length_ns);
        *spent = (struct spent){.unrecorded_ns = length_ns};
        return;
    }
    stretch_split(stretch, amounts);
    take_for_asleep(pools, rank, stretch, amounts);
    if (stretch->paths.n) {
        /* Regions were entered and left: exact, and what lies outside them all is unknown. */
        sparse_pack(&stretch->paths);
        for (size_t i = 0; i < stretch->paths.n; i++)
            sparse_add(out, atom_key(rank, (uint32_t)stretch->paths.at[i].key), stretch->paths.at[i].ns);
        double rest[N_AMOUNTS] = {[ON_CPU] = (double)stretch_length(stretch) - sparse_sum(&stretch->paths)};
        spread_unknown(pools, rank, stretch, rest, out);
        amounts[ON_CPU] += amounts[OFF_PREEMPTED] + amounts[OFF_BLOCKED];
        amounts[OFF_PREEMPTED] = amounts[OFF_BLOCKED] = 0;
    } else {
        bool has_enough = pool_of_stretch(pools, rank, stretch) != INTERN_NONE;
        asleep = amounts[OFF_BLOCKED] > 0 ? pool_asleep(pools, rank, stretch, has_enough) : INTERN_NONE;
        n_samples = spread_by_knowledge(pools, rank, stretch, asleep, amounts, out);
    }
    double sampled_ns = amounts[ON_CPU] + amounts[OFF_BLOCKED];
    *spent = (struct spent){.on_ns = amounts[ON_CPU],
                            .off_ns = {amounts[OFF_PREEMPTED], amounts[OFF_BLOCKED]},
                            .noise_ns2 = n_samples ? sampled_ns * sampled_ns / n_samples : 0};
    if (spent->off_ns[OFF_BLOCKED] > 0)
        spent_asleep(pools, rank, stretch, asleep, spent);
}
