/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Taking the counters that changed. The search over the live words is the hot part: 10,000 counters of which 20 changed
 * are two passes over 80 kB, in steps of 64 bytes that are compared as a whole (AVX2 where the processor has it).
 */
#include "wrap/record/count/counters.h"
#include "wrap/points.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { WORD_BYTES = sizeof(uint64_t), STEP = 8 /* words compared at once */ };

void *counters_pages(size_t size_bytes)
{
    void *at = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* The compiler passes this to the loader for a thread-local variable. The block is made when it is not there yet. */
struct tls_place {
    unsigned long module, offset;
};
extern void *__tls_get_addr(struct tls_place *place);

static size_t copy_bytes(const struct counters_module *module, int kind)
{
    return (size_t)module->sets[kind].n_counters * WORD_BYTES;
}

static bool make_copies(const struct counters_module *module, struct counters_view *view)
{
    bool has_copies = true;
    for (int kind = 0; kind < COUNTERS_KINDS; kind++) {
        if (!view->copy[kind] && copy_bytes(module, kind))
            view->copy[kind] = counters_pages(copy_bytes(module, kind));
        has_copies &= view->copy[kind] || !copy_bytes(module, kind);
    }
    return has_copies;
}

void counters_attach(const struct counters_process *process, uint32_t n_modules, struct counters_thread *thread)
{
    if (thread->n_modules == n_modules && thread->n_subs == process->n_subs)
        return;
    int saved = errno;
    for (uint32_t i = 0; i < n_modules; i++) {
        const struct counters_module *module = &process->modules[i];
        struct tls_place place = {module->tls_module, 0};
        bool has_copies = make_copies(module, &thread->views[i]);
        thread->views[i].live = has_copies && module->tls_module ? __tls_get_addr(&place) : NULL;
    }
    thread->n_modules = n_modules;
    thread->n_subs = process->n_subs;
    errno = saved;
}

/* The first of words [word, n) that may differ, a multiple of STEP behind `word`. */
static inline __attribute__((always_inline)) uint32_t skip_same(const uint64_t *live, const uint64_t *copy,
                                                                uint32_t word, uint32_t n)
{
    for (; word + STEP <= n; word += STEP) {
        uint64_t difference = 0;
        for (int i = 0; i < STEP; i++)
            difference |= live[word + i] ^ copy[word + i];
        if (difference)
            break;
    }
    return word;
}

#ifdef __x86_64__
static __attribute__((target("avx2"), noinline)) uint32_t skip_same_avx2(const uint64_t *live, const uint64_t *copy,
                                                                         uint32_t word, uint32_t n)
{
    typedef long long vector __attribute__((vector_size(32), aligned(8), may_alias));
    while (word + 2 * STEP <= n) {
        const vector *a = (const void *)(live + word), *b = (const void *)(copy + word);
        vector difference = (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3]);
        if (!__builtin_ia32_ptestz256(difference, difference))
            break;
        word += 2 * STEP;
    }
    return skip_same(live, copy, word, n);
}
#endif

static uint32_t skip_same_words(const uint64_t *live, const uint64_t *copy, uint32_t word, uint32_t n)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2"))
        return skip_same_avx2(live, copy, word, n);
#endif
    return skip_same(live, copy, word, n);
}

uint32_t counters_take(const struct counters_module *module, struct counters_view *view, enum counters_kind kind,
                       struct counters_cursor *cursor, struct counters_bin *bins, uint32_t n_bins)
{
    const struct counters_set *set = &module->sets[kind];
    uint32_t n = 0;
    for (; cursor->range < set->n_ranges; cursor->at += set->ranges[cursor->range++].n, cursor->word = 0) {
        const struct counters_range *range = &set->ranges[cursor->range];
        const uint64_t *live = view->live + range->first;
        uint64_t *copy = view->copy[kind] + cursor->at;
        for (;;) {
            uint32_t word = skip_same_words(live, copy, cursor->word, range->n);
            uint32_t end = word + STEP < range->n ? word + STEP : range->n;
            for (cursor->word = word; cursor->word < end; cursor->word++) {
                uint64_t now = live[cursor->word];
                if (now == copy[cursor->word])
                    continue;
                if (n == n_bins)
                    return n;
                /* Less than before: the module was unloaded and loaded again without being noticed. */
                uint64_t before = now < copy[cursor->word] ? 0 : copy[cursor->word];
                bins[n++] = (struct counters_bin){range->first + cursor->word, now - before};
                copy[cursor->word] = now;
            }
            if (cursor->word == range->n)
                break;
        }
    }
    return n;
}

