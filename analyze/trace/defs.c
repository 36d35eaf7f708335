/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/defs.h"
#include "wrap/base/err.h"
#include <stdlib.h>
#include <string.h>

#define OK OTF2_CALLBACK_SUCCESS

void ids_put(struct ids *ids, uint64_t id, uint32_t index)
{
    if (id >= IDS_SMALL) {
        *map_put(&ids->large, id, NULL) = index;
        return;
    }
    if (id >= ids->small.n)
        vec_resize(&ids->small, id + 1);
    ids->small.at[id] = index + 1;
}

void ids_release(struct ids *ids)
{
    vec_release(&ids->small);
    map_release(&ids->large);
}

const char *defs_string(const struct defs *defs, uint32_t id)
{
    uint32_t index = ids_get(&defs->string_ids, id);
    return index == TRACE_NONE ? "" : defs->strings.at[index];
}

/* The entry of an id in a vector: a new one, or that of the earlier definition of this id, which is replaced. */
#define ENTRY(defs, vec, table, id)                                                                                    \
    (ids_get(&(defs)->table, (id)) == TRACE_NONE                                                                       \
         ? (ids_put(&(defs)->table, (id), (uint32_t)(defs)->vec.n), vec_push(&(defs)->vec))                            \
         : ((defs)->n_duplicates++, &(defs)->vec.at[ids_get(&(defs)->table, (id))]))

