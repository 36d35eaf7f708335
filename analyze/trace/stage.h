/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stage of the analysis that another thread can do. Who goes ahead writes records of what is to be done; the stage
 * works through them in their order. Without a thread the writer does so itself, a block at a time: the same is done in
 * the same order, whoever does it.
 *
 * The writer is ahead by a few blocks at most. Who has nothing to do sleeps until half of them are full, or free: so
 * nobody is woken for little.
 *
 * While the thread runs it alone touches what the records speak of. What else it reads must not change after the record
 * has been written for which it is read.
 */
#pragma once
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STAGE_BLOCKS_MOST = 16 };

struct stage {
    void (*work)(void *context, const void *records, size_t n_bytes); /* whole records */
    void *context;
    size_t block_bytes;
    uint32_t n_blocks;
    char *memory, *block; /* all blocks; the one that is written */
    size_t n_used;        /* of it */
    uint64_t n_turned;    /* blocks before it */
    size_t n_bytes[STAGE_BLOCKS_MOST];
    bool has_thread;
    pthread_t thread;
    pthread_mutex_t mutex; /* for what follows: */
    pthread_cond_t changed;
    uint64_t n_full, n_done; /* blocks so far */
    bool is_over;            /* nothing more will come */
};

void stage_begin(struct stage *stage, size_t block_bytes,
                 void (*work)(void *context, const void *records, size_t n_bytes), void *context);
/* From now on another thread does the work; the writer goes on if none can be had. */
void stage_start_thread(struct stage *stage);
/* Everything that was written has been done, and the thread has ended. More may be written then. */
void stage_finish(struct stage *stage);
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
