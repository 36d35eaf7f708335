/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank: all its spool files are merged by time, since requests started in one thread may complete in another, and
 * written to one OTF2 event file a thread. Everything streams; memory is a buffer a file, the stacks' ids and the
 * pending requests.
 */
#include "analyze/archive/convert.h"
#include "analyze/archive/archive.h"
#include "analyze/files/durable.h"
#include "analyze/files/folder.h"
#include "analyze/files/in_use.h"
#include "analyze/files/paths.h"
#include "analyze/archive/stream.h"
#include "analyze/archive/part.h"
#include "wrap/base/err.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct conversion {
    uint32_t rank;
    const char *spool_dir, *part_dir; /* RUNDIR/spool, RUNDIR/parts/R.tmp */
    OTF2_Archive *archive;
    struct emitter emitter;
    VEC(struct stream) streams;
    VEC(struct emit_location) locations;
    struct heap heap;
    VEC(struct part_before) before; /* of each communicator, once a collective on it was seen */
};

static int add_stream(struct conversion *conversion, const struct spool_file *file)
{
    char *path = spool_file_path(conversion->spool_dir, file), *part = spool_file_path(conversion->part_dir, file);
    struct stream *stream = vec_push(&conversion->streams);
    int result = stream_open(stream, path, part, !getenv("WHYWAIT_KEEP_SPOOL"));
    const struct ww_header *header = &stream->reader.header;
    if (!result && ((uint32_t)header->rank != file->rank || (uint32_t)header->thread != file->thread ||
                    header->kind != file->kind))
        result = error("%s holds the records of another rank or thread", path);
    if (!result && file->kind == WW_KIND_SAMPLES) {
        struct spool_file events = {.rank = file->rank, .thread = file->thread, .kind = WW_KIND_EVENTS};
        char *events_path = spool_file_path(conversion->spool_dir, &events);
        result = gaps_find(&stream->gaps, path, events_path);
        free(events_path);
    }
    free(path);
    free(part);
    return result;
}

/* A damaged file leaves its thread out, not the rank. Results are those of convert_rank. */
static int open_streams(struct conversion *conversion, const struct spool_list *list)
{
    int64_t last_thread = -1;
    for (size_t i = 0; i < list->files.n; i++) {
        const struct spool_file *file = &list->files.at[i];
        if (file->rank != conversion->rank)
            continue;
        int result = add_stream(conversion, file);
        if (result == SPOOL_UNREAD)
            return CONVERT_UNDONE;
        if (result) {
            stream_close(&conversion->streams.at[--conversion->streams.n]);
            char *part = spool_file_path(conversion->part_dir, file);
            remove(part);
            free(part);
            continue;
        }
        struct stream *stream = &conversion->streams.at[conversion->streams.n - 1];
        if (file->thread != last_thread) {
            struct emit_location *location = vec_push(&conversion->locations);
            if (emit_location_begin(location, conversion->archive, archive_location(conversion->rank, file->thread))) {
                error("OTF2 cannot make an event file in %s", conversion->part_dir);
                return CONVERT_UNDONE;
            }
        }
        last_thread = file->thread;
        stream->location = (uint32_t)conversion->locations.n - 1;
        conversion->emitter.requests.keeps_ids |= stream->location && file->kind == WW_KIND_EVENTS;
        if (stream->reader.header.sample_period_ns)
            conversion->locations.at[stream->location].sample_period_ns = stream->reader.header.sample_period_ns;
    }
    return conversion->streams.n ? 0
                                 : error("rank %u has no usable file in %s", conversion->rank, conversion->spool_dir);
}

/* When the process was last known to live. */
static uint64_t end_of_process(const struct conversion *conversion)
{
    uint64_t end_ns = 0;
    for (size_t i = 0; i < conversion->locations.n; i++)
        if (conversion->locations.at[i].last_ns > end_ns)
            end_ns = conversion->locations.at[i].last_ns;
    for (size_t i = 0; i < conversion->streams.n; i++) {
        uint64_t file_ns = conversion->streams.at[i].reader.header.end_ns;
        if (file_ns > end_ns && file_ns >> STREAM_LATEST_NS_LOG2 == 0)
            end_ns = file_ns;
    }
    return end_ns;
}

