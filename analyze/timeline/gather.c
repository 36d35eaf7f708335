/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/timeline/gather.h"

static void sink_spent(void *context, uint32_t lane, uint64_t begin_ns, uint64_t end_ns, const struct term *terms,
                       size_t n)
{
    struct timeline *timeline = context;
    vec_resize(&timeline->scratch, n);
    for (size_t i = 0; i < n; i++)
        timeline->scratch.at[i] = (struct timeline_part){key_atom(terms[i].key), (float)terms[i].ns};
    struct timeline_cell cell = {.begin_ns = begin_ns, .end_ns = end_ns, .by = TRACE_NONE, .site = TRACE_NONE};
    cell.n_parts = timeline_join_parts(timeline->scratch.at, n);
    timeline_put(timeline, lane, &cell, timeline->scratch.at);
}

static void sink_waited(void *context, uint32_t lane, const struct wait *wait)
{
    struct timeline *timeline = context;
    uint64_t end_ns = wait->begin_ns + wait->dur_ns;
    struct timeline_cell cell = {.begin_ns = wait->begin_ns,
                                 .end_ns = end_ns,
                                 .release_ns = end_ns,
                                 .waited_ns = (float)wait->dur_ns,
                                 .by = wait->late_lane,
                                 .site = timeline_site(wait->site, wait->kind),
                                 .n_parts = 1,
                                 .is_inferred = wait->is_inferred};
    struct timeline_part part = {ATOM_WAITING, (float)wait->dur_ns};
    if (!wait->dur_ns)
        return;
    timeline_put(timeline, lane, &cell, &part);
}

struct time_sink timeline_sink(struct timeline *timeline, uint32_t n_locations)
{
    vec_resize(&timeline->rows, n_locations);
    return (struct time_sink){.context = timeline, .spent = sink_spent, .waited = sink_waited};
}

void timeline_clear(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->rows.n; i++)
        timeline->rows.at[i].cells.n = timeline->rows.at[i].parts.n = 0;
    timeline->n = 0;
    timeline->resolution_ns = 0;
}

void timeline_pack(const struct timeline *timeline, struct packing *packing)
{
    pack_value(packing, timeline->resolution_ns);
    for (size_t i = 0; i < timeline->rows.n; i++) {
        pack_vec(packing, &timeline->rows.at[i].cells);
        pack_vec(packing, &timeline->rows.at[i].parts);
    }
}

static void translate(struct timeline_row *row, const struct numbers *numbers)
{
    for (size_t i = 0; i < row->cells.n; i++) {
        struct timeline_cell *cell = &row->cells.at[i];
        enum wait_kind kind = cell->site & ((1u << TIMELINE_KIND_BITS) - 1);
        if (cell->site != TRACE_NONE)
            cell->site = timeline_site(numbers_site(numbers, cell->site >> TIMELINE_KIND_BITS), kind);
    }
    for (size_t i = 0; i < row->parts.n; i++) {
        struct timeline_part *part = &row->parts.at[i];
        if (part->kind != ATOM_WAITING && !(part->kind & ATOM_IS_POOL))
            part->kind = numbers_step(numbers, part->kind);
    }
}

void timeline_unpack(struct timeline *timeline, struct unpacking *unpacking, const struct numbers *numbers)
{
    struct timeline_row later = {0};
    uint64_t resolution_ns;
    unpack_value(unpacking, &resolution_ns);
    if (resolution_ns > timeline->resolution_ns)
        timeline->resolution_ns = resolution_ns;
    for (uint32_t i = 0; i < timeline->rows.n; i++) {
        unpack_vec(unpacking, &later.cells);
        unpack_vec(unpacking, &later.parts);
        translate(&later, numbers);
        const struct timeline_part *parts = later.parts.at;
        for (size_t k = 0; k < later.cells.n; parts += later.cells.at[k++].n_parts)
            timeline_put(timeline, i, &later.cells.at[k], parts);
    }
    vec_release(&later.cells);
    vec_release(&later.parts);
}
