/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks the frames of Python far more often than a recorder does, for walks.py, which loads this by ctypes: in a
 * signal handler at a high rate, as samples do, and in calls, as MPI calls do. Counts what it has found.
 */
#include "wrap/record/stack/python_code.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WALKS_SIGNAL = 8, TELL_EVERY = 64 };
#define SHOWN __attribute__((visibility("default")))

/* Of one thread, while its timer runs. */
struct walker {
    struct python_walk walk;
    struct python_scratch scratch;
    timer_t timer;
};

static __thread struct walker *mine;
static _Atomic uint64_t n_samples, n_frames, n_calls, n_call_frames, n_codes;
static struct spool spool;
static struct spool_budget budget = {.left_bytes = INT64_MAX};
static struct python_codes *codes;
static atomic_flag is_telling = ATOMIC_FLAG_INIT;
static char path[64];

/* One thread at a time, as each has a table of its own in the recorder. */
static void tell_codes(const struct python_walk *walk)
{
    if (atomic_flag_test_and_set(&is_telling))
        return;
    for (unsigned i = 0; i < walk->n; i++)
        n_codes += python_codes_address(&codes, &spool, &walk->frame[i]) != 0;
    atomic_flag_clear(&is_telling);
}

static void on_signal(int signal)
{
    struct walker *walker = mine;
    (void)signal;
    if (!walker)
        return;
    python_walk_running(&walker->walk, &walker->scratch, python_thread_state());
    n_frames += walker->walk.n;
    if (n_samples++ % TELL_EVERY == 0)
        tell_codes(&walker->walk);
}

/* False when the interpreter's frames cannot be read here. */
SHOWN bool walks_open(void);
bool walks_open(void)
{
    struct ww_header header = {.kind = WW_KIND_EVENTS};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    snprintf(path, sizeof path, "/tmp/whywait-walks-%d.ev", (int)getpid());
    python_look();
    return python_is_there() &&
           spool_open(&spool, path, &header, SPOOL_SMALLEST_SEGMENT, SPOOL_LARGEST_SEGMENT, &budget) &&
           sigaction(SIGRTMIN + WALKS_SIGNAL, &action, NULL) == 0;
}

/* From now on the calling thread is walked each `ns`. */
SHOWN bool walks_begin(long ns);
bool walks_begin(long ns)
{
    struct walker *walker = calloc(1, sizeof *walker);
    struct sigevent event;
    struct itimerspec every = {{0, ns}, {0, ns}};
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGRTMIN + WALKS_SIGNAL;
    event._sigev_un._tid = (int)syscall(SYS_gettid);
    if (!walker || timer_create(CLOCK_MONOTONIC, &event, &walker->timer) != 0) {
        free(walker);
        return false;
    }
    mine = walker;
    return timer_settime(walker->timer, 0, &every, NULL) == 0;
}

SHOWN void walks_end(void);
void walks_end(void)
{
    struct walker *walker = mine;
    timer_delete(walker->timer);
    mine = NULL;
    atomic_signal_fence(memory_order_seq_cst);
    free(walker);
}

/* The caller's own frames, read as they are: how many. */
SHOWN unsigned walks_call(void);
unsigned walks_call(void)
{
    struct python_walk walk;
    python_walk_here(&walk);
    n_calls++;
    n_call_frames += walk.n;
    return walk.n;
}

SHOWN uint64_t walks_samples(void);
uint64_t walks_samples(void)
{
    return n_samples;
}

SHOWN void walks_close(void);
void walks_close(void)
{
    printf("%lu samples, %lu frames; %lu calls, %lu frames; %lu codes\n", n_samples, n_frames, n_calls, n_call_frames,
           n_codes);
    fflush(stdout);
    spool_close(&spool, WW_END_FINALIZE, 0, 1);
    unlink(path);
    python_codes_release(&codes);
}
