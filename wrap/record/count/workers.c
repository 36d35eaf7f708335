/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One lock for all of it: threads begin, end and are looked at seldom and shortly. Signals are blocked while it is
 * held, so that no handler jumps out of it. After a fork nobody may wait for it: the lock may be the parent's.
 */
#include "wrap/record/count/workers.h"
#include "wrap/record/count/inventory.h"
#include "wrap/record/process/machine.h"
#include "wrap/record/process/signals.h"
#include "wrap/record/process/thread_key.h"
#include "wrap/record/recorder.h"
#include "wrap/record/threads.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The destructors of other keys may execute what is counted: ours comes last, as far as there is an order. A thread
 * that has used less than WW_YOUNG_NS may have ended before the sampler found it. Asking the kernel takes some 10 us.
 */
enum { LAST_PASS = 3, WORTH_ASKING_NS = 100000 };
enum { SCAN_PATIENCE = 10000 }; /* looks at another thread's search for modules before it is given up */

enum state { UNUSED, BEGINNING, LOOKED_AT, TAKES_ITS_OWN };

struct worker {
    struct worker *next;
    enum state state; /* under the lock; others look at LOOKED_AT only */
    int n_passes;
    int32_t tid;
    uint64_t began_ns;
    struct counters_thread counters;
};

static struct {
    pthread_mutex_t lock;
    pthread_once_t once;
    pthread_key_t key;
    pid_t pid;
    struct worker *first;
    struct counters_thread rest;   /* of threads that ended */
    uint64_t young_ns[WW_YOUNG_N]; /* likewise */
    uint32_t n_looked_at;
    _Atomic uint32_t n_unseen; /* threads that were begun when nothing was counted yet */
} workers = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

_Atomic bool workers_have_young;
static __thread struct worker *self;
static __thread unsigned n_pauses;

static void lock(sigset_t *before)
{
    signals_block(before);
    pthread_mutex_lock(&workers.lock);
}

static void unlock(const sigset_t *before)
{
    pthread_mutex_unlock(&workers.lock);
    signals_restore(before);
}

static void set_state(struct worker *worker, enum state state)
{
    workers.n_looked_at += (state == LOOKED_AT) - (worker->state == LOOKED_AT);
    worker->state = state;
}

static void thread_ends(void *value)
{
    struct worker *worker = value;
    sigset_t before;
    if (workers.pid != getpid())
        return;
    if (++worker->n_passes < LAST_PASS) {
        pthread_setspecific(workers.key, worker);
        return;
    }
    uint64_t began_ns = recorder_cpu_ns();
    bool is_young = began_ns < WW_YOUNG_NS && !recorder_calls_mpi;
    bool was_off = recorder_now_ns() - worker->began_ns > began_ns + WORTH_ASKING_NS;
    uint64_t ready_ns = is_young && was_off ? machine_ready_ns() : 0;
    lock(&before);
    if (is_young) {
        workers.young_ns[WW_YOUNG_CPU] += began_ns;
        workers.young_ns[WW_YOUNG_READY] += ready_ns;
        atomic_store_explicit(&workers_have_young, true, memory_order_relaxed);
    }
    inventory_leave(&worker->counters, &workers.rest);
    set_state(worker, UNUSED);
    self = NULL;
    unlock(&before);
    atomic_fetch_add_explicit(&recorder.threads_ns, recorder_cpu_ns() - began_ns, memory_order_relaxed);
}

static void prepare(void)
{
    workers.pid = getpid();
    workers.key = thread_key_new(thread_ends);
}

/* The calling thread's, made when there is none. Its counters are empty after inventory_leave. */
static struct worker *self_or_new(void)
{
    sigset_t before;
    if (self)
        return self;
    lock(&before);
    for (self = workers.first; self && self->state != UNUSED;)
        self = self->next;
    if (!self) {
        void *at = mmap(NULL, sizeof *self, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at != MAP_FAILED) {
            self = at;
            self->next = workers.first;
            workers.first = self;
        }
    }
    if (self) {
        self->n_passes = 0;
        self->tid = (int32_t)syscall(SYS_gettid);
        self->began_ns = recorder_now_ns();
        set_state(self, BEGINNING);
        pthread_setspecific(workers.key, self);
    }
    unlock(&before);
    return self;
}

