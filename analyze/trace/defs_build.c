/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the definitions of an archive to those of a trace. Inconsistent definitions are mended where a sensible reading
 * exists, since the archives of other tools often have them: locations without a rank get one, regions defined once for
 * each process become one, a parent that is defined later is dropped.
 */
#include "analyze/archive/archive.h"
#include "analyze/trace/defs.h"
#include "analyze/trace/source.h"
#include "wrap/base/err.h"
#include "wrap/base/keys.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct build {
    struct defs *defs;
    struct trace *trace;
    struct defs_tables *tables;
    struct ids rank_of_location; /* OTF2 location -> rank, as MPI's group of locations has it */
};

static struct def_location_group *group_of(struct defs *defs, const struct def_location *location)
{
    uint32_t index = ids_get(&defs->location_group_ids, location->group);
    return index == TRACE_NONE ? NULL : &defs->location_groups.at[index];
}

/* Ranks. */

/* No group of MPI locations: processes count in the order of their definition. */
static void ranks_from_processes(struct build *build)
{
    struct defs *defs = build->defs;
    for (size_t i = 0; i < defs->location_groups.n; i++)
        if (defs->location_groups.at[i].is_process)
            defs->location_groups.at[i].rank = build->trace->n_ranks++;
    for (size_t i = 0; i < defs->locations.n; i++) {
        struct def_location_group *group = group_of(defs, &defs->locations.at[i]);
        if (group && group->rank != TRACE_NONE && !group->n_threads++)
            ids_put(&build->rank_of_location, defs->locations.at[i].id, group->rank);
    }
    for (size_t i = 0; i < defs->location_groups.n; i++)
        defs->location_groups.at[i].n_threads = 0;
}

/* Locations. */

struct location_order {
    uint32_t rank;
    bool is_main;
    uint64_t id;
    uint32_t index; /* in defs */
};

static int by_rank(const void *left, const void *right)
{
    const struct location_order *a = left, *b = right;
    return order_of(a->rank, b->rank) ?: order_of(b->is_main, a->is_main) ?: order_of(a->id, b->id);
}

/* "0-3,8" */
static struct trace_cpus cpus_of(struct build *build, const char *text)
{
    enum { MOST = 8 * WW_CPUS_BYTES };
    VEC(uint32_t) cpus = {0};
    for (char *at = (char *)(uintptr_t)text; *at >= '0' && *at <= '9'; at += *at == ',') {
        unsigned long first = strtoul(at, &at, 10), last = *at == '-' ? strtoul(at + 1, &at, 10) : first;
        for (; first <= last && last < MOST; first++)
            *vec_push(&cpus) = (uint32_t)first;
    }
    struct trace_cpus copy = {arena_copy(&build->trace->arena, cpus.at, cpus.n * sizeof *cpus.at), (uint32_t)cpus.n};
    vec_release(&cpus);
    return copy;
}

static struct trace_cpus join_cpus(struct build *build, struct trace_cpus a, struct trace_cpus b)
{
    if (a.n == b.n && (!a.n || !memcmp(a.at, b.at, a.n * sizeof *a.at)))
        return a;
    uint32_t *both = arena_array(&build->trace->arena, uint32_t, a.n + b.n + 1), n = 0;
    for (uint32_t i = 0, k = 0; i < a.n || k < b.n; n++) {
        both[n] = k == b.n || (i < a.n && a.at[i] < b.at[k]) ? a.at[i] : b.at[k];
        i += i < a.n && a.at[i] == both[n];
        k += k < b.n && b.at[k] == both[n];
    }
    return (struct trace_cpus){both, n};
}

