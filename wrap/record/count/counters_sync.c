/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exact counts into the spool: before every MPI call that can synchronise or switches recording, one or more WW_BINS
 * with the calling thread's counters that changed since the last such record of this thread. One is written even when
 * nothing changed, so that the analysis knows between which two calls the counts lie. The first record of a module is a
 * WW_COUNTERS. Bytes are taken on request only, and of functions those that were asked for.
 *
 * Calls that neither communicate nor wait, and polls, come in large numbers. There counts are taken only after an
 * interval that is long enough to pay for it. Else they would be taken at a later call, and belong to an interval in
 * which next to nothing was done, while the one that was computed in had none.
 *
 * The first thread adds the counts of the threads that do not call MPI. A program with many threads and very short
 * intervals would pay for that, so it is done again only when fifty times as long has passed as it took.
 */
#include "wrap/record/count/counters_sync.h"
#include "wrap/only.h"
#include "wrap/record/count/counters.h"
#include "wrap/record/count/inventory.h"
#include "wrap/record/count/workers.h"
#include "wrap/record/process/say.h"
#include "wrap/record/record.h"
#include "wrap/record/recorder.h"
#include "wrap/record/threads.h"
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum {
    BINS_A_RECORD = 2000,
    CALLS_BETWEEN_SCANS = 256, /* in programs that have no counters so far */
    WORKERS_REST = 50,         /* times as long between two looks at the other threads as one takes */
    TAKES_A_TIMING = 64,       /* the time of one stands for that of so many */
};

static struct {
    uint32_t n_announced;
    uint64_t workers_ns, workers_took_ns; /* when the first thread last looked at the others, and how long it took */
} counters;

struct own {
    struct counters_thread *thread;
    uint16_t type; /* of the records: WW_BINS or WW_CALLBACK_BINS */
    uint32_t n_takes;
    struct counters_bin bins[BINS_A_RECORD];
};
static __thread struct own *own;
static __thread bool own_is_refused;
static __thread uint32_t n_calls_to_scan;

/* Those that neither communicate nor wait, and polls. Not those that switch recording off and on, so that what was
 * counted meanwhile is told apart. */
