/* SPDX-License-Identifier: BSD-3-Clause */
/* The local ids of the rank at hand. */
#pragma once
#include "analyze/archive/join.h"
#include "analyze/archive/spool.h"

struct module_range {
    uint64_t low, high, bias;
    uint32_t module; /* global */
};

struct id_pair {
    uint32_t local, global;
};

struct counters_bias {
    uint32_t id;
    uint64_t bias;
};

struct rank_tables {
    struct join *join;
    uint32_t rank;
    VEC(struct module_range) ranges; /* in order of loading */
    struct map module_of;            /* local -> 1 + global */
    struct map comm_of, win_of;      /* local -> 1 + global */
    VEC(struct id_pair) comms, wins, sync_groups, io_files, io_handles, attributes, calls;
    VEC(struct counters_bias) counters; /* WW_COUNTERS */
    VEC(struct part_counter) points;
    VEC(struct join_clock) clocks;
    struct map nth_comm, nth_win, nth_handle; /* groups, comm, comm and file -> how many so far */
    struct map has_file;                      /* local ids of files */
};

/* Global id of a communicator; JOIN_NONE when it is not known. */
uint32_t join_comm_of(const struct rank_tables *tables, uint32_t local);
/* Adds a file, and its handle, to the join (join_defs.c). */
void join_take_file(struct rank_tables *tables, const struct ww_file *record);

/* The event and sample files of one thread, which stand next to each other in `files`: writes the local definitions of
 * the location and adds it to the join. Returns how many files were taken, or -1 after error(). */
int join_location(struct rank_tables *tables, const char *dir, const struct spool_file *files, size_t n);
