/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From parts to the archive. The new archive grows in RUNDIR/parts/whole, event files as hard links where the file
 * system has them, so that the parts stay whole until RUNDIR/traces.otf2, renamed last, says that all is done.
 */
#include "analyze/archive/join.h"
#include "analyze/files/home.h"
#include "analyze/files/in_use.h"
#include "analyze/files/paths.h"
#include "analyze/files/durable.h"
#include "analyze/archive/given.h"
#include "analyze/archive/keep.h"
#include "analyze/archive/spool.h"
#include "analyze/constants/constants.h"
#include "wrap/base/err.h"
#include "wrap/base/keys.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { MANY_RANKS = 1 << 14 };

static char *event_file(const char *dir, uint64_t location)
{
    return path_format("%s/" ARCHIVE_NAME "/%llu.evt", dir, (unsigned long long)location);
}

struct rank_list {
    VEC(uint32_t) ranks; /* rising */
};

static bool has_rank(const struct rank_list *list, uint32_t rank)
{
    return list->ranks.n && bsearch(&rank, list->ranks.at, list->ranks.n, sizeof rank, key_order_u32);
}

/* The ranks that have a part. */
static int list_parts(struct rank_list *list, const char *parts_dir)
{
    DIR *entries = opendir(parts_dir);
    if (!entries)
        return errno == ENOENT ? 0 : error("cannot read %s: %s", parts_dir, strerror(errno));
    int why = 0;
    for (struct dirent *entry; (entry = dir_next(entries, &why));) {
        char *end;
        unsigned long rank = strtoul(entry->d_name, &end, 10);
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && !*end && rank < SPOOL_MAX_RANKS)
            *vec_push(&list->ranks) = (uint32_t)rank;
    }
    closedir(entries);
    vec_sort(&list->ranks, key_order_u32);
    return why ? error("cannot read all of %s: %s", parts_dir, strerror(why)) : 0;
}

/* Files of two runs in one directory are no run, though each has ranks that the other lacks. */
static int check_run(struct arena *arena, struct join_run *run, const char *path, const struct ww_header *header)
{
    if (header->run && run->number && header->run != run->number)
        return error("%s and %s are of two runs: move the files of one to the spool of a directory of its own, and try "
                     "again; nothing is lost",
                     run->path, path);
    if (header->run && !run->number)
        *run = (struct join_run){header->run, arena_strdup(arena, path)};
    return 0;
}

/* Also, how much one definition can take: what a table lists stands in the two files of a location. Only the locations
 * themselves are listed all together. */
static int look_at_part(struct join *join, uint32_t rank)
{
    enum { LOCATION_BYTES = 10 };
    struct spool_list list;
    char *dir = path_format("%s/%u", join->parts_dir, rank);
    int result = spool_list_read(&list, dir);
    for (size_t i = 0; !result && i < list.files.n; i++) {
        struct stat status;
        char *path = spool_file_path(dir, &list.files.at[i]);
        if (!i) {
            /* The size of MPI_COMM_WORLD as the first file of a part has it. */
            struct spool_reader reader;
            result = spool_reader_open(&reader, path);
            if (!result)
                result = check_run(&join->arena, &join->run_of_parts, path, &reader.header);
            if (!result && reader.header.n_ranks > (int64_t)join->n_ranks)
                join->n_ranks = (uint32_t)reader.header.n_ranks;
            spool_reader_close(&reader);
        }
        if (!stat(path, &status) && (uint64_t)status.st_size > join->largest_part_bytes)
            join->largest_part_bytes = (uint64_t)status.st_size;
        free(path);
    }
    join->locations_bytes += list.files.n * LOCATION_BYTES;
    spool_list_release(&list);
    free(dir);
    return result;
}

/* A damaged header may claim any size of the world: ranks without a part cost a file each, so there is a limit. */
static int find_world(struct join *join, const struct rank_list *list)
{
    for (size_t i = 0; i < list->ranks.n; i++)
        if (look_at_part(join, list->ranks.at[i]))
            return -1;
    if (!list->ranks.n || !join->n_ranks)
        return error("%s holds no records: nothing to make an archive of", join->run->path);
    if (join->n_ranks > MANY_RANKS && join->n_ranks / 16 > list->ranks.n)
        return error("%s names %u ranks but has the records of %zu only", join->run->path, join->n_ranks,
                     list->ranks.n);
    join->ranks = arena_array(&join->arena, struct join_rank, join->n_ranks);
    return 0;
}