/* Of most definitions an entry is kept, and of what OTF2 tells of them only a part. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define KEEP(name, vec, table, value, ...)                                                                             \
    static OTF2_CallbackCode name(void *user, __VA_ARGS__)                                                             \
    {                                                                                                                  \
        struct defs *defs = user;                                                                                      \
        *ENTRY(defs, vec, table, self) = value;                                                                        \
        return OK;                                                                                                     \
    }

KEEP(on_string, strings, string_ids, arena_strdup(&defs->arena, text), OTF2_StringRef self, const char *text)
KEEP(on_attribute, attribute_names, attribute_ids, name, OTF2_AttributeRef self, OTF2_StringRef name,
     OTF2_StringRef description, OTF2_Type type)
KEEP(on_node, node_names, node_ids, name, OTF2_SystemTreeNodeRef self, OTF2_StringRef name, OTF2_StringRef class_name,
     OTF2_SystemTreeNodeRef parent)
KEEP(on_location_group, location_groups, location_group_ids,
     ((struct def_location_group){.node = node,
                                  .is_process = type == OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                  .rank = TRACE_NONE,
                                  .end_how = WW_END_FINALIZE}),
     OTF2_LocationGroupRef self, OTF2_StringRef name, OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef node,
     OTF2_LocationGroupRef creator)
KEEP(on_location, locations, location_ids,
     ((struct def_location){.id = self,
                            .group = group,
                            .is_thread = type == OTF2_LOCATION_TYPE_CPU_THREAD,
                            .cpus = TRACE_NONE,
                            .n_events = n_events}),
     OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type, uint64_t n_events, OTF2_LocationGroupRef group)
KEEP(on_region, regions, region_ids,
     ((struct def_region){.name = name, .file = file, .line_first = first, .line_last = last}), OTF2_RegionRef self,
     OTF2_StringRef name, OTF2_StringRef canonical, OTF2_StringRef description, OTF2_RegionRole role,
     OTF2_Paradigm paradigm, OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t first, uint32_t last)
KEEP(on_comm, comms, comm_ids, ((struct def_comm){name, parent, group, TRACE_NONE, 0}), OTF2_CommRef self,
     OTF2_StringRef name, OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
KEEP(on_intercomm, comms, comm_ids, ((struct def_comm){name, parent, local, remote, 0}), OTF2_CommRef self,
     OTF2_StringRef name, OTF2_GroupRef local, OTF2_GroupRef remote, OTF2_CommRef parent, OTF2_CommFlag flags)
KEEP(on_window, win_comms, win_ids, comm, OTF2_RmaWinRef self, OTF2_StringRef name, OTF2_CommRef comm,
     OTF2_RmaWinFlag flags)
KEEP(on_io_paradigm, io_paradigms, io_paradigm_ids, identification, OTF2_IoParadigmRef self,
     OTF2_StringRef identification, OTF2_StringRef name, OTF2_IoParadigmClass class, OTF2_IoParadigmFlag flags,
     uint8_t n, const OTF2_IoParadigmProperty *properties, const OTF2_Type *types, const OTF2_AttributeValue *values)
KEEP(on_io_file, io_files, io_file_ids, name, OTF2_IoFileRef self, OTF2_StringRef name, OTF2_SystemTreeNodeRef scope)
KEEP(on_io_handle, io_handles, io_handle_ids, ((struct def_io_handle){file, paradigm, comm}), OTF2_IoHandleRef self,
     OTF2_StringRef name, OTF2_IoFileRef file, OTF2_IoParadigmRef paradigm, OTF2_IoHandleFlag flags, OTF2_CommRef comm,
     OTF2_IoHandleRef parent)
KEEP(on_context, contexts, context_ids,
     ((struct def_context){.region = region, .parent = parent, .module = TRACE_NONE}), OTF2_CallingContextRef self,
     OTF2_RegionRef region, OTF2_SourceCodeLocationRef line, OTF2_CallingContextRef parent)

static OTF2_CallbackCode on_clock(void *user, uint64_t resolution, uint64_t offset, uint64_t length, uint64_t realtime)
{
    struct defs *defs = user;
    defs->resolution = resolution;
    defs->realtime_ns = realtime == OTF2_UNDEFINED_TIMESTAMP ? 0 : realtime;
    defs->offset = offset;
    defs->length = length;
    return OK;
}

static OTF2_CallbackCode on_node_property(void *user, OTF2_SystemTreeNodeRef node, OTF2_StringRef name, OTF2_Type type,
                                          OTF2_AttributeValue value)
{
    struct defs *defs = user;
    if (type == OTF2_TYPE_STRING)
        *vec_push(&defs->root_properties) = (struct def_property){name, value.stringRef, 0};
    return OK;
}

static OTF2_CallbackCode on_location_group_property(void *user, OTF2_LocationGroupRef group, OTF2_StringRef name,
                                                    OTF2_Type type, OTF2_AttributeValue value)
{
    struct defs *defs = user;
    uint32_t index = ids_get(&defs->location_group_ids, group);
    const char *text = defs_string(defs, name);
    if (index == TRACE_NONE)
        return OK;
    if (type == OTF2_TYPE_UINT32 && !strcmp(text, ARCHIVE_PROP_END_HOW))
        defs->location_groups.at[index].end_how = value.uint32 <= WW_END_EXEC ? value.uint32 : WW_END_NONE;
    if (type == OTF2_TYPE_INT32 && !strcmp(text, ARCHIVE_PROP_END_DETAIL))
        defs->location_groups.at[index].end_detail = value.int32;
    if (type == OTF2_TYPE_UINT32 && !strcmp(text, ARCHIVE_PROP_INCOMPLETE))
        defs->location_groups.at[index].is_incomplete = value.uint32 != 0;
#define READ_MACHINE(field, property)                                                                                  \
    if (type == OTF2_TYPE_UINT64 && !strcmp(text, property))                                                           \
        defs->location_groups.at[index].machine.field = value.uint64;
    ARCHIVE_MACHINE_PROPS(READ_MACHINE)
    if (type == OTF2_TYPE_STRING)
        *vec_push(&defs->process_properties) = (struct def_property){name, value.stringRef, index};
    return OK;
}

static OTF2_CallbackCode on_location_property(void *user, OTF2_LocationRef location, OTF2_StringRef name,
                                              OTF2_Type type, OTF2_AttributeValue value)
{
    struct defs *defs = user;
    uint32_t index = ids_get(&defs->location_ids, location);
    const char *text = defs_string(defs, name);
    if (index == TRACE_NONE)
        return OK;
    if (type == OTF2_TYPE_STRING && !strcmp(text, ARCHIVE_PROP_CPUS))
        defs->locations.at[index].cpus = value.stringRef;
    if (type != OTF2_TYPE_UINT64)
        return OK;
    if (!strcmp(text, ARCHIVE_PROP_DROPPED))
        defs->locations.at[index].n_dropped = value.uint64;
    if (!strcmp(text, ARCHIVE_PROP_NESTED))
        defs->locations.at[index].n_nested = value.uint64;
    if (!strcmp(text, ARCHIVE_PROP_PERIOD))
        defs->locations.at[index].sample_period_ns = value.uint64;
    if (!strcmp(text, ARCHIVE_PROP_BEGIN_NS))
        defs->locations.at[index].begin_ns = value.uint64;
    if (!strcmp(text, ARCHIVE_PROP_END_NS))
        defs->locations.at[index].end_ns = value.uint64;
    return OK;
}

/* Some tools give the group of locations and the group of MPI_COMM_WORLD the same id. */
static OTF2_CallbackCode on_group(void *user, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
                                  OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t n, const uint64_t *members)
{
    struct defs *defs = user;
    struct def_group group = {
        .type = type, .paradigm = paradigm, .is_global = flags & OTF2_GROUP_FLAG_GLOBAL_MEMBERS, .n = n};
    if (type != OTF2_GROUP_TYPE_COMM_LOCATIONS && type != OTF2_GROUP_TYPE_COMM_GROUP &&
        type != OTF2_GROUP_TYPE_COMM_SELF)
        return OK;
    group.members = n ? arena_copy(&defs->arena, members, n * sizeof *members) : NULL;
    if (type != OTF2_GROUP_TYPE_COMM_LOCATIONS)
        *ENTRY(defs, groups, group_ids, self) = group;
    else if (paradigm == OTF2_PARADIGM_MPI)
        defs->comm_locations = group;
    return OK;
}

