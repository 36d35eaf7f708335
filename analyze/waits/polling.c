/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/polling.h"

void polling_begin(struct polling *polling, struct chain_node *node, uint32_t site)
{
    polling->node = node;
    polling->site = site;
    polling->since_ns = polling->until_ns = node->time_ns;
    polling->n_parts = 0;
}

void polling_end(struct polling *polling, struct chain *chain)
{
    chain_drop(chain, polling->node);
    polling->node = NULL;
    polling->n_parts = 0;
}

void polling_release(struct polling *polling)
{
    for (uint32_t i = 0; i < POLLING_PARTS; i++) {
        sparse_release(&polling->parts[i].atoms);
        sparse_release(&polling->parts[i].counts);
    }
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

double polling_part_after(const struct polling_part *part, uint64_t at_ns)
{
    if (at_ns <= part->from_ns)
        return 1;
    return at_ns >= part->to_ns ? 0 : (double)(part->to_ns - at_ns) / (double)(part->to_ns - part->from_ns);
}
