/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The global definitions, in the order that readers expect: nothing refers to what comes later. A string is written
 * when it is first needed.
 */
#include "analyze/archive/calls.h"
#include "analyze/archive/join_defs.h"
#include "wrap/base/plain.h"
#include <stdio.h>
#include <string.h>

struct region_key {
    uint32_t name, file;
};
struct line_key {
    uint32_t file, line;
};

uint32_t defs_string_id(struct def_writer *defs, const char *text)
{
    size_t known = defs->strings.n;
    uint32_t id = intern_text(&defs->strings, text);
    if (id == known)
        DEFINE(defs, String, id, text);
    return id;
}

static OTF2_AttributeValue string_value(struct def_writer *defs, const char *text)
{
    return (OTF2_AttributeValue){.stringRef = defs_string_id(defs, text)};
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
    DEFINE(defs, Paradigm, OTF2_PARADIGM_MPI, defs_string_id(defs, "MPI"), OTF2_PARADIGM_CLASS_PROCESS);
    if (defs->join->has_threads)
        DEFINE(defs, Paradigm, OTF2_PARADIGM_PTHREAD, defs_string_id(defs, "POSIX threads"),
               OTF2_PARADIGM_CLASS_THREAD_CREATE_WAIT);
    DEFINE(defs, Paradigm, OTF2_PARADIGM_SAMPLING, defs_string_id(defs, "Sampling"), OTF2_PARADIGM_CLASS_PROCESS);
}

static void define_attributes(struct def_writer *defs)
{
    static const struct {
        const char *name, *description;
        OTF2_Type type;
    } attributes[ARCHIVE_N_ATTR] = {
        [ARCHIVE_ATTR_STACK] = {"WHYWAIT::CALL_STACK",
                                "call stack of this call; where absent, the one that followed the stack of the "
                                "location's previous call, after as many calls in a row from there, the last time",
                                OTF2_TYPE_CALLING_CONTEXT},
        [ARCHIVE_ATTR_POLLS] = {"WHYWAIT::POLLS", "failing polls that this region stands for", OTF2_TYPE_UINT64},
        [ARCHIVE_ATTR_WEIGHT] = {"WHYWAIT::WEIGHT_NS", "time that this sample stands for", OTF2_TYPE_UINT64},
        [ARCHIVE_ATTR_UNFINISHED] = {"WHYWAIT::UNFINISHED", "the call never returned", OTF2_TYPE_UINT8},
        [ARCHIVE_ATTR_ERROR] = {"WHYWAIT::ERROR", "the call returned an error", OTF2_TYPE_UINT8},
        [ARCHIVE_ATTR_PEER] = {"WHYWAIT::PEER",
                               "the rank that an unfinished call waited for, or whose message a probe found",
                               OTF2_TYPE_UINT32},
        [ARCHIVE_ATTR_COMM] = {"WHYWAIT::COMM", "the communicator of an unfinished call, or of the message found",
                               OTF2_TYPE_COMM},
        [ARCHIVE_ATTR_TAG] = {"WHYWAIT::TAG", "the tag of an unfinished call, or of the message found",
                              OTF2_TYPE_INT32},
        [ARCHIVE_ATTR_OPERATION] = {"WHYWAIT::OPERATION", "the call that made the persistent request",
                                    OTF2_TYPE_REGION},
    };
    for (uint32_t i = 0; i < ARCHIVE_N_ATTR; i++)
        DEFINE(defs, Attribute, i, defs_string_id(defs, attributes[i].name),
               defs_string_id(defs, attributes[i].description), attributes[i].type);
}

static const char *counter_name(struct arena *arena, const struct join_counter *counter)
{
    if (counter->what == WW_BIN_TIME)
        return ARCHIVE_YOUNG_TIME;
    return arena_printf(arena, "WHYWAIT::%s %u of module %d", counter->what == WW_BIN_BYTES ? "BYTES" : "EXECUTIONS",
                        counter->point, counter->module == JOIN_NONE ? -1 : (int)counter->module);
}

