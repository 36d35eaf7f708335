/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of a join: what the parts of all ranks define, made one. Every table is an intern: equal definitions of
 * different processes get one global id, in the order of ranks, so that the same parts always give the same archive.
 */
#pragma once
#include "analyze/archive/archive.h"
#include "analyze/archive/convert.h"
#include "analyze/files/folder.h"
#include "analyze/archive/part.h"
#include "analyze/archive/starts.h"
#include "wrap/base/containers.h"
#include "wrap/windows.h"

enum { JOIN_SYNC_GROUPS = 2, JOIN_NONE = UINT32_MAX, JOIN_THREADS = UINT32_MAX - 1 };

/* Keys of the interns. */
struct join_frame {
    uint32_t parent; /* JOIN_NONE at the outermost */
    uint32_t module; /* JOIN_NONE: the address is in no known module */
    uint64_t address;
    uint32_t flags; /* ARCHIVE_FRAME_ */
    uint32_t copy;  /* 0 but for a stack that one location has under several ids */
};
struct join_comm {
    uint32_t groups, nth; /* the nth communicator with these groups; JOIN_THREADS: the threads of rank nth */
};
struct join_win {
    uint32_t comm, nth;
};
struct join_handle {
    uint32_t comm, file, nth; /* the nth handle of this file on this communicator */
};
struct join_counter {
    uint32_t module, point;
    uint32_t what, zero;
};

/* What belongs to the id of an intern, in a vector of the same length. */
struct join_comm_info {
    uint32_t parent;
    const char *name;      /* NULL = none given; arena */
    bool is_self, is_made; /* made: by a call, of which there is an event */
};
struct join_win_info {
    const char *name;
};
struct join_handle_info {
    uint32_t flags; /* WW_FILE_ */
};
struct join_module_info {
    const char *path;
    bool is_script; /* a source file of code that an interpreter ran (join_code.h) */
    uint8_t build_id[32];
    uint32_t build_id_bytes;
};

/* A routine of a script. */
struct join_code_info {
    uint32_t module;
    uint64_t base;    /* its address, but for the line */
    const char *name; /* arena */
};

struct join_clock {
    uint64_t local_ns;
    int64_t offset_ns;
    uint64_t error_ns;
};

struct join_location {
    uint32_t rank, thread;
    uint64_t n_events, n_dropped, n_nested, sample_period_ns, last_ns, begin_ns;
    uint8_t cpus[WW_CPUS_BYTES]; /* as in struct ww_header */
};

struct join_rank {
    bool is_there, has_calls; /* a file of it, that of its main thread's calls */
    bool lacks_records;       /* in the files of it that are there */
    char host[256];
    uint32_t end_how;
    int32_t end_detail;
    struct ww_machine machine;
    uint64_t in_init_ns;          /* from the call of MPI_Init until recording began; 0 = unknown */
    VEC(const char *) properties; /* name, value, name, value ... as texts */
};

/* The run that files are of, as the first of them tells that knows it. */
struct join_run {
    uint64_t number; /* of struct ww_header; 0 = not known yet */
    const char *path;
};

struct join {
    struct arena arena;
    const struct folder *run;
    const char *parts_dir, *whole_dir;
    const struct convert_options *options;
    OTF2_Archive *archive;
    struct starts_file starts;
    bool failed;                                  /* something could not be written */
    uint64_t largest_part_bytes, locations_bytes; /* a definition takes up to two parts, or all locations */
    struct join_run run_of_parts;
    uint32_t n_ranks;
    struct join_rank *ranks;
    char program[1024], command[1024], only[512], mpi[32];
    uint64_t realtime_ns, start_ns;
    bool has_times, has_counts, has_pending, lacks_threads, has_threads, has_outsiders;
    uint64_t begin_ns;          /* the latest of rings that have lost records, on the clock of rank 0; 0 = none has */
    uint64_t first_ns, last_ns; /* of all events, on the clock of rank 0 */
    uint64_t first_call_ns;     /* likewise, of all calls; 0 = there is none */
    uint64_t sample_period_ns;
    struct windows windows;  /* as asked for; 0 = the run was recorded as a whole */
    uint32_t n_windows;      /* begun */
    bool windows_have_ended; /* before the run */
    uint64_t windows_ns;     /* how long these took, on the rank where that was longest */
    uint64_t lost_ns;        /* switches were lost for so long, outside MPI, all threads together */
    uint64_t open_ns;        /* whether they computed is not known for so much of it */
    VEC(struct join_location) locations;
    struct intern modules, frames, groups, comms, wins, sync_groups, counters;
    struct intern sources; /* paths that frames name, but for headers of the system; by id: */
    VEC(uint32_t) source_modules;
    struct intern io_files, io_handles; /* names; struct join_handle */
    VEC(struct join_comm_info) comm_infos;
    VEC(struct join_win_info) win_infos;
    VEC(struct join_handle_info) handle_infos;
    VEC(struct join_module_info) module_infos;
    /* Of scripts: by module, first line and name; by module and address, and which one stands there. */
    struct intern codes, code_places;
    VEC(struct join_code_info) code_infos;
    VEC(uint32_t) code_at_place;
    struct map codes_on_line;           /* module and first line -> how many begin there */
    uint32_t region[ARCHIVE_N_REGIONS]; /* by local id -> 1 + global region */
    uint32_t n_call_regions;
    VEC(const char *) notes;
};

/* join_rank.c: reads the part of one rank, fills the tables and writes the local definitions of its locations. 0, or -1
 * after error(). */
int join_read_rank(struct join *join, uint32_t rank);
/* join_defs.c: writes the global definitions. */
void join_write_definitions(struct join *join);

/* A name that the program gave, as any reader can take it (Python's wants UTF-8): wrap/base/err.h. `bytes` at most.
 */
const char *join_plain_name(struct join *join, const char *text, uint32_t bytes);

/* Group key: n local, n remote, then world ranks; for intercommunicators the smaller list first. */
static inline const int32_t *join_group(const struct join *join, uint32_t groups)
{
    return join->groups.items[groups].bytes;
}