static char *definition_file(const char *dir, uint64_t location)
{
    return path_format("%s/" ARCHIVE_NAME "/%llu.def", dir, (unsigned long long)location);
}

/* One more name of the file, or a copy where that cannot be. */
static bool make_same(char *from, char *to)
{
    bool ok = link(from, to) == 0;
    if (!ok) {
        int old = open(from, O_RDONLY | O_CLOEXEC), new = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        ok = old >= 0 && new >= 0 && !file_copy(old, new);
        if (old >= 0)
            close(old);
        ok &= new >= 0 && !close(new);
    }
    free(from);
    free(to);
    return ok;
}

/* Files of a location without records. They are alike, so OTF2 makes those of the first only: it looks through all that
 * it knows for each. */
static bool make_empty(const struct join *join, uint64_t location, uint64_t first)
{
    const char *dir = join->whole_dir;
    if (location != first)
        return make_same(event_file(dir, first), event_file(dir, location)) &&
               make_same(definition_file(dir, first), definition_file(dir, location));
    OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter(join->archive, location);
    OTF2_DefWriter *defs = OTF2_Archive_GetDefWriter(join->archive, location);
    bool ok = writer && !OTF2_Archive_CloseEvtWriter(join->archive, writer);
    return defs && !OTF2_Archive_CloseDefWriter(join->archive, defs) && ok;
}

/* OTF2 readers expect an event file of every location. */
static void add_missing(struct join *join)
{
    uint32_t n_missing = 0, first = 0, first_empty = UINT32_MAX;
    VEC(uint8_t) has_master = {0};
    vec_resize(&has_master, join->n_ranks);
    for (size_t i = 0; i < join->locations.n; i++)
        if (!join->locations.at[i].thread)
            has_master.at[join->locations.at[i].rank] = 1;
    for (uint32_t rank = 0; rank < join->n_ranks; rank++) {
        if (!join->ranks[rank].has_calls && !n_missing++)
            first = rank;
        if (has_master.at[rank])
            continue;
        first_empty = rank < first_empty ? rank : first_empty;
        join->failed |= !make_empty(join, archive_location(rank, 0), archive_location(first_empty, 0));
        *vec_push(&join->locations) = (struct join_location){.rank = rank};
    }
    vec_release(&has_master);
    if (n_missing)
        *vec_push(&join->notes) =
            arena_printf(&join->arena,
                         "The records of %u of %u ranks are missing (the first is rank %u): that others wait for "
                         "them is not seen.",
                         n_missing, join->n_ranks, first);
}

static int by_location(const void *left, const void *right)
{
    const struct join_location *a = left, *b = right;
    return order_of(a->rank, b->rank) ?: order_of(a->thread, b->thread);
}

/* A link where that is possible, else the file itself. */
static int bring_events(struct join *join, const struct join_location *location)
{
    uint64_t id = archive_location(location->rank, location->thread);
    char *part_dir = path_format("%s/%u", join->parts_dir, location->rank);
    char *from = event_file(part_dir, id), *to = event_file(join->whole_dir, id);
    int result = 0;
    if (join->ranks[location->rank].is_there && path_exists(from) && link(from, to))
        result = path_rename(from, to);
    if (!result && !path_exists(to))
        result = error("%s is missing: remove %s and try again", from, part_dir);
    free(part_dir);
    free(from);
    free(to);
    return result;
}

/* Which parts of the run there are records of. */
static void note_parts(struct join *join)
{
    double run_s = (double)(join->last_ns - join->start_ns) / 1e9;
    double window_s = (double)join->windows.window_ns / 1e9, every_s = (double)join->windows.every_ns / 1e9;
    const char *note = NULL;
    if (join->begin_ns && join->last_ns > join->begin_ns)
        note = arena_printf(&join->arena,
                            "Of the run's %.1f s the newest %.1f s were kept on all ranks (record --last): all figures "
                            "are of these.",
                            run_s, (double)(join->last_ns - join->begin_ns) / 1e9);
    if (join->windows_have_ended)
        note = arena_printf(&join->arena,
                            "Of the run's %.1f s, %.1f s were recorded, in %u window%s (record --window %gs --every "
                            "%gs): all figures are of %s.%s",
                            run_s, (double)join->windows_ns / 1e9, join->n_windows, join->n_windows == 1 ? "" : "s",
                            window_s, every_s, join->n_windows == 1 ? "it" : "these",
                            join->n_windows == 1 ? "" : " `whywait trend` of this run compares them.");
    else if (join->n_windows && run_s > every_s)
        note = arena_printf(&join->arena,
                            "The run was recorded as a whole: windows of %gs (record --window) begin and end at a "
                            "blocking collective call of all processes, and none came.",
                            window_s);
    if (note)
        *vec_push(&join->notes) = note;
}

