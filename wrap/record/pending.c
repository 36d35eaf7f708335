/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table by handle, with linear probing, at most half full. */
#include "wrap/record/pending.h"
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

enum { FIRST_SLOTS = 256 };

static struct {
    pthread_mutex_t lock;
    struct ww_call *slots; /* request 0 = free */
    size_t n_slots, n;
} pending = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t home_of(uint64_t request)
{
    return (size_t)(request * 0x9e3779b97f4a7c15u >> 32) & (pending.n_slots - 1);
}

static size_t after(size_t slot)
{
    return (slot + 1) & (pending.n_slots - 1);
}

/* Its slot, or one for it. */
static struct ww_call *find(uint64_t request)
{
    size_t i = home_of(request);
    while (pending.slots[i].request && pending.slots[i].request != request)
        i = after(i);
    return &pending.slots[i];
}

static bool make_room(void)
{
    if (2 * (pending.n + 1) <= pending.n_slots)
        return true;
    struct ww_call *old = pending.slots;
    size_t n_old = pending.n_slots, n_new = n_old ? 2 * n_old : FIRST_SLOTS;
    int saved = errno;
    struct ww_call *slots = calloc(n_new, sizeof *slots);
    errno = saved;
    if (!slots)
        return false;
    pending.slots = slots;
    pending.n_slots = n_new;
    for (size_t i = 0; i < n_old; i++)
        if (old[i].request)
            *find(old[i].request) = old[i];
    free(old);
    return true;
}

void pending_add(const struct ww_call *call)
{
    pthread_mutex_lock(&pending.lock);
    if (call->request && make_room()) {
        struct ww_call *slot = find(call->request);
        pending.n += !slot->request;
        *slot = *call;
    }
    pthread_mutex_unlock(&pending.lock);
}

void pending_remove(uint64_t request)
{
    pthread_mutex_lock(&pending.lock);
    struct ww_call *slot = pending.n && request ? find(request) : NULL;
    if (slot && slot->request) {
        size_t hole = (size_t)(slot - pending.slots);
        pending.n--;
        pending.slots[hole].request = 0;
        /* Those behind it move up, except where that is before their home. */
        for (size_t i = after(hole); pending.slots[i].request; i = after(i)) {
            size_t mask = pending.n_slots - 1, home = home_of(pending.slots[i].request);
            if (((i - home) & mask) < ((i - hole) & mask))
                continue;
            pending.slots[hole] = pending.slots[i];
            pending.slots[i].request = 0;
            hole = i;
        }
    }
    pthread_mutex_unlock(&pending.lock);
}

void pending_each(void (*take)(const struct ww_call *call))
{
    pthread_mutex_lock(&pending.lock);
    for (size_t i = 0; i < pending.n_slots; i++)
        if (pending.slots[i].request)
            take(&pending.slots[i]);
    pthread_mutex_unlock(&pending.lock);
}
