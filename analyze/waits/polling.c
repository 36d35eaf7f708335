/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/polling.h"

void polling_begin(struct polling *polling, struct chain_node *node, uint32_t site)
{
    polling->node = node;
    polling->site = site;
    polling->since_ns = polling->until_ns = node->time_ns;
    polling->n_parts = 0;
}

void polling_end(struct polling *polling, struct links *links)
{
    for (size_t i = 0; i < polling->points.n; i++) {
        struct point *point = polling->points.at[i];
        if (!point->is_set)
            point_set(links, point, point->node);
        point_drop(links, point);
    }
    polling->points.n = polling->n_wanted = 0;
    chain_drop(&links->chain, polling->node);
    polling->node = NULL;
    polling->n_parts = 0;
}

void polling_release(struct polling *polling)
{
    for (uint32_t i = 0; i < POLLING_PARTS; i++) {
        sparse_release(&polling->parts[i].atoms);
        sparse_release(&polling->parts[i].counts);
    }
    vec_release(&polling->points);
}

static void spent_add(struct spent *spent, const struct spent *more)
{
    spent->on_ns += more->on_ns;
    for (int kind = 0; kind < OFF_N; kind++)
        spent->off_ns[kind] += more->off_ns[kind];
    spent->noise_ns2 += more->noise_ns2;
}

static void part_join(struct polling_part *part, struct polling_part *next)
{
    part->to_ns = next->to_ns;
    part->is_stretch = false;
    sparse_absorb(&part->atoms, &next->atoms);
    sparse_absorb(&part->counts, &next->counts);
    spent_add(&part->spent, &next->spent);
    part->transfer_ns += next->transfer_ns;
    part->absent_ns += next->absent_ns;
}

/* The older half becomes one part. */
static void parts_join(struct polling *polling)
{
    enum { HALF = POLLING_PARTS / 2 };
    struct polling_part *parts = polling->parts;
    for (uint32_t i = 1; i < HALF; i++)
        part_join(&parts[0], &parts[i]);
    for (uint32_t i = HALF; i < POLLING_PARTS; i++) {
        struct polling_part empty = parts[i - HALF + 1];
        parts[i - HALF + 1] = parts[i];
        parts[i] = empty;
    }
    polling->n_parts -= HALF - 1;
}

struct polling_part *polling_add(struct polling *polling, uint64_t to_ns)
{
    if (polling->n_parts == POLLING_PARTS)
        parts_join(polling);
    struct polling_part *part = &polling->parts[polling->n_parts];
    sparse_clear(&part->atoms);
    sparse_clear(&part->counts);
    *part = (struct polling_part){.from_ns = polling->n_parts ? part[-1].to_ns : polling->since_ns,
                                  .to_ns = to_ns,
                                  .atoms = part->atoms,
                                  .counts = part->counts};
    polling->n_parts++;
    return part;
}

/* Nobody else holds them. */
static void forget_unwanted(struct polling *polling, struct links *links)
{
    size_t n = 0;
    for (size_t i = 0; i < polling->points.n; i++) {
        struct point *point = polling->points.at[i];
        if (point->holds > 1)
            polling->points.at[n++] = point;
        else
            point_drop(links, point);
    }
    polling->points.n = polling->n_wanted = n;
}

void polling_add_point(struct polling *polling, struct links *links, struct point *point, struct chain_node *node)
{
    enum { FEW = 16 };
    if (polling->points.n > FEW + 2 * polling->n_wanted)
        forget_unwanted(polling, links);
    point_set_for_now(point, node);
    *vec_push(&polling->points) = point_hold(point);
}

double polling_part_between(const struct polling_part *part, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t begin_ns = from_ns > part->from_ns ? from_ns : part->from_ns;
    uint64_t end_ns = to_ns < part->to_ns ? to_ns : part->to_ns;
    return end_ns > begin_ns ? (double)(end_ns - begin_ns) / (double)(part->to_ns - part->from_ns) : 0;
}

const struct polling_part *polling_stretch_before(const struct polling *polling, uint64_t at_ns)
{
    for (uint32_t i = 0; i < polling->n_parts; i++)
        if (polling->parts[i].to_ns == at_ns && polling->parts[i].is_stretch)
            return &polling->parts[i];
    return NULL;
}