static void build_location(struct build *build, const struct location_order *order)
{
    struct trace *trace = build->trace;
    const struct def_location *location = &build->defs->locations.at[order->index];
    struct def_location_group *group = group_of(build->defs, location);
    *vec_push(&build->tables->location_ids) = location->id;
    *vec_push(&build->tables->location_records) = location->n_events;
    trace->n_records += location->n_events;
    uint32_t node = ids_get(&build->defs->node_ids, group->node);
    trace->locations[trace->n_locations++] = (struct trace_location){
        .n_records = location->n_events,
        .rank = order->rank,
        .thread = group->n_threads++,
        .host = arena_strdup(&trace->arena,
                             node == TRACE_NONE ? "" : defs_string(build->defs, build->defs->node_names.at[node])),
        .cpus = cpus_of(build, location->cpus == TRACE_NONE ? "" : defs_string(build->defs, location->cpus)),
        .sample_period_ns = location->sample_period_ns,
        .end_ns = location->end_ns,
        .begin_ns = location->begin_ns,
        .end_how = (enum ww_end)group->end_how,
        .end_detail = group->end_detail,
        .n_dropped = location->n_dropped,
        .n_nested = location->n_nested < location->n_dropped ? location->n_nested : location->n_dropped};
    struct trace_process *process = &trace->processes[order->rank];
    process->cpus = join_cpus(build, process->cpus, trace->locations[trace->n_locations - 1].cpus);
    process->machine = group->machine;
    trace->lacks_records |= location->n_dropped || group->is_incomplete;
}

static void build_locations(struct build *build)
{
    struct defs *defs = build->defs;
    VEC(struct location_order) order = {0};
    if (defs->comm_locations.n) {
        const struct def_group *members = &defs->comm_locations;
        for (uint32_t rank = 0; rank < members->n; rank++) {
            uint32_t index = ids_get(&defs->location_ids, members->members[rank]);
            struct def_location_group *group = index == TRACE_NONE ? NULL : group_of(defs, &defs->locations.at[index]);
            ids_put(&build->rank_of_location, members->members[rank], rank);
            if (group && group->rank == TRACE_NONE)
                group->rank = rank;
        }
        build->trace->n_ranks = members->n;
    } else
        ranks_from_processes(build);
    for (size_t i = 0; i < defs->locations.n; i++) {
        const struct def_location *location = &defs->locations.at[i];
        struct def_location_group *group = group_of(defs, location);
        if (!location->is_thread || !group || group->rank == TRACE_NONE)
            continue;
        bool is_main = ids_get(&build->rank_of_location, location->id) == group->rank;
        *vec_push(&order) = (struct location_order){group->rank, is_main, location->id, (uint32_t)i};
    }
    vec_sort(&order, by_rank);
    build->trace->processes = arena_array(&build->trace->arena, struct trace_process, build->trace->n_ranks + 1);
    build->trace->locations = arena_array(&build->trace->arena, struct trace_location, order.n + 1);
    for (size_t i = 0; i < order.n; i++)
        build_location(build, &order.at[i]);
    vec_release(&order);
}

/* Regions: equal ones are one, in the order of their first definition. */

static struct trace_region region_of(struct build *build, const struct call_names *names, const struct def_region *def)
{
    struct arena *arena = &build->trace->arena;
    const char *name = defs_string(build->defs, def->name), *file = defs_string(build->defs, def->file);
    uint32_t call = call_names_find(names, name);
    struct trace_region region = {.is_mpi = call != WW_CALL_NONE};
    if (region.is_mpi) {
        region.name = call_info(call)->name;
        region.call = call;
        region.class = call_info(call)->class;
        region.is_on_buffer = call_info(call)->as & WW_AS_BUFFER;
        region.coll = call_info(call)->coll;
        return region;
    }
    region.name = arena_strdup(arena, name);
    region.is_callback = !strcmp(name, ARCHIVE_CALLBACK);
    region.file = file[0] ? arena_strdup(arena, file) : NULL;
    region.line_first = def->line_first;
    region.line_last = def->line_last;
    return region;
}

