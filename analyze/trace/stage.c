/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/stage.h"
#include "wrap/base/err.h"
#include "wrap/launcher.h"
#include <signal.h>
#include <stdlib.h>

/* As many blocks as this is, but a few at least. */
enum { RING_BYTES = 1 << 20, BLOCKS_LEAST = 4 };

/* In who works; the mutex is held. */

static char *block_at(const struct stage *stage, uint64_t number)
{
    return stage->memory + number % stage->n_blocks * stage->block_bytes;
}

static uint64_t n_waiting(const struct stage *stage)
{
    return stage->n_full - stage->n_done;
}

/* One of the first n stages. */
static struct stage *find_work(const struct staff *staff, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (n_waiting(staff->stages[i]) && !staff->stages[i]->is_worked_on)
            return staff->stages[i];
    return NULL;
}

static void work_on(struct staff *staff, struct stage *stage)
{
    const char *records = block_at(stage, stage->n_done) + stage->n_worked;
    size_t n_left = stage->n_bytes[stage->n_done % stage->n_blocks] - stage->n_worked;
    stage->is_worked_on = true;
    pthread_mutex_unlock(&staff->mutex);
    size_t n_worked = stage->work(stage->context, records, n_left);
    pthread_mutex_lock(&staff->mutex);
    stage->is_worked_on = false;
    stage->n_worked += n_worked;
    if (n_worked < n_left)
        return;
    stage->n_worked = 0;
    stage->n_done++;
    if (n_waiting(stage) == 0 || n_waiting(stage) == stage->n_blocks / 2)
        pthread_cond_broadcast(&staff->changed);
}

/* Until so many of the stage's blocks are full at most. */
static void work_until(struct stage *stage, uint64_t n_most)
{
    struct staff *staff = stage->staff;
    while (n_waiting(stage) > n_most) {
        struct stage *next = find_work(staff, stage->place + 1);
        if (next)
            work_on(staff, next);
        else
            pthread_cond_wait(&staff->changed, &staff->mutex);
    }
    if (find_work(staff, staff->n_stages)) /* that is left to who sleeps */
        pthread_cond_broadcast(&staff->changed);
}

static void *thread_run(void *argument)
{
    struct staff *staff = argument;
    launcher_leave_core();
    pthread_mutex_lock(&staff->mutex);
    while (!staff->is_over) {
        struct stage *stage = find_work(staff, staff->n_stages);
        if (!stage)
            pthread_cond_wait(&staff->changed, &staff->mutex);
        while (stage && n_waiting(stage))
            work_on(staff, stage);
    }
    pthread_mutex_unlock(&staff->mutex);
    return NULL;
}

/* Signals are for the thread that was there first. */
void staff_begin(struct staff *staff, uint32_t n_threads)
{
    sigset_t all, before;
    *staff = (struct staff){.n_threads = 0};
    pthread_mutex_init(&staff->mutex, NULL);
    pthread_cond_init(&staff->changed, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    n_threads = n_threads < STAFF_MOST ? n_threads : STAFF_MOST;
    while (staff->n_threads < n_threads &&
           pthread_create(&staff->threads[staff->n_threads], NULL, thread_run, staff) == 0)
        staff->n_threads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void staff_end(struct staff *staff)
{
    if (!staff->n_stages && !staff->n_threads)
        return;
    for (uint32_t i = staff->n_stages; i-- > 0;)
        stage_finish(staff->stages[i]);
    pthread_mutex_lock(&staff->mutex);
    staff->is_over = true;
    pthread_cond_broadcast(&staff->changed);
    pthread_mutex_unlock(&staff->mutex);
    for (uint32_t i = 0; i < staff->n_threads; i++)
        pthread_join(staff->threads[i], NULL);
    pthread_mutex_destroy(&staff->mutex);
    pthread_cond_destroy(&staff->changed);
    *staff = (struct staff){.n_threads = 0};
}

/* In the writer. */

void stage_begin(struct stage *stage, size_t block_bytes, stage_work *work, void *context)
{
    size_t n = RING_BYTES / block_bytes;
    n = n < BLOCKS_LEAST ? BLOCKS_LEAST : n > STAGE_BLOCKS_MOST ? STAGE_BLOCKS_MOST : n;
    *stage = (struct stage){.work = work, .context = context, .block_bytes = block_bytes, .n_blocks = (uint32_t)n};
    stage->memory = stage->block = malloc(n * block_bytes);
    if (!stage->memory)
        err_out_of_memory(n * block_bytes);
}

void stage_release(struct stage *stage)
{
    free(stage->memory);
    stage->memory = stage->block = NULL;
}

void stage_join(struct stage *stage, struct staff *staff)
{
    pthread_mutex_lock(&staff->mutex);
    if (staff->n_stages == STAFF_MOST)
        bug("a staff has more than %d stages", STAFF_MOST);
    stage->staff = staff;
    stage->place = staff->n_stages;
    staff->stages[staff->n_stages++] = stage;
    pthread_mutex_unlock(&staff->mutex);
}

static void turn_to_staff(struct stage *stage)
{
    struct staff *staff = stage->staff;
    pthread_mutex_lock(&staff->mutex);
    stage->n_bytes[stage->n_full % stage->n_blocks] = stage->n_used;
    stage->n_full++;
    if (n_waiting(stage) == 1)
        pthread_cond_broadcast(&staff->changed);
    if (n_waiting(stage) == stage->n_blocks)
        work_until(stage, stage->n_blocks / 2);
    stage->block = block_at(stage, stage->n_full);
    pthread_mutex_unlock(&staff->mutex);
}

void stage_turn(struct stage *stage)
{
    if (stage->staff)
        turn_to_staff(stage);
    else
        for (size_t n_worked = 0; n_worked < stage->n_used;)
            n_worked += stage->work(stage->context, stage->block + n_worked, stage->n_used - n_worked);
    stage->n_used = 0;
    stage->n_turned++;
}

void stage_finish(struct stage *stage)
{
    struct staff *staff = stage->staff;
    stage_turn(stage);
    if (!staff)
        return;
    pthread_mutex_lock(&staff->mutex);
    work_until(stage, 0);
    stage->staff = NULL;
    pthread_mutex_unlock(&staff->mutex);
}