static void move_self(enum state state)
{
    sigset_t before;
    lock(&before);
    set_state(self, state);
    unlock(&before);
}

/* Some thread was begun before the present modules were known. It cannot be seen counting in one that is found later.
 */
static bool precede(void)
{
    return __atomic_load_n(&workers.n_looked_at, __ATOMIC_RELAXED) || atomic_load(&workers.n_unseen);
}

void workers_look_for_modules(void)
{
    if (inventory_find())
        inventory_add(!precede());
}

/* The program has counters, as far as can be seen now. */
static bool is_counted(void)
{
    if (inventory_begin(SCAN_PATIENCE)) {
        workers_look_for_modules();
        inventory_end();
    }
    return inventory_n_ready() > 0;
}

void workers_begin(void)
{
    pthread_once(&workers.once, prepare);
    if (workers.pid != getpid())
        return;
    bool end_is_noticed = workers.key != THREAD_KEY_NONE;
    if (end_is_noticed && is_counted() && self_or_new()) {
        inventory_attach(&self->counters);
        move_self(LOOKED_AT);
        return;
    }
    atomic_fetch_add(&workers.n_unseen, 1);
    if (end_is_noticed && atomic_load_explicit(&recorder.recording, memory_order_relaxed))
        self_or_new();
}

struct counters_thread *workers_own(void)
{
    pthread_once(&workers.once, prepare);
    if (!self_or_new())
        return NULL;
    move_self(TAKES_ITS_OWN);
    return &self->counters;
}

struct counters_thread *workers_noting(void)
{
    enum { CALLS_BETWEEN_LOOKS = 256 };
    static __thread unsigned n_calls;
    pthread_once(&workers.once, prepare);
    if (workers.pid != getpid())
        return NULL;
    if (!self && (n_calls++ % CALLS_BETWEEN_LOOKS || !is_counted() || !self_or_new()))
        return NULL;
    return &self->counters;
}

void workers_each(void (*take)(struct counters_thread *thread))
{
    sigset_t before;
    lock(&before);
    for (struct worker *worker = workers.first; worker; worker = worker->next)
        if (worker->state == LOOKED_AT)
            take(&worker->counters);
    if (workers.rest.n_modules)
        take(&workers.rest);
    unlock(&before);
}

bool workers_take_young(uint64_t ns[WW_YOUNG_N])
{
    sigset_t before;
    if (!atomic_exchange_explicit(&workers_have_young, false, memory_order_relaxed))
        return false;
    lock(&before);
    memcpy(ns, workers.young_ns, sizeof workers.young_ns);
    memset(workers.young_ns, 0, sizeof workers.young_ns);
    unlock(&before);
    return true;
}

bool workers_has(int32_t tid)
{
    sigset_t before;
    bool has = false;
    lock(&before);
    for (const struct worker *worker = workers.first; worker && !has; worker = worker->next)
        has = worker->state != UNUSED && worker->tid == tid;
    unlock(&before);
    return has;
}

bool workers_are_there(void)
{
    return __atomic_load_n(&workers.n_looked_at, __ATOMIC_RELAXED) ||
           __atomic_load_n(&workers.rest.n_modules, __ATOMIC_RELAXED);
}

/* The linker's names for the ends of the section; weak, because unit tests have no such functions. */
extern const char __start_whywait_start[] __attribute__((weak, visibility("hidden")));
extern const char __stop_whywait_start[] __attribute__((weak, visibility("hidden")));

bool workers_is_start(uint64_t address)
{
    uint64_t low = (uint64_t)(uintptr_t)__start_whywait_start, high = (uint64_t)(uintptr_t)__stop_whywait_start;
    return address - low < high - low;
}

void workers_pause(void)
{
    n_pauses++;
}

void workers_resume(void)
{
    n_pauses--;
}

bool workers_are_paused(void)
{
    return n_pauses > 0;
}
