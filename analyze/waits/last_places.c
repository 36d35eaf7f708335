/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/last_places.h"
#include "analyze/result/names.h"

static void place_name(struct last_place *place, struct analysis *analysis, struct sites *sites, uint32_t site)
{
    struct wait_site named = {0};
    names_site(sites, &analysis->arena, site, &named);
    place->call = named.call;
    place->file = named.file;
    place->path = named.path;
    place->line = named.line;
}

static void add_calls(struct analysis *analysis, struct sites *sites, const struct reader *reader,
                      struct last_place **by_rank)
{
    for (size_t i = 0; i < reader->open_calls.n; i++) {
        const struct open_call *call = &reader->open_calls.at[i];
        struct last_place *place = call->rank < analysis->trace->n_ranks ? by_rank[call->rank] : NULL;
        if (!place || (place->call && call->lane != reader->main_lanes[call->rank]))
            continue;
        place_name(place, analysis, sites, call->site);
    }
}

void last_places_write(struct analysis *analysis, struct sites *sites, const struct reader *reader)
{
    const struct trace *trace = analysis->trace;
    struct last_place **by_rank = arena_array(&analysis->arena, struct last_place *, trace->n_ranks + 1);
    analysis->last_places = arena_array(&analysis->arena, struct last_place, trace->n_ranks + 1);
    for (uint32_t rank = 0; rank < trace->n_ranks; rank++) {
        const struct trace_location *location = trace_main_thread(trace, rank);
        if (!location || !trace_broke_off(trace, location))
            continue;
        by_rank[rank] = &analysis->last_places[analysis->n_last_places++];
        *by_rank[rank] = (struct last_place){.rank = rank, .step = TRACE_NONE};
    }
    if (!analysis->n_last_places)
        return;
    for (size_t i = 0; i < reader->last_stretches.n; i++) {
        const struct last_stretch *stretch = &reader->last_stretches.at[i];
        struct last_place *place = stretch->rank < trace->n_ranks ? by_rank[stretch->rank] : NULL;
        if (!place)
            continue;
        place->step = stretch->step;
        place->after = arena_array(&analysis->arena, struct last_place, 1);
        place_name(place->after, analysis, sites, stretch->from);
    }
    add_calls(analysis, sites, reader, by_rank);
}
