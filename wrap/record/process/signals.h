/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocked in the recorder's own threads, because the program's handlers run on the program's threads; and while a lock
 * of ours is held that a handler may come to need: by an MPI call, by a fork, or because it jumps out and never
 * returns.
 */
#pragma once
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

static inline void signals_block(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

static inline void signals_restore(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* A write beyond the program's limit of file sizes shall fail, and not end the program by SIGXFSZ. */
struct signals_of_size {
    sigset_t before;
    bool was_pending;
};

static inline sigset_t signals_only_size(void)
{
    sigset_t size;
    sigemptyset(&size);
    sigaddset(&size, SIGXFSZ);
    return size;
}

static inline void signals_hold_size(struct signals_of_size *held)
{
    sigset_t size = signals_only_size(), pending;
    pthread_sigmask(SIG_BLOCK, &size, &held->before);
    held->was_pending = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ);
}

static inline void signals_drop_size(const struct signals_of_size *held)
{
    int saved = errno;
    sigset_t size = signals_only_size();
    while (!held->was_pending && sigtimedwait(&size, NULL, &(struct timespec){0}) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &held->before, NULL);
    errno = saved;
}