/* Ranks leave MPI_Init together, so whoever was in it for the shortest time came last. */
static void note_late_init(struct join *join)
{
    uint32_t last = 0, n = 0;
    double all_ns = 0;
    for (uint32_t rank = 0; rank < join->n_ranks; rank++) {
        if (!join->ranks[rank].in_init_ns)
            continue;
        if (n++ == 0 || join->ranks[rank].in_init_ns < join->ranks[last].in_init_ns)
            last = rank;
        all_ns += (double)join->ranks[rank].in_init_ns;
    }
    if (n < 2 || n < join->n_ranks)
        return;
    double early_ns = (all_ns - (double)n * (double)join->ranks[last].in_init_ns) / (n - 1);
    if (early_ns < (NOTABLY_LONGER - 1) * (double)(join->last_ns - join->first_ns))
        return;
    *vec_push(&join->notes) = arena_printf(
        &join->arena,
        "Rank %u came to MPI_Init last, %.3g %s behind %s. The figures begin with MPI_Init and leave that time out.",
        last, early_ns < 1e9 ? early_ns / 1e6 : early_ns / 1e9, early_ns < 1e9 ? "ms" : "s",
        n == 2 ? "the other" : "the others on average");
}

static int write_whole(struct join *join, const struct rank_list *list)
{
    join->archive = archive_create(join->whole_dir, 2 * join->largest_part_bytes + join->locations_bytes);
    if (!join->archive || OTF2_Archive_OpenDefFiles(join->archive) || OTF2_Archive_OpenEvtFiles(join->archive))
        return error("OTF2 cannot make an archive in %s: is there room and permission to write?", join->whole_dir);
    if (starts_file_begin(&join->starts, join->whole_dir))
        return -1;
    struct meter meter = {0};
    int result = 0;
    meter_stage(&meter, "joining the ranks' records", "ranks", list->ranks.n, 0);
    for (size_t i = 0; !result && i < list->ranks.n; i++) {
        if (list->ranks.at[i] < join->n_ranks)
            result = join_read_rank(join, list->ranks.at[i]);
        meter_add(&meter, 1);
    }
    meter_end(&meter);
    if (result)
        return -1;
    add_missing(join);
    double all_ns = (double)(join->last_ns - join->first_ns) * (double)join->locations.n;
    if (join->lost_ns > 0 && all_ns > 0 && (double)join->lost_ns / all_ns > NEXT_TO_NOTHING)
        *vec_push(&join->notes) =
            arena_printf(&join->arena,
                         "Switches to and from the CPU were lost for %.1f %% of the run, outside MPI, because the "
                         "kernel's buffer was full: there the thread's CPU time bounds what is called computing, which "
                         "leaves %.1f %% of the run open.",
                         100 * (double)join->lost_ns / all_ns, 100 * (double)join->open_ns / all_ns);
    note_parts(join);
    note_late_init(join);
    if (join->has_outsiders)
        *vec_push(&join->notes) =
            "Processes outside MPI_COMM_WORLD (spawned, or of another job) are not recorded with this "
            "run: it tells how long ranks wait for them, and not why.";
    vec_sort(&join->locations, by_location);
    join_write_definitions(join);
    return join->options && join->options->status ? join->options->status(join->options->user) : 0;
}

static int close_whole(struct join *join, int result)
{
    uint64_t n_events = 0;
    for (size_t i = 0; i < join->locations.n; i++)
        n_events += join->locations.at[i].n_events;
    join->failed |= !starts_file_end(&join->starts, n_events);
    if (join->archive) {
        join->failed |= OTF2_Archive_CloseDefFiles(join->archive) != OTF2_SUCCESS;
        join->failed |= OTF2_Archive_CloseEvtFiles(join->archive) != OTF2_SUCCESS;
        join->failed |= OTF2_Archive_Close(join->archive) != OTF2_SUCCESS;
        join->failed |= !result && !archive_is_whole(join->whole_dir);
    }
    if (!result && join->failed)
        result = error("cannot write all of %s: is the disk full? `whywait salvage` tries again", join->whole_dir);
    for (size_t i = 0; !result && i < join->locations.n; i++)
        result = bring_events(join, &join->locations.at[i]);
    return result;
}