/* The first of a communicator says how many the ring has lost. */
static void count_before(struct conversion *conversion, const struct ww_call *call)
{
    enum ww_class class = call_info(call->call)->class;
    if ((class != WW_COLLECTIVE && class != WW_ICOLLECTIVE) || call->tag <= 0)
        return;
    bool is_non_blocking = class == WW_ICOLLECTIVE;
    for (size_t i = 0; i < conversion->before.n; i++)
        if (conversion->before.at[i].comm == call->comm && conversion->before.at[i].is_non_blocking == is_non_blocking)
            return;
    *vec_push(&conversion->before) =
        (struct part_before){.comm = call->comm, .is_non_blocking = is_non_blocking, .n = (uint32_t)call->tag - 1};
}

static void emit_all_bins(struct conversion *conversion, struct emit_location *location, const uint8_t *records,
                          size_t bytes, uint64_t time_ns)
{
    for (size_t at = 0; at < bytes;) {
        const struct ww_bins *bins = (const void *)(records + at);
        emit_bins(&conversion->emitter, location, bins, time_ns);
        at += (size_t)bins->head.units * WW_UNIT;
    }
}

/* Calls found no room any more: what its thread was in the middle of afterwards is not known. A ring goes on. */
static bool lost_calls(const struct stream *stream)
{
    return stream->reader.header.kind == WW_KIND_EVENTS && stream->reader.header.n_dropped && !stream->reader.slots.n;
}

/* Polls that found nothing were the last that a thread did in MPI, and it was ended from outside. */
static bool polls_to_the_end(const struct stream *stream)
{
    const struct ww_call *call = &stream->call.call;
    uint32_t end = stream->reader.header.end_how;
    return !stream->ahead && call->flags & WW_F_POLL && call->n_polls && !stream->call.attached.n &&
           !stream->call.is_unfinished && (end == WW_END_NONE || end == WW_END_SIGNAL);
}

static void convert_item(struct conversion *conversion, struct emit_location *location, struct stream *stream)
{
    switch (stream->item) {
    case STREAM_ENTER:
        if (!stream->location && emit_start_is_due(&conversion->emitter, location))
            emit_start(&conversion->emitter, conversion->locations.at, conversion->locations.n, stream->time_ns);
        emit_all_bins(conversion, location, stream->bins.at, stream->bins.n, stream->time_ns);
        stream->bins.n = 0;
        emit_enter(&conversion->emitter, location, &stream->call, stream_context(stream, stream->call.call.stack));
        break;
    case STREAM_CALLBACK:
        emit_callback(&conversion->emitter, location, stream_context(stream, stream->call.call.stack), stream->time_ns);
        break;
    case STREAM_RETURN: {
        const uint8_t *records;
        size_t bytes = stream_callback_bins(stream, &records);
        emit_all_bins(conversion, location, records, bytes, stream->time_ns);
        emit_return(location, stream->time_ns);
        break;
    }
    case STREAM_LEAVE:
        if (stream->call.is_unfinished) {
            /* MPI_Finalize is still running while its process converts: that is no call that never returned. */
            struct emit_call *call = &stream->call;
            call->call.leave_ns = end_of_process(conversion);
            if (call_info(call->call.call)->class == WW_FINALIZE && stream->reader.header.end_how == WW_END_FINALIZE)
                call->is_unfinished = false;
        }
        emit_leave(&conversion->emitter, location, &stream->call);
        if (polls_to_the_end(stream))
            emit_polls_to_the_end(&conversion->emitter, location, &stream->call);
        if (stream->reader.slots.n)
            count_before(conversion, &stream->call.call);
        break;
    case STREAM_SAMPLE:
        if (!location->has_lost_calls && stream_context(stream, stream->sample.stack))
            emit_sample(location, &stream->sample, stream_context(stream, stream->sample.stack),
                        stream_unwind_distance(stream));
        break;
    case STREAM_SWITCH:
        if (!location->has_lost_calls)
            emit_switch(location, &stream->onoff);
        break;
    case STREAM_CONTROL:
        emit_control(&conversion->emitter, location, &stream->control);
        break;
    case STREAM_NONE:
        break;
    }
}