static OTF2_CallbackCode on_context_property(void *user, OTF2_CallingContextRef context, OTF2_StringRef name,
                                             OTF2_Type type, OTF2_AttributeValue value)
{
    struct defs *defs = user;
    uint32_t index = ids_get(&defs->context_ids, context);
    const char *text = defs_string(defs, name);
    if (index == TRACE_NONE)
        return OK;
    if (type == OTF2_TYPE_UINT64 && !strcmp(text, ARCHIVE_PROP_ADDRESS))
        defs->contexts.at[index].address = value.uint64;
    if (type == OTF2_TYPE_UINT32 && !strcmp(text, ARCHIVE_PROP_IN_MODULE))
        defs->contexts.at[index].module = value.uint32;
    if (type == OTF2_TYPE_UINT32 && !strcmp(text, ARCHIVE_PROP_FRAME))
        defs->contexts.at[index].flags = value.uint32;
    return OK;
}

#define SET(name, function) OTF2_GlobalDefReaderCallbacks_Set##name##Callback(callbacks, function)

/* Time off the CPU is recorded from earlier on than calls are, and earlier on one process than on the next: a run
 * begins with its first call. */
static void begin_with_calls(struct defs *defs)
{
    for (size_t i = 0; i < defs->root_properties.n; i++) {
        const struct def_property *property = &defs->root_properties.at[i];
        if (strcmp(defs_string(defs, property->name), ARCHIVE_PROP_RUN_FROM) != 0)
            continue;
        uint64_t from = strtoull(defs_string(defs, property->value), NULL, 10);
        if (from <= defs->offset || from - defs->offset >= defs->length)
            continue;
        uint64_t before = from - defs->offset;
        defs->offset = from;
        defs->length -= before;
        defs->realtime_ns += defs->realtime_ns ? before : 0; /* ticks of ours are nanoseconds */
    }
}