/* The anchor comes last: with it the archive is there, also after a loss of power. */
static int name_archive(const struct join *join)
{
    static const char *const names[] = {"", ".def", ARCHIVE_STARTS, ".otf2"};
    int result = durable_tree(join->whole_dir);
    for (size_t i = 0; !result && i < sizeof names / sizeof *names; i++) {
        char *from = path_format("%s/" ARCHIVE_NAME "%s", join->whole_dir, names[i]);
        char *to = path_format("%s/" ARCHIVE_NAME "%s", join->run->path, names[i]);
        bool is_last = i + 1 == sizeof names / sizeof *names;
        result = dir_remove(to) || (is_last && durable_names(join->run->path)) ? -1 : 0;
        if (!result && (strcmp(names[i], ARCHIVE_STARTS) || path_exists(from))) /* there may be no starts */
            result = path_rename(from, to);
        free(from);
        free(to);
    }
    return result;
}

/* True also when it is gone already; of a folder, when something is in it that is to stay. A file system that cannot be
 * written says so of what is not there as well. */
static bool is_removed(const char *path)
{
    if (remove(path) == 0 || errno == ENOENT || errno == ENOTEMPTY || errno == EEXIST)
        return true;
    int why = errno;
    bool is_gone = !path_exists(path) && errno == ENOENT;
    errno = why;
    return is_gone;
}

/* Spools of ranks that are not in the archive stay. The parts go last: while they are there, all this is done again. */
static int clean_up(const struct run_folders *folders, const struct convert_options *options,
                    const struct rank_list *joined)
{
    char *parts = path_format("%s/parts", folders->run.path), *spool = path_format("%s/spool", folders->run.path);
    struct spool_list list;
    int result = spool_list_read(&list, folders->spool.path);
    for (size_t i = 0; !result && !(options && options->keep_spool) && i < list.files.n; i++) {
        const struct spool_file *file = &list.files.at[i];
        if (!has_rank(joined, file->rank))
            continue;
        char *path = spool_file_path(folders->spool.path, file);
        char *kept = given_path(path);
        if (!is_removed(kept) || !is_removed(path)) /* without its spool file a kept one is on no list */
            result = error("cannot remove %s: %s", path, strerror(errno));
        free(kept);
        free(path);
    }
    if (!result && !(options && options->keep_spool) && !is_removed(spool))
        result = error("cannot remove %s: %s", spool, strerror(errno));
    if (!result)
        result = dir_remove(parts);
    spool_list_release(&list);
    free(parts);
    free(spool);
    return result;
}

static void join_release(struct join *join)
{
    for (uint32_t rank = 0; join->ranks && rank < join->n_ranks; rank++)
        vec_release(&join->ranks[rank].properties);
    intern_release(&join->modules);
    intern_release(&join->frames);
    intern_release(&join->groups);
    intern_release(&join->comms);
    intern_release(&join->wins);
    intern_release(&join->sync_groups);
    intern_release(&join->io_files);
    intern_release(&join->io_handles);
    intern_release(&join->counters);
    intern_release(&join->sources);
    intern_release(&join->codes);
    intern_release(&join->code_places);
    vec_release(&join->code_infos);
    vec_release(&join->code_at_place);
    map_release(&join->codes_on_line);
    vec_release(&join->source_modules);
    vec_release(&join->comm_infos);
    vec_release(&join->win_infos);
    vec_release(&join->handle_infos);
    vec_release(&join->module_infos);
    vec_release(&join->locations);
    vec_release(&join->notes);
    arena_release(&join->arena);
}

/* The sources that stacks lead through in a module. */
static void keep_sources(const struct join *join, uint32_t module, struct keeping *keeping)
{
    for (uint32_t i = 0; i < join->sources.n; i++)
        if (join->source_modules.at[i] == module)
            keep_source(keeping, intern_get(&join->sources, i));
}

/* After the definitions have been written. */
static void keep_what_ran(const struct join *join)
{
    struct keeping keeping = keep_begin(join->run);
    const struct convert_options *options = join->options;
    for (uint32_t i = 0; i < join->module_infos.n; i++) {
        const struct join_module_info *module = &join->module_infos.at[i];
        if (module->is_script)
            keep_sources(join, i, &keeping);
        if (!(options && options->is_kept && module->build_id_bytes &&
              options->is_kept(options->user, module->path, module->build_id, module->build_id_bytes)))
            continue;
        if (!keep_build(&keeping, module->path, module->build_id, module->build_id_bytes))
            break;
        keep_sources(join, i, &keeping);
    }
    keep_end(&keeping);
}

