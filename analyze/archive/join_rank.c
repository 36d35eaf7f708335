/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank's definitions. Its files are read twice: modules, communicators, windows and files may stand in any of them
 * and are needed for the stacks of all.
 */
#include "analyze/archive/join_rank.h"
#include "analyze/archive/join_code.h"
#include "analyze/archive/comms.h"
#include "analyze/files/paths.h"
#include "wrap/base/err.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Modules. */

/* Nodes may have copies of a program of their own: those of one build are one module, wherever they lie. */
static void take_module(struct rank_tables *tables, const struct ww_module *record)
{
    struct join *join = tables->join;
    size_t length = spool_text_length(record->path, record->path_bytes);
    uint32_t module = record->build_id_bytes ? intern_put(&join->modules, record->build_id, record->build_id_bytes)
                                             : intern_put(&join->modules, record->path, length);
    if (module == join->module_infos.n) {
        struct join_module_info *info = vec_push(&join->module_infos);
        char *path = arena_alloc(&join->arena, length + 1);
        memcpy(path, record->path, length);
        info->path = path;
        info->build_id_bytes = record->build_id_bytes;
        memcpy(info->build_id, record->build_id, record->build_id_bytes);
    }
    *vec_push(&tables->ranges) = (struct module_range){record->low, record->high, record->bias, module};
    *map_put(&tables->module_of, record->id, NULL) = 1 + (uint64_t)module;
}

/* Communicators and windows. */

static uint32_t groups_of(struct join *join, const struct ww_comm *record)
{
    bool swap = comm_is_remote_first(record);
    int32_t n = comm_has_members(record) ? record->size + record->remote_size : 0, from = swap ? record->size : 0;
    VEC(int32_t) key = {0};
    *vec_push(&key) = swap ? record->remote_size : record->size;
    *vec_push(&key) = swap ? record->size : record->remote_size;
    for (int32_t i = 0; i < n; i++)
        *vec_push(&key) = record->world_rank[(from + i) % n];
    uint32_t groups = intern_put(&join->groups, key.at, key.n * sizeof *key.at);
    vec_release(&key);
    return groups;
}

static uint32_t comm_intern(struct join *join, struct join_comm key)
{
    uint32_t comm = intern_put(&join->comms, &key, sizeof key);
    if (comm == join->comm_infos.n)
        vec_push(&join->comm_infos)->parent = JOIN_NONE;
    return comm;
}

static void map_id(struct map *map, uint32_t local, uint32_t global)
{
    *map_put(map, local, NULL) = 1 + (uint64_t)global;
}

static uint32_t mapped(const struct map *map, uint32_t local)
{
    const uint64_t *global = map_get(map, local);
    return global && *global ? (uint32_t)(*global - 1) : JOIN_NONE;
}

uint32_t join_comm_of(const struct rank_tables *tables, uint32_t local)
{
    return mapped(&tables->comm_of, local);
}

static void take_comm(struct rank_tables *tables, const struct ww_comm *record)
{
    struct join *join = tables->join;
    if (!record->id || map_get(&tables->comm_of, record->id))
        return;
    struct join_comm key = {.groups = JOIN_NONE}; /* that of MPI_COMM_SELF, which all processes share */
    if (record->id != COMM_SELF_ID) {
        key.groups = groups_of(join, record);
        uint64_t *nth = map_put(&tables->nth_comm, key.groups, NULL);
        key.nth = (uint32_t)(*nth)++;
    }
    uint32_t comm = comm_intern(join, key);
    join->comm_infos.at[comm].is_self = record->id == COMM_SELF_ID;
    join->comm_infos.at[comm].is_made |= record->id > COMM_SELF_ID && record->size;
    if (record->parent && record->parent != record->id)
        join->comm_infos.at[comm].parent = mapped(&tables->comm_of, record->parent);
    if (join->comm_infos.at[comm].parent == comm)
        join->comm_infos.at[comm].parent = JOIN_NONE;
    join->has_outsiders |= comm_has_outsiders(record);
    map_id(&tables->comm_of, record->id, comm);
    *vec_push(&tables->comms) = (struct id_pair){record->id - 1, comm};
}

