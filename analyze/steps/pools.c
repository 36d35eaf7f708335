/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/pools.h"
#include "analyze/constants/constants.h"
#include "analyze/steps/costs.h"
#include "wrap/base/containers.h"
#include <math.h>
#include <string.h>

enum { FROM_FUNCTION = 0x80000000u };         /* a key's `from` is no site but a function of MPI */
enum { SLICED_NS = SLICES * CLOCK_NOISE_NS }; /* in shorter stretches it is not known which slice a sample hit */
enum { OF_SLEEPS = 0x40000000u };             /* a key's `bucket` is no length of stretches but a kind of sleeps */
enum { BUCKET_ALL = UINT32_MAX, RANK_ALL = UINT32_MAX, SITE_ANY = UINT32_MAX, AS_SAMPLED = -1 };
enum { KINDS_LOG2 = 4, KINDS_A_RANK = 1 << KINDS_LOG2 }; /* of stretches that a process repeats in its loops */

static const enum step_state amount_state[N_AMOUNTS] = {STEP_DESCHEDULED, STEP_BLOCKED,   STEP_COMPUTING,
                                                        STEP_COMPUTING,   STEP_COMPUTING, STEP_DESCHEDULED};

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
        sparse_release(&pools->at[i].beside);
        sparse_release(&pools->at[i].calling);
        sparse_release(&pools->at[i].slices.weights);
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

/* By the time that was not taken away by the scheduler. */
static uint32_t stretch_bucket(const struct stretch *stretch)
{
    double amounts[N_AMOUNTS];
    stretch_split(stretch, amounts);
    return length_kind(amounts[ON_CPU] + amounts[OFF_BLOCKED]);
}

static uint32_t pool_put(struct pools *pools, struct pool_key key)
{
    uint32_t id = intern_put(&pools->keys, &key, sizeof key);
    if (id == pools->n)
        vec_push(pools);
    return id;
}

