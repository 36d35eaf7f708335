/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder's two structs: one for the process, one for each thread.
 *
 * The writers: a thread writes its own `events` spool and call fields. The helper thread writes `samples` spools, the
 * modules and the list of threads (together with new threads, under threads_lock). `recording` is the one switch that
 * everybody looks at. Nothing here is ever freed while the program runs, so that a stale pointer is at worst out of
 * date.
 */
#pragma once
#include "wrap/only.h"
#include "wrap/windows.h"
#include "wrap/format.h"
#include "wrap/record/spool/spool.h"
#include "wrap/record/stack/stacks.h"
#include <stdatomic.h>
#include <sys/types.h>
#include <time.h>

enum {
    RECORDER_NAPS = 2,
    RECORDER_POLL_TURNS = 3, /* places that are polled by turns, beside that of the open interval */
    RECORDER_LONG = 64,
    RECORDER_LONG_NS = 20000,
    RECORDER_ACCOUNTS = 64,
    RECORDER_LONG_OFF_NS = 1000000, /* asking the kernel for the reason takes some microseconds */
    RECORDER_STATUSES_BYTES = 1024,
    RECORDER_WORTH_TAKING_NS = 10000, /* counts: after an interval that comes often */
};

struct recorder_interval {
    _Atomic uint64_t enter_ns, leave_ns;
};
/* The last of those that were long enough to be descheduled in. The helper reads of switches some milliseconds later.
 */
struct recorder_intervals {
    _Atomic unsigned n; /* of all so far */
    struct recorder_interval at[RECORDER_LONG];
};
/* A thread's CPU time when it entered a call after a long stretch outside MPI, or left a long one; and where it was off
 * the CPU for long since the account before, how long it had been ready so far, 0 = unknown. */
struct recorder_account {
    _Atomic uint64_t time_ns, cpu_ns, ready_ns;
    _Atomic bool is_leave;
};

/* RUNS is zero, hence that of a new struct. The writers: the thread ENDED or CLOSING, when it ends; threads.c, under
 * its lock, RUNS; the helper CLOSING and UNUSED. */
enum recorder_thread_state {
    THREAD_RUNS,
    THREAD_ENDED,   /* the next thread goes on with its files */
    THREAD_CLOSING, /* the helper closes its files */
    THREAD_UNUSED,  /* which it has done: the struct may become any thread's */
};

struct recorder_thread {
    struct recorder_thread *next;
    _Atomic int state;
    _Atomic int32_t tid;
    _Atomic int32_t index; /* -1: no file yet */
    /* Fields from here on are zero in a new thread. */
    struct spool events;
    /* Hot: the call being recorded. */
    unsigned depth;
    _Atomic bool needs_accounts;     /* switches may be lost, or are not recorded: the helper says so */
    bool told_full, samples_refused; /* the helper's */
    bool poll_has_yielded;           /* since the last poll: the thread offered its CPU to others */
    const void *outer_frame, *outer_return_address;
    struct ww_call *poll; /* open polling interval */
    const void *poll_return_address;
    uint64_t poll_enter_ns;
    uint64_t poll_cpu_ns, poll_cpu_at_ns; /* the thread's CPU time at a failure shortly before the last, and when */
    long poll_n_sleeps;                   /* how often it had slept by then */
    /* The program's own work between polls of the open interval, since then. */
    uint64_t poll_work_ns, poll_work_since_ns;
    uint64_t poll_gap_ns; /* between the last two that were near each other */
    struct recorder_poll_place {
        const void *return_address;
        uint16_t call;
    } poll_turns[RECORDER_POLL_TURNS];     /* failed by turns with it */
    struct recorder_poll_place poll_guest; /* the one of them that is under way, or was the last poll */
    uint64_t poll_guest_ns;                /* when it was entered; 0 = it is not one of them */
    struct recorder_nap {
        uint64_t from_ns, to_ns;
    } poll_nap[RECORDER_NAPS]; /* the last in the open interval, oldest first; all zero = none */
    _Atomic uint64_t n_calls, n_polls;
    _Atomic uint64_t n_polls_at_work; /* of them, after work since the last one: they delay that, others a wait */
    uint32_t n_windows;               /* that had begun at this thread's last call */
    bool is_at_all;                   /* the present call is one of all processes (record_windows) */
    _Atomic bool has_callbacks;       /* MPI has called a function of the program */
    struct ww_call unrecorded;        /* what wrappers fill in where nothing is recorded */
    /* For the helper, which must know whether this thread is inside MPI: 0 = it is not. */
    _Atomic uint64_t open_ns;
    _Atomic uint64_t last_enter_ns, last_leave_ns; /* of the call or polling interval before */
    struct recorder_intervals calls;
    /* Of functions of the program that MPI calls: since when one runs (0 = none does), and those before. */
    _Atomic uint64_t callback_ns;
    struct recorder_intervals callbacks;
    struct recorder_account account[RECORDER_ACCOUNTS]; /* the last; so many were taken: */
    _Atomic unsigned n_accounts;

