/* SPDX-License-Identifier: BSD-3-Clause */
/* Atoms become kinds: which steps an atom stands for, what state each is in, and which causes act in it. */
#include "analyze/timeline/gather.h"
#include "analyze/constants/constants.h"
#include "wrap/base/containers.h"
#include "wrap/base/keys.h"
#include <float.h>

/* What atoms become. */
struct naming {
    const struct timeline_finish_input *input;
    struct intern kinds;
    struct map of_site;                /* (site, kind of wait) -> the result's site + 1 */
    struct map of_atom;                /* atom_key -> key_pair(where in `parts` it begins, how many) */
    VEC(struct timeline_part) parts;   /* kinds and shares */
    VEC(struct timeline_part) scratch; /* of one cell */
};

static uint32_t naming_kind(struct naming *naming, uint32_t state, uint32_t cause, uint32_t step)
{
    struct timeline_kind kind = {state, cause, step};
    return intern_put(&naming->kinds, &kind, sizeof kind);
}

static const struct timeline_kind *kind_at(const struct naming *naming, uint32_t kind)
{
    return naming->kinds.items[kind].bytes;
}

/* A step of one rank: shares of it by cause, and what belongs to none. */
static void naming_add_step(struct naming *naming, uint64_t key, float share)
{
    const struct cause_times *acting = naming->input->acting;
    uint32_t step = key_atom(key), state = steps_key(naming->input->pools->sites->steps, step)->state;
    size_t low = 0;
    bisect(low, acting->parts.n, acting->parts.at[low].key < key);
    float rest = 1, rounding = FLT_EPSILON;
    for (; low < acting->parts.n && acting->parts.at[low].key == key; low++) {
        const struct cause_time *time = &acting->parts.at[low];
        *vec_push(&naming->parts) =
            (struct timeline_part){naming_kind(naming, state, time->cause, step), share * time->share};
        rest -= time->share;
        rounding += FLT_EPSILON;
    }
    if (rest > rounding)
        *vec_push(&naming->parts) = (struct timeline_part){naming_kind(naming, state, TRACE_NONE, step), share * rest};
}

/* The kinds of an atom in naming->parts. */
static uint64_t naming_of_atom(struct naming *naming, uint32_t rank, uint32_t atom)
{
    bool is_new;
    uint64_t *known = map_put(&naming->of_atom, atom_key(rank, atom), &is_new);
    if (!is_new)
        return *known;
    size_t first = naming->parts.n;
    struct term single;
    struct shares shares = {0};
    if (atom == ATOM_WAITING)
        *vec_push(&naming->parts) =
            (struct timeline_part){naming_kind(naming, TIMELINE_WAITING, TRACE_NONE, TRACE_NONE), 1};
    else
        shares = atom_expand(naming->input->pools, atom, &single);
    for (size_t i = 0; i < shares.n; i++)
        naming_add_step(naming, atom_key(rank, (uint32_t)shares.at[i].key), (float)shares.at[i].ns);
    return *known = key_pair((uint32_t)first, (uint32_t)(naming->parts.n - first));
}

/* The kinds of a cell, those of little length without their step. */
static uint32_t naming_cell(struct naming *naming, uint32_t rank, const struct timeline_cell *cell,
                            const struct timeline_part *parts)
{
    naming->scratch.n = 0;
    for (uint32_t i = 0; i < cell->n_parts; i++) {
        uint64_t where = naming_of_atom(naming, rank, parts[i].kind);
        for (uint32_t k = 0; k < (uint32_t)where; k++) {
            struct timeline_part part = naming->parts.at[key_high(where) + k];
            *vec_push(&naming->scratch) = (struct timeline_part){part.kind, part.ns * parts[i].ns};
        }
    }
    if (!naming->scratch.at)
        return 0;
    uint32_t n = timeline_join_parts(naming->scratch.at, naming->scratch.n);
    float least_ns = (float)NEGLIGIBLE_SHARE * (float)(cell->end_ns - cell->begin_ns);
    for (uint32_t i = 0; i < n; i++) {
        const struct timeline_kind *kind = kind_at(naming, naming->scratch.at[i].kind);
        if (naming->scratch.at[i].ns < least_ns && kind->step != TRACE_NONE)
            naming->scratch.at[i].kind = naming_kind(naming, kind->state, kind->cause, TRACE_NONE);
    }
    return timeline_join_parts(naming->scratch.at, n);
}

static void naming_row(struct naming *naming, struct timeline_row *row, uint32_t rank)
{
    struct timeline_row named = {.cells = {.at = row->cells.at, .n = row->cells.n, .cap = row->cells.cap}};
    const struct timeline_part *parts = row->parts.at;
    for (size_t i = 0; i < named.cells.n; i++) {
        struct timeline_cell *cell = &named.cells.at[i];
        uint32_t n = naming_cell(naming, rank, cell, parts);
        parts += cell->n_parts;
        cell->n_parts = n;
        for (uint32_t k = 0; k < n && naming->scratch.at; k++)
            *vec_push(&named.parts) = naming->scratch.at[k];
        uint64_t *site = cell->site == TRACE_NONE ? NULL : map_get(&naming->of_site, cell->site);
        cell->site = site ? (uint32_t)*site - 1 : TRACE_NONE;
    }
    vec_release(&row->parts);
    *row = named;
}

void timeline_finish(struct timeline *timeline, const struct timeline_finish_input *input)
{
    struct naming naming = {.input = input};
    for (uint32_t i = 0; i < input->classes->sites.n; i++) {
        const struct site_classes *site = &input->classes->sites.at[input->measures->site_order[i]];
        *map_put(&naming.of_site, timeline_site(site->site, site->kind), NULL) = i + 1u;
    }
    for (uint32_t i = 0; i < timeline->rows.n; i++)
        naming_row(&naming, &timeline->rows.at[i], input->trace->locations[i].rank);
    for (uint32_t i = 0; i < naming.kinds.n; i++)
        *vec_push(&timeline->kinds) = *kind_at(&naming, i);
    intern_release(&naming.kinds);
    map_release(&naming.of_site);
    map_release(&naming.of_atom);
    vec_release(&naming.parts);
    vec_release(&naming.scratch);
    vec_release(&timeline->scratch);
    vec_release(&timeline->parts_behind);
    vec_release(&timeline->behind);
}
