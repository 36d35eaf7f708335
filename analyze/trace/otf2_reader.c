/* SPDX-License-Identifier: BSD-3-Clause */
/* trace_open: any OTF2 archive as a struct trace. */
#include "analyze/archive/archive.h"
#include "analyze/archive/starts.h"
#include "analyze/trace/causality.h"
#include "analyze/trace/locations.h"
#include "analyze/trace/opening.h"
#include "analyze/trace/part.h"
#include "analyze/trace/source.h"
#include "analyze/trace/trace.h"
#include "wrap/base/err.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct otf2_reader {
    struct archive_reader archive; /* begins with what the trace knows of it */
    struct causality_watch *watch; /* finds out in this reading whether the clocks hold; NULL = it is known */
    uint64_t *raw_ends_ns;         /* of locations, meanwhile */
};

static struct otf2_reader *reader_of(struct trace *trace)
{
    return (struct otf2_reader *)trace->source;
}

/* From the tape, or by decoding, which writes one. */

static int begin_alone(struct archive_reader *archive)
{
    archive->has_started = true;
    archive->plays = tape_rewind(&archive->tape, archive->trace->is_last_reading);
    if (!archive->plays)
        return locations_begin(archive);
    locations_close(archive);
    return 0;
}

static void read_alone(struct archive_reader *archive, struct event_block *block)
{
    if (archive->plays) {
        tape_play(&archive->tape, block);
        meter_add(&archive->trace->meter, block->n);
        return;
    }
    locations_merge(archive, block);
    if (block->n)
        tape_write(&archive->tape, block);
    else
        tape_end(&archive->tape);
}

/* A reading of all, or of a piece, begins: what was read before is not watched. */
static void watch_anew(struct otf2_reader *reader)
{
    struct causality unfinished;
    if (!reader->watch)
        return;
    causality_watch_end(reader->watch, true, &unfinished);
    reader->watch = causality_watch_begin(&reader->archive);
}

static int archive_rewind(struct trace *trace)
{
    watch_anew(reader_of(trace));
    return begin_alone(&reader_of(trace)->archive);
}

static void archive_read(struct trace *trace, struct event_block *block)
{
    struct otf2_reader *reader = reader_of(trace);
    struct archive_reader *archive = &reader->archive;
    block->n = 0;
    if (archive->has_started || !begin_alone(archive))
        read_alone(archive, block);
    if (reader->watch && !causality_watch_feed(reader->watch, block))
        block->n = 0; /* to be read again with other times */
}

/* A location's begin and end are recorded on the clock of its node, as events are. 0 = unknown. */
static uint64_t end_on_clock(struct archive_reader *archive, uint32_t i, uint64_t raw_ns)
{
    struct clock_cursor cursor = clocks_rewind(&archive->clocks, i);
    return raw_ns ? clocks_correct(&archive->clocks, i, &cursor, raw_ns, 0) : 0;
}

/* The next reading is a new one. */
static void stop_reading(struct otf2_reader *reader)
{
    struct archive_reader *archive = &reader->archive;
    tape_discard(&archive->tape);
    locations_close(archive);
    archive->has_started = archive->plays = false;
}

static void archive_rest(struct trace *trace)
{
    struct otf2_reader *reader = reader_of(trace);
    locations_close(&reader->archive);
    reader->archive.has_started = false;
    watch_anew(reader);
}

/* Later parts of the run. */

struct later_part {
    struct archive_reader *archive;
    uint64_t from_ns;
    struct map location_of; /* id -> 1 + location */
};

static bool may_begin(void *context, uint32_t rank, uint64_t known_ns)
{
    const struct later_part *part = context;
    const struct trace *trace = part->archive->trace;
    const struct trace_location *main = trace_main_thread(trace, rank);
    uint64_t raw_ns = events_time_ns(part->archive, known_ns);
    return main && end_on_clock(part->archive, (uint32_t)(main - trace->locations), raw_ns) < part->from_ns;
}

/* TRACE_NONE: it is none of the rank's, or has not so many records. */
static uint32_t position_location(const struct later_part *part, uint32_t rank, const struct starts_position *position)
{
    const uint64_t *found = map_get(&part->location_of, position->location);
    if (!found || part->archive->trace->locations[*found - 1].rank != rank ||
        position->n_records > part->archive->tables.location_records.at[*found - 1])
        return TRACE_NONE;
    return (uint32_t)(*found - 1);
}