static int join_parts(const struct run_folders *folders, const struct convert_options *options,
                      const struct rank_list *list)
{
    struct folder whole = {.fd = -1};
    struct join join = {.run = &folders->run, .options = options, .parts_dir = folders->parts.path};
    char *path = path_format("%s/whole", folders->parts.path);
    int result = find_world(&join, list);
    if (!result)
        result = dir_remove(path) || folder_make(&whole, &folders->parts, "whole") ? -1 : 0;
    join.whole_dir = whole.path;
    if (!result)
        result = close_whole(&join, write_whole(&join, list));
    if (!result)
        keep_what_ran(&join);
    if (!result)
        result = name_archive(&join);
    join_release(&join);
    folder_close(&whole);
    free(path);
    return result;
}

/* What lacks a rank whose spool is there is not the archive of the run, unless its records are too damaged. */
static int check_complete(const struct run_folders *folders, const struct rank_list *parts,
                          const struct rank_list *damaged)
{
    struct spool_list list;
    const char *run_dir = folders->run.path;
    int result = spool_list_read(&list, folders->spool.path);
    for (size_t i = 0; !result && i < list.files.n; i++) {
        uint32_t rank = list.files.at[i].rank;
        if (!has_rank(parts, rank) && !has_rank(damaged, rank))
            result = error("rank %u of %s is not converted: `whywait salvage %s` does it", rank, run_dir, run_dir);
    }
    spool_list_release(&list);
    return result;
}

/* The damaged ranks, rising, are left out. */
static int join_all(const struct run_folders *folders, const struct convert_options *options,
                    const struct rank_list *damaged)
{
    char *anchor = path_format("%s/" ARCHIVE_NAME ".otf2", folders->run.path);
    char *lock_path = path_format("%s/join.lock", folders->run.path);
    struct rank_list list = {0};
    mode_t old_mask = umask(077);
    int lock = lock_take(lock_path);
    int result = anchor_check(anchor) ? -1 : list_parts(&list, folders->parts.path);
    if (!result && !path_exists(anchor))
        result = check_complete(folders, &list, damaged) || join_parts(folders, options, &list) ? -1 : 0;
    /* The names that lead to the archive; with that of its anchor, all else is on the disk. */
    if (!result)
        result = durable_names(folders->run.path) || durable_folder(folders->run.path) ? -1 : 0;
    if (!result)
        result = clean_up(folders, options, &list);
    unlink(lock_path);
    lock_release(lock);
    umask(old_mask);
    vec_release(&list.ranks);
    free(lock_path);
    free(anchor);
    return result;
}

int convert_join(const char *run_dir, const struct convert_options *options)
{
    struct run_folders folders;
    int result = run_folders_open(&folders, run_dir);
    if (!result)
        result = join_all(&folders, options, &(struct rank_list){.ranks = {0}});
    run_folders_close(&folders);
    return result;
}

/* A part that lost event files to an interrupted join is made again. */
static void drop_torn_part(const struct folder *parts, const struct spool_file *files, size_t n)
{
    char *part = path_format("%s/%u", parts->path, files[0].rank);
    bool is_whole = true;
    for (size_t i = 0; i < n && files[i].rank == files[0].rank; i++) {
        char *definitions = spool_file_path(part, &files[i]);
        char *events = event_file(part, archive_location(files[i].rank, files[i].thread));
        is_whole &= !path_exists(definitions) || path_exists(events);
        free(definitions);
        free(events);
    }
    if (!is_whole)
        dir_remove(part);
    free(part);
}

/* A program that still records must not lose its spool. */
static int check_unused(const char *spool_dir, const struct spool_file *file)
{
    struct spool_reader reader;
    struct utsname here;
    char *path = spool_file_path(spool_dir, file);
    int result = 0;
    bool is_ours = !spool_reader_open_quietly(&reader, path) && !reader.header.end_ns && !uname(&here) &&
                   !strcmp(reader.header.host, here.nodename);
    if (is_ours && spool_in_use(path, reader.header.pid))
        result = error("%s is still being recorded by process %d: wait for its end", path, reader.header.pid);
    spool_reader_close(&reader);
    free(path);
    return result;
}

