/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads and their files. A thread gets its struct when it first calls MPI, or when the helper first sees it; the file
 * number T and the file itself only with the first record, so that threads that do nothing leave nothing. Structs form
 * a list that only grows; thread ends are seen by a key's destructor (its own calls) and by the helper (everything
 * else).
 */
#include "wrap/record/threads.h"
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

enum { STACK_MEMORY_BYTES = 768 << 10, SAMPLE_STACK_MEMORY_BYTES = 512 << 10, MAX_FILES = 4096 };

__thread struct recorder_thread *recorder_self;
static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;

static void thread_exits(void *value)
{
    struct recorder_thread *thread = value;
    recorder_self = NULL;
    if (recorder.pid != getpid())
        return;
    thread->exit_ns = recorder_now_ns();
    atomic_store(&thread->has_exited, true);
}

static void make_exit_key(void)
{
    exit_key = thread_key_new(thread_exits);
}

static struct recorder_thread *find_locked(int32_t tid)
{
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next)
        if (t->tid == tid && !atomic_load(&t->has_exited))
            return t;
    return NULL;
}

/* A struct whose thread is gone and whose files are closed. */
static struct recorder_thread *find_unused_locked(void)
{
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next)
        if (atomic_load(&t->is_unused))
            return t;
    return NULL;
}

static void reuse(struct recorder_thread *thread, int32_t tid)
{
    const size_t fresh = offsetof(struct recorder_thread, events);
    memset((char *)thread + fresh, 0, sizeof *thread - fresh);
    thread->tid = tid;
    thread->index = -1;
    atomic_store(&thread->is_unused, false);
    atomic_store(&thread->has_exited, false); /* from here on the helper looks at it */
}

static struct recorder_thread *create_locked(int32_t tid)
{
    struct recorder_thread *thread = find_unused_locked();
    if (thread) {
        reuse(thread, tid);
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
    pthread_mutex_lock(&threads_lock);
    struct recorder_thread *thread = find_locked(tid);
    if (!thread && create)
        thread = create_locked(tid);
    pthread_mutex_unlock(&threads_lock);
    return thread;
}

static struct stack_bounds own_stack(void)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return (struct stack_bounds){0, 0};
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
    return (struct stack_bounds){(uint64_t)(uintptr_t)low, (uint64_t)(uintptr_t)low + bytes};
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

static void link_at_home(const char *path)
{
    char home[SPOOL_PATH_BYTES + 64];
    snprintf(home, sizeof home, "%s/spool%s", recorder.run_dir, strrchr(path, '/'));
    if (symlink(path, home) != 0)
        say_note("%s cannot be linked to %s: %s", home, path, strerror(errno));
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
    if (spool_open(spool, path, &header, SPOOL_SMALLEST_SEGMENT, largest_bytes, &recorder.budget)) {
        if (recorder.spool_is_on_node)
            link_at_home(path);
        return true;
    }
    recorder.open_error = errno;
    say_note("thread %d is not recorded: %s: %s", thread->index, path, strerror(errno));
    return false;
}

static bool prepare_to_record(struct recorder_thread *thread)
{
    thread->bounds = own_stack();
    if (!take_number(thread) || !stacks_init(&thread->stacks, STACK_MEMORY_BYTES))
        return false;
    /* Threads other than the first rarely write much: their segments stay small. */
    size_t largest_bytes = thread->index == 0 ? SPOOL_LARGEST_SEGMENT : SPOOL_LARGEST_SEGMENT / 4;
    if (open_file(thread, &thread->events, WW_KIND_EVENTS, "ev", largest_bytes))
        return true;
    stacks_release(&thread->stacks);
    return false;
}

struct recorder_thread *threads_enter(void)
{
    int saved = errno;
    struct recorder_thread *thread = NULL;
    sigset_t before;
    if (!atomic_load(&recorder.recording))
        return NULL;
    /* A handler that calls MPI here would find the locks taken. */
    signals_block(&before);
    pthread_once(&exit_key_once, make_exit_key);
    thread = threads_find((int32_t)syscall(SYS_gettid), true);
    if (thread && !prepare_to_record(thread)) {
        thread->depth = 1; /* never recorded */
        thread->outer_frame = (const void *)UINTPTR_MAX;
    }
    if (thread)
        pthread_setspecific(exit_key, thread);
    recorder_self = thread;
    signals_restore(&before);
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
    thread->events.header->n_calls = thread->n_calls;
    thread->events.header->n_polls = thread->n_polls;
}

/* A thread that is still inside a call may write its last words: its file is left long. */
void threads_close_events(enum ww_end how, int32_t detail, uint64_t end_ns)
{
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
        count_calls(t);
        if (t == recorder_self || (t->depth == 0 && !atomic_load(&t->open_ns)))
            spool_close(&t->events, how, detail, end_ns, true);
        else
            spool_mark_end(&t->events, how, detail, end_ns);
    }
}

void threads_close_exited(struct recorder_thread *thread)
{
    if (spool_is_open(&thread->events)) {
        count_calls(thread);
        recorder.past_calls += thread->n_calls;
        recorder.past_polls += thread->n_polls;
        recorder.past_dropped += thread->events.header->n_dropped;
        spool_close(&thread->events, WW_END_FINALIZE, 0, thread->exit_ns ? thread->exit_ns : recorder_now_ns(), true);
        stacks_release(&thread->stacks);
        thread->n_calls = thread->n_polls = 0;
    }
    if (!spool_is_open(&thread->samples) && !thread->sampler)
        atomic_store(&thread->is_unused, true);
}

void threads_close_samples(enum ww_end how, int32_t detail, uint64_t end_ns)
{
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next)
        spool_close(&t->samples, how, detail, end_ns, true);
}

void threads_mark_end(enum ww_end how, int32_t detail, uint64_t end_ns)
{
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next) {
        count_calls(t);
        spool_mark_end(&t->events, how, detail, end_ns);
        spool_mark_end(&t->samples, how, detail, end_ns);
    }
}