static void begin_at(const struct later_part *part, uint32_t rank, const struct starts_of_rank *start,
                     struct trace_skipped *skipped)
{
    for (size_t i = 0; i < start->positions.n; i++)
        if (position_location(part, rank, &start->positions.at[i]) == TRACE_NONE)
            return;
    for (size_t i = 0; i < start->positions.n; i++)
        part->archive->n_skipped[position_location(part, rank, &start->positions.at[i])] =
            start->positions.at[i].n_records;
    for (size_t i = 0; i < start->counts.n; i++) {
        const struct starts_count *count = &start->counts.at[i];
        *vec_push(&skipped->collectives) = (struct trace_before){.comm = events_comm(part->archive, rank, count->comm),
                                                                 .rank = rank,
                                                                 .n = (uint32_t)count->n,
                                                                 .is_non_blocking = count->is_non_blocking};
    }
}

/* Where effects came before their causes, times were repaired from the first event on. */
static void archive_skip(struct trace *trace, uint64_t from_ns, struct trace_skipped *skipped)
{
    struct archive_reader *archive = &reader_of(trace)->archive;
    struct later_part part = {.archive = archive, .from_ns = from_ns};
    stop_reading(reader_of(trace));
    tape_release(&archive->tape);
    tape_begin(&archive->tape, 0, trace->n_records); /* the part has one */
    free(archive->n_skipped);
    archive->n_skipped = NULL;
    char *path = anchor_beside(trace->path, ARCHIVE_STARTS);
    if (!path || !archive->is_whole || archive->is_compressed || trace->clocks.n_violations) {
        free(path);
        return;
    }
    struct starts_of_rank *ranks = memory_new(trace->n_ranks + 1, sizeof *ranks);
    archive->n_skipped = memory_new(trace->n_locations, sizeof *archive->n_skipped);
    for (uint32_t i = 0; i < trace->n_locations; i++)
        *map_put(&part.location_of, archive->tables.location_ids.at[i], NULL) = 1 + i;
    bool is_sound = starts_read(path, trace->n_records, may_begin, &part, ranks, trace->n_ranks);
    for (uint32_t rank = 0; rank < trace->n_ranks; rank++) {
        if (is_sound)
            begin_at(&part, rank, &ranks[rank], skipped);
        starts_of_rank_release(&ranks[rank]);
    }
    map_release(&part.location_of);
    free(ranks);
    free(path);
}

static struct trace_watched archive_watched(struct trace *trace)
{
    struct otf2_reader *reader = reader_of(trace);
    bool goes_on = reader->archive.heap.n || reader->archive.used_up;
    struct causality found;
    struct trace_watched watched;
    memset(&watched, 0, sizeof watched); /* gaps as well */
    watched.holds = causality_watch_end(reader->watch, goes_on, &found);
    watched.last_ns = found.last_ns;
    watched.n_records = found.n_records;
    watched.n_regions = found.n_regions;
    reader->watch = NULL;
    return watched;
}

static int archive_settle(struct trace *trace, const struct trace_watched *all)
{
    struct otf2_reader *reader = reader_of(trace);
    struct archive_reader *archive = &reader->archive;
    if (all->holds && causality_has_collectives(archive, all->n_records, all->n_regions)) {
        clocks_take(archive, &(struct causality){.last_ns = all->last_ns});
        return 1;
    }
    stop_reading(reader); /* with the clocks as they were */
    if (clocks_check(archive))
        return -1;
    for (uint32_t i = 0; i < trace->n_locations; i++)
        trace->locations[i].end_ns = end_on_clock(archive, i, reader->raw_ends_ns[i]);
    return 0;
}

static void archive_cannot_watch(struct trace *trace)
{
    causality_watch_fail(reader_of(trace)->watch);
}

static bool archive_is_settled(const struct trace *trace)
{
    return !((const struct otf2_reader *)trace->source)->watch;
}

static void archive_close(struct trace *trace)
{
    struct otf2_reader *reader = reader_of(trace);
    struct archive_reader *archive = &reader->archive;
    struct causality unfinished;
    if (reader->watch)
        causality_watch_end(reader->watch, true, &unfinished);
    free(reader->raw_ends_ns);
    free(archive->n_skipped);
    locations_close(archive);
    if (archive->callbacks)
        OTF2_EvtReaderCallbacks_Delete(archive->callbacks);
    for (size_t i = 0; i < archive->readers.n; i++)
        OTF2_Reader_Close(archive->readers.at[i]);
    vec_release(&archive->readers);
    tape_release(&archive->tape);
    defs_tables_release(&archive->tables);
    heap_release(&archive->heap);
    clocks_release(&archive->clocks);
    free(archive->locations);
    free(reader);
}

