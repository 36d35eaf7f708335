/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linked into the test programs, not counted itself: writes what the recorder would write at a synchronisation (the
 * counters that changed, the frames in flight) as text to the file $COUNTS_OUT:
 *     M module bias path          a module with counters
 *     S thread                    an interval ends
 *     F module address            a frame in flight (link-time return address)
 *     B module point value        a counter that changed
 * Threads are numbered by $OMP's rule: the number set with counts_thread, 0 by default.
 */
#include "tests/run/counts/sync.h"
#include "wrap/record/count/counters.h"
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_FRAMES = 4096, BINS = 100 };

void counts_sync_(void);
void counts_thread(int number);

static struct counters_process process;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct counters_thread *self;
static __thread int thread_number;
static FILE *out;

static void open_out(void)
{
    const char *path = getenv("COUNTS_OUT");
    out = fopen(path ? path : "/dev/null", "w");
    if (!out)
        abort();
}

static const char *path_of(uint64_t bias)
{
    for (struct link_map *map = _r_debug.r_map; map; map = map->l_next)
        if (map->l_addr == bias)
            return *map->l_name ? map->l_name : "exe";
    return "?";
}

static void find_modules(void)
{
    uint32_t known = process.n_modules;
    counters_scan(&process);
    for (uint32_t i = known; i < process.n_modules; i++)
        fprintf(out, "M %u %llx %s\n", i, (unsigned long long)process.modules[i].bias,
                path_of(process.modules[i].bias));
}

static void write_frames(void)
{
    static void *frames[MOST_FRAMES];
    int n = backtrace(frames, MOST_FRAMES);
    for (int i = 0; i < n; i++) {
        Dl_info info;
        struct link_map *map;
        if (!dladdr1(frames[i], &info, (void **)&map, RTLD_DL_LINKMAP))
            continue;
        for (uint32_t m = 0; m < process.n_modules; m++)
            if (process.modules[m].bias == map->l_addr && process.modules[m].tls_module)
                fprintf(out, "F %u %llx\n", m, (unsigned long long)((char *)frames[i] - (char *)map->l_addr));
    }
}

static void write_bins(uint32_t module, enum counters_kind kind)
{
    struct counters_cursor cursor = {0};
    struct counters_bin bins[BINS];
    uint32_t n;
    do {
        n = counters_take(&process.modules[module], &self->views[module], kind, &cursor, bins, BINS);
        for (uint32_t i = 0; i < n; i++)
            fprintf(out, "B %u %u %llu\n", module, bins[i].point, (unsigned long long)bins[i].value);
    } while (n == BINS);
}

void counts_thread(int number)
{
    thread_number = number;
}

void counts_sync(void)
{
    pthread_mutex_lock(&lock);
    if (!out)
        open_out();
    find_modules();
    if (!self)
        self = calloc(1, sizeof *self);
    counters_attach(&process, process.n_modules, self);
    fprintf(out, "S %d\n", thread_number);
    write_frames();
    for (uint32_t m = 0; m < process.n_modules; m++)
        if (self->views[m].live)
            for (int kind = 0; kind < COUNTERS_KINDS; kind++)
                write_bins(m, (enum counters_kind)kind);
    fflush(out);
    pthread_mutex_unlock(&lock);
}

void counts_sync_(void)
{
    counts_sync();
}
