/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads and their files. A thread gets its struct when it first calls MPI, or when the helper first sees it. The file
 * number T and the file itself only with the first record, so that threads that do nothing leave nothing. Structs form
 * a list that only grows; thread ends are seen by a key's destructor (its own calls) and by the helper (everything
 * else).
 *
 * A file costs ten times what a thread costs that is born, calls MPI once and ends. So the files of a thread that has
 * ended stay open, and the next thread goes on with them, under the same number T: a number stands for one thread after
 * the other.
 */
#include "wrap/record/threads.h"
#include "wrap/record/process/aside.h"
#include "wrap/record/process/descriptors.h"
#include "wrap/record/process/machine.h"
#include "wrap/record/process/say.h"
#include "wrap/record/process/signals.h"
#include "wrap/record/process/thread_key.h"
#include "wrap/record/recorder.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STACK_MEMORY_BYTES = 768 << 10, SAMPLE_STACK_MEMORY_BYTES = 512 << 10, MAX_FILES = 1 << 16, FEW_FILES = 64 };

__thread struct recorder_thread *recorder_self;
__thread bool recorder_calls_mpi;
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;

static void thread_exits(void *value)
{
    struct recorder_thread *thread = value;
    recorder_self = NULL;
    if (recorder.pid != getpid())
        return;
    uint64_t began_ns = recorder_cpu_ns();
    thread->exit_ns = recorder_now_ns();
    /* One that ends inside a call leaves its record open. */
    bool may_go_on = thread->depth == 0 && spool_is_open(&thread->events) && !spool_is_full(&thread->events);
    atomic_store(&thread->state, may_go_on ? THREAD_ENDED : THREAD_CLOSING);
    atomic_fetch_add_explicit(&recorder.threads_ns, recorder_cpu_ns() - began_ns, memory_order_relaxed);
}

static void make_exit_key(void)
{
    exit_key = thread_key_new(thread_exits);
}

/* The list's struct for a thread: its own, one whose files it may go on with, one that it may have. There may be
 * thousands of them: one walk. */
struct choice {
    struct recorder_thread *own, *ended, *unused;
};

/* Of those that have ended, one that had the same stack comes first: what is known of call stacks still holds then. */
static struct choice choose_locked(int32_t tid, const struct stack_bounds *bounds)
{
    struct choice choice = {0};
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t && !choice.own; t = t->next) {
        int state = atomic_load_explicit(&t->state, memory_order_acquire);
        if (state == THREAD_RUNS && t->tid == tid)
            choice.own = t;
        else if (state == THREAD_UNUSED)
            choice.unused = t;
        else if (state == THREAD_ENDED && !t->samples_refused &&
                 (!choice.ended || (t->bounds.low == bounds->low && t->bounds.high == bounds->high)))
            choice.ended = t;
    }
    return choice;
}