static void convert_events(struct conversion *conversion)
{
    struct heap *heap = &conversion->heap;
    const struct ww_header *header = &conversion->streams.at[0].reader.header;
    conversion->emitter.windows = (struct emit_windows){.n = header->window_ns > 0, .since_ns = header->start_ns};
    for (size_t i = 0; i < conversion->streams.n; i++) {
        struct stream *stream = &conversion->streams.at[i];
        stream_next(stream, &conversion->emitter);
        if (stream->item != STREAM_NONE)
            heap_push(heap, stream->time_ns, (uint32_t)i);
        else
            conversion->locations.at[stream->location].has_lost_calls |= lost_calls(stream);
    }
    while (heap->n) {
        uint32_t number = heap->items[0].stream;
        struct stream *stream = &conversion->streams.at[number];
        struct emit_location *first = &conversion->locations.at[0],
                             *worker = &conversion->locations.at[stream->location];
        if (worker->thread && !worker->has_begun && !first->thread)
            emit_thread_begin(first, worker, stream->time_ns);
        struct heap_item next = heap_second(heap);
        do { /* streams mostly come in runs */
            convert_item(conversion, worker, stream);
            stream_next(stream, &conversion->emitter);
        } while (stream->item != STREAM_NONE && heap_is_before((struct heap_item){stream->time_ns, number}, next));
        if (stream->item == STREAM_NONE) {
            heap_pop(heap);
            worker->has_lost_calls |= lost_calls(stream);
        } else
            heap_replace(heap, stream->time_ns);
    }
}

static void write_used(struct stream *stream, uint32_t kind, uint32_t id)
{
    struct part_used used = {.kind = kind, .id = id};
    stream_write(stream, &used, sizeof used, PART_USED);
}

static void write_used_ids(struct stream *stream, uint32_t kind, const struct emit_ids *ids)
{
    for (size_t i = 0; i < ids->list.n; i++)
        write_used(stream, kind, ids->list.at[i]);
}

static void write_starts(const struct conversion *conversion, struct stream *stream)
{
    enum { MOST_BYTES = UINT16_MAX * WW_UNIT };
    const struct starts *starts = &conversion->emitter.starts;
    size_t n = conversion->locations.n;
    VEC(uint8_t) bytes = {0};
    for (size_t k = 0; k < starts->all.n; k++) {
        const struct start *start = &starts->all.at[k];
        size_t n_bytes = sizeof(struct part_start) + n * sizeof(struct starts_position) +
                         start->n_counts * sizeof(struct starts_count);
        if (start->n_open || n_bytes > MOST_BYTES)
            continue;
        vec_resize(&bytes, n_bytes);
        struct part_start *record = (void *)bytes.at;
        *record = (struct part_start){
            .n_positions = (uint32_t)n, .n_counts = (uint32_t)start->n_counts, .known_ns = start->known_ns};
        struct starts_position *positions = (void *)(record + 1);
        for (size_t i = 0; i < n; i++)
            positions[i] =
                (struct starts_position){archive_location(conversion->rank, conversion->locations.at[i].thread),
                                         starts->positions.at[k * n + i]};
        if (start->n_counts)
            memcpy(positions + n, starts->counts.at + start->first_count,
                   start->n_counts * sizeof(struct starts_count));
        stream_write(stream, record, n_bytes, PART_START);
    }
    vec_release(&bytes);
}

