/* SPDX-License-Identifier: BSD-3-Clause */
/* Locations are merged with a heap. The present one goes on as long as its next event is still the first. */
#include "analyze/trace/locations.h"
#include "analyze/archive/archive.h"
#include "analyze/trace/source.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Events that a location is ahead by: those of all locations together should fit into a cache. */
enum { BATCH = 64 };

/* Its records after this time cannot be read; 0 = none of them can. */
static void note_damage(struct archive_reader *archive, uint32_t loc, uint64_t last_raw_ns)
{
    struct trace *trace = archive->trace;
    const struct trace_location *at = &trace->locations[loc];
    trace->is_damaged = true;
    if (last_raw_ns)
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

/* The marks that OTF2 puts around the records of a file take 20 bytes. A shorter file is damaged. */
bool location_file_is_bare(uint64_t record_limit)
{
    return record_limit == 20 + 1;
}

/* It begins behind its first n_records. Batches end where they always do: counts of one time are one event within. */
static void location_skip(struct location_reader *location, uint64_t n_records)
{
    location->now.n_to_read = BATCH - n_records % BATCH;
    location->now.n_read = n_records;
    location->now.n_left -= n_records < location->now.n_left ? n_records : location->now.n_left;
    location->now.is_at_end = n_records == location->archive->tables.location_records.at[location->loc];
    if (location->reader && !location->now.is_at_end &&
        OTF2_EvtReader_Seek(location->reader, n_records + 1) != OTF2_SUCCESS)
        location->reader = NULL;
}

bool locations_lack_files(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd < 0 && (errno == EMFILE || errno == ENFILE);
}

int locations_open(struct archive_reader *archive)
{
    for (size_t i = 0; i < archive->readers.n; i++)
        if (OTF2_Reader_OpenEvtFiles(archive->readers.at[i]))
            return error("%s: its event files cannot be opened", archive->trace->path);
    archive->is_open = true;
    for (uint32_t i = 0; i < archive->trace->n_locations; i++) {
        struct location_reader *location = &archive->locations[i];
        *location = (struct location_reader){
            .archive = archive, .loc = i, .now = {.region = TRACE_NONE, .clock = clocks_rewind(&archive->clocks, i)}};
        location->now.has_ended = archive->trace->locations[i].rank % archive->n_dealt != archive->dealt;
        if (location->now.has_ended)
            continue;
        location->now.n_left = location_record_limit(archive, i, "evt");
        location->now.is_at_end =
            !archive->tables.location_records.at[i] && location_file_is_bare(location->now.n_left);
        if (location->now.is_at_end)
            continue;
        location->reader = OTF2_Reader_GetEvtReader(location_otf2(archive, i), archive->tables.location_ids.at[i]);
        if (!location->reader && locations_lack_files())
            return error("%s: not all files of its %u locations can be open at once: %s (`ulimit -n`)",
                         archive->trace->path, archive->trace->n_locations, strerror(errno));
        if (location->reader && OTF2_EvtReader_SetCallbacks(location->reader, archive->callbacks, location))
            location->reader = NULL;
        if (location->reader)
            OTF2_EvtReader_ApplyClockOffsets(location->reader, false);
        location->now.n_to_read = BATCH;
        if (archive->n_skipped && archive->n_skipped[i])
            location_skip(location, archive->n_skipped[i]);
    }
    return 0;
}

/* OTF2 and the C library find first what was opened last. */
void locations_close(struct archive_reader *archive)
{
    if (!archive->is_open)
        return;
    archive->is_open = false;
    for (uint32_t i = archive->trace->n_locations; i-- > 0;) {
        struct location_reader *location = &archive->locations[i];
        if (location->reader)
            OTF2_Reader_CloseEvtReader(location_otf2(archive, i), location->reader);
        location->reader = NULL;
        vec_release(&location->batch);
        vec_release(&location->bins);
        prediction_release(&location->stacks);
    }
    for (size_t i = 0; i < archive->readers.n; i++)
        OTF2_Reader_CloseEvtFiles(archive->readers.at[i]);
}

static void read_batch(struct location_reader *location)
{
    struct archive_reader *archive = location->archive;
    uint64_t n_read = 0, n_wanted = location->now.n_to_read;
    location->now.n_to_read = BATCH;
    location->batch.n = location->bins.n = location->bins_handed = location->next = 0;
    bool is_damaged = !location->reader ||
                      OTF2_Reader_ReadLocalEvents(location_otf2(archive, location->loc), location->reader, n_wanted,
                                                  &n_read) != OTF2_SUCCESS ||
                      n_read >= location->now.n_left;
    location->now.n_left -= is_damaged ? 0 : n_read;
    location->now.n_read += n_read;
    meter_add(&archive->trace->meter, n_read);
    if (is_damaged)
        note_damage(archive, location->loc, location->now.last_raw_ns);
    location->now.is_at_end = is_damaged || n_read < n_wanted || location->now.is_broken_off;
}

/* True when its batch has a next event again; false at its end. */
static __attribute__((noinline)) bool location_read_on(struct location_reader *location)
{
    if (location->now.has_ended)
        return false;
    while (location->next >= location->batch.n && !location->now.is_at_end)
        read_batch(location);
    if (location->next < location->batch.n)
        return true;
    location->batch.n = location->next = 0;
    location->now.has_ended = true;
    const struct trace_location *at = &location->archive->trace->locations[location->loc];
    struct event end = event_plain(EV_END, location->loc, location->now.last_raw_ns);
    end.flags = (uint16_t)at->end_how;
    *vec_push(&location->batch) = end;
    return true;
}

bool location_has_next(struct location_reader *location)
{
    return location->next < location->batch.n || location_read_on(location);
}

const struct event *location_next(struct location_reader *location)
{
    if (location->next >= location->batch.n && !location_read_on(location))
        return NULL;
    struct event *event = &location->batch.at[location->next++];
    memory_fetch(event + 1, sizeof *event);
    location->now.ahead_raw_ns = event->time_ns;
    event->time_ns = clocks_correct(&location->archive->clocks, location->loc, &location->now.clock, event->time_ns,
                                    location->now.n_handed++);
    if (event->kind == EV_BINS) {
        event->bins = event->n_bins ? &location->bins.at[location->bins_handed] : NULL;
        location->bins_handed += event->n_bins;
    }
    return event;
}

void locations_take_first(struct archive_reader *archive)
{
    archive->used_up = NULL;
    archive->heap.n = 0;
    for (uint32_t i = 0; i < archive->trace->n_locations; i++) {
        const struct event *event = location_next(&archive->locations[i]);
        archive->locations[i].ahead = event;
        if (event)
            heap_push(&archive->heap, event->time_ns, i);
    }
}

int locations_begin(struct archive_reader *archive)
{
    locations_close(archive);
    int result = locations_open(archive);
    if (!result)
        locations_take_first(archive);
    return result;
}

/* Its next event comes to its place among the others'. */
static inline void location_go_on(struct archive_reader *archive, struct location_reader *location)
{
    location->ahead = location_next(location);
    if (location->ahead)
        heap_replace(&archive->heap, location->ahead->time_ns);
    else
        heap_pop(&archive->heap);
}

/* Events live in their location's batch, so a block ends where more of a location must be read. */
void locations_merge(struct archive_reader *archive, struct event_block *block)
{
    if (archive->used_up)
        location_go_on(archive, archive->used_up);
    archive->used_up = NULL;
    block->n = 0;
    while (archive->heap.n && block->n < EVENTS_READY && !archive->used_up) {
        struct location_reader *location = &archive->locations[archive->heap.items[0].stream];
        block->at[block->n++] = location->ahead;
        if (location->next >= location->batch.n && !location->now.has_ended)
            archive->used_up = location;
        else
            location_go_on(archive, location);
    }
}