static const bool is_frequent[] = {
    [WW_CALL_NONE] = true,
#define WW_MPI(name, class, coll)                                                                                      \
    [WW_ID_##name] =                                                                                                   \
        ((class) == WW_LOCAL && WW_ID_##name != WW_ID_Pcontrol) || (class) == WW_TEST || (class) == WW_IPROBE,
#include "wrap/mpi_calls.def"
#undef WW_MPI
};

/* The calling thread was outside MPI for no longer than taking its counts may cost. */
static bool comes_soon(void)
{
    uint64_t left_ns = atomic_load_explicit(&recorder_self->last_leave_ns, memory_order_relaxed);
    return atomic_load_explicit(&recorder_self->open_ns, memory_order_relaxed) - left_ns < RECORDER_WORTH_TAKING_NS;
}

/* Said once, by rank 0: waiting for the end of a long run to learn of a misspelt name would be a pity. */
static void check_options(void)
{
    static bool is_checked;
    const char *list = recorder.options.only, *pattern;
    size_t n;
    if (is_checked || recorder.rank != 0)
        return;
    is_checked = true;
    if ((*list || recorder.options.space) && !inventory.process.has_tables)
        say("%s asks for exact counts, but this program was not built with `mpicc $(whywait cc) ...`",
            *list ? "--only" : "--space");
    for (unsigned i = 0; inventory.process.has_tables && i < ONLY_MOST && (pattern = only_next(&list, &n)); i++)
        if (!(inventory.process.only_used >> i & 1))
            say("--only %.*s: no counted function or source file loaded so far has that name", (int)n, pattern);
}

/* One thread scans; another that comes at the same time goes on with what is known. */
static void scan(void)
{
    if (n_calls_to_scan && !atomic_load_explicit(&inventory.n_ready, memory_order_relaxed)) {
        n_calls_to_scan--;
        return;
    }
    n_calls_to_scan = CALLS_BETWEEN_SCANS;
    if (!inventory_begin(0))
        return;
    workers_look_for_modules();
    for (; counters.n_announced < inventory.process.n_modules; counters.n_announced++) {
        const struct counters_module *module = &inventory.process.modules[counters.n_announced];
        const uint16_t units = (sizeof(struct ww_counters) + WW_UNIT - 1) / WW_UNIT;
        struct ww_counters *record = record_define(units);
        if (record) {
            record->id = module->id;
            record->n_points = module->n_points;
            record->flags = module->is_seen_everywhere ? WW_COUNTERS_ALL_THREADS : 0;
            record->bias = module->bias;
            record_commit(record, WW_COUNTERS, units);
        }
    }
    check_options();
    inventory_end();
}

static struct own *own_or_new(void)
{
    if (own || own_is_refused)
        return own;
    struct counters_thread *thread = workers_own();
    void *at = mmap(NULL, sizeof *own, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    own_is_refused = !thread || at == MAP_FAILED;
    if (own_is_refused)
        return NULL;
    own = at;
    own->thread = thread;
    return own;
}

static void write_bins(uint32_t module_id, enum ww_bin_kind what, const struct counters_bin *bins, uint32_t n)
{
    size_t bytes = sizeof(struct ww_bins) + n * sizeof *bins;
    uint16_t units = (uint16_t)((bytes + WW_UNIT - 1) / WW_UNIT);
    struct ww_bins *record = record_append(units);
    if (!record)
        return;
    record->what = what;
    record->module = module_id;
    record->n = n;
    if (n)
        memcpy(record->bins, bins, n * sizeof *bins);
    record_commit(record, own ? own->type : WW_BINS, units);
}

/* `is_due`: a record is written even when it is empty. */
static void take_module(uint32_t i, struct counters_view *view, enum counters_kind kind, bool is_due)
{
    static const enum ww_bin_kind what[COUNTERS_KINDS] = {
        [COUNTERS_EXECUTIONS] = WW_BIN_EXECUTIONS, [COUNTERS_BYTES] = WW_BIN_BYTES};
    const struct counters_module *module = &inventory.process.modules[i];
    struct counters_cursor cursor = {0};
    uint32_t n = BINS_A_RECORD;
    while (view->live && n == BINS_A_RECORD) {
        n = counters_take(module, view, kind, &cursor, own->bins, BINS_A_RECORD);
        if (n || is_due)
            write_bins(module->id, what[kind], own->bins, n);
        is_due = false;
    }
    if (is_due)
        write_bins(module->id, what[kind], NULL, 0);
}

static void take_thread(struct counters_thread *thread, bool is_due)
{
    for (uint32_t i = 0; i < thread->n_modules; i++) {
        take_module(i, &thread->views[i], COUNTERS_EXECUTIONS, is_due && i == 0);
        const struct counters_module *module = &inventory.process.modules[i];
        _Static_assert(BINS_A_RECORD >= (int)UNWOUND_PLACES, "all of them fit into one record");
        uint32_t n = counters_take_unwound(module, &thread->unwound, own->bins);
        if (n)
            write_bins(module->id, WW_BIN_EXECUTIONS, own->bins, n);
        if (recorder.options.space)
            take_module(i, &thread->views[i], COUNTERS_BYTES, false);
    }
}

/* Blocks of a module that is gone may be gone as well. */
static void take_worker(struct counters_thread *thread)
{
    for (uint32_t i = 0; i < thread->n_modules; i++)
        if (!inventory.process.modules[i].tls_module)
            thread->views[i].live = NULL;
    take_thread(thread, false);
}

/* Of this thread. False when there is no room for it. */
static __attribute__((noinline)) bool take_own(uint32_t n_modules, uint16_t type)
{
    if (!own_or_new())
        return false;
    counters_attach(&inventory.process, n_modules, own->thread);
    own->type = type;
    bool is_timed = ++own->n_takes % TAKES_A_TIMING == 0; /* not the first one, which touches all its memory */
    uint64_t from_ns = is_timed ? recorder_cpu_ns() : 0;
    take_thread(own->thread, true);
    if (is_timed)
        atomic_fetch_add_explicit(&recorder.counts_ns, TAKES_A_TIMING * (recorder_cpu_ns() - from_ns),
                                  memory_order_relaxed);
    own->type = WW_BINS;
    return true;
}

/* `module`: any, as they are times of none; 0 where there is none. */
static void take_young(uint32_t module)
{
    uint64_t ns[WW_YOUNG_N];
    if (!workers_take_young(ns))
        return;
    struct counters_bin bins[] = {{WW_YOUNG_CPU, ns[WW_YOUNG_CPU]}, {WW_YOUNG_READY, ns[WW_YOUNG_READY]}};
    write_bins(module, WW_BIN_TIME, bins, WW_YOUNG_N);
}

void counters_callback(void)
{
    uint32_t n_modules = inventory_n_ready();
    if (n_modules)
        take_own(n_modules, WW_CALLBACK_BINS);
}

static __attribute__((noinline)) void take_all(uint16_t call_id)
{
    if (call_id < sizeof is_frequent / sizeof *is_frequent && is_frequent[call_id] && comes_soon())
        return;
    scan();
    uint32_t n_modules = inventory_n_ready();
    if (!n_modules && atomic_load_explicit(&workers_have_young, memory_order_relaxed) && recorder_self->index == 0)
        take_young(0);
    if (!n_modules || !take_own(n_modules, WW_BINS))
        return;
    if (recorder_self->index != 0 || !workers_are_there())
        return;
    /* Counts of the other threads behind such a call belong to something else. */
    bool must_be_now = call_id == WW_ID_Finalize || call_id == WW_ID_Pcontrol;
    uint64_t now_ns = recorder_now_ns();
    if (!must_be_now && now_ns - counters.workers_ns < WORKERS_REST * counters.workers_took_ns)
        return;
    workers_each(take_worker);
    take_young(inventory.process.modules[0].id);
    counters.workers_ns = recorder_now_ns();
    counters.workers_took_ns = counters.workers_ns - now_ns;
}

void counters_sync(uint16_t call_id, const void *return_address, const void *frame_address)
{
    (void)return_address;
    (void)frame_address;
    if (n_calls_to_scan && !atomic_load_explicit(&inventory.n_ready, memory_order_relaxed) &&
        !atomic_load_explicit(&workers_have_young, memory_order_relaxed))
        n_calls_to_scan--; /* nothing is counted here, as far as is known */
    else
        take_all(call_id);
}
