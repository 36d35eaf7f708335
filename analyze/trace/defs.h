/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The global definitions of an archive, as they stand there: any order, any ids, duplicates. defs_build makes the
 * definitions of a struct trace from them and the tables that translate the ids in events.
 */
#pragma once
#include "analyze/archive/archive.h"
#include "analyze/trace/trace.h"
#include "wrap/base/containers.h"

/* Definition or event id -> index. */
struct ids {
    VEC(uint32_t) small; /* 1 + index */
    struct map large;
};
void ids_put(struct ids *ids, uint64_t id, uint32_t index);
void ids_release(struct ids *ids);
enum { IDS_SMALL = 1 << 16 };
static inline uint32_t ids_get(const struct ids *ids, uint64_t id)
{
    if (id < IDS_SMALL)
        return id < ids->small.n ? ids->small.at[id] - 1 : TRACE_NONE;
    const uint64_t *index = map_get(&ids->large, id);
    return index ? (uint32_t)*index : TRACE_NONE;
}

struct def_group {
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    bool is_global; /* members are locations */
    uint32_t n;
    uint64_t *members;
};
struct def_comm {
    uint32_t name, parent;
    uint32_t group, remote_group; /* OTF2 ids; remote TRACE_NONE but for OTF2's own intercommunicators */
    uint32_t n_first;             /* ours: members that are one of the two groups of an intercommunicator */
};
struct def_location_group {
    uint32_t node;
    bool is_process, is_incomplete;
    uint32_t rank; /* set by defs_build */
    uint32_t end_how;
    int32_t end_detail;
    uint32_t n_threads;
    struct ww_machine machine;
};
struct def_location {
    uint64_t id;
    uint32_t group;
    bool is_thread;
    uint64_t n_events, n_dropped, n_nested, sample_period_ns, end_ns, begin_ns;
    uint32_t cpus; /* string; TRACE_NONE = unknown */
};
struct def_region {
    uint32_t name, file, line_first, line_last;
};
struct def_io_handle {
    uint32_t file, paradigm, comm; /* OTF2 ids */
};
struct def_context {
    uint32_t region, parent;
    uint64_t address;
    uint32_t module, flags;
};
struct def_property {
    uint32_t name, value; /* strings */
    uint32_t of;          /* index of the location group */
};

struct defs {
    struct arena arena;
    uint64_t realtime_ns; /* when the clock showed `offset`, since 1970; 0 = unknown */
    uint64_t resolution, offset, length;
    VEC(const char *) strings;
    VEC(uint32_t) node_names;
    VEC(struct def_location_group) location_groups;
    VEC(struct def_location) locations;
    VEC(struct def_region) regions;
    VEC(struct def_group) groups;
    VEC(struct def_comm) comms;
    VEC(struct def_context) contexts;
    VEC(uint32_t) win_comms;
    VEC(uint32_t) io_paradigms, io_files; /* strings: identification, name */
    VEC(struct def_io_handle) io_handles;
    VEC(struct def_property) root_properties, process_properties;
    struct def_group comm_locations; /* of MPI */
    struct ids string_ids, node_ids, location_group_ids, location_ids, region_ids, group_ids, comm_ids, context_ids,
        win_ids, attribute_ids, io_paradigm_ids, io_file_ids, io_handle_ids;
    VEC(uint32_t) attribute_names;
    uint32_t n_duplicates;
};

/* Reads all global definitions, fewer than `limit`. The clock begins with the first call, where the archive tells it.
 * Returns 0, or -1 when the file is damaged (nothing is printed). */
int defs_read(struct defs *defs, OTF2_Reader *reader, uint64_t limit);
void defs_release(struct defs *defs);
const char *defs_string(const struct defs *defs, uint32_t id); /* "" when unknown */

/* From ids in events to indices of the trace. */
struct defs_tables {
    struct ids regions, comms, frames, wins, io_handles; /* ids -> index of the definition */
    VEC(uint32_t) region_of;                             /* definition -> trace region */
    VEC(uint32_t) comm_of_win;
    VEC(uint32_t) file_of_handle; /* trace file; TRACE_NONE for handles that are not of MPI-IO */
    VEC(OTF2_CommRef) comm_of_handle;
    VEC(uint32_t) comm_n_first; /* ranks of intercommunicators count through both groups, the first having so many */
    uint32_t self_comm;         /* trace communicator that stands for all MPI_COMM_SELF; that of rank r is ... */
    uint32_t self_first;        /* ... self_first + r */
    struct ids groups;
    VEC(struct def_group) group_members; /* members in the arena of the trace, as world ranks */
    VEC(uint64_t) location_ids;          /* OTF2 id by trace location */
    VEC(uint64_t) location_records;      /* likewise, how many events it has */
};
/* Fills the definitions of the trace; takes tables out of defs. */
void defs_build(struct defs *defs, struct trace *trace, struct defs_tables *tables);
/* Part of it: the files of MPI-IO. */
void defs_build_files(struct defs *defs, struct trace *trace, struct defs_tables *tables);
void defs_tables_release(struct defs_tables *tables);
