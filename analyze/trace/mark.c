/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/mark.h"
#include "analyze/trace/locations.h"
#include "wrap/base/err.h"

/* NULL: there is none. */
static struct archive_reader *archive_of(const struct trace *trace)
{
    return trace->source->archive;
}

/* The files are closed, and what was read from them is forgotten. */
static void stop(struct archive_reader *archive)
{
    archive->trace->source->rest(archive->trace);
    tape_discard(&archive->tape);
    archive->plays = false;
    archive->trace->ready.n = archive->trace->ready.next = 0;
}

bool mark_begin(struct trace *trace, uint32_t number, uint32_t n)
{
    struct archive_reader *archive = archive_of(trace);
    if (!archive || archive->is_compressed)
        return false;
    stop(archive);
    archive->n_notes_before = trace->n_notes;
    archive->was_damaged = trace->is_damaged;
    archive->dealt = number;
    archive->n_dealt = n;
    if (!locations_open(archive))
        return true;
    mark_end(trace);
    return false;
}

void mark_leave(struct trace *trace)
{
    struct archive_reader *archive = archive_of(trace);
    locations_close(archive);
    archive->dealt = 0;
    archive->n_dealt = 1;
}

void mark_end(struct trace *trace)
{
    const struct archive_reader *archive = archive_of(trace);
    trace->n_notes = archive->n_notes_before;
    trace->is_damaged = archive->was_damaged;
    mark_leave(trace);
}

const struct event *mark_ahead(struct trace *trace, uint32_t loc)
{
    struct location_reader *location = &archive_of(trace)->locations[loc];
    return location_has_next(location) ? &location->batch.at[location->next] : NULL;
}

uint64_t mark_ahead_ns(struct trace *trace, uint32_t loc)
{
    const struct event *event = mark_ahead(trace, loc);
    const struct location_reader *location = &archive_of(trace)->locations[loc];
    struct clock_cursor cursor = location->now.clock;
    return event ? clocks_correct(&archive_of(trace)->clocks, loc, &cursor, event->time_ns, location->now.n_handed)
                 : UINT64_MAX;
}

const struct event *mark_next(struct trace *trace, uint32_t loc)
{
    return location_next(&archive_of(trace)->locations[loc]);
}

void mark_write(struct trace *trace, uint32_t loc, struct packing *packing)
{
    const struct location_reader *location = &archive_of(trace)->locations[loc];
    const struct prediction *stacks = &location->stacks;
    pack_value(packing, location->now);
    pack_value(packing, stacks->foreseen);
    pack_value(packing, stacks->now);
    pack_value(packing, stacks->next);
    pack_vec(packing, &stacks->nodes);
    uint64_t n = location->batch.n - location->next, n_bins = location->bins.n - location->bins_handed;
    pack_value(packing, n);
    pack_bytes(packing, location->batch.at + location->next, n * sizeof *location->batch.at);
    pack_value(packing, n_bins);
    pack_bytes(packing, location->bins.at + location->bins_handed, n_bins * sizeof *location->bins.at);
}

static void take_prediction(struct prediction *stacks, struct unpacking *from)
{
    prediction_release(stacks);
    unpack_value(from, &stacks->foreseen);
    unpack_value(from, &stacks->now);
    unpack_value(from, &stacks->next);
    unpack_vec(from, &stacks->nodes);
    for (uint32_t i = 1; i < stacks->nodes.n; i++)
        if (!stacks->nodes.at[i].run)
            *map_put(&stacks->first, stacks->nodes.at[i].stack, NULL) = i;
}

/* Behind the last record that was read, which is read once more, for nothing: there may be no other one to go to. */
static bool go_to(struct location_reader *location)
{
    const bool was_broken_off = location->now.is_broken_off;
    uint64_t n = 0;
    if (!location->now.n_read)
        return true;
    location->now.is_broken_off = true; /* takes no more events */
    bool is_there = OTF2_EvtReader_Seek(location->reader, location->now.n_read) == OTF2_SUCCESS &&
                    OTF2_Reader_ReadLocalEvents(location_otf2(location->archive, location->loc), location->reader, 1,
                                                &n) == OTF2_SUCCESS;
    location->now.is_broken_off = was_broken_off;
    return is_there && n == 1;
}

static void take(struct location_reader *location, struct unpacking *from)
{
    unpack_value(from, &location->now);
    take_prediction(&location->stacks, from);
    unpack_vec(from, &location->batch);
    unpack_vec(from, &location->bins);
    if (location->reader && !location->now.is_at_end && !go_to(location))
        location->reader = NULL;
}

int mark_rewind(struct trace *trace, struct unpacking *marks)
{
    struct archive_reader *archive = archive_of(trace);
    stop(archive);
    if (locations_open(archive))
        return -1;
    for (uint32_t i = 0; i < trace->n_locations; i++)
        take(&archive->locations[i], marks);
    archive->has_started = true;
    locations_take_first(archive);
    return 0;
}