static uint32_t pool_add(struct pools *pools, struct pool_key key, const struct stretch *stretch)
{
    uint32_t id = pool_put(pools, key);
    struct pool *pool = &pools->at[id];
    sparse_add_all(&pool->on, &stretch->on, 1);
    sparse_add_all(&pool->blocked, &stretch->blocked, 1);
    sparse_add_all(&pool->sync, &stretch->sync, 1);
    sparse_add_all(&pool->worker, &stretch->worker, 1);
    sparse_add_all(&pool->idle, &stretch->idle, 1);
    sparse_add_all(&pool->beside, &stretch->beside, 1);
    sparse_add_all(&pool->calling, &stretch->calling, 1);
    uint64_t on_ns = stretch_on_until(stretch, stretch->end_ns);
    for (size_t i = 0; i < stretch->sightings.n && on_ns >= SLICED_NS; i++) {
        const struct sighting *at = &stretch->sightings.at[i];
        slices_add(&pool->slices, (double)at->after_ns / (double)(on_ns + 1), at->step, at->weight_ns);
    }
    pool->n_samples += stretch_n_samples(stretch);
    pool->n_blocked += stretch->n_blocked;
    pool->n_sync += stretch->n_sync;
    pool->by_workers_ns += stretch->by_workers_ns;
    pool->team_idle_ns += stretch->team_idle_ns;
    pool->team_ns += (double)stretch->run_ns[OFF_PREEMPTED] + (double)stretch->run_ns[OFF_BLOCKED];
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

/* The pools that tell where a sleep is at which nobody looked, the best first: between the same two calls, else before
 * the same one, else after it; of this process, or of any. */
enum { SLEEP_POOLS = 10 };
static void keys_of_sleep(struct pool_key keys[SLEEP_POOLS], uint32_t rank, const struct stretch *stretch,
                          uint32_t kind)
{
    const uint32_t of_length = sleep_kind_of_length(kind);
    const struct pool_key of_any[] = {
        {.from = stretch->from, .to = stretch->to, .bucket = sleep_kind_of_order(kind, stretch->sleeps.n)},
        {.from = stretch->from, .to = stretch->to, .bucket = sleep_kind_of_number(kind, stretch->sleeps.n)},
        {.from = stretch->from, .to = stretch->to, .bucket = of_length},
        {.from = SITE_ANY, .to = stretch->to, .bucket = of_length},
        {.from = stretch->from, .to = SITE_ANY, .bucket = of_length},
    };
    for (int i = 0; i < SLEEP_POOLS; i++) {
        keys[i] = of_any[i / 2];
        keys[i].rank = i % 2 ? RANK_ALL : rank;
        keys[i].bucket |= OF_SLEEPS;
    }
}

/* The pool of all sleeps of a length, wherever they are. */
static struct pool_key key_of_length(uint32_t rank, uint32_t kind)
{
    return (struct pool_key){rank, SITE_ANY, SITE_ANY, OF_SLEEPS | sleep_kind_of_length(kind)};
}

static void add_sleep(struct pools *pools, struct pool_key key, uint32_t step, double weight)
{
    bool is_sync = step & SLEEP_IS_SYNC;
    uint32_t id = pool_put(pools, key);
    struct pool *pool = &pools->at[id];
    sparse_add(is_sync ? &pool->sync : &pool->blocked, step & ~SLEEP_IS_SYNC, weight);
    pool->all = INTERN_NONE;
    pool->n_sync += is_sync;
    pool->n_blocked += !is_sync;
    pool->n_samples++;
}

/* Looks come equally often in equal times, however long the sleep is: each weighs the same. Lengths scatter, so it
 * tells of those that are a little shorter or longer as well, half as much. */
static void add_sleeps(struct pools *pools, uint32_t rank, const struct stretch *stretch)
{
    const struct sparse *seen = &stretch->sleeps.seen;
    for (size_t i = 0; i < seen->n; i++)
        for (int longer = -1; longer <= 1; longer++) {
            struct pool_key keys[SLEEP_POOLS];
            uint32_t kind = key_high(seen->at[i].key) + (uint32_t)longer, step = key_low(seen->at[i].key);
            double weight = longer ? 0.5 : 1;
            keys_of_sleep(keys, rank, stretch, kind);
            for (int k = 0; k < SLEEP_POOLS; k++)
                add_sleep(pools, keys[k], step, weight);
            add_sleep(pools, key_of_length(rank, kind), step, weight);
            add_sleep(pools, key_of_length(RANK_ALL, kind), step, weight);
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
    add_sleeps(pools, rank, stretch);
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

enum { POOL_VECTORS = 8 };
/* All that is sampled. Keys are steps, but for the last one's: slices and steps. */
static void vectors_of(struct pool *pool, struct sparse *vectors[POOL_VECTORS])
{
    struct sparse *all[POOL_VECTORS] = {&pool->on,   &pool->blocked, &pool->sync,   &pool->worker,
                                        &pool->idle, &pool->calling, &pool->beside, &pool->slices.weights};
    memcpy(vectors, all, sizeof all);
}

void pools_pack(struct pools *pools, struct packing *packing)
{
    struct sparse *vectors[POOL_VECTORS];
    pack_value(packing, pools->n);
    for (size_t i = 0; i < pools->n; i++) {
        struct pool *pool = &pools->at[i];
        pack_bytes(packing, pools->keys.items[i].bytes, sizeof(struct pool_key));
        pack_value(packing, *pool);
        vectors_of(pool, vectors);
        for (int k = 0; k < POOL_VECTORS; k++)
            pack_sparse(packing, vectors[k]);
    }
}

static uint32_t site_of_key(const struct numbers *numbers, uint32_t site)
{
    return site & FROM_FUNCTION ? site : numbers_site(numbers, site);
}

static void pool_unpack(struct pool *pool, const struct pool *later, struct unpacking *unpacking,
                        const struct numbers *numbers)
{
    struct sparse *vectors[POOL_VECTORS];
    vectors_of(pool, vectors);
    for (int k = 0; k < POOL_VECTORS; k++) {
        struct sparse added = {0};
        unpack_sparse(unpacking, &added);
        for (size_t i = 0; i < added.n; i++)
            added.at[i].key = key_pair(key_high(added.at[i].key), numbers_step(numbers, key_low(added.at[i].key)));
        sparse_absorb(vectors[k], &added);
        sparse_release(&added);
    }
    pool->team_ns += later->team_ns;
    pool->team_idle_ns += later->team_idle_ns;
    pool->by_workers_ns += later->by_workers_ns;
    pool->n_samples += later->n_samples;
    pool->n_worker += later->n_worker;
    pool->n_blocked += later->n_blocked;
    pool->n_sync += later->n_sync;
    pool->is_of_all_ranks |= later->is_of_all_ranks;
}

void pools_unpack(struct pools *pools, struct unpacking *unpacking, const struct numbers *numbers)
{
    size_t n;
    number_list ids = {0}, all = {0};
    unpack_value(unpacking, &n);
    for (size_t i = 0; i < n; i++) {
        struct pool_key key;
        struct pool later;
        unpack_value(unpacking, &key);
        unpack_value(unpacking, &later);
        key.from = site_of_key(numbers, key.from);
        key.to = site_of_key(numbers, key.to);
        uint32_t id = pool_put(pools, key);
        *vec_push(&ids) = id;
        *vec_push(&all) = later.all;
        pool_unpack(&pools->at[id], &later, unpacking, numbers);
    }
    for (size_t i = 0; i < n; i++)
        pools->at[ids.at[i]].all = all.at[i] == INTERN_NONE ? INTERN_NONE : ids.at[all.at[i]];
    vec_release(&ids);
    vec_release(&all);
}

uint32_t pools_between_calls(const struct pools *pools, uint32_t from, uint32_t to)
{
    struct pool_key key = {.rank = RANK_ALL, .from = from, .to = to, .bucket = BUCKET_ALL};
    return intern_find(&pools->keys, &key, sizeof key);
}

uint32_t pools_between(const struct pools *pools, uint32_t pool)
{
    const struct pool_key *key = (const void *)pools->keys.items[pool].bytes;
    uint32_t between = pools_between_calls(pools, key->from, key->to);
    return between == INTERN_NONE ? pool : between;
}

bool pools_is_of_process(const struct pools *pools, uint32_t pool, uint32_t *rank)
{
    const struct pool_key *key = (const void *)pools->keys.items[pool].bytes;
    *rank = key->rank;
    return key->rank != RANK_ALL && key->bucket == BUCKET_ALL && key->from != SITE_ANY && key->to != SITE_ANY;
}

void pools_complete(struct pools *pools)
{
    for (size_t i = 0; i < pools->n; i++) {
        slices_even_out(&pools->at[i].slices, &pools->at[i].on);
        sparse_release(&pools->at[i].slices.weights);
    }
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
            sparse_add_all(&pool->beside, &all->beside, part);
            pool->n_samples += POOL_SAMPLES_PRIOR;
            pool->n_blocked += all->n_blocked > 0;
            pool->n_sync += all->n_sync > 0;
            pool->n_worker += all->n_worker > 0;
            pool->by_workers_ns += part * all->by_workers_ns;
            pool->team_idle_ns += part * all->team_idle_ns;
            pool->team_ns += part * all->team_ns;
        }
    }
    for (size_t i = 0; i < pools->n; i++) {
        sparse_pack(&pools->at[i].on);
        sparse_pack(&pools->at[i].blocked);
        sparse_pack(&pools->at[i].sync);
    }
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
    const struct sparse *all[] = {&pool->on, &pool->blocked, &pool->sync, &pool->worker, &pool->idle, &pool->beside};
    const struct term *first = NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k < all[i]->n; k++) {
            first = first ? first : &all[i]->at[k];
            if (all[i]->at[k].key != first->key)
                return false;
        }
    return first;
}