static void build_regions(struct build *build)
{
    struct defs *defs = build->defs;
    struct trace *trace = build->trace;
    struct call_names names;
    struct intern known = {0};
    call_names_init(&names);
    trace->regions = arena_array(&trace->arena, struct trace_region, defs->regions.n + 1);
    for (size_t i = 0; i < defs->regions.n; i++) {
        struct trace_region region = region_of(build, &names, &defs->regions.at[i]);
        char *key;
        if (asprintf(&key, "%s\n%s\n%u", region.name, region.file ? region.file : "", region.line_first) < 0)
            err_out_of_memory(0);
        uint32_t index = intern_text(&known, key);
        free(key);
        if (index == trace->n_regions)
            trace->regions[trace->n_regions++] = region;
        defs->regions.at[i].name = index; /* from here on */
    }
    intern_release(&known);
    call_names_release(&names);
}

/* Communicators. */

static uint32_t member_rank(const struct build *build, const struct def_group *group, uint32_t i)
{
    uint64_t member = group->members[i];
    if (group->is_global)
        return ids_get(&build->rank_of_location, member);
    return member < build->trace->n_ranks ? (uint32_t)member : TRACE_NONE;
}

static const struct def_group *group_by_id(const struct defs *defs, uint32_t id)
{
    static const struct def_group nobody;
    uint32_t index = ids_get(&defs->group_ids, id);
    return id == TRACE_NONE || index == TRACE_NONE ? &nobody : &defs->groups.at[index];
}

/* Teams of threads have no ranks. */
static const struct def_group *process_group(const struct defs *defs, uint32_t id)
{
    const struct def_group *group = group_by_id(defs, id);
    bool is_team = group->paradigm == OTF2_PARADIGM_OPENMP || group->paradigm == OTF2_PARADIGM_PTHREAD;
    return is_team ? group_by_id(defs, TRACE_NONE) : group;
}

static void build_comm(struct build *build, const struct def_comm *def)
{
    struct trace *trace = build->trace;
    const struct def_group *local = process_group(build->defs, def->group);
    const struct def_group *remote = process_group(build->defs, def->remote_group);
    uint32_t n_first = def->n_first && def->n_first < local->n && !remote->n ? def->n_first : 0;
    uint32_t *ranks = arena_array(&trace->arena, uint32_t, (size_t)local->n + remote->n + 1);
    for (uint32_t i = 0; i < local->n; i++)
        ranks[i] = member_rank(build, local, i);
    for (uint32_t i = 0; i < remote->n; i++)
        ranks[local->n + i] = member_rank(build, remote, i);
    uint32_t parent = ids_get(&build->defs->comm_ids, def->parent);
    trace->comms[trace->n_comms] = (struct trace_comm){
        .name = arena_strdup(&trace->arena, defs_string(build->defs, def->name)),
        .parent = def->parent == OTF2_UNDEFINED_COMM || parent >= trace->n_comms ? TRACE_NONE : parent,
        .n = n_first ? n_first : local->n,
        .n_remote = n_first ? local->n - n_first : remote->n,
        .ranks = ranks};
    *vec_push(&build->tables->comm_n_first) = n_first;
    if (local->type == OTF2_GROUP_TYPE_COMM_SELF && build->tables->self_comm == TRACE_NONE)
        build->tables->self_comm = trace->n_comms;
    trace->n_comms++;
}

static bool has_prefix(const char *text, const char *prefix)
{
    return !strncmp(text, prefix, strlen(prefix));
}

static void mark_intercomms(struct defs *defs)
{
    static const char prefix[] = ARCHIVE_PROP_INTERCOMM "::";
    for (size_t i = 0; i < defs->root_properties.n; i++) {
        const char *name = defs_string(defs, defs->root_properties.at[i].name);
        if (!has_prefix(name, prefix))
            continue;
        uint32_t comm = ids_get(&defs->comm_ids, strtoul(name + strlen(prefix), NULL, 10));
        if (comm != TRACE_NONE)
            defs->comms.at[comm].n_first =
                (uint32_t)strtoul(defs_string(defs, defs->root_properties.at[i].value), NULL, 10);
    }
}

