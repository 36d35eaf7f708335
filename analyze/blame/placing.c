/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/placing.h"
#include <stdlib.h>

enum { ALL_RANKS = 0x0fffffff };

struct sampled_node {
    uint64_t key; /* atom_key(rank, step) */
    uint32_t node;
    double ns;
};

static void add_sampled(struct placing *placing, uint32_t rank, uint32_t step, uint32_t node, uint64_t ns)
{
    if (!ns)
        return;
    *vec_push(&placing->sampled) = (struct sampled_node){atom_key(rank, step), node, (double)ns};
    *vec_push(&placing->sampled) = (struct sampled_node){atom_key(ALL_RANKS, step), node, (double)ns};
}

static void sample_entry(struct placing *placing, const struct survey_entry *entry)
{
    struct steps *steps = placing->sites->steps;
    uint32_t step = sites_sample_step(placing->sites, entry->frame);
    uint32_t node = step == TRACE_NONE ? TRACE_NONE : calltree_of_sample(&placing->tree, entry->frame);
    if (node == TRACE_NONE)
        return;
    add_sampled(placing, entry->rank, step, node, entry->sampled_ns - entry->kernel_ns);
    add_sampled(placing, entry->rank, steps_in_state(steps, step, STEP_BLOCKED), node,
                entry->kernel_ns + entry->blocked_ns);
}

static int sampled_compare(const void *a, const void *b)
{
    const struct sampled_node *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return (left->node > right->node) - (left->node < right->node);
}

/* Equal nodes of one process and step become one; their weights become shares. */
static void share_out(struct placing *placing, const struct sampled_node *sampled, size_t n)
{
    double sum_ns = 0;
    size_t begin = placing->placed.n;
    for (size_t i = 0; i < n; i++) {
        bool is_new = i == 0 || sampled[i].node != sampled[i - 1].node;
        struct placed *placed = is_new ? vec_push(&placing->placed) : &placing->placed.at[placing->placed.n - 1];
        placed->node = sampled[i].node;
        placed->share += sampled[i].ns;
        sum_ns += sampled[i].ns;
    }
    for (size_t i = begin; i < placing->placed.n; i++)
        placing->placed.at[i].share /= sum_ns;
    *map_put(&placing->of_step, sampled->key, NULL) = (uint64_t)begin << 32 | (placing->placed.n - begin);
}

void placing_begin(struct placing *placing, struct sites *sites, const struct survey *survey)
{
    *placing = (struct placing){.sites = sites};
    calltree_begin(&placing->tree, sites, survey);
    for (size_t i = 0; i < survey->entries.n; i++)
        if (survey->entries.at[i].sampled_ns || survey->entries.at[i].blocked_ns)
            sample_entry(placing, &survey->entries.at[i]);
    if (placing->sampled.n)
        qsort(placing->sampled.at, placing->sampled.n, sizeof *placing->sampled.at, sampled_compare);
    for (size_t i = 0, end; i < placing->sampled.n; i = end) {
        for (end = i; end < placing->sampled.n && placing->sampled.at[end].key == placing->sampled.at[i].key;)
            end++;
        share_out(placing, &placing->sampled.at[i], end - i);
    }
    vec_release(&placing->sampled);
}

void placing_release(struct placing *placing)
{
    calltree_release(&placing->tree);
    vec_release(&placing->sampled);
    vec_release(&placing->placed);
    map_release(&placing->of_step);
}

/* What stands for all steps of one code: an MPI call is the same whoever led to it. */
static uint32_t step_alone(struct sites *sites, uint32_t step)
{
    struct step_key key = *steps_key(sites->steps, steps_base(sites->steps, step));
    if (key.what == WHAT_SITE || key.what == WHAT_WAIT)
        key.id = sites_innermost(sites, key.id);
    if (key.what == WHAT_GAP) {
        const uint32_t *pair = sites_pair_at(sites, key.id);
        uint32_t from = pair[0], to = pair[1];
        key.id = sites_pair(sites, sites_innermost(sites, from), sites_innermost(sites, to));
    }
    return steps_put(sites->steps, (enum step_state)key.state, (enum step_what)key.what, key.id, TRACE_NONE);
}

static uint32_t node_without_samples(struct placing *placing, uint32_t step)
{
    const struct step_key *key = steps_key(placing->sites->steps, step);
    if (key->what == WHAT_PLACE)
        return calltree_of_place(&placing->tree, key->id);
    if (key->what == WHAT_PATH)
        return calltree_of_context(&placing->tree, key->id);
    return calltree_alone(&placing->tree, step_alone(placing->sites, step));
}

/* On a CPU or asleep: where samples of that state are missing, those of the other tell. */
static const uint64_t *find_sampled(struct placing *placing, uint32_t rank, uint32_t step)
{
    static const enum step_state others[] = {[STEP_COMPUTING] = STEP_BLOCKED, [STEP_BLOCKED] = STEP_COMPUTING};
    struct steps *steps = placing->sites->steps;
    enum step_state state = (enum step_state)steps_key(steps, step)->state;
    if (state != STEP_COMPUTING && state != STEP_BLOCKED)
        state = STEP_COMPUTING;
    uint64_t keys[] = {steps_in_state(steps, step, state), steps_in_state(steps, step, others[state])};
    for (size_t i = 0; i < 4; i++) {
        uint32_t whose = i < 2 ? rank : ALL_RANKS;
        const uint64_t *found = map_get(&placing->of_step, atom_key(whose, (uint32_t)keys[i % 2]));
        if (found)
            return found;
    }
    return NULL;
}

struct placings placing_of(struct placing *placing, uint32_t rank, uint32_t step)
{
    bool is_place = steps_key(placing->sites->steps, step)->what == WHAT_PLACE;
    const uint64_t *found = map_get(&placing->of_step, atom_key(rank, step));
    if (!found && is_place)
        found = find_sampled(placing, rank, step);
    uint64_t range = found ? *found : 0;
    if (!found) {
        range = (uint64_t)placing->placed.n << 32 | 1;
        struct placed alone = {node_without_samples(placing, step), 1};
        *vec_push(&placing->placed) = alone;
        *map_put(&placing->of_step, atom_key(ALL_RANKS, step), NULL) = range;
    }
    *map_put(&placing->of_step, atom_key(rank, step), NULL) = range;
    return (struct placings){.at = &placing->placed.at[range >> 32], .n = (uint32_t)range};
}