    /* For the wrappers: statuses of ours (mpi/complete.h). Not thread-local, since that comes out of every thread's
     * stack. */
    _Alignas(max_align_t) char statuses[RECORDER_STATUSES_BYTES];

    struct stack_table stacks;
    struct stack_bounds bounds;
    _Atomic uint64_t exit_ns;
    /* The helper's. */
    struct spool samples;
    struct stack_table sample_stacks;
    struct sampler_thread *sampler;
};

#define RATE_CALIBRATED UINT64_MAX

struct recorder_options {
    char dir[SPOOL_PATH_BYTES];   /* where run directories are made; empty = the working directory */
    char spool[SPOOL_PATH_BYTES]; /* where the spool shall be; empty = in the run directory, if that is local */
    uint64_t limit_bytes;
    uint64_t last_bytes; /* of a thread, the newest of which are kept; 0 = all */
    struct windows windows;
    uint64_t rate_hz;      /* 0 = no samples, RATE_CALIBRATED = as many as are cheap */
    char sampler[16];      /* perf, timer, off; empty = the best that works */
    char only[ONLY_BYTES]; /* functions whose counts are recorded; empty = all */
    bool space;            /* bytes allocated too */
    bool convert, quiet;
    bool is_first_on_node;
};

struct recorder_process {
    _Atomic bool recording; /* calls are recorded */
    bool is_windowed;       /* windows (life/windows.h) begin and end */
    _Atomic bool is_silent; /* none has begun: calls are not recorded */
    bool has_thread_calls;  /* several threads may call MPI at the same time */
    bool started;           /* life_start got as far as the private communicator: finalisation is collective */
    bool finished;
    _Atomic bool has_given_up;
    /* MPI_Pcontrol(0) was called last at paused_from_ns (0 = never), and MPI_Pcontrol(1) at paused_until_ns. */
    _Atomic uint64_t paused_from_ns, paused_until_ns;
    _Atomic uint32_t n_windows; /* begun behind the first one */
    uint64_t window_ns;         /* when the last one of these began */
    int open_error;             /* errno of the last file that could not be made */
    int32_t pid, rank, n_ranks;
    uint64_t start_ns, end_ns;
    uint64_t start_ready_ns; /* machine_ready_ns() then */
    uint64_t init_ns;        /* when the program called MPI_Init; 0 = unknown */
    char run_dir[SPOOL_PATH_BYTES];
    dev_t run_device; /* what is there later under the name of run_dir may be something else */
    ino_t run_number;
    char spool_dir[SPOOL_PATH_BYTES]; /* RUN_DIR/spool, or a private directory on a disk of the node */
    bool spool_is_on_node;
    struct ww_header header;           /* what all files have in common */
    _Atomic uint64_t sample_period_ns; /* 0 = no samples, or the helper has not chosen yet */
    _Atomic uint64_t sample_cost_ns;   /* of the sampled thread, likewise */
    struct recorder_options options;
    struct spool_budget budget;
    _Atomic(struct recorder_thread *) threads;
    /* Of threads that have exited. */
    _Atomic uint64_t past_calls, past_polls, past_polls_at_work, past_dropped;
    _Atomic uint64_t n_unrecorded;      /* calls of threads that have no file */
    _Atomic uint64_t n_nested;          /* calls within others, in callbacks, that should have been recorded */
    _Atomic uint64_t threads_ns;        /* on a CPU, that threads took to begin and end here */
    _Atomic uint64_t counts_ns;         /* likewise, that exact counts took, by a part of them */
    _Atomic int32_t n_files;            /* thread numbers given out */
    _Atomic uint32_t n_threads_begun;   /* by the program, while recording */
    uint64_t library_low, library_high; /* this library's own code */
};
extern struct recorder_process recorder;

static inline uint64_t recorder_now_ns(void)
{
    struct timespec t = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Time on a CPU of the calling thread. */
static inline uint64_t recorder_cpu_ns(void)
{
    struct timespec cpu = {0, 0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    return (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
}

/* Fills in recorder.options, and the budget of the spool, from the environment. At most once. */
void options_read(void);
bool recorder_is_on(void);
/* An internal failure: recording is off from now on. Says why, once. */
void recorder_give_up(const char *why, ...) __attribute__((format(printf, 1, 2)));
/* Writes the notes (say_note) that were not written yet. One caller at a time. */
void notes_write(struct spool *spool);