/* What concerns the whole process stands in its last file, behind the definitions of all threads. */
static void write_process(struct conversion *conversion)
{
    struct emitter *emitter = &conversion->emitter;
    struct stream *stream = &conversion->streams.at[conversion->streams.n - 1];
    for (uint32_t call = 0; call < ARCHIVE_N_REGIONS; call++)
        if (emitter->region_used[call])
            write_used(stream, PART_USED_CALL, call);
    write_used_ids(stream, PART_USED_COMM, &emitter->comms_used);
    write_used_ids(stream, PART_USED_WIN, &emitter->wins_used);
    write_used_ids(stream, PART_USED_FILE, &emitter->files_used);
    for (size_t i = 0; i < conversion->before.n; i++)
        stream_write(stream, &conversion->before.at[i], sizeof conversion->before.at[i], PART_BEFORE);
    write_starts(conversion, stream);
    for (uint32_t i = 0; i < emitter->groups.n; i++) {
        const struct intern_item *item = &emitter->groups.items[i];
        size_t n = item->size / sizeof(int32_t) - 1;
        struct part_group fixed = {.id = i, .n = (uint32_t)n};
        uint8_t *record = memory_new(1, sizeof fixed + item->size);
        memcpy(&fixed.win, item->bytes, sizeof fixed.win);
        memcpy(record, &fixed, sizeof fixed);
        memcpy(record + offsetof(struct part_group, rank), (const char *)item->bytes + sizeof fixed.win,
               n * sizeof(int32_t));
        stream_write(stream, record, offsetof(struct part_group, rank) + n * sizeof(int32_t), PART_GROUP);
        free(record);
    }
    for (uint32_t i = 0; i < emitter->counters.n; i++) {
        struct emit_counter counter;
        memcpy(&counter, emitter->counters.items[i].bytes, sizeof counter);
        struct part_counter record = {.id = ARCHIVE_ATTR_COUNTERS + i,
                                      .counters = counter.counters,
                                      .point = counter.point,
                                      .what = counter.what};
        stream_write(stream, &record, sizeof record, PART_COUNTER);
    }
}

static void write_locations(struct conversion *conversion)
{
    const struct emit_windows *windows = &conversion->emitter.windows;
    uint64_t end_ns = end_of_process(conversion), windows_ns = windows->took_ns;
    if (conversion->locations.at[0].has_lost_calls)
        end_ns = conversion->locations.at[0].last_ns;
    if (windows->n_ended < windows->n && end_ns > windows->since_ns)
        windows_ns += end_ns - windows->since_ns;
    for (size_t i = 0; i < conversion->streams.n; i++) {
        struct stream *stream = &conversion->streams.at[i];
        const struct emit_location *location = &conversion->locations.at[stream->location];
        bool is_first = !i || conversion->streams.at[i - 1].location != stream->location;
        struct part_location record = {.has_pending = stream->call.is_unfinished || polls_to_the_end(stream),
                                       .n_events = is_first ? location->n_events : 0,
                                       .first_ns = location->first_ns,
                                       .last_ns = location->last_ns,
                                       .first_call_ns = location->first_call_ns,
                                       .lost_ns = stream->gaps.outside_ns,
                                       .open_ns = stream->gaps.open_ns,
                                       .begin_ns = stream->reader.begin_ns,
                                       .n_windows = windows->n,
                                       .n_ended = windows->n_ended,
                                       .windows_ns = windows_ns,
                                       .is_damaged = spool_reader_lacks_records(&stream->reader)};
        stream_write(stream, &record, sizeof record, PART_LOCATION);
    }
}

