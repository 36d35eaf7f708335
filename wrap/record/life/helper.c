/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One loop: work, then sleep on a condition variable for as long as the sampler can wait or until told to end.
 */
#include "wrap/record/life/helper.h"
#include "wrap/record/count/workers.h"
#include "wrap/record/modules.h"
#include "wrap/record/process/descriptors.h"
#include "wrap/record/process/machine.h"
#include "wrap/record/process/say.h"
#include "wrap/record/process/signals.h"
#include "wrap/record/recorder.h"
#include "wrap/record/sample/sampler.h"
#include "wrap/record/threads.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    WAKE_NS = 5000000, /* between two times that new threads wake the helper */
    SMALL_STACK_BYTES = 256 << 10,
    FIRST_LOOK_NS = 10000000,
};
enum kept { KEPT_STANDARD_ERROR, KEPT_EVENTS, KEPT_RING, N_KEPT };
static const uint64_t MACHINE_PERIOD_NS = 10000000000;
static const uint64_t TELL_WHERE_NS = 10000000000;

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool running, has_begun, end, told_full, told_where;
    bool is_apart;               /* it has its own table of descriptors, */
    int kept[N_KEPT];            /* with these of the program's */
    uint64_t look_at_machine_ns; /* after the start */
    _Atomic bool has_work;
    uint64_t cpu_ns;
} helper = {.lock = PTHREAD_MUTEX_INITIALIZER, .look_at_machine_ns = FIRST_LOOK_NS};

/* Threads are made and bound after the start, and a run may be killed: looks that become rarer. The last one is that of
 * the end. */
static void look_at_machine(struct recorder_thread *first, bool is_last)
{
    uint64_t watched_ns = recorder_now_ns() - recorder.start_ns;
    if (!first || !spool_is_open(&first->events))
        return;
    struct ww_machine *machine = &first->events.header->machine;
    unsigned n_busy = sampler_at_once(recorder_now_ns());
    if (n_busy > machine->n_busy_threads)
        machine->n_busy_threads = n_busy;
    if (!is_last && watched_ns < helper.look_at_machine_ns)
        return;
    helper.look_at_machine_ns = watched_ns + (watched_ns < MACHINE_PERIOD_NS ? watched_ns : MACHINE_PERIOD_NS);
    machine_watch(machine, watched_ns);
    threads_look_at_cpus();
}

static struct recorder_thread *first_thread(void)
{
    for (struct recorder_thread *t = atomic_load(&recorder.threads); t; t = t->next)
        if (t->index == 0)
            return t;
    return NULL;
}

/* From the writer's side. A signal lost between two looks costs nothing but the writer's own preparation. */
static void helper_wake(void)
{
    atomic_store(&helper.has_work, true);
    pthread_cond_signal(&helper.wake);
}

/* A program that makes threads all the time is not worth a system call for each. */
void helper_thread_began(void)
{
    static _Atomic uint64_t woken_ns;
    if (!atomic_load_explicit(&recorder.recording, memory_order_relaxed))
        return;
    atomic_fetch_add_explicit(&recorder.n_threads_begun, 1, memory_order_relaxed);
    uint64_t now_ns = recorder_now_ns();
    if (now_ns - atomic_load_explicit(&woken_ns, memory_order_relaxed) < WAKE_NS)
        return;
    atomic_store_explicit(&woken_ns, now_ns, memory_order_relaxed);
    helper_wake();
}

static void tell_when_full(struct recorder_thread *thread)
{
    if (thread->told_full)
        return;
    thread->told_full = true;
    if (recorder.options.is_first_on_node && !helper.told_full)
        say("rank %d, thread %d: no more room in %s: its MPI calls are only counted from now on", recorder.rank,
            thread->index, recorder.spool_dir);
    helper.told_full = true;
    say_note("thread %d ran out of room and was not recorded to its end", thread->index);
}

/* A user may watch a long run, or see it killed, and nobody can say it afterwards. */
static void tell_where(void)
{
    if (helper.told_where || recorder_now_ns() - recorder.start_ns < TELL_WHERE_NS)
        return;
    helper.told_where = true;
    if (recorder.rank == 0 && !recorder.options.quiet)
        say("recording %d rank%s in %s", recorder.n_ranks, recorder.n_ranks == 1 ? "" : "s", recorder.run_dir);
}

