/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/cause_parts.h"
#include "analyze/constants/constants.h"
#include "wrap/base/keys.h"
#include <math.h>
#include <stdlib.h>

/* A node that only leads to one other says nothing of its own. */
void parts_find(struct writer *writer)
{
    const struct rollup *rollup = &writer->causes->rollup;
    uint32_t n = (uint32_t)rollup->nodes.n;
    double *below_ns = arena_array(&writer->scratch, double, n + 1);
    double *largest_ns = arena_array(&writer->scratch, double, n + 1);
    writer->is_part = arena_array(&writer->scratch, bool, n + 1);
    writer->part_of = arena_array(&writer->scratch, uint32_t, n + 1);
    for (uint32_t i = n; i-- > 0;) {
        uint32_t node = rollup->order.at[i], cause = rollup->cause_of.at[node];
        uint32_t parent = rollup->nodes.at[node].parent;
        below_ns[node] += sparse_sum(&rollup->nodes.at[node].blame);
        bool is_named = cause != ROLLUP_NONE && rollup->causes.at[cause].node == node;
        writer->is_part[node] = below_ns[node] > 0 && (is_named || largest_ns[node] < below_ns[node]);
        if (cause == ROLLUP_NONE || parent == ROLLUP_NONE || rollup->cause_of.at[parent] != cause)
            continue;
        below_ns[parent] += below_ns[node];
        largest_ns[parent] = fmax(largest_ns[parent], below_ns[node]);
    }
}

/* A part while it is added up: what reads the same inside the same part is one, however it was entered. */
struct part_sums {
    uint32_t parent, step, call_line; /* parent: number + 1, which is smaller; 0 = in no other part */
    struct sparse blame, times;       /* with those of the parts inside */
    double own_ns;
    uint32_t n; /* itself and the parts inside */
};

typedef VEC(struct part_sums) parts_sums;

/* The part around a node of this cause, as numbered so far plus 1; 0 = none. */
static uint32_t part_around(const struct writer *writer, uint32_t node)
{
    const struct rollup *rollup = &writer->causes->rollup;
    uint32_t parent = rollup->nodes.at[node].parent;
    bool is_inner = parent != ROLLUP_NONE && rollup->cause_of.at[parent] == writer->number;
    return is_inner ? writer->part_of[parent] : 0;
}

/* Codes that are in no other part on some way: on another one something more may be around them. */
static void parts_find_outermost(struct writer *writer, struct map *outermost)
{
    const struct rollup *rollup = &writer->causes->rollup;
    for (size_t i = 0; i < rollup->order.n; i++) {
        uint32_t node = rollup->order.at[i];
        if (rollup->cause_of.at[node] != writer->number)
            continue;
        bool is_inside = part_around(writer, node) > 0;
        if (writer->is_part[node] && !is_inside)
            map_put(outermost, rollup->nodes.at[node].code, NULL);
        writer->part_of[node] = is_inside || writer->is_part[node];
    }
}

static void parts_gather(struct writer *writer, parts_sums *parts)
{
    const struct rollup *rollup = &writer->causes->rollup;
    struct intern keys = {0};
    struct map outermost = {0};
    parts_find_outermost(writer, &outermost);
    for (size_t i = 0; i < rollup->order.n; i++) {
        uint32_t node = rollup->order.at[i];
        if (rollup->cause_of.at[node] != writer->number)
            continue;
        uint32_t around = part_around(writer, node);
        if (writer->is_part[node]) {
            bool is_below_outermost = around > 0 && around <= parts->n && !parts->at[around - 1].parent;
            if (is_below_outermost && map_get(&outermost, rollup->nodes.at[node].code))
                around = 0;
            /* The code that calls an outermost part is not told. */
            uint32_t line = calltree_call_line(&writer->causes->placing.tree, node);
            uint32_t key[] = {around, rollup->nodes.at[node].code, around ? line : 0};
            uint32_t number = intern_put(&keys, key, sizeof key);
            if (number == parts->n || !parts->at)
                *vec_push(parts) = (struct part_sums){.parent = around, .step = key[1], .call_line = line, .n = 1};
            parts->at[number].call_line = parts->at[number].call_line == line ? line : 0;
            around = number + 1;
        }
        writer->part_of[node] = around;
        if (!around)
            continue;
        struct part_sums *part = &parts->at[around - 1];
        part->own_ns += sparse_sum(&rollup->nodes.at[node].blame);
        sparse_add_all(&part->blame, &rollup->nodes.at[node].blame, 1);
        sparse_add_all(&part->times, &rollup->nodes.at[node].times, 1);
    }
    intern_release(&keys);
    map_release(&outermost);
}

/* Blame and time by rank, and the part's place behind the one around it. */
static void cause_add_part(struct writer *writer, struct cause *cause, struct part_sums *sums, uint32_t at)
{
    struct cause_part *part = &cause->parts[at];
    part->step = sums->step;
    part->call_line = sums->call_line;
    part->own_ns = sums->own_ns;
    part->waiting_ns = sparse_sum(&sums->blame);
    if (part->waiting_ns < NEGLIGIBLE_SHARE * writer->causes->rollup.causes.at[writer->number].blame_ns)
        return;
    part->ranks = arena_array(&writer->causes->input->analysis->arena, struct cause_rank, sums->times.n + 1);
    for (size_t i = 0; i < sums->times.n; i++)
        part->ranks[part->n_ranks++] = (struct cause_rank){.rank = (uint32_t)sums->times.at[i].key,
                                                           .blame_ns = sparse_get(&sums->blame, sums->times.at[i].key),
                                                           .time_ns = sums->times.at[i].ns};
    qsort(part->ranks, part->n_ranks, sizeof *part->ranks, key_order_u32);
}

void parts_write(struct writer *writer, struct cause *cause)
{
    parts_sums parts = {0};
    parts_gather(writer, &parts);
    cause->parts = arena_array(&writer->causes->input->analysis->arena, struct cause_part, parts.n + 1);
    for (size_t i = parts.n; i-- > 0;) {
        struct part_sums *part = &parts.at[i], *around = part->parent ? &parts.at[part->parent - 1] : NULL;
        sparse_pack(&part->blame);
        sparse_pack(&part->times);
        if (!around)
            continue;
        around->n += part->n;
        sparse_add_all(&around->blame, &part->blame, 1);
        sparse_add_all(&around->times, &part->times, 1);
    }
    /* By number + 1, and for those in no other part: where the next part inside stands, and how deep. */
    uint32_t *next = arena_array(&writer->scratch, uint32_t, parts.n + 1);
    uint32_t *depth = arena_array(&writer->scratch, uint32_t, parts.n + 1);
    for (size_t i = 0; i < parts.n; i++) {
        struct part_sums *part = &parts.at[i];
        uint32_t at = next[part->parent];
        next[part->parent] += part->n;
        next[i + 1] = at + 1;
        depth[i + 1] = depth[part->parent] + 1;
        cause_add_part(writer, cause, part, at);
        cause->parts[at].depth = depth[part->parent];
        cause->parts[at].is_beside = writer->causes->rollup.causes.at[writer->number].has_others && !part->parent &&
                                     part->step != cause->step &&
                                     cause->parts[at].waiting_ns >= WORTH_NAMING * writer->sums->waiting.ns;
        cause->n_beside += cause->parts[at].is_beside;
        sparse_release(&part->blame);
        sparse_release(&part->times);
    }
    cause->n_parts = (uint32_t)parts.n;
    vec_release(&parts);
}