uint32_t counters_take_unwound(const struct counters_module *module, struct unwound *unwound, struct counters_bin *bins)
{
    uint32_t n = 0;
    for (unsigned i = 0; i < UNWOUND_PLACES && module->tls_module; i++) {
        struct unwound_place *place = &unwound->places[i];
        uint64_t address = atomic_load_explicit(&place->return_address, memory_order_acquire);
        if (!address)
            break;
        if (address < module->low || address >= module->high || address - module->bias >= POINTS_UNWOUND_FRAME)
            continue;
        uint64_t n_new = unwound_take(place);
        if (n_new)
            bins[n++] = (struct counters_bin){POINTS_UNWOUND_FRAME | (uint32_t)(address - module->bias), n_new};
    }
    return n;
}

static void move_counts(const struct counters_module *module, struct counters_view *view, enum counters_kind kind,
                        uint64_t *words)
{
    struct counters_bin bins[64];
    const uint32_t n_bins = sizeof bins / sizeof *bins;
    struct counters_cursor cursor = {0};
    uint32_t n = n_bins;
    while (n == n_bins) {
        n = counters_take(module, view, kind, &cursor, bins, n_bins);
        for (uint32_t i = 0; i < n; i++)
            words[bins[i].point] += bins[i].value;
    }
}

void counters_leave(const struct counters_process *process, uint32_t n_modules, struct counters_thread *thread,
                    struct counters_thread *rest)
{
    int saved = errno;
    counters_attach(process, n_modules, thread);
    for (uint32_t i = 0; i < n_modules; i++) {
        const struct counters_module *module = &process->modules[i];
        struct counters_view *view = &thread->views[i], *to = &rest->views[i];
        if (!to->live && make_copies(module, to))
            to->live = counters_pages((size_t)module->n_points * WORD_BYTES);
        for (int kind = 0; kind < COUNTERS_KINDS; kind++) {
            if (view->live && to->live)
                move_counts(module, view, (enum counters_kind)kind, (uint64_t *)(uintptr_t)to->live);
            if (view->copy[kind])
                memset(view->copy[kind], 0, copy_bytes(module, kind));
        }
    }
    unwound_move(&thread->unwound, &rest->unwound);
    thread->n_modules = 0;
    rest->n_modules = n_modules;
    errno = saved;
}

/* The place of this address, or the first unused one. */
static struct unwound_place *find_place(struct unwound *unwound, uint64_t return_address)
{
    for (unsigned i = 0; i < UNWOUND_PLACES; i++) {
        struct unwound_place *place = &unwound->places[(unwound->last + i) % UNWOUND_PLACES];
        uint64_t there = atomic_load_explicit(&place->return_address, memory_order_relaxed);
        if (there == return_address) {
            unwound->last = (unsigned)(place - unwound->places);
            return place;
        }
    }
    for (unsigned i = 0; i < UNWOUND_PLACES; i++)
        if (!atomic_load_explicit(&unwound->places[i].return_address, memory_order_relaxed))
            return &unwound->places[i];
    return NULL;
}

void unwound_add(struct unwound *unwound, uint64_t return_address, uint64_t n)
{
    struct unwound_place *place = n ? find_place(unwound, return_address) : NULL;
    if (!place)
        return;
    uint64_t before = atomic_load_explicit(&place->n, memory_order_relaxed);
    atomic_store_explicit(&place->n, before + n, memory_order_relaxed);
    atomic_store_explicit(&place->return_address, return_address, memory_order_release);
}

void unwound_move(struct unwound *unwound, struct unwound *rest)
{
    for (unsigned i = 0; i < UNWOUND_PLACES && unwound->places[i].return_address; i++)
        unwound_add(rest, unwound->places[i].return_address, unwound_take(&unwound->places[i]));
    memset(unwound, 0, sizeof *unwound);
}
