/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the program begins a thread: the thread makes itself known before it runs what it was begun for. That it does
 * by a jump, so that no frame of ours lies in its stack; without optimisation one does, which is why the two functions
 * have a section of their own (workers_is_start).
 */
#include "wrap/record/count/workers.h"
#include "wrap/record/life/helper.h"
#include "wrap/record/process/interpose.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

struct start {
    union {
        void *(*posix)(void *);
        thrd_start_t c11;
    };
    void *argument;
};

static struct start start_unpack(void *value)
{
    struct start start = *(struct start *)value;
    free(value);
    workers_begin();
    helper_thread_began();
    return start;
}

WORKERS_START static void *start_posix(void *value)
{
    struct start start = start_unpack(value);
    return start.posix(start.argument);
}

WORKERS_START static int start_c11(void *value)
{
    struct start start = start_unpack(value);
    return start.c11(start.argument);
}

/* NULL: the thread is begun as it is, and not registered. */
static struct start *start_pack(struct start start)
{
    struct start *packed = workers_are_paused() ? NULL : malloc(sizeof *packed);
    if (packed)
        *packed = start;
    return packed;
}

typedef int posix_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int c11_create(thrd_t *, thrd_start_t, void *);

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument)
{
    static void *_Atomic function;
    posix_create *next = (posix_create *)interpose_next(&function, "pthread_create");
    if (!next)
        return EAGAIN;
    struct start *start = start_pack((struct start){.posix = routine, .argument = argument});
    if (!start)
        return next(thread, attributes, routine, argument);
    int rc = next(thread, attributes, start_posix, start);
    if (rc != 0)
        free(start);
    return rc;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument)
{
    static void *_Atomic function;
    c11_create *next = (c11_create *)interpose_next(&function, "thrd_create");
    if (!next)
        return thrd_error;
    struct start *start = start_pack((struct start){.c11 = routine, .argument = argument});
    if (!start)
        return next(thread, routine, argument);
    int rc = next(thread, start_c11, start);
    if (rc != thrd_success)
        free(start);
    return rc;
}