static void work(void)
{
    atomic_store(&helper.has_work, false);
    threads_keep_up(tell_when_full);
    struct recorder_thread *first = first_thread();
    if (first && threads_open_samples(first)) {
        notes_write(&first->samples);
        if (modules_scan(&first->samples))
            unwind_forget();
        python_look();
    }
    sampler_follow_threads();
    sampler_drain();
    look_at_machine(first, false);
    tell_where();
}

static void begin(void)
{
    pthread_mutex_lock(&helper.lock);
    helper.is_apart = descriptors_leave(helper.kept, N_KEPT);
    helper.has_begun = true;
    pthread_cond_signal(&helper.wake);
    pthread_mutex_unlock(&helper.lock);
}

static void *helper_main(void *unused)
{
    (void)unused;
    begin();
    work();
    pthread_mutex_lock(&helper.lock);
    while (!helper.end) {
        /* The count before the clock: a helper that loses its CPU in between is late, but ready as well. */
        uint64_t patience_ns = sampler_patience_ns(), ready_ns = machine_ready_ns();
        uint64_t now_ns = recorder_now_ns(), t = now_ns + patience_ns;
        if (now_ns == 0) /* a clock that fails must not make this a loop without rest */
            nanosleep(&(struct timespec){0, (long)patience_ns}, NULL);
        struct timespec until = {(time_t)(t / 1000000000u), (long)(t % 1000000000u)};
        if (!atomic_load(&helper.has_work))
            pthread_cond_timedwait(&helper.wake, &helper.lock, &until);
        pthread_mutex_unlock(&helper.lock);
        sampler_slept(now_ns, t, ready_ns);
        work();
        pthread_mutex_lock(&helper.lock);
    }
    pthread_mutex_unlock(&helper.lock);
    sampler_stop();
    struct timespec cpu;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    helper.cpu_ns = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
    return NULL;
}

static void choose_kept(void)
{
    const struct recorder_thread *first = first_thread();
    helper.kept[KEPT_STANDARD_ERROR] = say_descriptor();
    helper.kept[KEPT_EVENTS] = first ? first->events.fd : -1;
    helper.kept[KEPT_RING] = first ? sampler_descriptor(first) : -1;
}

/* The ring's descriptor is the helper's alone from now on. */
static void wait_for_begin(void)
{
    pthread_mutex_lock(&helper.lock);
    while (!helper.has_begun)
        pthread_cond_wait(&helper.wake, &helper.lock);
    pthread_mutex_unlock(&helper.lock);
    if (helper.is_apart && helper.kept[KEPT_RING] >= 0)
        close(helper.kept[KEPT_RING]);
}

bool helper_start(void)
{
    pthread_condattr_t monotonic;
    pthread_attr_t small;
    sigset_t before;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&helper.wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    choose_kept();
    signals_block(&before);
    workers_pause();
    /* Thread-local storage of the program is taken from the stack: where the small one cannot hold it, the usual one.
     */
    int rc = pthread_attr_init(&small);
    if (rc == 0) {
        pthread_attr_setstacksize(&small, SMALL_STACK_BYTES);
        rc = pthread_create(&helper.thread, &small, helper_main, NULL);
        rc = rc ? pthread_create(&helper.thread, NULL, helper_main, NULL) : 0;
        pthread_attr_destroy(&small);
    }
    helper.running = rc == 0;
    workers_resume();
    signals_restore(&before);
    if (helper.running) {
        wait_for_begin();
        atomic_store(&recorder.budget.segment_was_left, helper_wake);
        pthread_setname_np(helper.thread, "whywait");
    } else
        errno = rc;
    return helper.running;
}

uint64_t helper_stop(void)
{
    if (!helper.running)
        return 0;
    atomic_store(&recorder.budget.segment_was_left, NULL);
    pthread_mutex_lock(&helper.lock);
    helper.end = true;
    pthread_cond_signal(&helper.wake);
    pthread_mutex_unlock(&helper.lock);
    pthread_join(helper.thread, NULL);
    look_at_machine(first_thread(), true);
    helper.running = false;
    return helper.cpu_ns;
}
