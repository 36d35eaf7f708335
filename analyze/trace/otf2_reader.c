/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace_open: any OTF2 archive as a struct trace. Its locations are merged with a heap. The present location goes on as
 * long as its next event is still the first.
 */
#include "analyze/trace/otf2_reader.h"
#include "analyze/archive/archive.h"
#include "analyze/archive/starts.h"
#include "analyze/trace/causality.h"
#include "analyze/trace/part.h"
#include "analyze/trace/source.h"
#include "analyze/trace/trace.h"
#include "wrap/base/err.h"
#include "wrap/launcher.h"
#include "wrap/script.h"
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Events that helpers have read stay for the next reading up to a bound: from ten million events on memory is the same.
 * A user who has a launcher start several processes asks for speed, and gives memory for it. */
enum { TAPE_ROOM = 160 << 20, HELPERS_ROOM = 96 << 20, HELPERS_ROOM_ASKED = 256 << 20 };

/* Events that a location is ahead by: those of all locations together should fit into a cache. */
enum { BATCH = 64 };

static struct archive_reader *archive_of(struct trace *trace)
{
    return (struct archive_reader *)trace->source;
}

/* Each location needs a file. */
static void allow_files(uint32_t n_locations)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= 2 * (rlim_t)n_locations + 64)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Events in time order. */

int locations_begin(struct archive_reader *archive)
{
    locations_close(archive);
    archive->used_up = NULL;
    archive->heap.n = 0;
    int result = locations_open(archive);
    for (uint32_t i = 0; !result && i < archive->trace->n_locations; i++) {
        const struct event *event = location_next(&archive->locations[i]);
        archive->locations[i].ahead = event;
        if (event)
            heap_push(&archive->heap, event->time_ns, i);
    }
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
        if (location->next >= location->batch.n && !location->has_ended)
            archive->used_up = location;
        else
            location_go_on(archive, location);
    }
}

/* By this process: from the tape, or by decoding, which writes one. */

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

static int archive_rewind(struct trace *trace)
{
    struct archive_reader *archive = archive_of(trace);
    if (!trace->n_helpers || !helpers_rewind(archive))
        return begin_alone(archive);
    if (trace->is_last_reading)
        tape_discard(&archive->tape);
    return 0;
}

static void archive_read(struct trace *trace, struct event_block *block)
{
    struct archive_reader *archive = archive_of(trace);
    block->n = 0;
    if (archive->helpers.n)
        helpers_read(archive, block);
    else if (archive->has_started || !begin_alone(archive))
        read_alone(archive, block);
    if (archive->watch && !causality_watch_feed(archive->watch, block))
        block->n = 0; /* to be read again with other times */
}

/* A location's begin and end are recorded on the clock of its node, as events are. 0 = unknown. */
static uint64_t end_on_clock(struct archive_reader *archive, uint32_t i, uint64_t raw_ns)
{
    struct clock_cursor cursor = clocks_rewind(&archive->clocks, i);
    return raw_ns ? clocks_correct(&archive->clocks, i, &cursor, raw_ns, 0) : 0;
}