/* With enough samples, or with a few that agree. */
static uint32_t pool_that_tells(const struct pools *pools, struct pool_key key)
{
    uint32_t id = intern_find(&pools->keys, &key, sizeof key);
    bool tells = id != INTERN_NONE && (pools->at[id].n_samples >= POOL_SAMPLES_MIN || pool_agrees(&pools->at[id]));
    return tells ? id : INTERN_NONE;
}

/* A process with more of the data, or with less, takes longer for the same code, or less long: of those up to four
 * times as long, or a fourth. */
static uint32_t pool_of_nearest_length(const struct pools *pools, struct pool_key key)
{
    enum { FOUR_TIMES = 4 }; /* half octaves */
    for (uint32_t off = 1; off <= FOUR_TIMES && off <= key.bucket; off++)
        for (int i = 0; i < 2; i++) {
            struct pool_key near = key;
            near.bucket = i ? key.bucket - off : key.bucket + off;
            uint32_t id = pool_that_tells(pools, near);
            if (id != INTERN_NONE)
                return id;
        }
    return INTERN_NONE;
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
    id = pool_that_tells(pools, key);
    if (id != INTERN_NONE)
        return id;
    uint32_t neighbours = pool_with_samples(pools, key_of_neighbours(pools, key.from, key.to, bucket));
    if (neighbours != INTERN_NONE)
        return neighbours;
    return pool_of_nearest_length(pools, of_all_ranks);
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

/* Where a stretch slept: where looks found other stretches asleep, for another thread or not,
 * between the same two calls of this process or else of any; else before the same call (a loop comes to its first call
 * from elsewhere), else after it. Sleeps that are shorter than a look takes are nowhere seen: then where samples were
 * in a system call, in the same order. INTERN_NONE = nothing tells. */
static uint32_t pool_of_looks(struct pools *pools, uint32_t rank, const struct stretch *stretch)
{
    uint32_t calling = INTERN_NONE;
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
        if (pool->n_blocked || pool->n_sync)
            return id;
        calling = calling == INTERN_NONE && pool->calling.n ? id : calling;
    }
    return calling;
}