static void take_win(struct rank_tables *tables, const struct ww_win *record)
{
    struct join *join = tables->join;
    if (!record->id || map_get(&tables->win_of, record->id))
        return;
    struct join_win key = {.comm = mapped(&tables->comm_of, record->comm)};
    uint64_t *nth = map_put(&tables->nth_win, key.comm, NULL);
    key.nth = (uint32_t)(*nth)++;
    uint32_t win = intern_put(&join->wins, &key, sizeof key);
    if (win == join->win_infos.n)
        (void)vec_push(&join->win_infos);
    map_id(&tables->win_of, record->id, win);
    *vec_push(&tables->wins) = (struct id_pair){record->id, win};
}

const char *join_plain_name(struct join *join, const char *text, uint32_t bytes)
{
    const char *whole = arena_printf(&join->arena, "%.*s", (int)spool_text_length(text, bytes), text);
    char *plain = arena_alloc(&join->arena, 4 * strlen(whole) + 1);
    plain_text(plain, whole);
    return plain;
}

static void take_name(struct rank_tables *tables, const struct ww_name *record)
{
    struct join *join = tables->join;
    uint32_t id = mapped(record->what == WW_NAME_WIN ? &tables->win_of : &tables->comm_of, record->id);
    if (id == JOIN_NONE || (record->what != WW_NAME_COMM && record->what != WW_NAME_WIN))
        return;
    const char **name = record->what == WW_NAME_WIN ? &join->win_infos.at[id].name : &join->comm_infos.at[id].name;
    if (!*name)
        *name = join_plain_name(join, record->text, record->bytes);
}

/* Events name it, but its definition was lost. */
static void take_used(struct rank_tables *tables, const struct part_used *record)
{
    struct join *join = tables->join;
    if (record->kind == PART_USED_CALL && record->id < ARCHIVE_N_REGIONS) {
        if (!join->region[record->id])
            join->region[record->id] = ++join->n_call_regions;
        *vec_push(&tables->calls) = (struct id_pair){record->id, join->region[record->id] - 1};
    }
    if (record->kind == PART_USED_COMM) {
        struct ww_comm lost = {.id = record->id};
        take_comm(tables, &lost);
    }
    if (record->kind == PART_USED_WIN) {
        struct ww_win lost = {.id = record->id};
        take_win(tables, &lost);
    }
    if (record->kind == PART_USED_FILE) {
        struct ww_file lost = {.id = record->id, .flags = WW_FILE_FOUND};
        join_take_file(tables, &lost);
    }
}

/* The members of a PSCW group as world ranks. */
static void take_group(struct rank_tables *tables, const struct part_group *record, size_t have_bytes)
{
    struct join *join = tables->join;
    uint32_t win = mapped(&tables->win_of, record->win);
    if (win == JOIN_NONE || record->n > (have_bytes - offsetof(struct part_group, rank)) / sizeof(int32_t))
        return;
    struct join_win window;
    struct join_comm comm = {.groups = JOIN_NONE};
    memcpy(&window, join->wins.items[win].bytes, sizeof window);
    if (window.comm != JOIN_NONE)
        memcpy(&comm, join->comms.items[window.comm].bytes, sizeof comm);
    const int32_t *members = comm.groups == JOIN_NONE ? NULL : join_group(join, comm.groups);
    size_t n_members = members ? join->groups.items[comm.groups].size / sizeof *members - 2 : 0;
    VEC(int32_t) ranks = {0};
    for (uint32_t i = 0; i < record->n; i++)
        if (record->rank[i] >= 0 && (size_t)record->rank[i] < n_members)
            *vec_push(&ranks) = members[2 + record->rank[i]];
    uint32_t group = intern_put(&join->sync_groups, ranks.at, ranks.n * sizeof *ranks.at);
    vec_release(&ranks);
    *vec_push(&tables->sync_groups) = (struct id_pair){record->id, JOIN_SYNC_GROUPS + group};
}

