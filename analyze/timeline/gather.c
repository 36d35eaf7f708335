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