/* Where sleeps of a kind are: INTERN_NONE where looks found none. */
static uint32_t pool_of_sleep(const struct pools *pools, uint32_t rank, const struct stretch *stretch, uint32_t kind)
{
    struct pool_key keys[SLEEP_POOLS];
    uint32_t best = INTERN_NONE;
    keys_of_sleep(keys, rank, stretch, kind);
    for (int i = 0; i < SLEEP_POOLS; i++) {
        uint32_t id = intern_find(&pools->keys, &keys[i], sizeof keys[i]);
        if (id == INTERN_NONE)
            continue;
        if (pools->at[id].n_samples >= POOL_SAMPLES_MIN)
            return id;
        if (best == INTERN_NONE || pools->at[id].n_samples > pools->at[best].n_samples)
            best = id; /* few looks are better than none */
    }
    return best;
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

/* Of the time for which workers ran while the main thread was off the CPU, that in which none did more than spin. What
 * they were sampled in may overlap, so it is the least that they can have spun. */
static double team_idle(const struct pool *pool)
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
    double idle = team_idle(pool);
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
    add_in_state(out, &seen, 1, steps, as_sampled ? AS_SAMPLED : (int)amount_state[amount]);
    sparse_release(&seen);
}

/* Which samples tell about an amount of time, and the state they mean. */
static void shares_gather(struct steps *steps, const struct pool *pool, int amount, struct sparse *out)
{
    if (amount == OFF_BLOCKED)
        gather_asleep(steps, pool, 1, out);
    else if (amount == BY_TEAM)
        gather_team(steps, pool, out);
    else if (amount == ON_CPU)
        gather_on(pool, steps, out);
    else if (amount == BY_OTHERS || amount == OTHERS_LACK)
        add_in_state(out, &pool->beside, 1, steps, amount == BY_OTHERS ? AS_SAMPLED : (int)amount_state[amount]);
    if (!out->n)
        gather_anything(steps, pool, amount, out);
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
        const struct step_key *key = steps_key(pools->sites->steps, (uint32_t)shares.at[i].key);
        shares.code += step_state_is_code((enum step_state)key->state) ? shares.at[i].ns : 0;
        shares.blocked += key->state == STEP_BLOCKED ? shares.at[i].ns : 0;
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

void pools_forget_shares(struct pools *pools)
{
    for (size_t i = 0; i < pools->n; i++)
        memset(pools->at[i].shares, 0, sizeof pools->at[i].shares);
    pools->gaps.n = 0;
    arena_release(&pools->arena);
}

void pools_know(struct pools *pools, const struct sparse *atoms)
{
    for (size_t i = 0; i < atoms->n; i++) {
        uint32_t atom = key_atom(atoms->at[i].key), number = atom & ~ATOM_IS_POOL;
        if (atom & ATOM_IS_POOL)
            pool_atom(pools, number / N_AMOUNTS, (int)(number % N_AMOUNTS));
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

/* The samples of a stretch as a pool of one, which borrows them. */
static struct pool pool_of_own(const struct stretch *stretch, const struct sparse *on)
{
    return (struct pool){.on = *on,
                         .blocked = stretch->blocked,
                         .sync = stretch->sync,
                         .worker = stretch->worker,
                         .idle = stretch->idle,
                         .calling = stretch->calling,
                         .beside = stretch->beside,
                         .by_workers_ns = stretch->by_workers_ns,
                         .team_idle_ns = stretch->team_idle_ns,
                         .team_ns = (double)stretch->run_ns[OFF_PREEMPTED] + (double)stretch->run_ns[OFF_BLOCKED]};
}

/* With its own samples, or what stands for them. */
static void spread_own(struct pools *pools, uint32_t rank, const struct stretch *stretch, const struct sparse *on,
                       const double *amounts, struct sparse *out)
{
    struct pool pool = pool_of_own(stretch, on);
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
    if (pair >= pools->gaps.n)
        vec_resize(&pools->gaps, (size_t)pair + 1);
    uint32_t *step_plus_1 = &pools->gaps.at[pair].of[amount];
    if (!*step_plus_1)
        *step_plus_1 = 1 + steps_put(pools->sites->steps, amount_state[amount], WHAT_GAP, pair, TRACE_NONE);
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

/* Weights of looks, but for places that the counted stretch never ran: there it cannot have slept. Returns their sum.
 * Where nothing is counted, that of all, and adds none. */
static double add_possible(const struct pools *pools, const struct sparse *looks, bool is_counted, struct sparse *out)
{
    double sum = is_counted ? 0 : sparse_sum(looks);
    for (size_t i = 0; i < looks->n && is_counted; i++)
        if (costs_part_of_run(pools->costs, COSTS_ALL_RANKS, (uint32_t)looks->at[i].key) != 0) {
            sparse_add(out, looks->at[i].key, looks->at[i].ns);
            sum += looks->at[i].ns;
        }
    return sum;
}

/* Looks at places, each for the work that the stretch measured last did there. All processes sleep as long for as much
 * work, unless a process has many looks of its own that say otherwise. Returns the sum: NAN if not all is counted. */
static double add_by_work(const struct pools *pools, uint32_t rank, const struct sparse *own, const struct sparse *all,
                          struct sparse *out)
{
    double sum = 0;
    for (size_t i = 0; i < all->n; i++) {
        uint32_t step = (uint32_t)all->at[i].key;
        double of_all = all->at[i].ns * costs_part_of_run(pools->costs, COSTS_ALL_RANKS, step);
        double of_own = 1 / costs_part_of_run(pools->costs, rank, step), n_own = own ? sparse_get(own, step) : 0;
        double weight = of_all == 0 ? 0 : (n_own + POOL_SAMPLES_OWN) / (of_own + POOL_SAMPLES_OWN / of_all);
        sparse_add(out, step, weight);
        sum += weight;
    }
    return sum;
}

static void add_weighed(struct sparse *out, uint32_t rank, const struct sparse *weights, double scale)
{
    for (size_t i = 0; i < weights->n; i++)
        sparse_add(out, atom_key(rank, (uint32_t)weights->at[i].key), scale * weights->at[i].ns);
}

static const struct pool *pool_at(const struct pools *pools, struct pool_key key)
{
    uint32_t id = intern_find(&pools->keys, &key, sizeof key);
    return id == INTERN_NONE ? NULL : &pools->at[id];
}

/* Sleeps at which nobody looked, of the counted stretch that was measured last: each execution of a place sleeps for as
 * long as others, as far as looks tell. False where they do not. */
static bool spread_by_work(struct pools *pools, uint32_t rank, uint32_t kind, double ns, struct sparse *out,
                           struct spent *spent)
{
    const struct pool *own = pool_at(pools, key_of_length(rank, kind));
    const struct pool *all = pool_at(pools, key_of_length(RANK_ALL, kind));
    if (!all)
        return false;
    struct sparse weights = {0};
    double blocked = add_by_work(pools, rank, own ? &own->blocked : NULL, &all->blocked, &weights);
    double sync = add_by_work(pools, rank, own ? &own->sync : NULL, &all->sync, &weights), sum = blocked + sync;
    if (sum > 0) {
        add_weighed(out, rank, &weights, ns / sum);
        spent->asleep_ns += ns * sync / sum;
        spent->noise_ns2 += ns * ns / all->n_samples;
    }
    sparse_release(&weights);
    return sum > 0;
}

/* Sleeps at which nobody looked: where others of their kind were. Returns how long of that until another thread woke
 * it. */
static double spread_unseen(struct pools *pools, uint32_t rank, uint32_t from, bool is_counted, double ns,
                            struct sparse *out)
{
    const struct pool *pool = &pools->at[from];
    struct sparse looks = {0};
    double blocked = add_possible(pools, &pool->blocked, is_counted, &looks);
    double sync = add_possible(pools, &pool->sync, is_counted, &looks), sum = blocked + sync;
    bool are_fewer = sum < sparse_sum(&pool->blocked) + sparse_sum(&pool->sync);
    if (sum > 0 && are_fewer)
        add_weighed(out, rank, &looks, ns / sum);
    else
        sparse_add(out, atom_key(rank, pool_atom(pools, from, OFF_BLOCKED)), ns);
    sparse_release(&looks);
    return sum > 0 ? ns * sync / sum : 0;
}

/* Each sleep where it was seen, or where others of its kind were; `id`: where any were (pool_of_looks). They are scaled
 * to the time blocked, which is theirs but for what is known not to be. */
static void spread_sleeps(struct pools *pools, uint32_t rank, const struct stretch *stretch, uint32_t id,
                          double blocked_ns, struct sparse *out, struct spent *spent)
{
    const struct sparse *seen = &stretch->sleeps.seen, *unseen = &stretch->sleeps.unseen;
    double scale = blocked_ns / sleeps_sum(&stretch->sleeps);
    bool is_counted = costs_measure(pools->costs, stretch);
    for (size_t i = 0; i < seen->n; i++) {
        uint32_t step = key_low(seen->at[i].key);
        sparse_add(out, atom_key(rank, step & ~SLEEP_IS_SYNC), scale * seen->at[i].ns);
        spent->asleep_ns += step & SLEEP_IS_SYNC ? scale * seen->at[i].ns : 0;
    }
    for (size_t i = 0; i < unseen->n; i++) {
        uint32_t kind = (uint32_t)unseen->at[i].key;
        double ns = scale * unseen->at[i].ns;
        if (is_counted && spread_by_work(pools, rank, kind, ns, out, spent))
            continue;
        uint32_t of_kind = pool_of_sleep(pools, rank, stretch, kind), from = of_kind == INTERN_NONE ? id : of_kind;
        spent->asleep_ns += spread_unseen(pools, rank, from, is_counted, ns, out);
        spent->noise_ns2 += ns * ns / (of_kind == INTERN_NONE ? 1 : pools->at[from].n_samples);
    }
}

/* How many samples the shares are worth; 0 = exact, or nothing is known. `asleep`: the pool that tells where it slept,
 * if its own samples do not. */
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

/* It sleeps where it waits for another thread, as far as looks tell. */
static bool waits_for_thread(const struct pools *pools, uint32_t looks)
{
    return looks != INTERN_NONE && pools->at[looks].n_sync > pools->at[looks].n_blocked;
}

/* A thread that waits for others, which run for most of that, waits for them all the time: the rest is handing over. */
static double gaps_of_handing_over(double ran_ns, double left_ns)
{
    return ran_ns > left_ns ? left_ns : 0;
}

static void add_others(struct pools *pools, uint32_t rank, uint32_t looks, struct others_did others, struct sparse *to)
{
    sparse_add(to, atom_key(rank, pool_atom(pools, looks, BY_OTHERS)), others.ran_ns);
    sparse_add(to, atom_key(rank, pool_atom(pools, looks, OTHERS_LACK)), others.lacked_ns);
}

/* Others that call MPI have their own time. While this thread waits for them, its way leads through what they do, which
 * is no time of its own: `lent` is what the way has instead of this thread's sleep. Time of workers is its own, and is
 * returned. */
static struct others_did lend(struct pools *pools, uint32_t rank, const struct stretch *stretch, uint32_t looks,
                              double asleep_ns, struct sparse *out, struct sparse *lent)
{
    struct others_did others = stretch_others(stretch, OFF_BLOCKED, asleep_ns);
    double left_ns = asleep_ns - others.ran_ns - others.lacked_ns;
    others.ran_ns += gaps_of_handing_over(others.ran_ns + others.lacked_ns, left_ns);
    const struct pool *pool = &pools->at[looks];
    double own = fmin(1, pool->by_workers_ns / sparse_sum(&pool->beside));
    struct others_did of_workers = {own * others.ran_ns, own * others.lacked_ns},
                      of_callers = {others.ran_ns - of_workers.ran_ns, others.lacked_ns - of_workers.lacked_ns};
    add_others(pools, rank, looks, of_workers, out);
    add_others(pools, rank, looks, of_callers, lent);
    sparse_add(lent, atom_key(rank, pool_atom(pools, looks, OFF_BLOCKED)), -(of_callers.ran_ns + of_callers.lacked_ns));
    return of_workers;
}

/* Of time while workers ran, how much they spun. */
static double idle_share(struct pools *pools, uint32_t rank, const struct stretch *stretch)
{
    if (stretch_n_samples(stretch) >= POOL_SAMPLES_OWN) {
        struct pool own = pool_of_own(stretch, &stretch->on);
        return team_idle(&own);
    }
    uint32_t pool = pool_of_stretch(pools, rank, stretch);
    return pool == INTERN_NONE ? 0 : team_idle(&pools->at[pool]);
}

/* The stretch is exactly known by regions, and what lies outside them all is not. */
static void spread_paths(struct pools *pools, uint32_t rank, struct stretch *stretch, struct sparse *out)
{
    sparse_pack(&stretch->paths);
    double rest[N_AMOUNTS] = {[ON_CPU] = (double)stretch_length(stretch) - sparse_sum(&stretch->paths)};
    for (size_t i = 0; i < stretch->paths.n; i++)
        sparse_add(out, atom_key(rank, (uint32_t)stretch->paths.at[i].key), stretch->paths.at[i].ns);
    spread_unknown(pools, rank, stretch, rest, out);
}

/* Until another thread of the process woke it, of the time that it slept, by what looks found. */
static double asleep_for_threads(const struct pools *pools, uint32_t looks, double asleep_ns)
{
    const struct pool *pool = looks == INTERN_NONE ? NULL : &pools->at[looks];
    double sync_ns = pool ? sparse_sum(&pool->sync) : 0;
    return sync_ns > 0 ? asleep_ns * sync_ns / (sync_ns + sparse_sum(&pool->blocked)) : 0;
}

/* By samples, looks and counts. */
static void spread_sampled(struct pools *pools, uint32_t rank, const struct stretch *stretch, double amounts[N_AMOUNTS],
                           struct sparse *out, struct sparse *lent, struct spent *spent)
{
    uint32_t looks = amounts[OFF_BLOCKED] > 0 ? pool_of_looks(pools, rank, stretch) : INTERN_NONE;
    bool waits = waits_for_thread(pools, looks);
    double gaps_ns = waits ? gaps_of_handing_over(amounts[BY_TEAM], amounts[OFF_BLOCKED]) : 0;
    amounts[BY_TEAM] += gaps_ns;
    amounts[OFF_BLOCKED] -= gaps_ns;
    double spun_ns = amounts[BY_TEAM] > 0 ? amounts[BY_TEAM] * idle_share(pools, rank, stretch) : 0;
    bool lends = waits && !stretch->is_alone && lent && pools->at[looks].beside.n;
    struct others_did of_workers = {0};
    if (lends)
        of_workers = lend(pools, rank, stretch, looks, amounts[OFF_BLOCKED], out, lent);
    amounts[OFF_BLOCKED] -= of_workers.ran_ns + of_workers.lacked_ns;
    *spent = (struct spent){.on_ns = amounts[ON_CPU] + amounts[BY_TEAM] - spun_ns + of_workers.ran_ns,
                            .off_ns = {amounts[OFF_PREEMPTED] + of_workers.lacked_ns, amounts[OFF_BLOCKED] + spun_ns},
                            .led_by = waits ? stretch->led_by : 0,
                            .led_until_ns = stretch->led_until_ns};
    bool has_own = (stretch->n_blocked || stretch->n_sync) && pool_of_stretch(pools, rank, stretch) != INTERN_NONE;
    uint32_t asleep = has_own && !lends ? INTERN_NONE : looks;
    if (looks != INTERN_NONE && !lends && amounts[OFF_BLOCKED] > 0 && sleeps_sum(&stretch->sleeps) > 0) {
        spread_sleeps(pools, rank, stretch, looks, amounts[OFF_BLOCKED], out, spent);
        amounts[OFF_BLOCKED] = 0;
    } else {
        spent->asleep_ns = asleep_for_threads(pools, looks, amounts[OFF_BLOCKED]);
    }
    double n_samples = spread_by_knowledge(pools, rank, stretch, asleep, amounts, out);
    double sampled_ns = amounts[ON_CPU] + amounts[OFF_BLOCKED] + amounts[BY_TEAM];
    spent->noise_ns2 += n_samples ? sampled_ns * sampled_ns / n_samples : 0;
}

void pools_spread(struct pools *pools, uint32_t rank, struct stretch *stretch, struct sparse *out, struct sparse *lent,
                  struct spent *spent)
{
    double amounts[N_AMOUNTS], length_ns = (double)stretch_length(stretch);
    if (stretch->is_off) {
        uint32_t step = steps_put(pools->sites->steps, STEP_UNKNOWN, WHAT_OFF, 0, TRACE_NONE);
        sparse_add(out, atom_key(rank, step), length_ns);
        *spent = (struct spent){.unrecorded_ns = length_ns};
    } else if (stretch->paths.n) {
        spread_paths(pools, rank, stretch, out);
        *spent = (struct spent){.on_ns = length_ns, .led_until_ns = stretch->led_until_ns};
    } else {
        stretch_split(stretch, amounts);
        spread_sampled(pools, rank, stretch, amounts, out, lent, spent);
    }
}