static uint32_t counters_module(const struct rank_tables *tables, uint32_t id)
{
    for (size_t i = tables->counters.n; i-- > 0;) {
        if (tables->counters.at[i].id != id)
            continue;
        for (size_t k = tables->ranges.n; k-- > 0;)
            if (tables->ranges.at[k].bias == tables->counters.at[i].bias)
                return tables->ranges.at[k].module;
    }
    return JOIN_NONE;
}

/* Tells of the rank at hand; `text` lives as long as the join. */
static void note(struct rank_tables *tables, const char *text)
{
    *vec_push(&tables->join->ranks[tables->rank].properties) = ARCHIVE_PROP_NOTE;
    *vec_push(&tables->join->ranks[tables->rank].properties) = text;
}

static void take_neighbors(struct rank_tables *tables, const struct ww_neighbors *record)
{
    struct join *join = tables->join;
    uint32_t comm = mapped(&tables->comm_of, record->comm);
    size_t n = (size_t)record->n_in + record->n_out;
    if (comm == JOIN_NONE)
        return;
    VEC(char) text = {0};
    vec_resize(&text, 64 + 12 * n);
    size_t used = (size_t)sprintf(text.at, "%u %u", comm, record->n_in);
    for (size_t i = 0; i < n; i++)
        used += (size_t)sprintf(text.at + used, " %d", record->rank[i]);
    *vec_push(&join->ranks[tables->rank].properties) = ARCHIVE_PROP_NEIGHBORS;
    *vec_push(&join->ranks[tables->rank].properties) = arena_strdup(&join->arena, text.at);
    vec_release(&text);
}

static void take_before(struct rank_tables *tables, const struct part_before *record)
{
    struct join *join = tables->join;
    uint32_t comm = mapped(&tables->comm_of, record->comm);
    if (comm == JOIN_NONE || !record->n)
        return;
    *vec_push(&join->ranks[tables->rank].properties) = ARCHIVE_PROP_BEFORE;
    *vec_push(&join->ranks[tables->rank].properties) =
        arena_printf(&join->arena, "%u %u %u", comm, record->is_non_blocking, record->n);
}

/* Of a communicator that is not known nobody can count on: then it is no start. */
static void take_start(struct rank_tables *tables, const struct part_start *record, size_t n_bytes)
{
    struct join *join = tables->join;
    size_t n_positions = record->n_positions, n_counts = record->n_counts;
    if (n_bytes <
        sizeof *record + n_positions * sizeof(struct starts_position) + n_counts * sizeof(struct starts_count))
        return;
    const struct starts_position *positions = (const void *)(record + 1);
    const struct starts_count *counts = (const void *)(positions + n_positions);
    VEC(struct starts_count) joined = {0};
    for (size_t i = 0; i < n_counts; i++) {
        *vec_push(&joined) = counts[i];
        joined.at[i].comm = mapped(&tables->comm_of, counts[i].comm);
        if (joined.at[i].comm == JOIN_NONE)
            break;
    }
    struct starts_record whole = {.rank = tables->rank,
                                  .n_positions = record->n_positions,
                                  .n_counts = record->n_counts,
                                  .known_ns = record->known_ns};
    if (!n_counts || joined.at[joined.n - 1].comm != JOIN_NONE)
        starts_file_put(&join->starts, &whole, positions, joined.at);
    vec_release(&joined);
}