static struct recorder_thread *create_locked(int32_t tid, struct recorder_thread *unused)
{
    const size_t fresh = offsetof(struct recorder_thread, events);
    struct recorder_thread *thread = unused;
    if (thread) {
        memset((char *)thread + fresh, 0, sizeof *thread - fresh);
        thread->tid = tid;
        thread->index = -1;
        atomic_store(&thread->state, THREAD_RUNS); /* from here on the helper looks at it */
        return thread;
    }
    void *at = mmap(NULL, sizeof *thread, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    thread = at;
    thread->tid = tid;
    thread->index = -1;
    thread->next = atomic_load(&recorder.threads);
    atomic_store(&recorder.threads, thread);
    return thread;
}

struct recorder_thread *threads_find(int32_t tid, bool create)
{
    const struct stack_bounds none = {0};
    pthread_mutex_lock(&threads_lock);
    struct choice choice = choose_locked(tid, &none);
    struct recorder_thread *thread = choice.own || !create ? choice.own : create_locked(tid, choice.unused);
    pthread_mutex_unlock(&threads_lock);
    return thread;
}

bool threads_close(struct recorder_thread *thread, enum recorder_thread_state from, int32_t tid)
{
    int expected = (int)from;
    pthread_mutex_lock(&threads_lock);
    bool is_closing = thread->tid == tid && atomic_compare_exchange_strong(&thread->state, &expected, THREAD_CLOSING);
    pthread_mutex_unlock(&threads_lock);
    return is_closing;
}

static bool take_number(struct recorder_thread *thread)
{
    pthread_mutex_lock(&threads_lock);
    if (thread->index < 0 && atomic_load(&recorder.n_files) < MAX_FILES)
        thread->index = atomic_fetch_add(&recorder.n_files, 1);
    pthread_mutex_unlock(&threads_lock);
    if (thread->index < 0)
        say_note("only the first %d threads are recorded", MAX_FILES);
    return thread->index >= 0;
}

static bool open_file(struct recorder_thread *thread, struct spool *spool, enum ww_kind kind, const char *suffix,
                      size_t largest_bytes)
{
    char path[SPOOL_PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%d-%d.%s", recorder.spool_dir, recorder.rank, thread->index, suffix);
    struct ww_header header = recorder.header;
    header.sample_period_ns = atomic_load(&recorder.sample_period_ns);
    header.kind = kind;
    header.thread = thread->index;
    header.tid = thread->tid;
    machine_read_cpus(thread->tid, header.cpus);
    uint64_t ring_bytes = recorder.options.last_bytes / 2; /* of calls, of samples */
    if (!(ring_bytes ? spool_open_ring(spool, path, &header, ring_bytes, &recorder.budget)
                     : spool_open(spool, path, &header, SPOOL_SMALLEST_SEGMENT, largest_bytes, &recorder.budget))) {
        recorder.open_error = errno;
        say_note("thread %d is not recorded: %s: %s", thread->index, path, strerror(errno));
        return false;
    }
    /* Thousands of descriptors could be all that the program may have. */
    if (thread->index >= FEW_FILES || !descriptors_may_stay())
        spool_leave_descriptor(spool);
    char link[SPOOL_PATH_BYTES + 64];
    snprintf(link, sizeof link, "%s/spool%s", recorder.run_dir, strrchr(path, '/'));
    if (recorder.spool_is_on_node && symlink(path, link) != 0)
        say_note("%s cannot be linked to %s: %s", link, path, strerror(errno));
    return true;
}

static bool prepare_to_record(struct recorder_thread *thread, const struct stack_bounds *bounds)
{
    thread->bounds = *bounds;
    if (!take_number(thread) || !stacks_init(&thread->stacks, STACK_MEMORY_BYTES))
        return false;
    /* Threads other than the first rarely write much: their segments stay small. */
    size_t largest_bytes = thread->index == 0 ? SPOOL_LARGEST_SEGMENT : SPOOL_LARGEST_SEGMENT / 4;
    if (open_file(thread, &thread->events, WW_KIND_EVENTS, "ev", largest_bytes))
        return true;
    stacks_release(&thread->stacks);
    return false;
}

/* The thread's own struct if the helper has begun one, else that of a thread that has ended, else a new one. */
static struct recorder_thread *find_or_make(int32_t tid, const struct stack_bounds *bounds)
{
    int expected = THREAD_ENDED;
    pthread_mutex_lock(&threads_lock);
    struct choice choice = choose_locked(tid, bounds);
    bool goes_on =
        !choice.own && choice.ended && atomic_compare_exchange_strong(&choice.ended->state, &expected, THREAD_RUNS);
    struct recorder_thread *thread = goes_on      ? choice.ended
                                     : choice.own ? choice.own
                                                  : create_locked(tid, choice.unused);
    if (goes_on)
        thread->tid = tid;
    pthread_mutex_unlock(&threads_lock);
    if (goes_on) {
        /* The files of a thread that has ended are this one's from now on. */
        thread->outer_frame = NULL;
        thread->poll = NULL;
        thread->poll_cpu_at_ns = 0;
        if (thread->bounds.low != bounds->low || thread->bounds.high != bounds->high)
            stacks_forget_places(&thread->stacks);
        thread->bounds = *bounds;
    } else if (thread && !prepare_to_record(thread, bounds)) {
        thread->depth = 1; /* never recorded */
        thread->outer_frame = (const void *)UINTPTR_MAX;
    }
    return thread;
}

static struct stack_bounds own_bounds(void)
{
    struct stack_bounds bounds = {0, 0};
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        void *low = NULL;
        size_t bytes = 0;
        pthread_attr_getstack(&attributes, &low, &bytes);
        pthread_attr_destroy(&attributes);
        bounds = (struct stack_bounds){(uint64_t)(uintptr_t)low, (uint64_t)(uintptr_t)low + bytes};
    }
    return bounds;
}

static void enter_aside(void *context)
{
    struct recorder_thread **entered = context;
    sigset_t before;
    uint64_t began_ns = recorder_cpu_ns();
    /* A handler that calls MPI here would find the locks taken. */
    signals_block(&before);
    pthread_once(&exit_key_once, make_exit_key);
    struct stack_bounds bounds = own_bounds();
    int32_t tid = (int32_t)syscall(SYS_gettid);
    struct recorder_thread *thread = tid > 0 ? find_or_make(tid, &bounds) : NULL; /* a sandbox may refuse to tell */
    if (thread)
        pthread_setspecific(exit_key, thread);
    *entered = recorder_self = thread;
    recorder_calls_mpi = true;
    signals_restore(&before);
    atomic_fetch_add_explicit(&recorder.threads_ns, recorder_cpu_ns() - began_ns, memory_order_relaxed);
}

struct recorder_thread *threads_enter(void)
{
    int saved = errno;
    struct recorder_thread *thread = NULL;
    if (atomic_load(&recorder.recording))
        aside_run(enter_aside, &thread);
    errno = saved;
    return thread;
}

bool threads_open_samples(struct recorder_thread *thread)
{
    if (spool_is_open(&thread->samples))
        return true;
    if (thread->samples_refused)
        return false;
    thread->samples_refused = !take_number(thread) || !stacks_init(&thread->sample_stacks, SAMPLE_STACK_MEMORY_BYTES) ||
                              !open_file(thread, &thread->samples, WW_KIND_SAMPLES, "sm", SPOOL_LARGEST_SEGMENT / 4);
    return !thread->samples_refused;
}

static void count_calls(struct recorder_thread *thread)
{
    if (!spool_is_open(&thread->events))
        return;
    struct ww_header *header = thread->events.header;
    header->n_calls = atomic_load_explicit(&thread->n_calls, memory_order_relaxed);
    header->n_polls = atomic_load_explicit(&thread->n_polls, memory_order_relaxed);
    if (thread->index == 0) {
        header->n_unrecorded = atomic_load_explicit(&recorder.n_unrecorded, memory_order_relaxed);
        header->n_nested = atomic_load_explicit(&recorder.n_nested, memory_order_relaxed);
    }
}

/* A thread that is still inside a call may write its last words: its file is left long. */
void threads_close_events(enum ww_end how, int32_t detail, uint64_t end_ns)
{
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
        count_calls(t);
        if (t->exit_ns && atomic_load(&t->state) != THREAD_RUNS)
            spool_close(&t->events, WW_END_FINALIZE, 0, t->exit_ns);
        else if (t == recorder_self || (t->depth == 0 && !atomic_load(&t->open_ns)))
            spool_close(&t->events, how, detail, end_ns);
        else
            spool_mark_end(&t->events, how, detail, end_ns);
    }
}