static void define_counters(struct def_writer *defs)
{
    struct join *join = defs->join;
    for (uint32_t i = 0; i < join->counters.n; i++) {
        struct join_counter counter;
        memcpy(&counter, join->counters.items[i].bytes, sizeof counter);
        const char *name = counter_name(&join->arena, &counter);
        DEFINE(defs, Attribute, ARCHIVE_ATTR_COUNTERS + i, defs_string_id(defs, name), defs_string_id(defs, ""),
               OTF2_TYPE_UINT64);
    }
    if (join->has_counts)
        DEFINE(defs, Parameter, ARCHIVE_PARAM_COUNTS, defs_string_id(defs, "WHYWAIT::COUNTS"),
               OTF2_PARAMETER_TYPE_UINT64);
}

/* System tree: machine, node, process, thread. */

static uint32_t host_node(struct def_writer *defs, const char *host)
{
    size_t known = defs->hosts.n;
    uint32_t node = DEFS_ROOT_NODE + 1 + intern_text(&defs->hosts, host[0] ? host : "unknown");
    if (defs->hosts.n > known) {
        DEFINE(defs, SystemTreeNode, node, defs_string_id(defs, host[0] ? host : "unknown"),
               defs_string_id(defs, "node"), DEFS_ROOT_NODE);
        DEFINE(defs, SystemTreeNodeDomain, node, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
    }
    return node;
}

void defs_root_property(struct def_writer *defs, const char *name, const char *text)
{
    OTF2_AttributeValue value = string_value(defs, text);
    DEFINE(defs, SystemTreeNodeProperty, DEFS_ROOT_NODE, defs_string_id(defs, name), OTF2_TYPE_STRING, value);
}

static void define_modules(struct def_writer *defs)
{
    struct join *join = defs->join;
    for (uint32_t i = 0; i < join->module_infos.n; i++) {
        const struct join_module_info *info = &join->module_infos.at[i];
        char build_id[2 * sizeof info->build_id + 1] = "-";
        if (info->build_id_bytes)
            plain_hex(build_id, info->build_id, info->build_id_bytes);
        char name[64];
        snprintf(name, sizeof name, ARCHIVE_PROP_MODULE "::%u", i);
        defs_root_property(defs, name, arena_printf(&join->arena, "%s %s", build_id, info->path));
    }
}

static void define_root(struct def_writer *defs)
{
    struct join *join = defs->join;
    DEFINE(defs, SystemTreeNode, DEFS_ROOT_NODE, defs_string_id(defs, "machine"), defs_string_id(defs, "machine"),
           OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    DEFINE(defs, SystemTreeNodeDomain, DEFS_ROOT_NODE, OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
    defs_root_property(defs, ARCHIVE_PROP_PROGRAM, join_plain_name(join, join->program, sizeof join->program));
    defs_root_property(defs, ARCHIVE_PROP_COMMAND, join_plain_name(join, join->command, sizeof join->command));
    if (join->only[0])
        defs_root_property(defs, ARCHIVE_PROP_ONLY, join->only);
    if (join->has_counts)
        defs_root_property(defs, ARCHIVE_PROP_COUNTED, join->lacks_threads ? "callers" : ARCHIVE_COUNTED_ALL);
    define_modules(defs);
    for (size_t i = 0; i < join->notes.n; i++)
        defs_root_property(defs, arena_printf(&join->arena, ARCHIVE_PROP_NOTE "::%zu", i), join->notes.at[i]);
}

static void define_process(struct def_writer *defs, uint32_t rank)
{
    struct join *join = defs->join;
    const struct join_rank *info = &join->ranks[rank];
    char name[32];
    snprintf(name, sizeof name, "MPI Rank %u", rank);
    uint32_t node = host_node(defs, info->host);
    DEFINE(defs, LocationGroup, rank, defs_string_id(defs, name), OTF2_LOCATION_GROUP_TYPE_PROCESS, node,
           OTF2_UNDEFINED_LOCATION_GROUP);
    DEFINE(defs, LocationGroupProperty, rank, defs_string_id(defs, ARCHIVE_PROP_END_HOW), OTF2_TYPE_UINT32,
           (OTF2_AttributeValue){.uint32 = info->end_how});
    DEFINE(defs, LocationGroupProperty, rank, defs_string_id(defs, ARCHIVE_PROP_END_DETAIL), OTF2_TYPE_INT32,
           (OTF2_AttributeValue){.int32 = info->end_detail});
    if (info->lacks_records || !info->has_calls)
        DEFINE(defs, LocationGroupProperty, rank, defs_string_id(defs, ARCHIVE_PROP_INCOMPLETE), OTF2_TYPE_UINT32,
               (OTF2_AttributeValue){.uint32 = 1});
    for (size_t i = 0; i + 1 < info->properties.n; i += 2) {
        const char *property = arena_printf(&join->arena, "%s::%zu", info->properties.at[i], i / 2);
        OTF2_AttributeValue value = string_value(defs, info->properties.at[i + 1]);
        DEFINE(defs, LocationGroupProperty, rank, defs_string_id(defs, property), OTF2_TYPE_STRING, value);
    }
}

static void define_location(struct def_writer *defs, const struct join_location *location)
{
    char name[32] = "Master thread";
    uint64_t id = archive_location(location->rank, location->thread);
    if (location->thread)
        snprintf(name, sizeof name, "Thread %u", location->thread);
    DEFINE(defs, Location, id, defs_string_id(defs, name), OTF2_LOCATION_TYPE_CPU_THREAD, location->n_events,
           location->rank);
    if (location->last_ns)
        DEFINE(defs, LocationProperty, id, defs_string_id(defs, ARCHIVE_PROP_END_NS), OTF2_TYPE_UINT64,
               (OTF2_AttributeValue){.uint64 = location->last_ns});
    if (location->n_dropped)
        DEFINE(defs, LocationProperty, id, defs_string_id(defs, ARCHIVE_PROP_DROPPED), OTF2_TYPE_UINT64,
               (OTF2_AttributeValue){.uint64 = location->n_dropped});
    if (location->sample_period_ns)
        DEFINE(defs, LocationProperty, id, defs_string_id(defs, ARCHIVE_PROP_PERIOD), OTF2_TYPE_UINT64,
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
    if (!strncmp(info->name, "MPI_File_", strlen("MPI_File_")))
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
        uint32_t name = defs_string_id(defs, info->name);
        DEFINE(defs, Region, region, name, name, defs_string_id(defs, ""), region_role(info), OTF2_PARADIGM_MPI,
               OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0);
    }
}

static uint32_t routine_region(struct def_writer *defs, const char *name, const char *file)
{
    struct region_key key = {defs_string_id(defs, name), file ? defs_string_id(defs, file) : OTF2_UNDEFINED_STRING};
    size_t known = defs->regions.n;
    uint32_t id = intern_put(&defs->regions, &key, sizeof key), region = defs->join->n_call_regions + id;
    if (id == known)
        DEFINE(defs, Region, region, key.name, key.name, defs_string_id(defs, ""), OTF2_REGION_ROLE_FUNCTION,
               OTF2_PARADIGM_SAMPLING, OTF2_REGION_FLAG_NONE, key.file, 0, 0);
    return region;
}

static uint32_t source_line(struct def_writer *defs, const char *file, uint32_t line)
{
    struct line_key key = {defs_string_id(defs, file), line};
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
    DEFINE(defs, CallingContextProperty, context, defs_string_id(defs, name), type, value);
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
    static const char *names[ARCHIVE_N_GEN] = {"on a CPU", "on a CPU, in the kernel", "blocked in a system call",
                                               "waiting for another thread"};
    if (join->sample_period_ns)
        for (uint32_t i = 0; i < ARCHIVE_N_GEN; i++)
            DEFINE(defs, InterruptGenerator, i, defs_string_id(defs, names[i]), OTF2_INTERRUPT_GENERATOR_MODE_TIME,
                   OTF2_BASE_DECIMAL, -9, join->sample_period_ns);
}

static void define_metrics(struct def_writer *defs)
{
    OTF2_MetricMemberRef member = 0;
    DEFINE(defs, MetricMember, member, defs_string_id(defs, "WHYWAIT::SCHEDULED"),
           defs_string_id(defs, "1: on a CPU; 0: off it, blocked; 2: off it although runnable"), OTF2_METRIC_TYPE_OTHER,
           OTF2_METRIC_ABSOLUTE_NEXT, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, defs_string_id(defs, "#"));
    DEFINE(defs, MetricClass, ARCHIVE_METRIC_SCHED, 1, &member, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
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
    join_define_comms(&defs);
    join_define_files(&defs);
    join->failed |= OTF2_Archive_CloseGlobalDefWriter(join->archive, defs.writer) != OTF2_SUCCESS;
    intern_release(&defs.strings);
    intern_release(&defs.hosts);
    intern_release(&defs.regions);
    intern_release(&defs.lines);
}