static void take_record(struct rank_tables *tables, const struct ww_head *head)
{
    const void *record = head;
    size_t bytes = (size_t)head->units * WW_UNIT;
    switch (head->type) {
    case WW_MODULE:
        take_module(tables, record);
        break;
    case WW_COMM:
        take_comm(tables, record);
        break;
    case WW_WIN:
        take_win(tables, record);
        break;
    case WW_FILE:
        join_take_file(tables, record);
        break;
    case WW_NAME:
        take_name(tables, record);
        break;
    case WW_CLOCK: {
        const struct ww_clock *clock = record;
        *vec_push(&tables->clocks) =
            (struct join_clock){clock->local_ns, (int64_t)(clock->reference_ns - clock->local_ns), clock->error_ns};
        break;
    }
    case WW_NOTE:
        note(tables, join_plain_name(tables->join, ((const struct ww_note *)record)->text,
                                     ((const struct ww_note *)record)->bytes));
        break;
    case WW_OFF: {
        uint32_t rank = ((const struct ww_off *)record)->rank;
        if (rank < tables->join->n_ranks && !tables->join->ranks[rank].is_there)
            tables->join->ranks[rank].end_how = WW_END_GAVE_UP;
        break;
    }
    case WW_NEIGHBORS:
        take_neighbors(tables, record);
        break;
    case WW_COUNTERS: {
        const struct ww_counters *counters = record;
        tables->join->has_counts = true;
        tables->join->lacks_threads |= !(counters->flags & WW_COUNTERS_ALL_THREADS);
        *vec_push(&tables->counters) = (struct counters_bias){counters->id, counters->bias};
        break;
    }
    case PART_USED:
        take_used(tables, record);
        break;
    case PART_BEFORE:
        take_before(tables, record);
        break;
    case PART_START:
        take_start(tables, record, bytes);
        break;
    case PART_GROUP:
        take_group(tables, record, bytes);
        break;
    case PART_COUNTER:
        *vec_push(&tables->points) = *(const struct part_counter *)record;
        break;
    default:
        break;
    }
}

static void take_header(struct rank_tables *tables, const struct ww_header *header)
{
    struct join *join = tables->join;
    struct join_rank *rank = &join->ranks[tables->rank];
    rank->is_there = true;
    if (header->kind == WW_KIND_EVENTS && !header->thread) {
        rank->has_calls = true;
        rank->machine = header->machine;
        rank->in_init_ns =
            header->init_ns && header->init_ns < header->start_ns ? header->start_ns - header->init_ns : 0;
    }
    memcpy(rank->host, header->host, sizeof rank->host);
    if (header->end_how > rank->end_how) {
        rank->end_how = header->end_how;
        rank->end_detail = header->end_detail;
    }
    if (!join->program[0]) {
        memcpy(join->program, header->program, sizeof join->program);
        memcpy(join->command, header->command, sizeof join->command);
        memcpy(join->mpi, header->mpi, sizeof join->mpi);
        memcpy(join->only, header->only, sizeof join->only);
        join->realtime_ns = header->realtime_ns;
        join->start_ns = header->start_ns;
    }
    if (!join->sample_period_ns)
        join->sample_period_ns = header->sample_period_ns;
}

static int read_definitions(struct rank_tables *tables, const char *path)
{
    struct spool_reader reader;
    int result = spool_reader_open(&reader, path);
    if (!result) {
        take_header(tables, &reader.header);
        for (const struct ww_head *head; (head = spool_reader_next(&reader));)
            take_record(tables, head);
        result = spool_reader_status(&reader);
    }
    spool_reader_close(&reader);
    return result;
}

static void rank_tables_release(struct rank_tables *tables)
{
    vec_release(&tables->ranges);
    map_release(&tables->module_of);
    vec_release(&tables->counters);
    vec_release(&tables->points);
    map_release(&tables->comm_of);
    map_release(&tables->win_of);
    map_release(&tables->nth_comm);
    map_release(&tables->nth_win);
    map_release(&tables->nth_handle);
    map_release(&tables->has_file);
    vec_release(&tables->comms);
    vec_release(&tables->wins);
    vec_release(&tables->sync_groups);
    vec_release(&tables->io_files);
    vec_release(&tables->io_handles);
    vec_release(&tables->attributes);
    vec_release(&tables->calls);
    vec_release(&tables->clocks);
}