/* A thread has ended. Of those whose files are open for the next one, a few are enough. */
static void close_ended(struct recorder_thread *thread, unsigned n_ended)
{
    enum { KEPT = 32, PATIENCE_NS = 100000000 };
    if (atomic_load(&thread->state) == THREAD_ENDED && n_ended > KEPT &&
        recorder_now_ns() > thread->exit_ns + PATIENCE_NS)
        threads_close(thread, THREAD_ENDED, thread->tid);
    if (atomic_load(&thread->state) != THREAD_CLOSING)
        return;
    if (spool_is_open(&thread->events)) {
        count_calls(thread);
        recorder.past_calls += thread->n_calls;
        recorder.past_polls += thread->n_polls;
        recorder.past_polls_at_work += thread->n_polls_at_work;
        recorder.past_dropped += thread->events.header->n_dropped;
        spool_close(&thread->events, WW_END_FINALIZE, 0, thread->exit_ns ? thread->exit_ns : recorder_now_ns());
        stacks_release(&thread->stacks);
        thread->n_calls = thread->n_polls = thread->n_polls_at_work = 0;
    }
    if (thread->sampler)
        return; /* there may be samples of it to come */
    if (spool_is_open(&thread->samples)) {
        recorder.past_dropped += thread->samples.header->n_dropped;
        spool_close(&thread->samples, WW_END_FINALIZE, 0, recorder_now_ns());
        stacks_release(&thread->sample_stacks);
    }
    atomic_store(&thread->state, THREAD_UNUSED);
}

void threads_keep_up(void (*when_full)(struct recorder_thread *thread))
{
    unsigned n_ended = 0;
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
        int state = atomic_load(&t->state);
        n_ended += state == THREAD_ENDED;
        if (state == THREAD_ENDED || state == THREAD_CLOSING)
            close_ended(t, n_ended);
        if (state != THREAD_RUNS)
            continue;
        if (spool_is_open(&t->events)) {
            spool_prepare(&t->events);
            if (spool_is_full(&t->events))
                when_full(t);
            count_calls(t);
        }
        if (spool_is_open(&t->samples))
            spool_prepare(&t->samples);
    }
}

void threads_look_at_cpus(void)
{
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
        if (atomic_load(&t->state) != THREAD_RUNS)
            continue;
        if (spool_is_open(&t->events))
            machine_read_cpus(t->tid, t->events.header->cpus);
        if (spool_is_open(&t->samples))
            machine_read_cpus(t->tid, t->samples.header->cpus);
    }
}

void threads_close_samples(enum ww_end how, int32_t detail, uint64_t end_ns)
{
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next)
        spool_close(&t->samples, how, detail, end_ns);
}

void threads_mark_end(enum ww_end how, int32_t detail, uint64_t end_ns)
{
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
        count_calls(t);
        spool_mark_end(&t->events, how, detail, end_ns);
        spool_mark_end(&t->samples, how, detail, end_ns);
    }
}
