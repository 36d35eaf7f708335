/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the spool of a run to its OTF2 archive, in two steps. Every rank converts its own files, all at the same time.
 * Then one process joins the parts. Each step can be interrupted and repeated at any moment: a file has its final name
 * only when it is complete, and the spool is removed last.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Names a frame: fills what is known and returns true, or false. Texts must live until convert_join returns. */
struct convert_place {
    const char *routine, *file; /* NULL = unknown */
    uint32_t line;
    const char *sources[2]; /* files worth keeping: that one, and of the routine into which it was inlined; or NULL */
};
struct convert_options {
    bool keep_spool;
    bool (*resolve)(void *user, const char *module, const uint8_t *build_id, uint32_t build_id_bytes, uint64_t address,
                    bool is_return, struct convert_place *place); /* NULL = nobody */
    /* 0, or -1 after error(): a file could not be opened that may have names for the archive. */
    int (*status)(void *user);
    /* Is this file the build that was recorded, and worth keeping? */
    bool (*is_kept)(void *user, const char *module, const uint8_t *build_id, uint32_t build_id_bytes);
    void *user;
};

/* Spool of one rank -> RUNDIR/parts/RANK. Returns 0, also when it is there already. After error(): -1 where its records
 * are too damaged for a part; CONVERT_UNDONE where the system failed. Then they are as they were: try again. */
enum { CONVERT_UNDONE = -2 };
int convert_rank(const char *run_dir, uint32_t rank);
/* The same with the files of the spool, so that many ranks do not read the folder anew each. Borrowed. */
struct spool_list;
int convert_rank_of(const char *run_dir, uint32_t rank, const struct spool_list *list);
/* Parts of all ranks -> RUNDIR/traces.otf2. Ranks with neither a part nor a spool are in the archive without events,
 * and a note says so. Where a rank has a spool but no part there is no archive. Returns 0, or -1 after error(). */
int convert_join(const char *run_dir, const struct convert_options *options);
/* Converts every rank that has a spool but no part, then joins. It leaves out a rank whose records are too damaged,
 * with a warning, and keeps its spool. Where the system fails there is no archive, and nothing is lost. Returns 0, also
 * when the archive is there already, or -1 after error(). */
int convert_salvage(const char *run_dir, const struct convert_options *options);
