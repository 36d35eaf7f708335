/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The global definitions, in the order that readers expect: nothing refers to what comes later. A string is written
 * when it is first needed.
 */
#include "analyze/archive/join_defs.h"
#include "analyze/archive/join_code.h"
#include "analyze/archive/archive.h"
#include "analyze/archive/comms.h"
#include "analyze/archive/join_rank.h"
#include "analyze/code/code.h"
#include "analyze/code/origin.h"
#include "analyze/code/script.h"
#include "wrap/base/err.h"
#include <stdio.h>
#include <string.h>

struct region_key {
    uint32_t name, file;
};
struct line_key {
    uint32_t file, line;
};

/* It is defined when it is first asked for. */
static uint32_t string_id(struct def_writer *defs, const char *text)
{
    size_t known = defs->strings.n;
    uint32_t id = intern_text(&defs->strings, text);
    if (id == known)
        DEFINE(defs, String, id, text);
    return id;
}

static OTF2_AttributeValue string_value(struct def_writer *defs, const char *text)
{
    return (OTF2_AttributeValue){.stringRef = string_id(defs, text)};
}

static void define_clock(struct def_writer *defs)
{
    struct join *join = defs->join;
    uint64_t first_ns = join->first_ns, last_ns = join->last_ns;
    DEFINE(defs, ClockProperties, 1000000000, first_ns, last_ns - first_ns + 1,
           join->realtime_ns + (first_ns - join->start_ns));
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
        [ARCHIVE_ATTR_ANEW] =
            {"WHYWAIT::CALL_STACK_ANEW",
             "call stack of this call; from here on, those that are absent follow from what came since",
             OTF2_TYPE_CALLING_CONTEXT},
        [ARCHIVE_ATTR_CALLS] = {"WHYWAIT::CALLS", "calls that this region stands for, beside one", OTF2_TYPE_INT32},
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
        [ARCHIVE_ATTR_WINDOW] = {"WHYWAIT::WINDOW", "the window of recording that begins or ends", OTF2_TYPE_UINT32},
        [ARCHIVE_ATTR_OPERATION] = {"WHYWAIT::OPERATION", "the call that made the persistent request",
                                    OTF2_TYPE_REGION},
        [ARCHIVE_ATTR_OUTSIDE] = {"WHYWAIT::OUTSIDE", "the call needed processes that are not recorded with this run",
                                  OTF2_TYPE_UINT8},
    };
    for (uint32_t i = 0; i < ARCHIVE_N_ATTR; i++)
        DEFINE(defs, Attribute, i, string_id(defs, attributes[i].name), string_id(defs, attributes[i].description),
               attributes[i].type);
}

static void define_counters(struct def_writer *defs)
{
    struct join *join = defs->join;
    for (uint32_t i = 0; i < join->counters.n; i++) {
        struct join_counter counter;
        memcpy(&counter, join->counters.items[i].bytes, sizeof counter);
        const char *name = counter.point == WW_YOUNG_READY ? ARCHIVE_YOUNG_READY : ARCHIVE_YOUNG_TIME;
        if (counter.what != WW_BIN_TIME)
            name = arena_printf(&join->arena, "WHYWAIT::%s %u of module %d",
                                counter.what == WW_BIN_BYTES ? "BYTES" : "EXECUTIONS", counter.point,
                                counter.module == JOIN_NONE ? -1 : (int)counter.module);
        DEFINE(defs, Attribute, ARCHIVE_ATTR_COUNTERS + i, string_id(defs, name), string_id(defs, ""),
               OTF2_TYPE_UINT64);
    }
    /* Readers take definitions by their numbers, in order and without gaps. */
    if (join->has_counts || join->counters.n || join->has_pending)
        DEFINE(defs, Parameter, ARCHIVE_PARAM_COUNTS, string_id(defs, "WHYWAIT::COUNTS"), OTF2_PARAMETER_TYPE_UINT64);
    if (join->has_pending)
        DEFINE(defs, Parameter, ARCHIVE_PARAM_PENDING, string_id(defs, "WHYWAIT::PENDING"), OTF2_PARAMETER_TYPE_UINT64);
}

