/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys of thread-specific data. A process has room for PTHREAD_KEYS_MAX of them, and the program may have taken them
 * all. Then what would be kept under ours must not end up under one of the program's.
 */
#pragma once
#include <limits.h>
#include <pthread.h>

/* The value that pthread_setspecific refuses. */
#define THREAD_KEY_NONE ((pthread_key_t)PTHREAD_KEYS_MAX)

/* A new key, or THREAD_KEY_NONE when none is left. */
static inline pthread_key_t thread_key_new(void (*destroy)(void *))
{
    pthread_key_t key;
    return pthread_key_create(&key, destroy) == 0 ? key : THREAD_KEY_NONE;
}
