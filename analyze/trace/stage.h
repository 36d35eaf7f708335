/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stage of the analysis that another thread can do. The writer goes ahead and writes records of work. The stage works
 * through them in their order, a block at a time. The same is done in the same order, whoever does it: the writer
 * itself at the end of each block, or a staff.
 *
 * A staff is some threads, and the stages that they do, each of which one of them works on at a time. The writer is
 * ahead by a few blocks at most. A writer that finds them all full works meanwhile on that stage or on one behind it,
 * until half are free: so there need not be a thread for each stage, and none sleeps while there is work that it may
 * do. Nobody waits for a stage before his own, so it always goes on. A thread stays with a stage while there is work in
 * it, whose data are near then. A block is worked on by portions: who lends a hand looks after each whether his own
 * stage has room by now.
 *
 * While it is worked on, only who does so touches what the records speak of. Other data that is read must not change
 * after the record for which it is read.
 */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of what one stage writes all the time, and another reads or writes, this many bytes lie apart: what is in one cache
 * line, of which processors fetch two at a time, goes from core to core. */
enum { STAGE_APART = 128 };

enum { STAGE_BLOCKS_MOST = 16, STAGE_PORTION = 1 << 16, STAFF_MOST = 3 };

/* Works on whole records, the first of these n_bytes: all of them, or until it has done STAGE_PORTION. Returns how many
 * bytes it has done. */
typedef size_t stage_work(void *context, const void *records, size_t n_bytes);

struct staff {
    struct stage *stages[STAFF_MOST]; /* the last one of the way first */
    uint32_t n_stages;
    pthread_t threads[STAFF_MOST];
    uint32_t n_threads;
    pthread_mutex_t mutex; /* for this, and for what stages say is for it */
    pthread_cond_t changed;
    bool is_over; /* threads end */
};

struct stage {
    stage_work *work;
    void *context;
    size_t block_bytes;
    uint32_t n_blocks;
    char *memory, *block; /* all blocks; the one that is written */
    size_t n_used;        /* of it */
    uint64_t n_turned;    /* blocks before it */
    size_t n_bytes[STAGE_BLOCKS_MOST];
    struct staff *staff;     /* borrowed; NULL = the writer does the work. For its mutex: */
    uint32_t place;          /* in the staff */
    uint64_t n_full, n_done; /* blocks so far */
    size_t n_worked;         /* bytes of the next one to be done */
    bool is_worked_on;
};

/* With as many threads, or as many of them as can be had. */
void staff_begin(struct staff *staff, uint32_t n_threads);
/* All that was written has been done. The stages have no staff any more. Zeros are a staff that has ended. */
void staff_end(struct staff *staff);

void stage_begin(struct stage *stage, size_t block_bytes, stage_work *work, void *context);
/* From now on the staff does the work. The stages for which that writes have joined before. */
void stage_join(struct stage *stage, struct staff *staff);
/* Everything that was written has been done, and the staff has left. More may be written then. */
void stage_finish(struct stage *stage);
/* The staff has left. */
void stage_release(struct stage *stage);

/* Hands the block over that is written; it has room then. */
void stage_turn(struct stage *stage);
/* Room for the next record, of a multiple of 8 bytes; at most a block. To be filled in before the next call. */
static inline void *stage_room(struct stage *stage, size_t n_bytes)
{
    if (stage->n_used + n_bytes > stage->block_bytes)
        stage_turn(stage);
    void *room = stage->block + stage->n_used;
    stage->n_used += n_bytes;
    return room;
}
