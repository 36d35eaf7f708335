/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a reader may begin who wants a later part of a run only. A start is a place in the records of a process's
 * locations at which its first thread is about to enter MPI and no thread is in it. What the process is in the middle
 * of at some later time is known to one who reads from there on: from the time on at which everything has been
 * completed that was pending at the start. Besides it takes to know how many collectives came before.
 *
 * At a start the prediction of call stacks begins anew (prediction.h). The converter makes one for some hundred
 * calls, and fewer where stacks are many. Memory is bounded: of too many, every second one goes.
 *
 * In the run directory, beside the anchor, traces.starts has them: a header, then for each start, by rank and in order
 * of the records, a struct starts_record, its positions and its counts.
 */
#pragma once
#include "wrap/base/containers.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define STARTS_MAGIC "wwstart"

struct starts_header {
    char magic[8];
    uint64_t n_events; /* of the archive, as its definitions tell */
};
struct starts_record {
    uint32_t rank, n_positions, n_counts, zero;
    uint64_t known_ns; /* on the process's clock: parts that begin later may start here */
};
/* Of a location, by its id in the archive: so many records are before it. */
struct starts_position {
    uint64_t location, n_records;
};
/* Of a communicator, by its id in the archive (by its local id in a part). */
struct starts_count {
    uint32_t comm, is_non_blocking;
    uint64_t n; /* collectives of the process on it */
};

/* Of a process, while it is converted. */

struct start {
    uint32_t number;
    uint32_t n_open; /* of what was pending, so many operations are not complete yet */
    uint64_t known_ns;
    size_t first_count, n_counts; /* in the counts below */
};

struct starts {
    VEC(struct start) all;
    VEC(uint64_t) positions; /* of each start, of all locations */
    VEC(struct starts_count) counts;
    struct map collectives; /* communicator and whether it blocks -> 1 + index in `now` */
    VEC(struct starts_count) now;
    size_t now_at;                         /* where the last one was counted */
    uint32_t n_open;                       /* operations that are pending */
    uint32_t next_number;                  /* of a start */
    uint64_t n_calls_at_last, calls_apart; /* of the first thread; 0 = as few as may be */
};

void starts_release(struct starts *starts);
/* A receive or a non-blocking collective begins: to be kept until it is over. */
static inline uint32_t starts_begin(struct starts *starts)
{
    starts->n_open++;
    return starts->next_number;
}
void starts_know_later(struct starts *starts, uint32_t begun, uint64_t time_ns);
static inline void starts_complete(struct starts *starts, uint32_t begun, uint64_t time_ns)
{
    starts->n_open--;
    if (begun != starts->next_number) /* there have been some since */
        starts_know_later(starts, begun, time_ns);
}
size_t starts_find_count(struct starts *starts, uint32_t comm, bool is_non_blocking);
static inline void starts_count_collective(struct starts *starts, uint32_t comm, bool is_non_blocking)
{
    const struct starts_count *last = starts->now.n ? &starts->now.at[starts->now_at] : NULL;
    if (!last || last->comm != comm || last->is_non_blocking != is_non_blocking)
        starts->now_at = starts_find_count(starts, comm, is_non_blocking);
    starts->now.at[starts->now_at].n++;
}
/* Is it time for one? The first thread has made so many calls, and met so many stacks since the last start. Each of
 * them, and each communicator, takes as much as a third of a call: so come so many calls for it. */
enum { STARTS_APART = 256, STARTS_CALLS_EACH = 32 };
static inline bool starts_are_due(const struct starts *starts, uint64_t n_calls, size_t n_stacks)
{
    uint64_t n_since = n_calls - starts->n_calls_at_last;
    return n_since >= STARTS_APART && n_since >= starts->calls_apart &&
           n_since / STARTS_CALLS_EACH >= n_stacks + starts->now.n;
}
/* Room for the positions of a new one, by location. */
uint64_t *starts_add(struct starts *starts, uint64_t time_ns, uint64_t n_calls, size_t n_locations);

/* The file. */

struct starts_file {
    FILE *file;
    char *path;
    uint64_t n; /* starts in it */
    bool has_failed;
};
/* 0, or -1 after error(). */
int starts_file_begin(struct starts_file *file, const char *dir);
void starts_file_put(struct starts_file *file, const struct starts_record *record,
                     const struct starts_position *positions, const struct starts_count *counts);
/* Makes it valid for an archive with so many events; without a start there is no file. False when it could not be
 * written. Fine after a begin that failed. */
bool starts_file_end(struct starts_file *file, uint64_t n_events);

/* Of a rank; none = it is read from its first record on. */
struct starts_of_rank {
    VEC(struct starts_position) positions;
    VEC(struct starts_count) counts;
};
void starts_of_rank_release(struct starts_of_rank *of);
/* May this part begin there? */
typedef bool starts_may_begin(void *context, uint32_t rank, uint64_t known_ns);
/* The last start of each rank at which it may, from the file of an archive with so many events. False where there is no
 * such file, or where it is not sound; then nothing is known. */
bool starts_read(const char *path, uint64_t n_events, starts_may_begin *may_begin, void *context,
                 struct starts_of_rank *ranks, uint32_t n_ranks);
