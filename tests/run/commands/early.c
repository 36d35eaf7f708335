/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that is initialised before the recorder and starts a thread then, as UCX does. */
#include <pthread.h>
#include <stddef.h>

static void *nothing(void *argument)
{
    return argument;
}

static __attribute__((constructor)) void start(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL) == 0)
        pthread_join(thread, NULL);
}
