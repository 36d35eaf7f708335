/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/opening.h"
#include "analyze/archive/archive.h"
#include "analyze/trace/source.h"
#include "wrap/base/err.h"
#include "wrap/script.h"
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Decoded events stay for the next reading up to a bound: from ten million events on memory is the same. */
enum { TAPE_ROOM = 160 << 20 };

/* Each location needs a file. */
static void allow_files(uint32_t n_locations)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= 2 * (rlim_t)n_locations + 64)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* OTF2 reads a file into chunks that it does not clear, and looks there for records also behind what it has read.
 * Memory that the kernel gives is zeros, which are no record: so chunks come from there always, not only until the
 * first of them has been freed. */
static void have_clear_chunks(void)
{
    mallopt(M_MMAP_THRESHOLD, OTF2_CHUNK_SIZE_MIN / 2);
}

static int open_reader(struct archive_reader *archive, const char *anchor)
{
    OTF2_Reader *reader = anchor_is_sound(anchor) ? OTF2_Reader_Open(anchor) : NULL;
    if (!reader && locations_lack_files())
        return error("cannot read %s: %s (`ulimit -n`)", anchor, strerror(errno));
    if (!reader)
        return error("%s is no OTF2 archive, or its anchor file is damaged", anchor);
    *vec_push(&archive->readers) = reader;
    return OTF2_Reader_SetSerialCollectiveCallbacks(reader) ? error("%s cannot be read by OTF2", anchor) : 0;
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
    if (open_reader(archive, anchor))
        return -1;
    if (OTF2_Reader_GetCreator(archive->readers.at[0], &creator) == OTF2_SUCCESS && creator)
        trace->recorder = arena_strdup(&trace->arena, creator);
    free(creator);
    OTF2_Compression compression = OTF2_COMPRESSION_NONE;
    OTF2_Reader_GetCompression(archive->readers.at[0], &compression);
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
    int result =
        defs_read(&defs, archive->readers.at[0], anchor_record_limit(trace->path, archive->is_compressed, ".def"));
    if (result && locations_lack_files())
        error("cannot read the definitions of %s: %s (`ulimit -n`)", trace->path, strerror(errno));
    else if (result)
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
    uint64_t n_read = 0, limit = location_record_limit(archive, loc, "def");
    if (location_file_is_bare(limit))
        return;
    OTF2_Reader *reader = location_otf2(archive, loc);
    OTF2_DefReader *defs = OTF2_Reader_GetDefReader(reader, archive->tables.location_ids.at[loc]);
    struct offset_target target = {archive, loc};
    if (!defs && !archive->trace->is_ours && limit == UINT64_MAX)
        return; /* not every tool writes them */
    if (!defs || OTF2_Reader_RegisterDefCallbacks(reader, defs, callbacks, &target) ||
        OTF2_Reader_ReadLocalDefinitions(reader, defs, limit, &n_read) || n_read >= limit) {
        archive->trace->is_damaged = true;
        trace_note(archive->trace, "The definitions of rank %u are damaged or missing.",
                   archive->trace->locations[loc].rank);
    }
    if (defs)
        OTF2_Reader_CloseDefReader(reader, defs);
    clocks_sort(&archive->clocks, loc);
}

static void read_all_local_definitions(struct archive_reader *archive)
{
    OTF2_DefReaderCallbacks *callbacks = OTF2_DefReaderCallbacks_New();
    if (!callbacks)
        err_out_of_memory(0);
    OTF2_DefReaderCallbacks_SetClockOffsetCallback(callbacks, on_clock_offset);
    bool are_there = true;
    for (size_t i = 0; i < archive->readers.n; i++)
        are_there = OTF2_Reader_OpenDefFiles(archive->readers.at[i]) == OTF2_SUCCESS && are_there;
    for (uint32_t i = 0; are_there && i < archive->trace->n_locations; i++)
        read_local_definitions(archive, callbacks, i);
    for (size_t i = 0; are_there && i < archive->readers.n; i++)
        OTF2_Reader_CloseDefFiles(archive->readers.at[i]);
    OTF2_DefReaderCallbacks_Delete(callbacks);
}

static int open_more_readers(struct archive_reader *archive)
{
    int result = 0;
    while (!result && archive->readers.n * LOCATIONS_A_READER < archive->trace->n_locations)
        result = open_reader(archive, archive->trace->path);
    return result;
}

int opening_read(struct archive_reader *archive, const char *anchor)
{
    struct trace *trace = memory_new(1, sizeof *trace);
    archive->trace = trace;
    archive->n_dealt = 1;
    trace->path = arena_strdup(&trace->arena, anchor);
    trace->recorder = "";
    if (read_anchor(archive, anchor) || read_definitions(archive))
        return -1;
    name_program(trace);
    allow_files(trace->n_locations);
    archive->callbacks = events_callbacks();
    archive->locations = memory_new(trace->n_locations, sizeof *archive->locations);
    clocks_init(&archive->clocks, trace->n_locations);
    tape_begin(&archive->tape, TAPE_ROOM, trace->n_records);
    archive->clocks.origin_ns = (int64_t)events_time_ns(archive, archive->offset);
    if (open_more_readers(archive))
        return -1;
    read_all_local_definitions(archive);
    return 0;
}