static void build_comms(struct build *build)
{
    struct defs *defs = build->defs;
    mark_intercomms(defs);
    struct trace *trace = build->trace;
    trace->comms = arena_array(&trace->arena, struct trace_comm, defs->comms.n + trace->n_ranks + 1);
    for (size_t i = 0; i < defs->comms.n; i++)
        build_comm(build, &defs->comms.at[i]);
    if (!trace->n_comms) {
        /* If there are no communicators at all, regions can still be collective over all processes. */
        uint32_t *ranks = arena_array(&trace->arena, uint32_t, trace->n_ranks);
        for (uint32_t rank = 0; rank < trace->n_ranks; rank++)
            ranks[rank] = rank;
        trace->comms[trace->n_comms++] =
            (struct trace_comm){.name = "MPI_COMM_WORLD", .parent = TRACE_NONE, .n = trace->n_ranks, .ranks = ranks};
    }
    /* One definition stands for the MPI_COMM_SELF of every process: the trace has one for each. */
    build->tables->self_first = trace->n_comms;
    for (uint32_t rank = 0; rank < trace->n_ranks; rank++) {
        uint32_t *ranks = arena_array(&trace->arena, uint32_t, 1);
        *ranks = rank;
        trace->comms[trace->n_comms++] =
            (struct trace_comm){.name = "MPI_COMM_SELF", .parent = TRACE_NONE, .n = 1, .ranks = ranks};
    }
}

/* Frames, modules. */

static void build_frames(struct build *build)
{
    struct defs *defs = build->defs;
    struct trace *trace = build->trace;
    trace->frames = arena_array(&trace->arena, struct trace_frame, defs->contexts.n + 1);
    /* Callers stand before their frames: one that does not is dropped, so that trace_walk ends. */
    for (size_t i = 0; i < defs->contexts.n; i++) {
        const struct def_context *context = &defs->contexts.at[i];
        uint32_t parent = context->parent == OTF2_UNDEFINED_CALLING_CONTEXT
                              ? TRACE_NONE
                              : ids_get(&defs->context_ids, context->parent);
        uint32_t region = ids_get(&defs->region_ids, context->region);
        trace->frames[trace->n_frames++] =
            (struct trace_frame){.parent = parent < i ? parent : TRACE_NONE,
                                 .module = context->module < trace->n_modules ? context->module : TRACE_NONE,
                                 .address = context->address,
                                 .is_return = context->flags & ARCHIVE_FRAME_RETURN,
                                 .is_cut = context->flags & ARCHIVE_FRAME_CUT,
                                 .columns = context->flags >> ARCHIVE_FRAME_COLUMNS_AT,
                                 .region = region == TRACE_NONE ? TRACE_NONE : defs->regions.at[region].name};
    }
}

/* "BUILD-ID PATH" or "- PATH". */
static struct trace_module module_of(struct trace *trace, const char *text)
{
    struct trace_module module = {.path = ""};
    const char *blank = strchr(text, ' ');
    char id[2 * sizeof module.build_id + 1];
    if (!blank)
        return module;
    module.path = arena_strdup(&trace->arena, blank + 1);
    snprintf(id, sizeof id, "%.*s", (int)(blank - text), text);
    unsigned byte;
    module.is_script = !strcmp(id, ARCHIVE_SCRIPT);
    for (; !module.is_script && module.build_id_bytes < sizeof module.build_id; module.build_id_bytes++) {
        if (sscanf(id + 2 * (size_t)module.build_id_bytes, "%2x", &byte) != 1)
            break;
        module.build_id[module.build_id_bytes] = (uint8_t)byte;
    }
    return module;
}