/* Everything is closed also after a failure; only then is it known whether all was read and written. */
static int conversion_end(struct conversion *conversion, int result)
{
    bool failed = false;
    for (size_t i = 0; i < conversion->locations.n; i++) {
        OTF2_EvtWriter *writer = conversion->locations.at[i].writer;
        emit_location_end(&conversion->locations.at[i]);
        failed |= conversion->locations.at[i].failed;
        if (writer)
            failed |= OTF2_Archive_CloseEvtWriter(conversion->archive, writer) != OTF2_SUCCESS;
    }
    if (!result) {
        write_process(conversion);
        write_locations(conversion);
    }
    for (size_t i = 0; i < conversion->streams.n; i++) {
        if (!result)
            result = spool_reader_status(&conversion->streams.at[i].reader) ? CONVERT_UNDONE : 0;
        stream_close(&conversion->streams.at[i]);
        failed |= conversion->streams.at[i].part_failed;
    }
    if (conversion->archive) {
        failed |= OTF2_Archive_CloseEvtFiles(conversion->archive) != OTF2_SUCCESS;
        failed |= OTF2_Archive_Close(conversion->archive) != OTF2_SUCCESS;
        failed |= !result && !archive_is_whole(conversion->part_dir);
    }
    emitter_release(&conversion->emitter);
    vec_release(&conversion->streams);
    vec_release(&conversion->locations);
    vec_release(&conversion->before);
    heap_release(&conversion->heap);
    if (result || !failed)
        return result;
    error("cannot write all of %s: is the disk full? The spool is kept; `whywait salvage` tries again",
          conversion->part_dir);
    return CONVERT_UNDONE;
}

static int begin_part(struct conversion *conversion)
{
    conversion->archive = archive_create(conversion->part_dir, 0);
    if (conversion->archive && !OTF2_Archive_OpenEvtFiles(conversion->archive))
        return 0;
    error("OTF2 cannot make an archive in %s: is there room and permission to write?", conversion->part_dir);
    return CONVERT_UNDONE;
}

/* Makes the part under a name of its own, then gives it the final one. */
static int make_part(const struct run_folders *folders, uint32_t rank, const struct spool_list *list)
{
    struct folder making;
    char *temporary = path_format("%u.tmp", rank), *path = path_format("%s/%s", folders->parts.path, temporary);
    int result = dir_remove(path) || folder_make(&making, &folders->parts, temporary) ? CONVERT_UNDONE : 0;
    if (!result) {
        struct conversion conversion = {.rank = rank, .spool_dir = folders->spool.path, .part_dir = making.path};
        result = begin_part(&conversion);
        if (!result)
            result = open_streams(&conversion, list);
        if (!result)
            convert_events(&conversion);
        result = conversion_end(&conversion, result);
        char *done = path_format("%s/%u", folders->parts.path, rank);
        /* Each process brings its own to the disk: at the same time, and on its own node. */
        if (!result)
            result = durable_tree(making.path) || path_rename(path, done) ? CONVERT_UNDONE : 0;
        folder_close(&making);
        free(done);
    }
    if (result)
        dir_remove(path);
    free(temporary);
    free(path);
    return result;
}

int convert_rank(const char *run_dir, uint32_t rank)
{
    struct run_folders folders;
    struct spool_list list = {0};
    int result = run_folders_open(&folders, run_dir) || spool_list_read(&list, folders.spool.path) ? CONVERT_UNDONE : 0;
    run_folders_close(&folders);
    if (!result)
        result = convert_rank_of(run_dir, rank, &list);
    spool_list_release(&list);
    return result;
}

int convert_rank_of(const char *run_dir, uint32_t rank, const struct spool_list *list)
{
    struct run_folders folders;
    mode_t old_mask = umask(077);
    int result = run_folders_open(&folders, run_dir) ? CONVERT_UNDONE : 0, lock = -1;
    char *anchor = path_format("%s/" ARCHIVE_NAME ".otf2", folders.run.path);
    if (!result && anchor_check(anchor))
        result = CONVERT_UNDONE;
    if (!result && !path_exists(anchor) && folders.parts.fd < 0 && folder_make(&folders.parts, &folders.run, "parts"))
        result = CONVERT_UNDONE;
    char *done = path_format("%s/%u", folders.parts.path, rank), *lock_path = path_format("%s.lock", done);
    if (!result && !path_exists(anchor))
        lock = lock_take(lock_path);
    if (!result && !path_exists(done) && !path_exists(anchor))
        result = make_part(&folders, rank, list);
    lock_release(lock);
    umask(old_mask);
    run_folders_close(&folders);
    free(lock_path);
    free(anchor);
    free(done);
    return result;
}