int join_read_rank(struct join *join, uint32_t rank)
{
    struct rank_tables tables = {.join = join, .rank = rank};
    struct spool_list list;
    char *dir = path_format("%s/%u", join->parts_dir, rank);
    int result = spool_list_read(&list, dir);
    for (size_t i = 0; !result && i < list.files.n; i++) {
        char *path = spool_file_path(dir, &list.files.at[i]);
        result = read_definitions(&tables, path);
        free(path);
    }
    /* Once all modules of the rank are known. */
    for (size_t i = 0; i < tables.points.n; i++) {
        const struct part_counter *point = &tables.points.at[i];
        struct join_counter key = {
            .module = counters_module(&tables, point->counters), .point = point->point, .what = point->what};
        uint32_t id = ARCHIVE_ATTR_COUNTERS + intern_put(&tables.join->counters, &key, sizeof key);
        *vec_push(&tables.attributes) = (struct id_pair){point->id, id};
    }
    if (list.files.n && list.files.at[list.files.n - 1].thread) {
        /* Once a process has more than one, they are a communicator for OTF2. */
        uint32_t comm = comm_intern(join, (struct join_comm){.groups = JOIN_THREADS, .nth = tables.rank});
        *vec_push(&tables.comms) = (struct id_pair){ARCHIVE_COMM_THREADS, comm};
        join->has_threads = true;
    }
    for (size_t i = 0; !result && i < list.files.n;) {
        int taken = join_location(&tables, dir, &list.files.at[i], list.files.n - i);
        result = taken < 0 ? -1 : 0;
        i += taken > 0 ? (size_t)taken : 0;
    }
    free(dir);
    spool_list_release(&list);
    rank_tables_release(&tables);
    return result;
}

/*
 * One location: its stacks become calling contexts, its tables of local ids and its clock local definitions.
 */

struct file_tables {
    VEC(struct id_pair) contexts;
    struct map used;  /* global context -> local ids of this location that it stands for */
    struct map codes; /* local id of a WW_CODE -> 1 + global; afresh in each file */
};

/* The module loaded last wins where address ranges were used again. */
static const struct module_range *range_of(const struct rank_tables *tables, uint64_t address)
{
    for (size_t i = tables->ranges.n; i-- > 0;) {
        const struct module_range *range = &tables->ranges.at[i];
        if (address >= range->low && address < range->high)
            return range;
    }
    return NULL;
}

/* Stacks. */

/* Code that is made at run time lies elsewhere in each process, and in none of their files: where says nothing, nor how
 * many routines of it call each other. */
static struct join_frame frame_of(const struct rank_tables *tables, const struct file_tables *file, uint32_t parent,
                                  uint64_t address, bool is_return)
{
    const uint64_t *code = ww_is_code(address) ? map_get(&file->codes, ww_code_id(address)) : NULL;
    if (code)
        return join_code_frame(tables->join, parent, (uint32_t)*code - 1, address & WW_CODE_LINE, is_return);
    const struct module_range *range = range_of(tables, address - is_return);
    return (struct join_frame){.parent = parent,
                               .module = range ? range->module : JOIN_NONE,
                               .address = range ? address - range->bias : 0,
                               .flags = (is_return ? ARCHIVE_FRAME_RETURN : 0)};
}

static bool is_in_same_nowhere(const struct join *join, const struct join_frame *frame)
{
    struct join_frame caller;
    if (frame->module != JOIN_NONE || frame->parent == JOIN_NONE)
        return false;
    memcpy(&caller, join->frames.items[frame->parent].bytes, sizeof caller);
    return caller.module == JOIN_NONE && (caller.flags & ARCHIVE_FRAME_RETURN) == (frame->flags & ARCHIVE_FRAME_RETURN);
}

/* Readers recognise a call's stack by its context (ARCHIVE_ATTR_STACK), so two ids of one location never share one: a
 * stack that was recorded twice gets a second context. */
