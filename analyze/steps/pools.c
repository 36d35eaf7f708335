/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/pools.h"
#include "analyze/constants/constants.h"
#include "wrap/base/containers.h"
#include <math.h>
#include <string.h>

enum { FROM_FUNCTION = 0x80000000u };         /* a key's `from` is no site but a function of MPI */
enum { SLICED_NS = SLICES * CLOCK_NOISE_NS }; /* in shorter stretches it is not known which slice a sample hit */
enum { OF_SLEEPS = 0x40000000u };             /* a key's `bucket` is no length of stretches but a kind of sleeps */
enum { BUCKET_ALL = UINT32_MAX, SITE_ANY = UINT32_MAX };
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
        key.rank = i % 2 ? POOL_ALL_RANKS : rank;
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
        keys[i].rank = i % 2 ? POOL_ALL_RANKS : rank;
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
            add_sleep(pools, key_of_length(POOL_ALL_RANKS, kind), step, weight);
        }
}

/* All stretches of like length before a call, of all processes, that begin with the same function of MPI: a process may
 * call that elsewhere, or for other neighbours, and still do the same after. */
static struct pool_key key_of_neighbours(const struct pools *pools, uint32_t from, uint32_t to, uint32_t bucket)
{
    return (struct pool_key){POOL_ALL_RANKS, FROM_FUNCTION | sites_at(pools->sites, from)->region, to, bucket};
}

void pools_add_samples(struct pools *pools, uint32_t rank, const struct stretch *stretch)
{
    if (stretch->n_blocked || stretch->n_sync || stretch->calling.n)
        add_looks(pools, rank, stretch);
    add_sleeps(pools, rank, stretch);
    struct pool_key key = {.rank = rank, .from = stretch->from, .to = stretch->to, .bucket = stretch_bucket(stretch)};
    uint32_t alike = pool_add(pools, key, stretch);
    key.rank = POOL_ALL_RANKS;
    uint32_t everybody = pool_add(pools, key, stretch);
    struct pool_key of_neighbours = key_of_neighbours(pools, key.from, key.to, key.bucket);
    uint32_t neighbours = pool_add(pools, of_neighbours, stretch);
    key.rank = rank;
    key.bucket = BUCKET_ALL;
    uint32_t all = pool_add(pools, key, stretch);
    key.rank = POOL_ALL_RANKS;
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
    struct pool_key key = {.rank = POOL_ALL_RANKS, .from = from, .to = to, .bucket = BUCKET_ALL};
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
    return key->rank != POOL_ALL_RANKS && key->bucket == BUCKET_ALL && key->from != SITE_ANY && key->to != SITE_ANY;
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

static uint32_t pool_with_samples(const struct pools *pools, struct pool_key key)
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
    struct pool_key of_all_ranks = {.rank = POOL_ALL_RANKS, .from = key.from, .to = key.to, .bucket = bucket};
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

/* A pool that was found for stretches of a kind stays theirs. */
uint32_t pools_of_stretch(struct pools *pools, uint32_t rank, const struct stretch *stretch)
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

uint32_t pools_of_looks(struct pools *pools, uint32_t rank, const struct stretch *stretch)
{
    uint32_t calling = INTERN_NONE;
    struct pool_key keys[] = {
        {.rank = rank, .from = stretch->from, .to = stretch->to, .bucket = stretch_bucket(stretch)},
        {.rank = rank, .from = stretch->from, .to = stretch->to, .bucket = BUCKET_ALL},
        {.rank = POOL_ALL_RANKS, .from = stretch->from, .to = stretch->to, .bucket = BUCKET_ALL},
        {.rank = rank, .from = SITE_ANY, .to = stretch->to, .bucket = BUCKET_ALL},
        {.rank = POOL_ALL_RANKS, .from = SITE_ANY, .to = stretch->to, .bucket = BUCKET_ALL},
        {.rank = rank, .from = stretch->from, .to = SITE_ANY, .bucket = BUCKET_ALL},
        {.rank = POOL_ALL_RANKS, .from = stretch->from, .to = SITE_ANY, .bucket = BUCKET_ALL},
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

uint32_t pools_of_sleep(const struct pools *pools, uint32_t rank, const struct stretch *stretch, uint32_t kind)
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

uint32_t pools_of_length(const struct pools *pools, uint32_t rank, uint32_t kind)
{
    struct pool_key key = key_of_length(rank, kind);
    return intern_find(&pools->keys, &key, sizeof key);
}

uint32_t pools_of_calls(const struct pools *pools, uint32_t rank, const struct stretch *stretch)
{
    struct pool_key key = {.rank = rank, .from = stretch->from, .to = stretch->to, .bucket = BUCKET_ALL};
    return pool_with_samples(pools, key);
}
