/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocked in the recorder's own threads, because the program's handlers run on the program's threads; and while a lock
 * of ours is held that a handler may come to need: by an MPI call, by a fork, or because it jumps out and never
 * returns.
 */
#pragma once
#include <pthread.h>
#include <signal.h>

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
