/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One location: its stacks become calling contexts, its tables of local ids and its clock local definitions.
 */
#include "analyze/archive/files.h"
#include "analyze/archive/join_rank.h"
#include "wrap/base/err.h"
#include <stdlib.h>
#include <string.h>

struct file_tables {
    VEC(struct id_pair) contexts;
    struct map used; /* global context -> local ids of this location that it stands for */
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

/* Outermost frame first. Only the innermost address of a sample is not a return address. */
static uint32_t take_stack(struct rank_tables *tables, const struct ww_stack *stack, bool is_sample)
{
    uint32_t context = JOIN_NONE;
    for (uint32_t i = stack->n; i-- > 0;) {
        bool is_return = i > 0 || !is_sample;
        const struct module_range *range = range_of(tables, stack->address[i] - is_return);
        struct join_frame frame = {.parent = context,
                                   .module = range ? range->module : JOIN_NONE,
                                   .address = stack->address[i] - (range ? range->bias : 0),
                                   .flags = (is_return ? ARCHIVE_FRAME_RETURN : 0)};
        if (i + 1 == stack->n && stack->flags & WW_STACK_CUT)
            frame.flags |= ARCHIVE_FRAME_CUT;
        context = intern_put(&tables->join->frames, &frame, sizeof frame);
    }
    return context;
}

/* Readers recognise a call's stack by its context (ARCHIVE_ATTR_STACK), so two ids of one location never share one: a
 * stack that was recorded twice gets a second context. */
static uint32_t take_own_stack(struct rank_tables *tables, struct file_tables *file, const struct ww_stack *stack,
                               bool is_sample)
{
    struct join *join = tables->join;
    uint32_t context = take_stack(tables, stack, is_sample);
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
    for (const struct ww_head *head; !result && (head = spool_reader_next(&reader));) {
        const void *record = head;
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
        location->n_dropped += reader.header.n_dropped;
        if (reader.header.sample_period_ns)
            location->sample_period_ns = reader.header.sample_period_ns;
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

static void take_times(struct rank_tables *tables, const struct part_location *end)
{
    struct join *join = tables->join;
    if (!end->n_events)
        return;
    uint64_t first_ns = corrected(tables, end->first_ns), last_ns = corrected(tables, end->last_ns);
    if (!join->has_times || first_ns < join->first_ns)
        join->first_ns = first_ns;
    if (!join->has_times || last_ns > join->last_ns)
        join->last_ns = last_ns;
    join->has_times = true;
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
        if (end.last_ns > location.last_ns)
            location.last_ns = end.last_ns;
        take_times(tables, &end);
    }
    join->ranks[location.rank].lacks_records |= is_damaged;
    if (is_damaged)
        join_note(tables,
                  arena_printf(&join->arena,
                               "Records of rank %u are damaged or cut off: part of its calls or samples is missing.",
                               location.rank));
    if (!result) {
        write_local_definitions(tables, &file, archive_location(location.rank, location.thread));
        *vec_push(&join->locations) = location;
    }
    vec_release(&file.contexts);
    map_release(&file.used);
    return result ? -1 : taken;
}