/* System tree: machine, node, process, thread. */

static void root_property(struct def_writer *defs, const char *name, const char *text)
{
    OTF2_AttributeValue value = string_value(defs, text);
    DEFINE(defs, SystemTreeNodeProperty, DEFS_ROOT_NODE, string_id(defs, name), OTF2_TYPE_STRING, value);
}

static void define_root(struct def_writer *defs)
{
    struct join *join = defs->join;
    DEFINE(defs, SystemTreeNode, DEFS_ROOT_NODE, string_id(defs, "machine"), string_id(defs, "machine"),
           OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    DEFINE(defs, SystemTreeNodeDomain, DEFS_ROOT_NODE, OTF2_SYSTEM_TREE_DOMAIN_MACHINE);
    root_property(defs, ARCHIVE_PROP_PROGRAM, join_plain_name(join, join->program, sizeof join->program));
    root_property(defs, ARCHIVE_PROP_COMMAND, join_plain_name(join, join->command, sizeof join->command));
    if (join->mpi[0])
        root_property(defs, ARCHIVE_PROP_MPI, join_plain_name(join, join->mpi, sizeof join->mpi));
    if (join->first_call_ns)
        root_property(defs, ARCHIVE_PROP_RUN_FROM,
                      arena_printf(&join->arena, "%llu", (unsigned long long)join->first_call_ns));
    if (join->only[0])
        root_property(defs, ARCHIVE_PROP_ONLY, join->only);
    if (join->has_counts)
        root_property(defs, ARCHIVE_PROP_COUNTED, join->lacks_threads ? "callers" : ARCHIVE_COUNTED_ALL);
    for (uint32_t i = 0; i < join->module_infos.n; i++) {
        const struct join_module_info *info = &join->module_infos.at[i];
        char build_id[2 * sizeof info->build_id + 1] = "-";
        if (info->build_id_bytes)
            plain_hex(build_id, info->build_id, info->build_id_bytes);
        char name[64];
        if (info->is_script)
            snprintf(build_id, sizeof build_id, ARCHIVE_SCRIPT);
        snprintf(name, sizeof name, ARCHIVE_PROP_MODULE "::%u", i);
        root_property(defs, name, arena_printf(&join->arena, "%s %s", build_id, info->path));
    }
    for (size_t i = 0; i < join->notes.n; i++)
        root_property(defs, arena_printf(&join->arena, ARCHIVE_PROP_NOTE "::%zu", i), join->notes.at[i]);
}

static void define_process(struct def_writer *defs, uint32_t rank)
{
    struct join *join = defs->join;
    const struct join_rank *info = &join->ranks[rank];
    char name[32];
    snprintf(name, sizeof name, "MPI Rank %u", rank);
    const char *host = info->host[0] ? info->host : "unknown";
    size_t n_known = defs->hosts.n;
    uint32_t node = DEFS_ROOT_NODE + 1 + intern_text(&defs->hosts, host);
    if (defs->hosts.n > n_known) {
        DEFINE(defs, SystemTreeNode, node, string_id(defs, host), string_id(defs, "node"), DEFS_ROOT_NODE);
        DEFINE(defs, SystemTreeNodeDomain, node, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY);
    }
    DEFINE(defs, LocationGroup, rank, string_id(defs, name), OTF2_LOCATION_GROUP_TYPE_PROCESS, node,
           OTF2_UNDEFINED_LOCATION_GROUP);
    DEFINE(defs, LocationGroupProperty, rank, string_id(defs, ARCHIVE_PROP_END_HOW), OTF2_TYPE_UINT32,
           (OTF2_AttributeValue){.uint32 = info->end_how});
    DEFINE(defs, LocationGroupProperty, rank, string_id(defs, ARCHIVE_PROP_END_DETAIL), OTF2_TYPE_INT32,
           (OTF2_AttributeValue){.int32 = info->end_detail});
    if (info->lacks_records || !info->has_calls)
        DEFINE(defs, LocationGroupProperty, rank, string_id(defs, ARCHIVE_PROP_INCOMPLETE), OTF2_TYPE_UINT32,
               (OTF2_AttributeValue){.uint32 = 1});
#define DEFINE_MACHINE(field, property)                                                                                \
    if (info->machine.field)                                                                                           \
        DEFINE(defs, LocationGroupProperty, rank, string_id(defs, property), OTF2_TYPE_UINT64,                         \
               (OTF2_AttributeValue){.uint64 = info->machine.field});
    ARCHIVE_MACHINE_PROPS(DEFINE_MACHINE)
    for (size_t i = 0; i + 1 < info->properties.n; i += 2) {
        const char *property = arena_printf(&join->arena, "%s::%zu", info->properties.at[i], i / 2);
        OTF2_AttributeValue value = string_value(defs, info->properties.at[i + 1]);
        DEFINE(defs, LocationGroupProperty, rank, string_id(defs, property), OTF2_TYPE_STRING, value);
    }
}

/* "0-3,8" */
static const char *text_of_cpus(struct join *join, const uint8_t cpus[WW_CPUS_BYTES])
{
    enum { N = 8 * WW_CPUS_BYTES };
    char text[N * 5], *at = text;
    *text = '\0';
    for (unsigned first = 0, end; first < N; first = end + 1) {
        for (end = first; end < N && cpus[end / 8] >> end % 8 & 1; end++)
            ;
        const char *comma = at > text ? "," : "";
        if (end == first + 1)
            at += sprintf(at, "%s%u", comma, first);
        else if (end > first)
            at += sprintf(at, "%s%u-%u", comma, first, end - 1);
    }
    return arena_strdup(&join->arena, text);
}

static void define_location(struct def_writer *defs, const struct join_location *location)
{
    char name[32] = "Master thread";
    uint64_t id = archive_location(location->rank, location->thread);
    if (location->thread)
        snprintf(name, sizeof name, "Thread %u", location->thread);
    DEFINE(defs, Location, id, string_id(defs, name), OTF2_LOCATION_TYPE_CPU_THREAD, location->n_events,
           location->rank);
    const char *cpus = text_of_cpus(defs->join, location->cpus);
    if (*cpus) {
        OTF2_AttributeValue value = string_value(defs, cpus);
        DEFINE(defs, LocationProperty, id, string_id(defs, ARCHIVE_PROP_CPUS), OTF2_TYPE_STRING, value);
    }
    if (location->last_ns)
        DEFINE(defs, LocationProperty, id, string_id(defs, ARCHIVE_PROP_END_NS), OTF2_TYPE_UINT64,
               (OTF2_AttributeValue){.uint64 = location->last_ns});
    if (location->begin_ns)
        DEFINE(defs, LocationProperty, id, string_id(defs, ARCHIVE_PROP_BEGIN_NS), OTF2_TYPE_UINT64,
               (OTF2_AttributeValue){.uint64 = location->begin_ns});
    if (location->n_dropped)
        DEFINE(defs, LocationProperty, id, string_id(defs, ARCHIVE_PROP_DROPPED), OTF2_TYPE_UINT64,
               (OTF2_AttributeValue){.uint64 = location->n_dropped});
    if (location->n_nested)
        DEFINE(defs, LocationProperty, id, string_id(defs, ARCHIVE_PROP_NESTED), OTF2_TYPE_UINT64,
               (OTF2_AttributeValue){.uint64 = location->n_nested});
    if (location->sample_period_ns)
        DEFINE(defs, LocationProperty, id, string_id(defs, ARCHIVE_PROP_PERIOD), OTF2_TYPE_UINT64,
               (OTF2_AttributeValue){.uint64 = location->sample_period_ns});
}

/* Regions. */

/* The source of a region of MPI. Scalasca's analyser knows them by that, not by their paradigm. */
#define FILE_OF_MPI "MPI"

static OTF2_RegionRole region_role(const struct call_info *info)
{
    if (info->as & (WW_AS_FILE | WW_AS_READ | WW_AS_WRITE | WW_AS_SYNC))
        return OTF2_REGION_ROLE_FILE_IO;
    if (info->coll != WW_COLL_NONE)
        return archive_collective_role(info->coll);
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
    uint32_t call_of[ARCHIVE_N_REGIONS];
    for (uint32_t call = 0; call < ARCHIVE_N_REGIONS; call++)
        if (join->region[call])
            call_of[join->region[call] - 1] = call;
    for (uint32_t region = 0; region < join->n_call_regions; region++) {
        const struct call_info *info = call_info(call_of[region]);
        bool is_callback = call_of[region] == ARCHIVE_REGION_CALLBACK;
        uint32_t name = string_id(defs, is_callback ? ARCHIVE_CALLBACK : info->name);
        DEFINE(defs, Region, region, name, name, string_id(defs, ""),
               is_callback ? OTF2_REGION_ROLE_FUNCTION : region_role(info),
               is_callback ? OTF2_PARADIGM_USER : OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE,
               is_callback ? OTF2_UNDEFINED_STRING : string_id(defs, FILE_OF_MPI), 0, 0);
    }
}

static uint32_t source_line(struct def_writer *defs, const char *file, uint32_t line)
{
    struct line_key key = {string_id(defs, file), line};
    size_t known = defs->lines.n;
    uint32_t id = intern_put(&defs->lines, &key, sizeof key);
    if (id == known)
        DEFINE(defs, SourceCodeLocation, id, key.file, line);
    return id;
}

/* Calling contexts. */

static struct convert_place script_place(const struct join *join, const struct join_frame *frame)
{
    uint64_t address = frame->address - !!(frame->flags & ARCHIVE_FRAME_RETURN);
    const struct join_code_info *code = join_code_at(join, frame->module, address);
    struct convert_place place = {.routine = code ? code->name : NULL,
                                  .file = join->module_infos.at[frame->module].path,
                                  .line = address & WW_CODE_LINE};
    place.sources[0] = script_is_source(place.file) && !source_is_system(place.file) ? place.file : NULL;
    return place;
}

static struct convert_place frame_place(struct join *join, const struct join_frame *frame)
{
    struct convert_place place = {0};
    const struct convert_options *options = join->options;
    const struct join_module_info *module = frame->module == JOIN_NONE ? NULL : &join->module_infos.at[frame->module];
    if (module && module->is_script)
        place = script_place(join, frame);
    else if (module && options && options->resolve)
        options->resolve(options->user, module->path, module->build_id, module->build_id_bytes, frame->address,
                         frame->flags & ARCHIVE_FRAME_RETURN, &place);
    for (size_t i = 0; i < sizeof place.sources / sizeof *place.sources; i++) {
        size_t known = join->sources.n;
        if (place.sources[i] && intern_text(&join->sources, place.sources[i]) == known)
            *vec_push(&join->source_modules) = frame->module;
    }
    if (place.routine)
        return place;
    const char *path = module ? module->path : NULL, *slash = path ? strrchr(path, '/') : NULL;
    place.routine =
        path ? arena_printf(&join->arena, "%s+0x%llx", slash ? slash + 1 : path, (unsigned long long)frame->address)
             : "(generated code)";
    return place;
}

static void context_property(struct def_writer *defs, uint32_t context, const char *name, OTF2_Type type,
                             OTF2_AttributeValue value)
{
    DEFINE(defs, CallingContextProperty, context, string_id(defs, name), type, value);
}

static void define_contexts(struct def_writer *defs)
{
    struct join *join = defs->join;
    for (uint32_t i = 0; i < join->frames.n; i++) {
        struct join_frame frame;
        memcpy(&frame, join->frames.items[i].bytes, sizeof frame);
        struct convert_place place = frame_place(defs->join, &frame);
        struct region_key key = {string_id(defs, place.routine),
                                 place.file ? string_id(defs, place.file) : OTF2_UNDEFINED_STRING};
        size_t known = defs->regions.n;
        uint32_t id = intern_put(&defs->regions, &key, sizeof key), region = defs->join->n_call_regions + id;
        if (id == known)
            DEFINE(defs, Region, region, key.name, key.name, string_id(defs, ""), OTF2_REGION_ROLE_FUNCTION,
                   OTF2_PARADIGM_SAMPLING, OTF2_REGION_FLAG_NONE, key.file, 0, 0);
        uint32_t line = place.file ? source_line(defs, place.file, place.line) : OTF2_UNDEFINED_SOURCE_CODE_LOCATION;
        DEFINE(defs, CallingContext, i, region, line,
               frame.parent == JOIN_NONE ? OTF2_UNDEFINED_CALLING_CONTEXT : frame.parent);
        context_property(defs, i, ARCHIVE_PROP_ADDRESS, OTF2_TYPE_UINT64,
                         (OTF2_AttributeValue){.uint64 = frame.address});
        if (frame.module != JOIN_NONE)
            context_property(defs, i, ARCHIVE_PROP_IN_MODULE, OTF2_TYPE_UINT32,
                             (OTF2_AttributeValue){.uint32 = frame.module});
        if (frame.flags)
            context_property(defs, i, ARCHIVE_PROP_FRAME, OTF2_TYPE_UINT32,
                             (OTF2_AttributeValue){.uint32 = frame.flags});
    }
    static const char *names[ARCHIVE_N_GEN] = {"on a CPU",
                                               "on a CPU, in the kernel",
                                               "blocked in a system call",
                                               "waiting for another thread",
                                               "waiting for another process",
                                               "waiting for the network",
                                               "asleep for a time"};
    if (join->sample_period_ns)
        for (uint32_t i = 0; i < ARCHIVE_N_GEN; i++)
            DEFINE(defs, InterruptGenerator, i, string_id(defs, names[i]), OTF2_INTERRUPT_GENERATOR_MODE_TIME,
                   OTF2_BASE_DECIMAL, -9, join->sample_period_ns);
}

void join_write_definitions(struct join *join)
{
    struct def_writer defs = {.join = join, .writer = OTF2_Archive_GetGlobalDefWriter(join->archive)};
    if (!defs.writer) {
        join->failed = true;
        return;
    }
    define_clock(&defs);
    DEFINE(&defs, Paradigm, OTF2_PARADIGM_MPI, string_id(&defs, "MPI"), OTF2_PARADIGM_CLASS_PROCESS);
    if (defs.join->has_threads)
        DEFINE(&defs, Paradigm, OTF2_PARADIGM_PTHREAD, string_id(&defs, "POSIX threads"),
               OTF2_PARADIGM_CLASS_THREAD_CREATE_WAIT);
    DEFINE(&defs, Paradigm, OTF2_PARADIGM_SAMPLING, string_id(&defs, "Sampling"), OTF2_PARADIGM_CLASS_PROCESS);
    define_attributes(&defs);
    define_counters(&defs);
    define_root(&defs);
    for (uint32_t rank = 0; rank < join->n_ranks; rank++)
        define_process(&defs, rank);
    for (size_t i = 0; i < join->locations.n; i++)
        define_location(&defs, &join->locations.at[i]);
    define_calls(&defs);
    define_contexts(&defs);
    OTF2_MetricMemberRef member = 0;
    DEFINE(&defs, MetricMember, member, string_id(&defs, "WHYWAIT::SCHEDULED"),
           string_id(&defs, "1: on a CPU; 0: off it, blocked; 2: off it although runnable; 3: stopped"),
           OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_NEXT, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0,
           string_id(&defs, "#"));
    DEFINE(&defs, MetricClass, ARCHIVE_METRIC_SCHED, 1, &member, OTF2_METRIC_ASYNCHRONOUS, OTF2_RECORDER_KIND_CPU);
    join_define_comms(&defs);
    join_define_files(&defs);
    join->failed |= OTF2_Archive_CloseGlobalDefWriter(join->archive, defs.writer) != OTF2_SUCCESS;
    intern_release(&defs.strings);
    intern_release(&defs.hosts);
    intern_release(&defs.regions);
    intern_release(&defs.lines);
}

/*
 * Groups, communicators and windows of the archive. The members of a group are places in the group of all locations of
 * its paradigm, which is therefore defined before. Ids count from 0 without a gap:
 *
 *   0, 1               all MPI processes; MPI_COMM_SELF
 *   JOIN_SYNC_GROUPS   groups of MPI_Win_start and MPI_Win_post, from here on
 *   and then           groups of communicators, one for all communicators that have it; all threads; the threads of
 *                      each process that has several
 */

/* Groups. */

enum { SELF_GROUP = 1 };

static uint32_t define_group(struct def_writer *defs, const char *name, OTF2_GroupType type, OTF2_Paradigm paradigm,
                             const uint64_t *members, size_t n)
{
    uint32_t id = defs->n_groups++;
    DEFINE(defs, Group, id, string_id(defs, name), type, paradigm, OTF2_GROUP_FLAG_NONE, (uint32_t)n, members);
    return id;
}

/* Members outside MPI_COMM_WORLD (dynamic processes) are in no archive of this run, and nothing in it names them. */
static void define_process_group(struct def_writer *defs, const char *name, const int32_t *ranks, size_t n)
{
    VEC(uint64_t) members = {0};
    for (size_t i = 0; i < n; i++)
        if (ranks[i] >= 0 && (uint32_t)ranks[i] < defs->join->n_ranks)
            *vec_push(&members) = (uint64_t)ranks[i];
    define_group(defs, name, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, members.at, members.n);
    vec_release(&members);
}

/* Communicators. */

/* Both groups of an intercommunicator lie in MPI_COMM_WORLD, the first communicator. The parent need only have the
 * local one. */
static void define_comm(struct def_writer *defs, uint32_t comm, const struct join_comm *key)
{
    struct join *join = defs->join;
    const struct join_comm_info *info = &join->comm_infos.at[comm];
    uint32_t parent = info->parent == JOIN_NONE || info->parent >= comm ? OTF2_UNDEFINED_COMM : info->parent;
    const int32_t *groups = info->is_self ? NULL : join_group(join, key->groups);
    if (groups && groups[1] && join->groups.items[key->groups].size > 2 * sizeof *groups) {
        parent = comm ? 0 : OTF2_UNDEFINED_COMM;
        root_property(defs, arena_printf(&join->arena, ARCHIVE_PROP_INTERCOMM "::%u", comm),
                      arena_printf(&join->arena, "%d", groups[0]));
    }
    const char *name = info->is_self ? "MPI_COMM_SELF"
                       : info->name  ? info->name
                       : comm        ? arena_printf(&join->arena, "communicator %u", comm)
                                     : "MPI_COMM_WORLD";
    DEFINE(defs, Comm, comm, string_id(defs, name),
           info->is_self ? SELF_GROUP : JOIN_SYNC_GROUPS + join->sync_groups.n + key->groups, parent,
           info->is_made ? OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS : OTF2_COMM_FLAG_NONE);
}

static void define_comms(struct def_writer *defs)
{
    struct join *join = defs->join;
    if (join->has_threads) {
        VEC(uint64_t) members = {0};
        for (size_t i = 0; i < join->locations.n; i++)
            *vec_push(&members) = archive_location(join->locations.at[i].rank, join->locations.at[i].thread);
        define_group(defs, "threads", OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_PTHREAD, members.at, members.n);
        vec_release(&members);
    }
    for (uint32_t i = 0; i < join->comms.n; i++) {
        struct join_comm key;
        memcpy(&key, join->comms.items[i].bytes, sizeof key);
        if (key.groups == JOIN_THREADS) {
            VEC(uint64_t) members = {0};
            for (size_t k = 0; k < join->locations.n; k++)
                if (join->locations.at[k].rank == key.nth)
                    *vec_push(&members) = k;
            const char *name = arena_printf(&join->arena, "threads of rank %u", key.nth);
            uint32_t id =
                define_group(defs, name, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_PTHREAD, members.at, members.n);
            DEFINE(defs, Comm, i, string_id(defs, name), id, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
            vec_release(&members);
        } else
            define_comm(defs, i, &key);
    }
}

void join_define_comms(struct def_writer *defs)
{
    struct join *join = defs->join;
    VEC(uint64_t) members = {0};
    for (uint32_t rank = 0; rank < join->n_ranks; rank++)
        *vec_push(&members) = archive_location(rank, 0);
    define_group(defs, "MPI processes", OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, members.at, members.n);
    vec_release(&members);
    define_group(defs, "MPI_COMM_SELF", OTF2_GROUP_TYPE_COMM_SELF, OTF2_PARADIGM_MPI, NULL, 0);
    for (uint32_t i = 0; i < join->sync_groups.n; i++) {
        const struct intern_item *item = &join->sync_groups.items[i];
        define_process_group(defs, "RMA", item->bytes, item->size / sizeof(int32_t));
    }
    for (uint32_t i = 0; i < join->groups.n; i++)
        define_process_group(defs, "", join_group(join, i) + 2, join->groups.items[i].size / sizeof(int32_t) - 2);
    define_comms(defs);
    for (uint32_t i = 0; i < join->wins.n; i++) {
        struct join_win key;
        memcpy(&key, join->wins.items[i].bytes, sizeof key);
        const char *name = join->win_infos.at[i].name;
        if (!name)
            name = arena_printf(&join->arena, "window %u", i);
        DEFINE(defs, RmaWin, i, string_id(defs, name), key.comm == JOIN_NONE ? OTF2_UNDEFINED_COMM : key.comm,
               OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS);
    }
}

/*
 * Files of MPI-IO. A file is known by its name alone, as the programs gave it: whether two nodes mean the same disk by
 * it is not recorded, so that its scope is the whole machine. A file that is open once has one handle, however often it
 * is closed and opened again; processes mean the same handle when it is the n-th on this file and communicator in all.
 */

void join_take_file(struct rank_tables *tables, const struct ww_file *record)
{
    bool is_new;
    map_put(&tables->has_file, record->id, &is_new);
    if (!record->id || !is_new)
        return;
    const char *name = join_plain_name(tables->join, record->name, record->bytes);
    uint32_t file = *name ? intern_text(&tables->join->io_files, name) : JOIN_NONE;
    if (file != JOIN_NONE)
        *vec_push(&tables->io_files) = (struct id_pair){record->id, file};
    if (record->flags & WW_FILE_DELETED)
        return;
    struct join *join = tables->join;
    struct join_handle key = {.comm = join_comm_of(tables, record->comm), .file = file};
    uint64_t *nth = map_put(&tables->nth_handle, key_pair(key.comm, file), NULL);
    key.nth = (uint32_t)(*nth)++;
    uint32_t handle = intern_put(&join->io_handles, &key, sizeof key);
    if (handle == join->handle_infos.n)
        vec_push(&join->handle_infos)->flags = record->flags;
    *vec_push(&tables->io_handles) = (struct id_pair){record->id, handle};
}

void join_define_files(struct def_writer *defs)
{
    struct join *join = defs->join;
    if (!join->io_files.n && !join->io_handles.n)
        return;
    DEFINE(defs, IoParadigm, ARCHIVE_IO_PARADIGM, string_id(defs, "MPI-IO"), string_id(defs, "MPI I/O"),
           OTF2_IO_PARADIGM_CLASS_PARALLEL, OTF2_IO_PARADIGM_FLAG_NONE, 0, NULL, NULL, NULL);
    for (uint32_t i = 0; i < join->io_files.n; i++)
        DEFINE(defs, IoRegularFile, i, string_id(defs, intern_get(&join->io_files, i)), DEFS_ROOT_NODE);
    for (uint32_t i = 0; i < join->io_handles.n; i++) {
        struct join_handle key;
        memcpy(&key, join->io_handles.items[i].bytes, sizeof key);
        uint32_t flags = join->handle_infos.at[i].flags;
        bool is_found = flags & WW_FILE_FOUND;
        const char *name = key.file == JOIN_NONE ? arena_printf(&join->arena, "file handle %u", i)
                                                 : intern_get(&join->io_files, key.file);
        DEFINE(defs, IoHandle, i, string_id(defs, name), key.file == JOIN_NONE ? OTF2_UNDEFINED_IO_FILE : key.file,
               ARCHIVE_IO_PARADIGM, is_found ? OTF2_IO_HANDLE_FLAG_PRE_CREATED : OTF2_IO_HANDLE_FLAG_NONE,
               key.comm == JOIN_NONE ? OTF2_UNDEFINED_COMM : key.comm, OTF2_UNDEFINED_IO_HANDLE);
        if (is_found)
            DEFINE(defs, IoPreCreatedHandleState, i, archive_access_mode(flags), archive_status_flags(flags));
    }
}