int defs_read(struct defs *defs, OTF2_Reader *reader, uint64_t limit)
{
    OTF2_GlobalDefReader *global = OTF2_Reader_GetGlobalDefReader(reader);
    if (!global)
        return -1;
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
    if (!callbacks)
        err_out_of_memory(0);
    SET(ClockProperties, on_clock);
    SET(String, on_string);
    SET(Attribute, on_attribute);
    SET(SystemTreeNode, on_node);
    SET(SystemTreeNodeProperty, on_node_property);
    SET(LocationGroup, on_location_group);
    SET(LocationGroupProperty, on_location_group_property);
    SET(Location, on_location);
    SET(LocationProperty, on_location_property);
    SET(Region, on_region);
    SET(Group, on_group);
    SET(Comm, on_comm);
    SET(InterComm, on_intercomm);
    SET(RmaWin, on_window);
    SET(IoParadigm, on_io_paradigm);
    SET(IoRegularFile, on_io_file);
    SET(IoHandle, on_io_handle);
    SET(CallingContext, on_context);
    SET(CallingContextProperty, on_context_property);
    uint64_t n_read = 0;
    bool failed = OTF2_Reader_RegisterGlobalDefCallbacks(reader, global, callbacks, defs) ||
                  OTF2_Reader_ReadGlobalDefinitions(reader, global, limit, &n_read) || n_read >= limit;
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    begin_with_calls(defs);
    return failed ? -1 : 0;
}

void defs_release(struct defs *defs)
{
    vec_release(&defs->strings);
    vec_release(&defs->node_names);
    vec_release(&defs->location_groups);
    vec_release(&defs->locations);
    vec_release(&defs->regions);
    vec_release(&defs->groups);
    vec_release(&defs->comms);
    vec_release(&defs->contexts);
    vec_release(&defs->win_comms);
    vec_release(&defs->io_paradigms);
    vec_release(&defs->io_files);
    vec_release(&defs->io_handles);
    vec_release(&defs->root_properties);
    vec_release(&defs->process_properties);
    vec_release(&defs->attribute_names);
    struct ids *tables[] = {&defs->string_ids,   &defs->node_ids,      &defs->location_group_ids, &defs->location_ids,
                            &defs->region_ids,   &defs->group_ids,     &defs->comm_ids,           &defs->context_ids,
                            &defs->win_ids,      &defs->attribute_ids, &defs->io_paradigm_ids,    &defs->io_file_ids,
                            &defs->io_handle_ids};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        ids_release(tables[i]);
    arena_release(&defs->arena);
}

/* From the definitions of I/O handles to the files of the trace. Equal names are one file. */

void defs_build_files(struct defs *defs, struct trace *trace, struct defs_tables *tables)
{
    struct intern names = {0};
    for (size_t i = 0; i < defs->io_handles.n; i++) {
        const struct def_io_handle *handle = &defs->io_handles.at[i];
        uint32_t paradigm = ids_get(&defs->io_paradigm_ids, handle->paradigm);
        uint32_t file = ids_get(&defs->io_file_ids, handle->file);
        bool is_of_mpi =
            paradigm != TRACE_NONE && !strcmp(defs_string(defs, defs->io_paradigms.at[paradigm]), "MPI-IO");
        *vec_push(&tables->file_of_handle) = file != TRACE_NONE && is_of_mpi
                                                 ? intern_text(&names, defs_string(defs, defs->io_files.at[file]))
                                                 : TRACE_NONE;
        *vec_push(&tables->comm_of_handle) = handle->comm;
    }
    trace->files = arena_array(&trace->arena, struct trace_file, names.n + 1);
    for (; trace->n_files < names.n; trace->n_files++)
        trace->files[trace->n_files].name = arena_strdup(&trace->arena, intern_get(&names, trace->n_files));
    intern_release(&names);
    tables->io_handles = defs->io_handle_ids;
    defs->io_handle_ids = (struct ids){0};
}
