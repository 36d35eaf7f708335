/* SPDX-License-Identifier: BSD-3-Clause */
/* The locations of an archive: local definitions, and events in batches. */
#include "analyze/archive/anchor.h"
#include "analyze/trace/otf2_reader.h"
#include "wrap/base/err.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void note_damage(struct location_reader *location)
{
    struct trace *trace = location->archive->trace;
    const struct trace_location *at = &trace->locations[location->loc];
    trace->is_damaged = true;
    if (location->last_raw_ns)
        trace_note(trace, "The records of rank %u, thread %u are damaged: what follows the first part is missing.",
                   at->rank, at->thread);
    else
        trace_note(trace, "The records of rank %u, thread %u cannot be read.", at->rank, at->thread);
}

uint64_t location_record_limit(const struct archive_reader *archive, uint32_t loc, const char *kind)
{
    char file[64];
    snprintf(file, sizeof file, "/%llu.%s", (unsigned long long)archive->tables.location_ids.at[loc], kind);
    return anchor_record_limit(archive->trace->path, archive->is_compressed, file);
}

int locations_open(struct archive_reader *archive)
{
    if (OTF2_Reader_OpenEvtFiles(archive->reader))
        return error("%s: its event files cannot be opened", archive->trace->path);
    for (uint32_t i = 0; i < archive->trace->n_locations; i++) {
        struct location_reader *location = &archive->locations[i];
        *location = (struct location_reader){.archive = archive, .loc = i, .region = TRACE_NONE};
        location->reader = OTF2_Reader_GetEvtReader(archive->reader, archive->tables.location_ids.at[i]);
        location->n_left = location_record_limit(archive, i, "evt");
        if (location->reader && OTF2_EvtReader_SetCallbacks(location->reader, archive->callbacks, location))
            location->reader = NULL;
        if (location->reader)
            OTF2_EvtReader_ApplyClockOffsets(location->reader, false);
        if (location->reader)
            continue;
        location->is_at_end = true;
        note_damage(location);
    }
    return 0;
}

void locations_close(struct archive_reader *archive)
{
    for (uint32_t i = 0; i < archive->trace->n_locations; i++) {
        struct location_reader *location = &archive->locations[i];
        if (location->reader)
            OTF2_Reader_CloseEvtReader(archive->reader, location->reader);
        location->reader = NULL;
        vec_release(&location->batch);
        vec_release(&location->bins);
        prediction_release(&location->stacks);
    }
    OTF2_Reader_CloseEvtFiles(archive->reader);
}

static void append_end(struct location_reader *location)
{
    const struct trace_location *at = &location->archive->trace->locations[location->loc];
    struct batch_event *last = vec_push(&location->batch);
    last->raw_ns = location->last_raw_ns;
    last->event = (struct event){.loc = location->loc,
                                 .kind = EV_END,
                                 .flags = (uint16_t)at->end_how,
                                 .region = TRACE_NONE,
                                 .frame = TRACE_NONE,
                                 .comm = TRACE_NONE,
                                 .peer = TRACE_NONE};
}

static void read_batch(struct location_reader *location)
{
    struct archive_reader *archive = location->archive;
    uint64_t n_read = 0;
    location->batch.n = location->bins.n = location->next = 0;
    OTF2_ErrorCode code =
        OTF2_Reader_ReadLocalEvents(archive->reader, location->reader, archive->batch_events, &n_read);
    bool is_damaged = code != OTF2_SUCCESS || n_read >= location->n_left;
    location->n_left -= is_damaged ? 0 : n_read;
    if (is_damaged)
        note_damage(location);
    location->is_at_end = is_damaged || n_read < archive->batch_events || location->is_broken_off;
}

struct batch_event *location_next(struct location_reader *location)
{
    while (location->next >= location->batch.n && !location->has_ended) {
        if (!location->is_at_end) {
            read_batch(location);
            continue;
        }
        location->batch.n = location->next = 0;
        location->has_ended = true;
        append_end(location);
    }
    if (location->next >= location->batch.n)
        return NULL;
    struct batch_event *event = &location->batch.at[location->next++];
    event->event.time_ns = clocks_correct(&location->archive->clocks, location->loc, &location->clock, event->raw_ns,
                                          location->n_handed++);
    event->event.bins = event->event.n_bins ? location->bins.at + event->first_bin : NULL;
    return event;
}
