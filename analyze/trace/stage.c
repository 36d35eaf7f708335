/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/stage.h"
#include "wrap/base/err.h"
#include "wrap/launcher.h"
#include <signal.h>
#include <stdlib.h>

/* As many blocks as this is, but a few at least. */
enum { RING_BYTES = 1 << 20, BLOCKS_LEAST = 4 };

static char *block_at(const struct stage *stage, uint64_t number)
{
    return stage->memory + number % stage->n_blocks * stage->block_bytes;
}

void stage_begin(struct stage *stage, size_t block_bytes,
                 void (*work)(void *context, const void *records, size_t n_bytes), void *context)
{
    size_t n = RING_BYTES / block_bytes;
    n = n < BLOCKS_LEAST ? BLOCKS_LEAST : n > STAGE_BLOCKS_MOST ? STAGE_BLOCKS_MOST : n;
    *stage = (struct stage){.work = work, .context = context, .block_bytes = block_bytes, .n_blocks = (uint32_t)n};
    stage->memory = stage->block = malloc(n * block_bytes);
    if (!stage->memory)
        err_out_of_memory(n * block_bytes);
    pthread_mutex_init(&stage->mutex, NULL);
    pthread_cond_init(&stage->changed, NULL);
}

/* In the thread. */
static void *thread_run(void *argument)
{
    struct stage *stage = argument;
    launcher_leave_core();
    pthread_mutex_lock(&stage->mutex);
    for (;;) {
        if (stage->n_full == stage->n_done)
            while (stage->n_full - stage->n_done < stage->n_blocks / 2 && !stage->is_over)
                pthread_cond_wait(&stage->changed, &stage->mutex);
        if (stage->n_full == stage->n_done)
            break;
        uint64_t number = stage->n_done;
        pthread_mutex_unlock(&stage->mutex);
        stage->work(stage->context, block_at(stage, number), stage->n_bytes[number % stage->n_blocks]);
        pthread_mutex_lock(&stage->mutex);
        if (stage->n_full - ++stage->n_done == stage->n_blocks / 2)
            pthread_cond_signal(&stage->changed);
    }
    pthread_mutex_unlock(&stage->mutex);
    return NULL;
}

/* Signals are for the thread that was there first. */
void stage_start_thread(struct stage *stage)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    stage->is_over = false;
    stage->has_thread = pthread_create(&stage->thread, NULL, thread_run, stage) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void turn_to_thread(struct stage *stage)
{
    pthread_mutex_lock(&stage->mutex);
    stage->n_bytes[stage->n_full % stage->n_blocks] = stage->n_used;
    if (++stage->n_full - stage->n_done == stage->n_blocks / 2)
        pthread_cond_signal(&stage->changed);
    if (stage->n_full - stage->n_done == stage->n_blocks)
        while (stage->n_full - stage->n_done > stage->n_blocks / 2)
            pthread_cond_wait(&stage->changed, &stage->mutex);
    stage->block = block_at(stage, stage->n_full);
    pthread_mutex_unlock(&stage->mutex);
}

void stage_turn(struct stage *stage)
{
    if (stage->has_thread)
        turn_to_thread(stage);
    else
        stage->work(stage->context, stage->block, stage->n_used);
    stage->n_used = 0;
    stage->n_turned++;
}

void stage_finish(struct stage *stage)
{
    stage_turn(stage);
    if (!stage->has_thread)
        return;
    pthread_mutex_lock(&stage->mutex);
    stage->is_over = true;
    pthread_cond_signal(&stage->changed);
    pthread_mutex_unlock(&stage->mutex);
    pthread_join(stage->thread, NULL);
    stage->has_thread = false;
}

void stage_release(struct stage *stage)
{
    if (!stage->memory)
        return;
    if (stage->has_thread)
        stage_finish(stage);
    pthread_mutex_destroy(&stage->mutex);
    pthread_cond_destroy(&stage->changed);
    free(stage->memory);
    stage->memory = stage->block = NULL;
}
