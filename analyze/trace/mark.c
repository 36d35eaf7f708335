/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/mark.h"
#include "analyze/trace/locations.h"
#include "wrap/base/err.h"

/* The fields of a struct location_reader that are not its own memory. */
struct mark {
    uint64_t ahead_raw_ns, n_handed, last_raw_ns, n_read, n_left, n_to_read;
    struct clock_cursor clock;
    uint32_t region, depth, region_depth;
    uint32_t prediction_now, prediction_next;
    uint64_t prediction_foreseen;
    bool counts_follow, is_in_collective_io, is_at_end, is_damaged, is_broken_off, has_ended;
};

/* NULL: there is none. */
static struct archive_reader *archive_of(const struct trace *trace)
{
    return trace->part ? NULL : trace->source->archive;
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
    if (!archive || archive->n_skipped)
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

void mark_end(struct trace *trace)
{
    struct archive_reader *archive = archive_of(trace);
    locations_close(archive);
    trace->n_notes = archive->n_notes_before;
    trace->is_damaged = archive->was_damaged;
    archive->dealt = 0;
    archive->n_dealt = 1;
}

const struct event *mark_ahead(struct trace *trace, uint32_t loc)
{
    struct location_reader *location = &archive_of(trace)->locations[loc];
    return location_has_next(location) ? &location->batch.at[location->next] : NULL;
}

const struct event *mark_next(struct trace *trace, uint32_t loc)
{
    return location_next(&archive_of(trace)->locations[loc]);
}

void mark_write(struct trace *trace, uint32_t loc, struct packing *packing)
{
    const struct location_reader *location = &archive_of(trace)->locations[loc];
    struct mark mark;
    memset(&mark, 0, sizeof mark); /* gaps as well */
    mark.ahead_raw_ns = location->ahead_raw_ns;
    mark.n_handed = location->n_handed;
    mark.last_raw_ns = location->last_raw_ns;
    mark.n_read = location->n_read;
    mark.n_left = location->n_left;
    mark.n_to_read = location->n_to_read;
    mark.clock = location->clock;
    mark.region = location->region;
    mark.depth = location->depth;
    mark.region_depth = location->region_depth;
    mark.prediction_now = location->stacks.now;
    mark.prediction_next = location->stacks.next;
    mark.prediction_foreseen = location->stacks.foreseen;
    mark.counts_follow = location->counts_follow;
    mark.is_in_collective_io = location->is_in_collective_io;
    mark.is_at_end = location->is_at_end;
    mark.is_damaged = location->is_damaged;
    mark.is_broken_off = location->is_broken_off;
    mark.has_ended = location->has_ended;
    pack_value(packing, mark);
    pack_vec(packing, &location->stacks.nodes);
    uint64_t n = location->batch.n - location->next, n_bins = location->bins.n - location->bins_handed;
    pack_value(packing, n);
    pack_bytes(packing, location->batch.at + location->next, n * sizeof *location->batch.at);
    pack_value(packing, n_bins);
    pack_bytes(packing, location->bins.at + location->bins_handed, n_bins * sizeof *location->bins.at);
}

static void take_prediction(struct location_reader *location, const struct mark *mark, struct unpacking *from)
{
    struct prediction *stacks = &location->stacks;
    prediction_release(stacks);
    unpack_vec(from, &stacks->nodes);
    for (uint32_t i = 1; i < stacks->nodes.n; i++)
        if (!stacks->nodes.at[i].run)
            *map_put(&stacks->first, stacks->nodes.at[i].stack, NULL) = i;
    stacks->now = mark->prediction_now;
    stacks->next = mark->prediction_next;
    stacks->foreseen = mark->prediction_foreseen;
}

/* Behind the last record that was read, which is read once more, for nothing: there may be no other one to go to. */
static bool go_to(struct location_reader *location)
{
    const bool was_broken_off = location->is_broken_off;
    uint64_t n = 0;
    if (!location->n_read)
        return true;
    location->is_broken_off = true; /* takes no more events */
    bool is_there = OTF2_EvtReader_Seek(location->reader, location->n_read) == OTF2_SUCCESS &&
                    OTF2_Reader_ReadLocalEvents(location_otf2(location->archive, location->loc), location->reader, 1,
                                                &n) == OTF2_SUCCESS;
    location->is_broken_off = was_broken_off;
    return is_there && n == 1;
}

static void take(struct location_reader *location, struct unpacking *from)
{
    struct mark mark;
    unpack_value(from, &mark);
    location->ahead_raw_ns = mark.ahead_raw_ns;
    location->n_handed = mark.n_handed;
    location->last_raw_ns = mark.last_raw_ns;
    location->n_read = mark.n_read;
    location->n_left = mark.n_left;
    location->n_to_read = mark.n_to_read;
    location->clock = mark.clock;
    location->region = mark.region;
    location->depth = mark.depth;
    location->region_depth = mark.region_depth;
    location->counts_follow = mark.counts_follow;
    location->is_in_collective_io = mark.is_in_collective_io;
    location->is_at_end = mark.is_at_end;
    location->is_damaged = mark.is_damaged;
    location->is_broken_off = mark.is_broken_off;
    location->has_ended = mark.has_ended;
    take_prediction(location, &mark, from);
    unpack_vec(from, &location->batch);
    unpack_vec(from, &location->bins);
    if (location->reader && !location->is_at_end && !go_to(location))
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