static uint32_t take_own_stack(struct rank_tables *tables, struct file_tables *file, const struct ww_stack *stack,
                               bool is_sample)
{
    struct join *join = tables->join;
    /* Outermost frame first. Only the innermost address of a sample is not a return address. */
    uint32_t context = JOIN_NONE;
    for (uint32_t i = stack->n; i-- > 0;) {
        uint64_t address = stack->address[i];
        if (ww_is_code(address) && ww_code_id(address) == WW_CODE_EXPRESSION) {
            context = join_code_expression(join, context, address & WW_CODE_LINE);
            continue;
        }
        struct join_frame frame = frame_of(tables, file, context, address, i > 0 || !is_sample);
        if (i + 1 == stack->n && stack->flags & WW_STACK_CUT)
            frame.flags |= ARCHIVE_FRAME_CUT;
        if (!is_in_same_nowhere(join, &frame))
            context = intern_put(&join->frames, &frame, sizeof frame);
    }
    if (context == JOIN_NONE)
        return context;
    uint64_t n_before = (*map_put(&file->used, context, NULL))++;
    if (!n_before)
        return context;
    struct join_frame copy;
    memcpy(&copy, join->frames.items[context].bytes, sizeof copy);
    copy.copy = (uint32_t)n_before;
    return intern_put(&join->frames, &copy, sizeof copy);
}

static int read_stacks(struct rank_tables *tables, const char *path, struct file_tables *file,
                       struct join_location *location, struct part_location *end)
{
    struct spool_reader reader;
    int result = spool_reader_open(&reader, path);
    bool is_sample = !result && reader.header.kind == WW_KIND_SAMPLES;
    map_release(&file->codes);
    for (const struct ww_head *head; !result && (head = spool_reader_next(&reader));) {
        const void *record = head;
        if (head->type == WW_CODE) {
            const struct ww_code *code = record;
            *map_put(&file->codes, code->id, NULL) = 1 + (uint64_t)join_take_code(tables->join, code);
        }
        if (head->type == WW_STACK) {
            const struct ww_stack *stack = record;
            uint32_t context = take_own_stack(tables, file, stack, is_sample);
            if (context != JOIN_NONE)
                *vec_push(&file->contexts) = (struct id_pair){2 * stack->id + is_sample, context};
        }
        if (head->type == PART_LOCATION && (size_t)head->units * WW_UNIT >= sizeof *end)
            memcpy(end, record, sizeof *end);
    }
    if (!result) {
        location->n_nested += reader.header.n_nested;
        location->n_dropped += reader.header.n_dropped + reader.header.n_unrecorded + reader.header.n_nested;
        for (size_t i = 0; i < sizeof location->cpus; i++)
            location->cpus[i] |= reader.header.cpus[i];
        tables->join->windows = (struct windows){reader.header.window_ns, reader.header.every_ns};
        if (reader.header.sample_period_ns)
            location->sample_period_ns = reader.header.sample_period_ns;
        result = spool_reader_status(&reader);
    }
    spool_reader_close(&reader);
    return result;
}

/* Local definitions. */

static void write_mapping(struct join *join, OTF2_DefWriter *writer, OTF2_MappingType type, const struct id_pair *pairs,
                          size_t n)
{
    if (!n)
        return;
    OTF2_IdMap *map = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, n);
    if (!map)
        err_out_of_memory(n * sizeof *pairs);
    for (size_t i = 0; i < n; i++)
        OTF2_IdMap_AddIdPair(map, pairs[i].local, pairs[i].global);
    join->failed |= OTF2_DefWriter_WriteMappingTable(writer, type, map) != OTF2_SUCCESS;
    OTF2_IdMap_Free(map);
}