static void build_root(struct build *build)
{
    struct defs *defs = build->defs;
    struct trace *trace = build->trace;
    trace->modules = arena_array(&trace->arena, struct trace_module, defs->root_properties.n + 1);
    for (size_t i = 0; i < defs->root_properties.n; i++) {
        const char *name = defs_string(defs, defs->root_properties.at[i].name);
        const char *value = defs_string(defs, defs->root_properties.at[i].value);
        const char *slash = strrchr(value, '/');
        if (has_prefix(name, ARCHIVE_PROP_MODULE "::"))
            trace->modules[trace->n_modules++] = module_of(trace, value);
        else if (has_prefix(name, ARCHIVE_PROP_NOTE))
            trace_note(trace, "%s", value);
        else if (!strcmp(name, ARCHIVE_PROP_PROGRAM))
            trace->program = arena_strdup(&trace->arena, slash ? slash + 1 : value);
        else if (!strcmp(name, ARCHIVE_PROP_COMMAND))
            trace->command = arena_strdup(&trace->arena, value);
        else if (!strcmp(name, ARCHIVE_PROP_MPI))
            trace->mpi = arena_strdup(&trace->arena, value);
        else if (!strcmp(name, ARCHIVE_PROP_ONLY))
            trace->only = arena_strdup(&trace->arena, value);
        else if (!strcmp(name, ARCHIVE_PROP_COUNTED))
            trace->counts_all_threads = !strcmp(value, ARCHIVE_COUNTED_ALL);
    }
}

/* Counters and neighbours. */

static const char *attribute_name(const struct defs *defs, uint32_t attribute)
{
    uint32_t id = ids_get(&defs->attribute_ids, attribute);
    return id == TRACE_NONE ? NULL : defs_string(defs, defs->attribute_names.at[id]);
}

/* Counters follow the other attributes, of which there may be more or fewer than we know. */
static uint32_t first_counter(const struct defs *defs)
{
    for (uint32_t i = 0; i < defs->attribute_names.n + ARCHIVE_ATTR_ROOM; i++) {
        const char *name = attribute_name(defs, i);
        if (name && (has_prefix(name, "WHYWAIT::EXECUTIONS ") || has_prefix(name, "WHYWAIT::BYTES ") ||
                     !strcmp(name, ARCHIVE_YOUNG_TIME) || !strcmp(name, ARCHIVE_YOUNG_READY)))
            return i;
    }
    return ARCHIVE_ATTR_COUNTERS;
}

static void build_points(struct build *build)
{
    struct defs *defs = build->defs;
    struct trace *trace = build->trace;
    trace->points = arena_array(&trace->arena, struct trace_point, defs->attribute_names.n + 1);
    trace->first_counter = first_counter(defs);
    for (uint32_t i = 0; i < defs->attribute_names.n; i++) {
        const char *name = attribute_name(defs, trace->first_counter + i);
        struct trace_point point = {.module = TRACE_NONE};
        char kind[16];
        int module;
        if (!name)
            break;
        point.is_young_time = !strcmp(name, ARCHIVE_YOUNG_TIME);
        point.is_young_ready = !strcmp(name, ARCHIVE_YOUNG_READY);
        trace->is_counted |= !point.is_young_time && !point.is_young_ready;
        if (sscanf(name, "WHYWAIT::%15s %u of module %d", kind, &point.number, &module) == 3) {
            point.is_bytes = !strcmp(kind, "BYTES");
            point.module = module >= 0 && (uint32_t)module < trace->n_modules ? (uint32_t)module : TRACE_NONE;
            if (point.module != TRACE_NONE)
                trace->modules[point.module].has_points = true;
        }
        trace->points[trace->n_points++] = point;
    }
}

/* "COMM N-IN RANK...", -1 where a grid ends. */
static void build_neighbors_of(struct build *build, uint32_t rank, const char *text)
{
    struct trace *trace = build->trace;
    char *at;
    VEC(uint32_t) peers = {0};
    uint32_t comm = ids_get(&build->defs->comm_ids, strtoul(text, &at, 10));
    unsigned long n_in = strtoul(at, &at, 10);
    for (char *end; *at; at = end) {
        long peer = strtol(at, &end, 10);
        if (end == at)
            break;
        *vec_push(&peers) = peer < 0 || peer >= TRACE_NONE ? TRACE_NONE : (uint32_t)peer;
    }
    if (comm != TRACE_NONE && n_in <= peers.n)
        trace->neighbors[trace->n_neighbors++] =
            (struct trace_neighbors){.comm = comm,
                                     .rank = rank,
                                     .n_in = (uint32_t)n_in,
                                     .n_out = (uint32_t)(peers.n - n_in),
                                     .peers = arena_copy(&trace->arena, peers.at, peers.n * sizeof *peers.at)};
    vec_release(&peers);
}

