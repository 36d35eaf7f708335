/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The global definitions, in the order that readers expect: nothing refers to what comes later. A string is written
 * when it is first needed.
 */
#include "analyze/trace/calls.h"
#include "analyze/trace/join.h"
#include <stdio.h>
#include <string.h>

struct def_writer {
    struct join *join;
    OTF2_GlobalDefWriter *writer;
    struct intern strings, hosts, groups, regions, lines;
};

struct region_key {
    uint32_t name, file;
};
struct line_key {
    uint32_t file, line;
};

#define DEFINE(defs, record, ...)                                                                                      \
    ((defs)->join->failed |= OTF2_GlobalDefWriter_Write##record((defs)->writer, __VA_ARGS__) != OTF2_SUCCESS)

static uint32_t string(struct def_writer *defs, const char *text)
{
    size_t known = defs->strings.n;
    uint32_t id = intern_text(&defs->strings, text);
    if (id == known)
        DEFINE(defs, String, id, text);
    return id;
}

static OTF2_AttributeValue string_value(struct def_writer *defs, const char *text)
{
    return (OTF2_AttributeValue){.stringRef = string(defs, text)};
}

static void define_clock(struct def_writer *defs)
{
    struct join *join = defs->join;
    uint64_t first_ns = join->first_ns, last_ns = join->last_ns;
    DEFINE(defs, ClockProperties, 1000000000, first_ns, last_ns - first_ns + 1,
           join->realtime_ns + (first_ns - join->start_ns));
}

static void define_paradigms(struct def_writer *defs)
{
    DEFINE(defs, Paradigm, OTF2_PARADIGM_MPI, string(defs, "MPI"), OTF2_PARADIGM_CLASS_PROCESS);
    DEFINE(defs, Paradigm, OTF2_PARADIGM_SAMPLING, string(defs, "Sampling"), OTF2_PARADIGM_CLASS_PROCESS);
}

static void define_attributes(struct def_writer *defs)
{
    static const struct {
        const char *name, *description;
        OTF2_Type type;
    } attributes[ARCHIVE_N_ATTR] = {
        [ARCHIVE_ATTR_STACK] = {"WHYWAIT::CALL_STACK",
                                "call stack of this call; where absent, the one that followed the stack of the "
                                "location's previous call the last time",
                                OTF2_TYPE_CALLING_CONTEXT},
        [ARCHIVE_ATTR_POLLS] = {"WHYWAIT::POLLS", "failing polls that this region stands for", OTF2_TYPE_UINT64},
        [ARCHIVE_ATTR_WEIGHT] = {"WHYWAIT::WEIGHT_NS", "time that this sample stands for", OTF2_TYPE_UINT64},
        [ARCHIVE_ATTR_UNFINISHED] = {"WHYWAIT::UNFINISHED", "the call never returned", OTF2_TYPE_UINT8},
        [ARCHIVE_ATTR_ERROR] = {"WHYWAIT::ERROR", "the call returned an error", OTF2_TYPE_UINT8},
        [ARCHIVE_ATTR_PEER] = {"WHYWAIT::PEER", "the rank that an unfinished call waited for", OTF2_TYPE_UINT32},
        [ARCHIVE_ATTR_COMM] = {"WHYWAIT::COMM", "the communicator of an unfinished call", OTF2_TYPE_COMM},
        [ARCHIVE_ATTR_TAG] = {"WHYWAIT::TAG", "the tag of an unfinished call", OTF2_TYPE_INT32},
    };
    for (uint32_t i = 0; i < ARCHIVE_N_ATTR; i++)
        DEFINE(defs, Attribute, i, string(defs, attributes[i].name), string(defs, attributes[i].description),
               attributes[i].type);
}

static void define_counters(struct def_writer *defs)
{
    struct join *join = defs->join;
    for (uint32_t i = 0; i < join->counters.n; i++) {
        struct join_counter counter;
        char name[96];
        memcpy(&counter, join->counters.items[i].bytes, sizeof counter);
        snprintf(name, sizeof name, "WHYWAIT::%s %u of module %d",
                 counter.what == WW_BIN_BYTES ? "BYTES" : "EXECUTIONS", counter.point,
                 counter.module == JOIN_NONE ? -1 : (int)counter.module);
        DEFINE(defs, Attribute, ARCHIVE_ATTR_COUNTERS + i, string(defs, name), string(defs, ""), OTF2_TYPE_UINT64);
    }
    if (join->has_counts)
        DEFINE(defs, Parameter, ARCHIVE_PARAM_COUNTS, string(defs, "WHYWAIT::COUNTS"), OTF2_PARAMETER_TYPE_UINT64);
}

/* System tree: machine, node, process, thread. */

enum { ROOT_NODE };

static uint32_t host_node(struct def_writer *defs, const char *host)
{
    size_t known = defs->hosts.n;
    uint32_t node = ROOT_NODE + 1 + intern_text(&defs->hosts, host[0] ? host : "unknown");
    if (defs->hosts.n > known) {
        DEFINE(defs, SystemTreeNode, node, string(defs, host[0] ? host : "unknown"), string(defs, "node"), ROOT_NODE);
        DEFINE(defs, SystemTreeNodeDomain, node, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
    }
    return node;
}

static void root_property(struct def_writer *defs, const char *name, const char *text)
{
    OTF2_AttributeValue value = string_value(defs, text);
    DEFINE(defs, SystemTreeNodeProperty, ROOT_NODE, string(defs, name), OTF2_TYPE_STRING, value);
}

static void define_modules(struct def_writer *defs)
{
    struct join *join = defs->join;
    for (uint32_t i = 0; i < join->module_infos.n; i++) {
        const struct join_module_info *info = &join->module_infos.at[i];
        char build_id[2 * sizeof info->build_id + 1] = "-";
        for (uint32_t byte = 0; byte < info->build_id_bytes; byte++)
            snprintf(build_id + 2 * byte, 3, "%02x", info->build_id[byte]);
        char name[64];
        snprintf(name, sizeof name, ARCHIVE_PROP_MODULE "::%u", i);
        root_property(defs, name, arena_printf(&join->arena, "%s %s", build_id, info->path));
    }
}

static void define_root(struct def_writer *defs)
{
    struct join *join = defs->join;
    DEFINE(defs, SystemTreeNode, ROOT_NODE, string(defs, "machine"), string(defs, "machine"),
           OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    DEFINE(defs, SystemTreeNodeDomain, ROOT_NODE, OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
    root_property(defs, ARCHIVE_PROP_PROGRAM, join->program);
    root_property(defs, ARCHIVE_PROP_COMMAND, join->command);
    if (join->only[0])
        root_property(defs, ARCHIVE_PROP_ONLY, join->only);
    define_modules(defs);
    for (size_t i = 0; i < join->notes.n; i++)
        root_property(defs, arena_printf(&join->arena, ARCHIVE_PROP_NOTE "::%zu", i), join->notes.at[i]);
}

static void define_process(struct def_writer *defs, uint32_t rank)
{
    struct join *join = defs->join;
    const struct join_rank *info = &join->ranks[rank];
    char name[32];
    snprintf(name, sizeof name, "MPI Rank %u", rank);
    uint32_t node = host_node(defs, info->host);
    DEFINE(defs, LocationGroup, rank, string(defs, name), OTF2_LOCATION_GROUP_TYPE_PROCESS, node,
           OTF2_UNDEFINED_LOCATION_GROUP);
    DEFINE(defs, LocationGroupProperty, rank, string(defs, ARCHIVE_PROP_END_HOW), OTF2_TYPE_UINT32,
           (OTF2_AttributeValue){.uint32 = info->end_how});
    DEFINE(defs, LocationGroupProperty, rank, string(defs, ARCHIVE_PROP_END_DETAIL), OTF2_TYPE_INT32,
           (OTF2_AttributeValue){.int32 = info->end_detail});
    for (size_t i = 0; i + 1 < info->properties.n; i += 2) {
        const char *property = arena_printf(&join->arena, "%s::%zu", info->properties.at[i], i / 2);
        OTF2_AttributeValue value = string_value(defs, info->properties.at[i + 1]);
        DEFINE(defs, LocationGroupProperty, rank, string(defs, property), OTF2_TYPE_STRING, value);
    }
}

static void define_location(struct def_writer *defs, const struct join_location *location)
{
    char name[32] = "Master thread";
    uint64_t id = archive_location(location->rank, location->thread);
    if (location->thread)
        snprintf(name, sizeof name, "Thread %u", location->thread);
    DEFINE(defs, Location, id, string(defs, name), OTF2_LOCATION_TYPE_CPU_THREAD, location->n_events, location->rank);
    if (location->last_ns)
        DEFINE(defs, LocationProperty, id, string(defs, ARCHIVE_PROP_END_NS), OTF2_TYPE_UINT64,
               (OTF2_AttributeValue){.uint64 = location->last_ns});
    if (location->n_dropped)
        DEFINE(defs, LocationProperty, id, string(defs, ARCHIVE_PROP_DROPPED), OTF2_TYPE_UINT64,
               (OTF2_AttributeValue){.uint64 = location->n_dropped});
    if (location->sample_period_ns)
        DEFINE(defs, LocationProperty, id, string(defs, ARCHIVE_PROP_PERIOD), OTF2_TYPE_UINT64,
               (OTF2_AttributeValue){.uint64 = location->sample_period_ns});
}

static void define_system(struct def_writer *defs)
{
    struct join *join = defs->join;
    define_root(defs);
    for (uint32_t rank = 0; rank < join->n_ranks; rank++)
        define_process(defs, rank);
    for (size_t i = 0; i < join->locations.n; i++)
        define_location(defs, &join->locations.at[i]);
}

/* Regions. */

static OTF2_RegionRole collective_role(enum ww_coll coll)
{
    switch (coll) {
    case WW_COLL_BARRIER:
        return OTF2_REGION_ROLE_BARRIER;
    case WW_COLL_BCAST:
    case WW_COLL_SCATTER:
    case WW_COLL_SCATTERV:
        return OTF2_REGION_ROLE_COLL_ONE2ALL;
    case WW_COLL_REDUCE:
    case WW_COLL_GATHER:
    case WW_COLL_GATHERV:
        return OTF2_REGION_ROLE_COLL_ALL2ONE;
    case WW_COLL_SCAN:
    case WW_COLL_EXSCAN:
    case WW_COLL_NEIGHBOR:
    case WW_COLL_CREATE:
        return OTF2_REGION_ROLE_COLL_OTHER;
    default:
        return OTF2_REGION_ROLE_COLL_ALL2ALL;
    }
}

static OTF2_RegionRole region_role(const struct call_info *info)
{
    if (info->class == WW_IO || info->class == WW_IO_COLLECTIVE)
        return OTF2_REGION_ROLE_FILE_IO;
    if (info->coll != WW_COLL_NONE)
        return collective_role(info->coll);
    if ((info->class >= WW_SEND && info->class <= WW_CANCEL) || info->class == WW_ISENDRECV ||
        info->class == WW_PARTITIONED)
        return OTF2_REGION_ROLE_POINT2POINT;
    if (info->class >= WW_RMA_FENCE && info->class <= WW_RMA_REQUEST)
        return OTF2_REGION_ROLE_RMA;
    return OTF2_REGION_ROLE_FUNCTION;
}

static void define_calls(struct def_writer *defs)
{
    struct join *join = defs->join;
    uint32_t call_of[WW_N_CALLS];
    for (uint32_t call = 0; call < WW_N_CALLS; call++)
        if (join->region[call])
            call_of[join->region[call] - 1] = call;
    for (uint32_t region = 0; region < join->n_call_regions; region++) {
        const struct call_info *info = call_info(call_of[region]);
        uint32_t name = string(defs, info->name);
        DEFINE(defs, Region, region, name, name, string(defs, ""), region_role(info), OTF2_PARADIGM_MPI,
               OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0);
    }
}

static uint32_t routine_region(struct def_writer *defs, const char *name, const char *file)
{
    struct region_key key = {string(defs, name), file ? string(defs, file) : OTF2_UNDEFINED_STRING};
    size_t known = defs->regions.n;
    uint32_t id = intern_put(&defs->regions, &key, sizeof key), region = defs->join->n_call_regions + id;
    if (id == known)
        DEFINE(defs, Region, region, key.name, key.name, string(defs, ""), OTF2_REGION_ROLE_FUNCTION,
               OTF2_PARADIGM_SAMPLING, OTF2_REGION_FLAG_NONE, key.file, 0, 0);
    return region;
}

static uint32_t source_line(struct def_writer *defs, const char *file, uint32_t line)
{
    struct line_key key = {string(defs, file), line};
    size_t known = defs->lines.n;
    uint32_t id = intern_put(&defs->lines, &key, sizeof key);
    if (id == known)
        DEFINE(defs, SourceCodeLocation, id, key.file, line);
    return id;
}

/* Calling contexts. */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct convert_place frame_place(struct join *join, const struct join_frame *frame)
{
    struct convert_place place = {0};
    const struct convert_options *options = join->options;
    const struct join_module_info *module = frame->module == JOIN_NONE ? NULL : &join->module_infos.at[frame->module];
    if (module && options && options->resolve)
        options->resolve(options->user, module->path, module->build_id, module->build_id_bytes, frame->address,
                         frame->flags & ARCHIVE_FRAME_RETURN, &place);
    if (!place.routine)
        place.routine = arena_printf(&join->arena, "%s+0x%llx", module ? base_name(module->path) : "unknown",
                                     (unsigned long long)frame->address);
    return place;
}

static void context_property(struct def_writer *defs, uint32_t context, const char *name, OTF2_Type type,
                             OTF2_AttributeValue value)
{
    DEFINE(defs, CallingContextProperty, context, string(defs, name), type, value);
}

static void define_context(struct def_writer *defs, uint32_t context, const struct join_frame *frame)
{
    struct convert_place place = frame_place(defs->join, frame);
    uint32_t region = routine_region(defs, place.routine, place.file);
    uint32_t line = place.file ? source_line(defs, place.file, place.line) : OTF2_UNDEFINED_SOURCE_CODE_LOCATION;
    DEFINE(defs, CallingContext, context, region, line,
           frame->parent == JOIN_NONE ? OTF2_UNDEFINED_CALLING_CONTEXT : frame->parent);
    context_property(defs, context, ARCHIVE_PROP_ADDRESS, OTF2_TYPE_UINT64,
                     (OTF2_AttributeValue){.uint64 = frame->address});
    if (frame->module != JOIN_NONE)
        context_property(defs, context, ARCHIVE_PROP_IN_MODULE, OTF2_TYPE_UINT32,
                         (OTF2_AttributeValue){.uint32 = frame->module});
    if (frame->flags)
        context_property(defs, context, ARCHIVE_PROP_FRAME, OTF2_TYPE_UINT32,
                         (OTF2_AttributeValue){.uint32 = frame->flags});
}

static void define_contexts(struct def_writer *defs)
{
    struct join *join = defs->join;
    for (uint32_t i = 0; i < join->frames.n; i++) {
        struct join_frame frame;
        memcpy(&frame, join->frames.items[i].bytes, sizeof frame);
        define_context(defs, i, &frame);
    }
    static const char *names[ARCHIVE_N_GEN] = {"on a CPU", "on a CPU, in the kernel", "blocked in a system call"};
    if (join->sample_period_ns)
        for (uint32_t i = 0; i < ARCHIVE_N_GEN; i++)
            DEFINE(defs, InterruptGenerator, i, string(defs, names[i]), OTF2_INTERRUPT_GENERATOR_MODE_TIME,
                   OTF2_BASE_DECIMAL, -9, join->sample_period_ns);
}

static void define_metrics(struct def_writer *defs)
{
    OTF2_MetricMemberRef member = 0;
    DEFINE(defs, MetricMember, member, string(defs, "WHYWAIT::SCHEDULED"),
           string(defs, "1: on a CPU; 0: off it, blocked; 2: off it although runnable"), OTF2_METRIC_TYPE_OTHER,
           OTF2_METRIC_ABSOLUTE_NEXT, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, string(defs, "#"));
    DEFINE(defs, MetricClass, ARCHIVE_METRIC_SCHED, 1, &member, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
}

/* Groups and communicators. */

static uint32_t define_group(struct def_writer *defs, const char *name, OTF2_GroupType type, const uint64_t *members,
                             uint32_t n)
{
    uint32_t group = (uint32_t)defs->groups.n;
    intern_put(&defs->groups, &group, sizeof group);
    DEFINE(defs, Group, group, string(defs, name), type, OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, n, members);
    return group;
}

/* Members outside MPI_COMM_WORLD (dynamic processes) are in no archive of this run. */
static uint32_t member_group(struct def_writer *defs, const char *name, const int32_t *ranks, int32_t n)
{
    VEC(uint64_t) members = {0};
    for (int32_t i = 0; i < n; i++)
        *vec_push(&members) =
            ranks[i] < 0 || (uint32_t)ranks[i] >= defs->join->n_ranks ? OTF2_UNDEFINED_UINT64 : (uint64_t)ranks[i];
    uint32_t group = define_group(defs, name, OTF2_GROUP_TYPE_COMM_GROUP, members.at, (uint32_t)members.n);
    vec_release(&members);
    return group;
}

static void define_comm_locations(struct def_writer *defs)
{
    struct join *join = defs->join;
    VEC(uint64_t) members = {0};
    for (uint32_t rank = 0; rank < join->n_ranks; rank++)
        *vec_push(&members) = archive_location(rank, 0);
    define_group(defs, "MPI processes", OTF2_GROUP_TYPE_COMM_LOCATIONS, members.at, join->n_ranks);
    vec_release(&members);
}

static const char *comm_name(struct def_writer *defs, uint32_t comm, const struct join_comm_info *info)
{
    if (info->is_self)
        return "MPI_COMM_SELF";
    if (info->name)
        return info->name;
    return comm ? arena_printf(&defs->join->arena, "communicator %u", comm) : "MPI_COMM_WORLD";
}

static void define_comm(struct def_writer *defs, uint32_t comm, const struct join_comm *key, uint32_t self_group)
{
    struct join *join = defs->join;
    const struct join_comm_info *info = &join->comm_infos.at[comm];
    const char *name = comm_name(defs, comm, info);
    uint32_t parent = info->parent == JOIN_NONE || info->parent >= comm ? OTF2_UNDEFINED_COMM : info->parent;
    if (info->is_self) {
        DEFINE(defs, Comm, comm, string(defs, name), self_group, parent, OTF2_COMM_FLAG_NONE);
        return;
    }
    const int32_t *groups = join_group(join, key->groups);
    int32_t n_have = (int32_t)(join->groups.items[key->groups].size / sizeof *groups) - 2;
    int32_t n_local = n_have ? groups[0] : 0, n_remote = n_have ? groups[1] : 0;
    uint32_t group = member_group(defs, "", groups + 2, n_local);
    if (!n_remote) {
        DEFINE(defs, Comm, comm, string(defs, name), group, parent, OTF2_COMM_FLAG_NONE);
        return;
    }
    uint32_t remote = member_group(defs, "", groups + 2 + n_local, n_remote);
    /* Both groups lie in MPI_COMM_WORLD, the first communicator; the parent need only have the local one. */
    DEFINE(defs, InterComm, comm, string(defs, name), group, remote, comm ? 0 : OTF2_UNDEFINED_COMM,
           OTF2_COMM_FLAG_NONE);
}

static void define_comms(struct def_writer *defs)
{
    struct join *join = defs->join;
    define_comm_locations(defs);
    uint32_t self_group = define_group(defs, "MPI_COMM_SELF", OTF2_GROUP_TYPE_COMM_SELF, NULL, 0);
    for (uint32_t i = 0; i < join->comms.n; i++) {
        struct join_comm key;
        memcpy(&key, join->comms.items[i].bytes, sizeof key);
        define_comm(defs, i, &key, self_group);
    }
}

/* The ids of PSCW groups in events begin at 0: they come first, before any other group. */
static void define_sync_groups(struct def_writer *defs)
{
    struct join *join = defs->join;
    for (uint32_t i = 0; i < join->sync_groups.n; i++) {
        const struct intern_item *item = &join->sync_groups.items[i];
        member_group(defs, "RMA", item->bytes, (int32_t)(item->size / sizeof(int32_t)));
    }
}

static void define_windows(struct def_writer *defs)
{
    struct join *join = defs->join;
    for (uint32_t i = 0; i < join->wins.n; i++) {
        struct join_win key;
        memcpy(&key, join->wins.items[i].bytes, sizeof key);
        const char *name = join->win_infos.at[i].name;
        if (!name)
            name = arena_printf(&join->arena, "window %u", i);
        DEFINE(defs, RmaWin, i, string(defs, name), key.comm == JOIN_NONE ? OTF2_UNDEFINED_COMM : key.comm,
               OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS);
    }
}

void join_write_definitions(struct join *join)
{
    struct def_writer defs = {.join = join, .writer = OTF2_Archive_GetGlobalDefWriter(join->archive)};
    if (!defs.writer) {
        join->failed = true;
        return;
    }
    define_clock(&defs);
    define_paradigms(&defs);
    define_attributes(&defs);
    define_counters(&defs);
    define_system(&defs);
    define_calls(&defs);
    define_contexts(&defs);
    define_metrics(&defs);
    define_sync_groups(&defs);
    define_comms(&defs);
    define_windows(&defs);
    join->failed |= OTF2_Archive_CloseGlobalDefWriter(join->archive, defs.writer) != OTF2_SUCCESS;
    intern_release(&defs.strings);
    intern_release(&defs.hosts);
    intern_release(&defs.groups);
    intern_release(&defs.regions);
    intern_release(&defs.lines);
}