static void write_local_definitions(struct rank_tables *tables, const struct file_tables *file, uint64_t location)
{
    struct join *join = tables->join;
    OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter(join->archive, location);
    if (!writer) {
        join->failed = true;
        return;
    }
    write_mapping(join, writer, OTF2_MAPPING_REGION, tables->calls.at, tables->calls.n);
    write_mapping(join, writer, OTF2_MAPPING_COMM, tables->comms.at, tables->comms.n);
    write_mapping(join, writer, OTF2_MAPPING_RMA_WIN, tables->wins.at, tables->wins.n);
    write_mapping(join, writer, OTF2_MAPPING_IO_FILE, tables->io_files.at, tables->io_files.n);
    write_mapping(join, writer, OTF2_MAPPING_IO_HANDLE, tables->io_handles.at, tables->io_handles.n);
    write_mapping(join, writer, OTF2_MAPPING_GROUP, tables->sync_groups.at, tables->sync_groups.n);
    write_mapping(join, writer, OTF2_MAPPING_ATTRIBUTE, tables->attributes.at, tables->attributes.n);
    write_mapping(join, writer, OTF2_MAPPING_CALLING_CONTEXT, file->contexts.at, file->contexts.n);
    for (size_t i = 0; i < tables->clocks.n; i++) {
        const struct join_clock *clock = &tables->clocks.at[i];
        join->failed |= OTF2_DefWriter_WriteClockOffset(writer, clock->local_ns, clock->offset_ns,
                                                        (double)clock->error_ns) != OTF2_SUCCESS;
    }
    join->failed |= OTF2_Archive_CloseDefWriter(join->archive, writer) != OTF2_SUCCESS;
}

/* On the clock of rank 0, as near as the nearest measurement tells. */
static uint64_t corrected(const struct rank_tables *tables, uint64_t time_ns)
{
    int64_t offset_ns = 0;
    uint64_t best = UINT64_MAX;
    for (size_t i = 0; i < tables->clocks.n; i++) {
        uint64_t local_ns = tables->clocks.at[i].local_ns;
        uint64_t distance = local_ns > time_ns ? local_ns - time_ns : time_ns - local_ns;
        if (distance < best)
            offset_ns = tables->clocks.at[i].offset_ns;
        best = distance < best ? distance : best;
    }
    return time_ns + (uint64_t)offset_ns;
}

int join_location(struct rank_tables *tables, const char *dir, const struct spool_file *files, size_t n)
{
    struct join *join = tables->join;
    struct file_tables file = {0};
    struct join_location location = {.rank = files[0].rank, .thread = files[0].thread};
    bool is_damaged = false;
    int taken = 0, result = 0;
    for (; !result && (size_t)taken < n && files[taken].thread == location.thread; taken++) {
        struct part_location end = {0};
        char *path = spool_file_path(dir, &files[taken]);
        result = read_stacks(tables, path, &file, &location, &end);
        free(path);
        location.n_events += end.n_events;
        is_damaged |= end.is_damaged;
        join->has_pending |= end.has_pending;
        join->lost_ns += end.lost_ns;
        join->open_ns += end.open_ns;
        if (end.n_windows > join->n_windows)
            join->n_windows = end.n_windows;
        join->windows_have_ended |= end.n_ended > 0;
        if (end.n_windows && end.windows_ns > join->windows_ns)
            join->windows_ns = end.windows_ns;
        if (end.begin_ns > location.begin_ns)
            location.begin_ns = end.begin_ns;
        if (end.begin_ns && corrected(tables, end.begin_ns) > join->begin_ns)
            join->begin_ns = corrected(tables, end.begin_ns);
        if (end.last_ns > location.last_ns)
            location.last_ns = end.last_ns;
        if (end.n_events) {
            uint64_t first_ns = corrected(tables, end.first_ns), last_ns = corrected(tables, end.last_ns);
            if (!join->has_times || first_ns < join->first_ns)
                join->first_ns = first_ns;
            if (!join->has_times || last_ns > join->last_ns)
                join->last_ns = last_ns;
            join->has_times = true;
        }
        if (end.first_call_ns) {
            uint64_t call_ns = corrected(tables, end.first_call_ns);
            if (!join->first_call_ns || call_ns < join->first_call_ns)
                join->first_call_ns = call_ns;
        }
    }
    join->ranks[location.rank].lacks_records |= is_damaged;
    if (is_damaged)
        note(tables, arena_printf(&join->arena,
                                  "Records of rank %u are damaged or cut off: part of its calls or samples is missing.",
                                  location.rank));
    if (!result) {
        write_local_definitions(tables, &file, archive_location(location.rank, location.thread));
        *vec_push(&join->locations) = location;
    }
    vec_release(&file.contexts);
    map_release(&file.used);
    map_release(&file.codes);
    return result ? -1 : taken;
}