static void build_process_properties(struct build *build)
{
    struct defs *defs = build->defs;
    struct trace *trace = build->trace;
    trace->neighbors = arena_array(&trace->arena, struct trace_neighbors, defs->process_properties.n + 1);
    trace->before = arena_array(&trace->arena, struct trace_before, defs->process_properties.n + 1);
    for (size_t i = 0; i < defs->process_properties.n; i++) {
        const struct def_property *property = &defs->process_properties.at[i];
        const char *name = defs_string(defs, property->name), *value = defs_string(defs, property->value);
        uint32_t rank = defs->location_groups.at[property->of].rank;
        if (has_prefix(name, ARCHIVE_PROP_NOTE))
            trace_note(trace, "%s", value);
        else if (has_prefix(name, ARCHIVE_PROP_NEIGHBORS) && rank != TRACE_NONE)
            build_neighbors_of(build, rank, value);
        else if (has_prefix(name, ARCHIVE_PROP_BEFORE) && rank != TRACE_NONE) {
            struct trace_before before = {.rank = rank};
            unsigned is_non_blocking;
            if (sscanf(value, "%u %u %u", &before.comm, &is_non_blocking, &before.n) == 3) {
                before.comm = ids_get(&build->defs->comm_ids, before.comm);
                before.is_non_blocking = is_non_blocking;
                if (before.comm != TRACE_NONE)
                    build->trace->before[build->trace->n_before++] = before;
            }
        }
    }
}

/* Definitions and indices of communicators and contexts agree, so that their tables of ids serve as they are. */
static void take_tables(struct build *build)
{
    struct defs *defs = build->defs;
    struct defs_tables *tables = build->tables;
    for (size_t i = 0; i < defs->regions.n; i++)
        *vec_push(&tables->region_of) = defs->regions.at[i].name;
    for (size_t i = 0; i < defs->win_comms.n; i++)
        *vec_push(&tables->comm_of_win) = ids_get(&defs->comm_ids, defs->win_comms.at[i]);
    for (size_t i = 0; i < defs->groups.n; i++) {
        struct def_group *group = vec_push(&tables->group_members);
        *group = defs->groups.at[i];
        group->members = arena_array(&build->trace->arena, uint64_t, group->n + 1);
        for (uint32_t k = 0; k < group->n; k++)
            group->members[k] = member_rank(build, &defs->groups.at[i], k);
    }
    tables->groups = defs->group_ids;
    defs->group_ids = (struct ids){0};
    tables->regions = defs->region_ids;
    tables->comms = defs->comm_ids;
    tables->frames = defs->context_ids;
    tables->wins = defs->win_ids;
    defs->region_ids = defs->comm_ids = defs->context_ids = defs->win_ids = (struct ids){0};
}

void defs_build(struct defs *defs, struct trace *trace, struct defs_tables *tables)
{
    struct build build = {.defs = defs, .trace = trace, .tables = tables};
    tables->self_comm = TRACE_NONE;
    build_locations(&build);
    build_regions(&build);
    build_comms(&build);
    build_root(&build);
    build_process_properties(&build);
    build_frames(&build);
    build_points(&build);
    defs_build_files(defs, trace, tables);
    take_tables(&build);
    ids_release(&build.rank_of_location);
}

void defs_tables_release(struct defs_tables *tables)
{
    ids_release(&tables->regions);
    ids_release(&tables->comms);
    ids_release(&tables->frames);
    ids_release(&tables->wins);
    vec_release(&tables->region_of);
    vec_release(&tables->comm_of_win);
    ids_release(&tables->io_handles);
    vec_release(&tables->file_of_handle);
    vec_release(&tables->comm_of_handle);
    vec_release(&tables->comm_n_first);
    ids_release(&tables->groups);
    vec_release(&tables->group_members);
    vec_release(&tables->location_ids);
    vec_release(&tables->location_records);
}