/* Files that cannot be used are told of later. */
static int check_folder(struct arena *arena, struct join_run *run, const char *folder)
{
    struct spool_list list;
    int result = spool_list_read(&list, folder);
    for (size_t i = 0; !result && i < list.files.n; i++) {
        struct spool_reader reader;
        char *path = spool_file_path(folder, &list.files.at[i]);
        if (!spool_reader_open_quietly(&reader, path))
            result = check_run(arena, run, path, &reader.header);
        spool_reader_close(&reader);
        free(path);
    }
    spool_list_release(&list);
    return result;
}

/* Of the files and parts that are here, before anything is made of them. */
static int check_one_run(const struct run_folders *folders)
{
    struct arena arena = {0};
    struct join_run run = {0};
    struct rank_list parts = {0};
    int result = list_parts(&parts, folders->parts.path) || check_folder(&arena, &run, folders->spool.path) ? -1 : 0;
    for (size_t i = 0; !result && i < parts.ranks.n; i++) {
        char *part = path_format("%s/%u", folders->parts.path, parts.ranks.at[i]);
        result = check_folder(&arena, &run, part);
        free(part);
    }
    vec_release(&parts.ranks);
    arena_release(&arena);
    return result;
}

/* Ranks of other nodes are converted there; the last salvage joins. Tells the first file of which there is no part and
 * that cannot be reached from here. */
static int check_reachable(const struct run_folders *folders, const struct spool_list *list)
{
    const char *run_dir = folders->run.path;
    int result = 0;
    for (size_t i = 0; !result && i < list->files.n; i++) {
        const struct spool_file *file = &list->files.at[i];
        char *part = path_format("%s/%u", folders->parts.path, file->rank);
        char *path = spool_file_path(folders->spool.path, file);
        char node[HOST_NAME_MAX + 1];
        if (file->is_linked && !path_exists(part)) {
            spool_link_node(path, node, sizeof node);
            result = error("%s leads to a disk of %s: run `whywait salvage %s` there as well, or remove the link to do "
                           "without rank %u",
                           path, node, run_dir, file->rank);
        }
        free(part);
        free(path);
    }
    return result;
}

/* Files of the list stand by rank. */
static bool is_rank_here(const struct spool_list *list, size_t first)
{
    for (size_t i = first; i < list->files.n && list->files.at[i].rank == list->files.at[first].rank; i++)
        if (list->files.at[i].is_linked)
            return false;
    return true;
}

/* Every rank whose files are here; those that are too damaged are added to `damaged`. */
static int convert_ranks(const struct run_folders *folders, const struct spool_list *list, struct rank_list *damaged)
{
    struct meter meter = {0};
    int result = 0;
    meter_stage(&meter, "making an archive of what was recorded", "files", list->files.n, 0);
    for (size_t i = 0; result != CONVERT_UNDONE && i < list->files.n; i++) {
        uint32_t rank = list->files.at[i].rank;
        meter_add(&meter, 1);
        if ((i && rank == list->files.at[i - 1].rank) || !is_rank_here(list, i))
            continue;
        drop_torn_part(&folders->parts, &list->files.at[i], list->files.n - i);
        result = convert_rank_of(folders->run.path, rank, list);
        if (result && result != CONVERT_UNDONE) {
            *vec_push(&damaged->ranks) = rank;
            warn("rank %u of %s is left out; its spool is kept", rank, folders->run.path);
        }
    }
    meter_end(&meter);
    return result == CONVERT_UNDONE ? -1 : 0;
}

int convert_salvage(const char *run_dir, const struct convert_options *options)
{
    struct run_folders folders;
    struct spool_list list = {0};
    struct rank_list damaged = {0};
    int result = run_folders_open(&folders, run_dir);
    char *anchor = path_format("%s/" ARCHIVE_NAME ".otf2", folders.run.path);
    if (!result)
        result = anchor_check(anchor);
    if (!result && !path_exists(anchor))
        result = spool_bring_home(folders.spool.path) || spool_list_read(&list, folders.spool.path) ? -1 : 0;
    for (size_t i = 0; !result && i < list.files.n; i++)
        result = check_unused(folders.spool.path, &list.files.at[i]);
    if (!result)
        result = check_one_run(&folders);
    if (!result && list.files.n && folders.parts.fd < 0)
        result = folder_make(&folders.parts, &folders.run, "parts"); /* told once, not for each rank */
    if (!result)
        result = convert_ranks(&folders, &list, &damaged);
    if (!result)
        result = check_reachable(&folders, &list);
    if (!result)
        result = join_all(&folders, options, &damaged);
    vec_release(&damaged.ranks);
    spool_list_release(&list);
    free(anchor);
    run_folders_close(&folders);
    return result;
}