/* The next reading is a new one. */
static void stop_reading(struct archive_reader *archive)
{
    if (archive->helpers.n)
        helpers_end(&archive->helpers);
    tape_discard(&archive->tape);
    locations_close(archive);
    archive->has_started = archive->plays = false;
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
    struct later_part part = {.archive = archive_of(trace), .from_ns = from_ns};
    struct archive_reader *archive = part.archive;
    stop_reading(archive);
    tape_release(&archive->tape);
    tape_begin(&archive->tape, 0, trace->n_records); /* the part has one */
    free(archive->n_skipped);
    archive->n_skipped = NULL;
    char *path = anchor_beside(trace->path, ARCHIVE_STARTS);
    if (!path || !archive->is_whole || archive->is_compressed || trace->clocks.n_violations) {
        free(path);
        return;
    }
    struct starts_of_rank *ranks = calloc(trace->n_ranks + 1, sizeof *ranks);
    archive->n_skipped = calloc(trace->n_locations, sizeof *archive->n_skipped);
    if (!ranks || !archive->n_skipped)
        err_out_of_memory(trace->n_locations * sizeof *archive->n_skipped);
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

static int archive_settle(struct trace *trace)
{
    struct archive_reader *archive = archive_of(trace);
    struct causality found;
    if (!archive->watch)
        return 1;
    bool holds = causality_watch_end(archive->watch, &found);
    archive->watch = NULL;
    if (holds) {
        clocks_take(archive, &found);
        return 1;
    }
    stop_reading(archive); /* with the clocks as they were */
    if (clocks_check(archive))
        return -1;
    for (uint32_t i = 0; i < trace->n_locations; i++)
        trace->locations[i].end_ns = end_on_clock(archive, i, archive->raw_ends_ns[i]);
    return 0;
}

static void archive_close(struct trace *trace)
{
    struct archive_reader *archive = archive_of(trace);
    struct causality unfinished;
    if (archive->helpers.n)
        helpers_end(&archive->helpers);
    if (archive->watch)
        causality_watch_end(archive->watch, &unfinished);
    free(archive->raw_ends_ns);
    free(archive->n_skipped);
    locations_close(archive);
    if (archive->callbacks)
        OTF2_EvtReaderCallbacks_Delete(archive->callbacks);
    if (archive->reader)
        OTF2_Reader_Close(archive->reader);
    tape_release(&archive->tape);
    defs_tables_release(&archive->tables);
    heap_release(&archive->heap);
    clocks_release(&archive->clocks);
    free(archive->locations);
    free(archive);
}

/* Local definitions: mapping tables, which OTF2 applies by itself, and clocks. */

struct offset_target {
    struct archive_reader *archive;
    uint32_t loc;
};

static OTF2_CallbackCode on_clock_offset(void *user, OTF2_TimeStamp time, int64_t offset, double deviation)
{
    struct offset_target *target = user;
    struct archive_reader *archive = target->archive;
    int64_t sign = offset < 0 ? -1 : 1;
    uint64_t size = events_time_ns(archive, offset < 0 ? 0 - (uint64_t)offset : (uint64_t)offset);
    struct clock_location *clock = &archive->clocks.locations[target->loc];
    *vec_push(&clock->points) = (struct clock_point){events_time_ns(archive, time), sign * (int64_t)size};
    uint64_t error_ns =
        deviation > 0 && deviation < (double)CLOCK_LATEST_NS ? events_time_ns(archive, (uint64_t)deviation) : 0;
    clock->error_ns = error_ns > clock->error_ns ? error_ns : clock->error_ns;
    return OTF2_CALLBACK_SUCCESS;
}

static void read_local_definitions(struct archive_reader *archive, OTF2_DefReaderCallbacks *callbacks, uint32_t loc)
{
    OTF2_DefReader *defs = OTF2_Reader_GetDefReader(archive->reader, archive->tables.location_ids.at[loc]);
    struct offset_target target = {archive, loc};
    uint64_t n_read = 0, limit = location_record_limit(archive, loc, "def");
    if (!defs && !archive->trace->is_ours && limit == UINT64_MAX)
        return; /* not every tool writes them */
    if (!defs || OTF2_Reader_RegisterDefCallbacks(archive->reader, defs, callbacks, &target) ||
        OTF2_Reader_ReadLocalDefinitions(archive->reader, defs, limit, &n_read) || n_read >= limit) {
        archive->trace->is_damaged = true;
        trace_note(archive->trace, "The definitions of rank %u are damaged or missing.",
                   archive->trace->locations[loc].rank);
    }
    if (defs)
        OTF2_Reader_CloseDefReader(archive->reader, defs);
    clocks_sort(&archive->clocks, loc);
}

/* Opening. */

/* OTF2 reads a file into chunks that it does not clear, and looks there for records also behind what it has read.
 * Memory that the kernel gives is zeros, which are no record: so chunks come from there always, not only until the
 * first of them has been freed. */
static void have_clear_chunks(void)
{
    mallopt(M_MMAP_THRESHOLD, OTF2_CHUNK_SIZE_MIN / 2);
}

static int read_anchor(struct archive_reader *archive, const char *anchor)
{
    struct trace *trace = archive->trace;
    char *creator = NULL;
    if (access(anchor, R_OK))
        return error("cannot read %s: %s", anchor, strerror(errno));
    if (!anchor_files_are_plain(anchor))
        return error("%s: a file of this archive is a pipe or a device", anchor);
    archive_silence();
    archive->reader = anchor_is_sound(anchor) ? OTF2_Reader_Open(anchor) : NULL;
    if (!archive->reader)
        return error("%s is no OTF2 archive, or its anchor file is damaged", anchor);
    if (OTF2_Reader_SetSerialCollectiveCallbacks(archive->reader))
        return error("%s cannot be read by OTF2", anchor);
    if (OTF2_Reader_GetCreator(archive->reader, &creator) == OTF2_SUCCESS && creator)
        trace->recorder = arena_strdup(&trace->arena, creator);
    free(creator);
    OTF2_Compression compression = OTF2_COMPRESSION_NONE;
    OTF2_Reader_GetCompression(archive->reader, &compression);
    archive->is_compressed = compression != OTF2_COMPRESSION_NONE;
    archive->is_whole = anchor_events_are_whole(anchor, archive->is_compressed);
    if (!archive->is_whole)
        have_clear_chunks();
    trace->is_ours = !strncmp(trace->recorder, "whywait ", strlen("whywait "));
    return 0;
}

static int read_definitions(struct archive_reader *archive)
{
    struct trace *trace = archive->trace;
    struct defs defs = {0};
    int result = defs_read(&defs, archive->reader, anchor_record_limit(trace->path, archive->is_compressed, ".def"));
    if (result)
        error("%s: its definitions are damaged or missing", trace->path);
    else if (!defs.resolution)
        result = error("%s: it does not tell the unit of its times", trace->path);
    if (!result) {
        archive->resolution = defs.resolution;
        archive->offset = defs.offset;
        trace->end_ns = events_time_ns(archive, defs.length);
        trace->realtime_ns = defs.realtime_ns;
        defs_build(&defs, trace, &archive->tables);
        if (!trace->n_locations)
            result = error("%s: it has no location with events of MPI processes", trace->path);
    }
    if (!result && defs.n_duplicates)
        trace_note(trace, "%u definitions of the archive stand there more than once; the last ones count.",
                   defs.n_duplicates);
    defs_release(&defs);
    return result;
}

static const char *title_of(struct trace *trace)
{
    struct script_word word = script_of_command(trace->program, trace->command);
    const char *path = arena_printf(&trace->arena, "%.*s", (int)word.n, word.n ? word.at : "");
    const char *slash = strrchr(path, '/');
    return word.n ? arena_printf(&trace->arena, "%s (%s)", slash ? slash + 1 : path, trace->program) : NULL;
}

static void name_program(struct trace *trace)
{
    char *path = strdup(trace->path);
    if (!path)
        err_out_of_memory(0);
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = 0;
    const char *dir = slash ? path : ".";
    if (trace->is_ours) {
        trace->run_dir = arena_strdup(&trace->arena, slash == path ? "/" : dir);
        trace->code_dir = arena_printf(&trace->arena, "%s/" ARCHIVE_CODE, trace->run_dir);
    }
    const char *name = strrchr(dir, '/') ? strrchr(dir, '/') + 1 : dir;
    if (!trace->program)
        trace->program = arena_strdup(&trace->arena, name);
    if (!trace->command)
        trace->command = trace->program;
    trace->title = title_of(trace);
    free(path);
}

static int archive_open(struct archive_reader *archive, const char *anchor)
{
    struct trace *trace = archive->trace;
    if (read_anchor(archive, anchor) || read_definitions(archive))
        return -1;
    name_program(trace);
    allow_files(trace->n_locations);
    archive->callbacks = events_callbacks();
    archive->locations = calloc(trace->n_locations, sizeof *archive->locations);
    if (!archive->locations)
        err_out_of_memory(trace->n_locations * sizeof *archive->locations);
    clocks_init(&archive->clocks, trace->n_locations);
    tape_begin(&archive->tape, TAPE_ROOM, trace->n_records);
    trace->kept_bytes = launcher_n_processes() ? HELPERS_ROOM_ASKED : HELPERS_ROOM;
    archive->clocks.origin_ns = (int64_t)events_time_ns(archive, archive->offset);
    OTF2_DefReaderCallbacks *callbacks = OTF2_DefReaderCallbacks_New();
    if (!callbacks)
        err_out_of_memory(0);
    OTF2_DefReaderCallbacks_SetClockOffsetCallback(callbacks, on_clock_offset);
    if (OTF2_Reader_OpenDefFiles(archive->reader) == OTF2_SUCCESS) {
        for (uint32_t i = 0; i < archive->trace->n_locations; i++)
            read_local_definitions(archive, callbacks, i);
        OTF2_Reader_CloseDefFiles(archive->reader);
    }
    OTF2_DefReaderCallbacks_Delete(callbacks);
    if (archive->is_for_another)
        return 0;
    archive->raw_ends_ns = calloc(trace->n_locations, sizeof *archive->raw_ends_ns);
    if (!archive->raw_ends_ns)
        err_out_of_memory(trace->n_locations * sizeof *archive->raw_ends_ns);
    for (uint32_t i = 0; i < trace->n_locations; i++) {
        archive->raw_ends_ns[i] = trace->locations[i].end_ns;
        archive->is_unchecked &= !trace->locations[i].begin_ns; /* parts are found by corrected times */
    }
    if (clocks_prepare(archive))
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

static struct trace *open_trace(const char *anchor, bool is_unchecked, bool is_for_another)
{
    struct trace *trace = calloc(1, sizeof *trace);
    struct archive_reader *archive = calloc(1, sizeof *archive);
    if (!trace || !archive)
        err_out_of_memory(sizeof *archive);
    archive->source = (struct trace_source){.rewind = archive_rewind,
                                            .skip = archive_skip,
                                            .read = archive_read,
                                            .close = archive_close,
                                            .settle = archive_settle};
    archive->trace = trace;
    archive->n_dealt = 1;
    archive->is_unchecked = is_unchecked;
    archive->is_for_another = is_for_another;
    trace->source = &archive->source;
    trace->path = arena_strdup(&trace->arena, anchor);
    trace->recorder = "";
    if (!archive_open(archive, anchor))
        return trace;
    trace_close(trace);
    return NULL;
}

struct trace *trace_open(const char *anchor)
{
    return open_trace(anchor, false, false);
}

struct trace *trace_open_unchecked(const char *anchor)
{
    return open_trace(anchor, true, false);
}

struct trace *trace_open_for_another(const char *anchor)
{
    return open_trace(anchor, true, true);
}

/* The locations of an archive: local definitions, and events in batches. */

void location_note_damage(struct archive_reader *archive, uint32_t loc, uint64_t last_raw_ns)
{
    struct trace *trace = archive->trace;
    const struct trace_location *at = &trace->locations[loc];
    trace->is_damaged = archive->locations[loc].is_damaged = true;
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

/* It begins behind its first n_records. Batches end where they always do: counts of one time are one event within. */
static void location_skip(struct location_reader *location, uint64_t n_records)
{
    location->n_to_read = BATCH - n_records % BATCH;
    location->n_left -= n_records < location->n_left ? n_records : location->n_left;
    location->is_at_end = n_records == location->archive->tables.location_records.at[location->loc];
    if (location->reader && !location->is_at_end &&
        OTF2_EvtReader_Seek(location->reader, n_records + 1) != OTF2_SUCCESS)
        location->reader = NULL;
}

int locations_open(struct archive_reader *archive)
{
    if (OTF2_Reader_OpenEvtFiles(archive->reader))
        return error("%s: its event files cannot be opened", archive->trace->path);
    archive->is_open = true;
    for (uint32_t i = 0; i < archive->trace->n_locations; i++) {
        struct location_reader *location = &archive->locations[i];
        *location = (struct location_reader){
            .archive = archive, .loc = i, .region = TRACE_NONE, .clock = clocks_rewind(&archive->clocks, i)};
        location->has_ended = i % archive->n_dealt != archive->dealt;
        if (location->has_ended)
            continue;
        location->reader = OTF2_Reader_GetEvtReader(archive->reader, archive->tables.location_ids.at[i]);
        location->n_left = location_record_limit(archive, i, "evt");
        if (location->reader && OTF2_EvtReader_SetCallbacks(location->reader, archive->callbacks, location))
            location->reader = NULL;
        if (location->reader)
            OTF2_EvtReader_ApplyClockOffsets(location->reader, false);
        location->n_to_read = BATCH;
        if (archive->n_skipped && archive->n_skipped[i])
            location_skip(location, archive->n_skipped[i]);
    }
    return 0;
}

void locations_close(struct archive_reader *archive)
{
    if (!archive->is_open)
        return;
    archive->is_open = false;
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

static void read_batch(struct location_reader *location)
{
    struct archive_reader *archive = location->archive;
    uint64_t n_read = 0, n_wanted = location->n_to_read;
    location->n_to_read = BATCH;
    location->batch.n = location->bins.n = location->bins_handed = location->next = 0;
    bool is_damaged =
        !location->reader ||
        OTF2_Reader_ReadLocalEvents(archive->reader, location->reader, n_wanted, &n_read) != OTF2_SUCCESS ||
        n_read >= location->n_left;
    location->n_left -= is_damaged ? 0 : n_read;
    meter_add(&archive->trace->meter, n_read);
    if (is_damaged)
        location_note_damage(archive, location->loc, location->last_raw_ns);
    location->is_at_end = is_damaged || n_read < n_wanted || location->is_broken_off;
}

/* True when its batch has a next event again; false at its end. */
static __attribute__((noinline)) bool location_read_on(struct location_reader *location)
{
    if (location->has_ended)
        return false;
    while (location->next >= location->batch.n && !location->is_at_end)
        read_batch(location);
    if (location->next < location->batch.n)
        return true;
    location->batch.n = location->next = 0;
    location->has_ended = true;
    const struct trace_location *at = &location->archive->trace->locations[location->loc];
    *vec_push(&location->batch) = (struct event){.time_ns = location->last_raw_ns,
                                                 .loc = location->loc,
                                                 .kind = EV_END,
                                                 .flags = (uint16_t)at->end_how,
                                                 .region = TRACE_NONE,
                                                 .frame = TRACE_NONE,
                                                 .comm = TRACE_NONE,
                                                 .peer = TRACE_NONE};
    return true;
}

const struct event *location_next(struct location_reader *location)
{
    if (location->next >= location->batch.n && !location_read_on(location))
        return NULL;
    struct event *event = &location->batch.at[location->next++];
    memory_fetch(event + 1, sizeof *event);
    location->ahead_raw_ns = event->time_ns;
    event->time_ns = clocks_correct(&location->archive->clocks, location->loc, &location->clock, event->time_ns,
                                    location->n_handed++);
    if (event->kind == EV_BINS) {
        event->bins = location->bins.at + location->bins_handed;
        location->bins_handed += event->n_bins;
    }
    return event;
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

int trace_settle(struct trace *trace)
{
    return trace->source->settle ? trace->source->settle(trace) : 1;
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
