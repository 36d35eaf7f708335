/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/collectives.h"

void collectives_add(struct collectives *collectives, uint64_t key, uint64_t n)
{
    bool is_new;
    uint64_t *sum = map_put(&collectives->n, key, &is_new);
    uint64_t *most = map_put(&collectives->most, key_high(key), NULL);
    if (is_new)
        *vec_push(&collectives->keys) = key;
    *sum += n;
    *most = *sum > *most ? *sum : *most;
}

void collectives_add_all(struct collectives *collectives, const struct collectives *more)
{
    for (size_t i = 0; i < more->keys.n; i++)
        collectives_add(collectives, more->keys.at[i], collectives_n(more, more->keys.at[i]));
}

void collectives_add_known(struct collectives *collectives, const struct trace_before *before, size_t n)
{
    for (size_t i = 0; i < n; i++)
        collectives_add(collectives, key_pair(2 * before[i].comm + before[i].is_non_blocking, before[i].rank),
                        before[i].n);
}

static uint64_t get(const struct map *map, uint64_t key)
{
    const uint64_t *n = map_get(map, key);
    return n ? *n : 0;
}

uint64_t collectives_n(const struct collectives *collectives, uint64_t key)
{
    return get(&collectives->n, key);
}

uint64_t collectives_most(const struct collectives *collectives, uint64_t key)
{
    return get(&collectives->most, key_high(key));
}

void collectives_release(struct collectives *collectives)
{
    map_release(&collectives->n);
    map_release(&collectives->most);
    vec_release(&collectives->keys);
}