/* Opening. */

/* `is_unchecked`: whether the clocks hold is left to the first reading. */
static int put_on_clock(struct otf2_reader *reader, bool is_unchecked)
{
    struct archive_reader *archive = &reader->archive;
    struct trace *trace = archive->trace;
    reader->raw_ends_ns = memory_new(trace->n_locations, sizeof *reader->raw_ends_ns);
    for (uint32_t i = 0; i < trace->n_locations; i++) {
        reader->raw_ends_ns[i] = trace->locations[i].end_ns;
        is_unchecked &= !trace->locations[i].begin_ns; /* parts are found by corrected times */
    }
    if (clocks_prepare(archive, is_unchecked ? &reader->watch : NULL))
        return -1;
    uint64_t kept_ns = 0;
    for (uint32_t i = 0; i < trace->n_locations; i++) {
        struct trace_location *location = &trace->locations[i];
        location->begin_ns = end_on_clock(archive, i, location->begin_ns);
        if (location->begin_ns > kept_ns)
            kept_ns = location->begin_ns;
        location->end_ns = end_on_clock(archive, i, location->end_ns);
    }
    return kept_ns ? part_keep(trace, kept_ns) : 0;
}

static struct trace *open_trace(const char *anchor, bool is_unchecked)
{
    struct otf2_reader *reader = memory_new(1, sizeof *reader);
    reader->archive.source = (struct trace_source){.archive = &reader->archive,
                                                   .rewind = archive_rewind,
                                                   .skip = archive_skip,
                                                   .read = archive_read,
                                                   .rest = archive_rest,
                                                   .close = archive_close,
                                                   .settle = archive_settle,
                                                   .is_settled = archive_is_settled,
                                                   .watched = archive_watched,
                                                   .cannot_watch = archive_cannot_watch};
    int result = opening_read(&reader->archive, anchor);
    struct trace *trace = reader->archive.trace;
    trace->source = &reader->archive.source;
    if (!result && !put_on_clock(reader, is_unchecked))
        return trace;
    trace_close(trace);
    return NULL;
}

struct trace *trace_open(const char *anchor)
{
    return open_trace(anchor, false);
}

struct trace *trace_open_unchecked(const char *anchor)
{
    return open_trace(anchor, true);
}

/* Fields of every trace, wherever its events come from. */

int trace_rewind(struct trace *trace)
{
    trace->ready.n = trace->ready.next = 0;
    return trace->part ? part_rewind(trace) : trace->source->rewind(trace);
}

bool trace_read(struct trace *trace)
{
    trace->ready.next = 0;
    if (trace->part)
        part_read(trace, &trace->ready);
    else
        trace->source->read(trace, &trace->ready);
    return trace->ready.n > 0;
}

bool trace_is_settled(const struct trace *trace)
{
    return !trace->source->is_settled || trace->source->is_settled(trace);
}

int trace_settle(struct trace *trace)
{
    if (trace_is_settled(trace))
        return 1;
    const struct trace_watched all = trace_watched(trace);
    return trace_settle_by(trace, &all);
}

struct trace_watched trace_watched(struct trace *trace)
{
    return trace->source->watched(trace);
}

int trace_settle_by(struct trace *trace, const struct trace_watched *all)
{
    return trace->source->settle(trace, all);
}

void trace_cannot_watch(struct trace *trace)
{
    if (!trace_is_settled(trace))
        trace->source->cannot_watch(trace);
}

void trace_watched_add(struct trace_watched *all, const struct trace_watched *more)
{
    all->holds &= more->holds;
    all->last_ns = all->last_ns > more->last_ns ? all->last_ns : more->last_ns;
    all->n_records += more->n_records;
    all->n_regions += more->n_regions;
}

void trace_close(struct trace *trace)
{
    meter_end(&trace->meter);
    if (trace->part)
        part_close(trace);
    if (trace->source)
        trace->source->close(trace);
    struct arena arena = trace->arena;
    arena_release(&arena);
    free(trace);
}

/* Notes are few: the array grows by one, old ones stay in the arena. */
void trace_note(struct trace *trace, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (uint32_t i = 0; i < trace->n_notes; i++)
        if (!strcmp(trace->notes[i], text))
            return;
    const char **notes = arena_array(&trace->arena, const char *, trace->n_notes + 1);
    if (trace->n_notes)
        memcpy(notes, trace->notes, trace->n_notes * sizeof *notes);
    notes[trace->n_notes++] = arena_strdup(&trace->arena, text);
    trace->notes = notes;
}
