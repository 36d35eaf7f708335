/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One spool file and its single writer.
 *
 * The file grows by segments. A segment's blocks are allocated before it is mapped, so that a full disk is an error of
 * the allocation and never a SIGBUS in the program. Then it is mapped shared and touched. Normally the helper thread
 * prepares the next segment while the writer fills the current one. A writer that overtakes it does the work itself. A
 * record never crosses the end of a segment: the rest is filled with a WW_PAD.
 *
 * A call record is completed in place after other records may have followed it: the segment with the last call record
 * stays mapped (`held`) when it is left.
 *
 * A ring has slots of one size: when there are as many as may be, or no room for one more, the oldest is zeroed and
 * used again. The slot that holds the last call is not used again before the next call; records find no room meanwhile.
 * Definitions go into slots of their own, which stay.
 *
 * Re-entrance: one thread writes (spool_take, spool_commit, spool_close). One other thread may call spool_prepare.
 * Every function preserves errno.
 */
#pragma once
#include "wrap/format.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { SPOOL_PATH_BYTES = 4096, SPOOL_SMALLEST_SEGMENT = 64 << 10, SPOOL_LARGEST_SEGMENT = 4 << 20 };

/* The room that all spools of this process share. */
struct spool_budget {
    _Atomic int64_t left_bytes;
    void (*_Atomic segment_was_left)(void); /* tells who prepares that there is work; may be NULL */
};

struct spool_segment {
    char *at;
    size_t bytes;
};

struct spool {
    char *next, *end;         /* of the free part of the current segment */
    struct ww_header *header; /* NULL when the spool is not open */
    char *last_call;
    const char *prepare_at; /* from here on in the first segment, the second one is prepared */
    struct spool_segment current, held;
    uint64_t current_offset; /* of the current segment in the file */
    /* Between the writer and who prepares. */
    _Atomic int state; /* enum spool_state */
    struct spool_segment ready;
    uint64_t ready_offset;
    struct spool_ring {
        size_t slot_bytes; /* 0 = the spool is no ring */
        uint32_t *slots;   /* by number modulo n: places in the file, in slot_bytes behind the header */
        uint32_t n, most;
        uint64_t number, held_number; /* of the current slot; of the one with the last call, 0 = the current one */
        struct spool_segment definitions;
        char *next, *end;
        uint64_t definitions_number;
    } ring;
    uint64_t file_bytes;  /* allocated so far */
    size_t segment_bytes; /* of the next segment */
    size_t largest_bytes;
    bool full;
    int fd;
    dev_t dev;
    ino_t ino;
    struct spool_budget *budget;
    char path[SPOOL_PATH_BYTES];
};

/* Creates the file `path` (which must not exist) with this header. False, with errno set and nothing left behind, when
 * that cannot be done. */
bool spool_open(struct spool *spool, const char *path, const struct ww_header *header, size_t first_bytes,
                size_t largest_bytes, struct spool_budget *budget);
/* The same as a ring that keeps the newest ring_bytes. */
bool spool_open_ring(struct spool *spool, const char *path, const struct ww_header *header, uint64_t ring_bytes,
                     struct spool_budget *budget);
static inline bool spool_is_open(const struct spool *spool)
{
    return __atomic_load_n(&spool->header, __ATOMIC_ACQUIRE) != NULL;
}
/* Programs expect the low numbers for themselves: the same descriptor under a higher one. */
int spool_move_up(int fd);
/* Gives the descriptor back, for a file that will hardly grow: if it does, it is opened again by its path. */
void spool_leave_descriptor(struct spool *spool);
/* True when records were dropped. Any thread, as spool_is_open. */
static inline bool spool_is_full(const struct spool *spool)
{
    return __atomic_load_n(&spool->full, __ATOMIC_RELAXED);
}
/* Prepares the next segment when the current one is well used. */
void spool_prepare(struct spool *spool);
/* The file has been removed; false where that cannot be known. */
bool spool_is_removed(const struct spool *spool);
/* Marks the end in the header, cuts the file to what was written and unmaps. The path stays readable. */
void spool_close(struct spool *spool, enum ww_end how, int32_t detail, uint64_t end_ns);
/* Marks the end in the header and leaves everything else as it is. */
void spool_mark_end(struct spool *spool, enum ww_end how, int32_t detail, uint64_t end_ns);

void *spool_take_slow(struct spool *spool, unsigned units, bool is_call);
/* Room for a record, all zero, or NULL (counted in n_dropped). `is_call`: no earlier record will be written to again.
 */
static inline void *spool_take(struct spool *spool, unsigned units, bool is_call)
{
    char *at = spool->next;
    if (__builtin_expect((size_t)(spool->end - at) < (size_t)units * WW_UNIT, 0))
        return spool_take_slow(spool, units, is_call);
    __atomic_store_n(&spool->next, at + (size_t)units * WW_UNIT, __ATOMIC_RELAXED); /* the helper looks at it */
    if (is_call)
        spool->last_call = at;
    return at;
}
/* Room for a record that stays: what others refer to. */
void *spool_take_definition(struct spool *spool, unsigned units);
/* Makes the record visible to readers. */
static inline void spool_commit(void *record, uint16_t type, uint16_t units)
{
    atomic_store_explicit((_Atomic uint32_t *)record, (uint32_t)type | (uint32_t)units << 16, memory_order_release);
}
