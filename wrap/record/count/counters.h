/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exact counters of a program built with the plugin (wrap/points.h), seen from inside the process: which
 * modules have some, and which of the calling thread's changed since they were last looked at.
 *
 * Finding them takes nothing from the program: the module's file says where in its thread-local block the counters lie,
 * the loader says where the block of the calling thread is. Taking them compares the live words with a copy, a vector
 * at a time. No function here knows of MPI or of the spool, allocates with malloc, or changes errno.
 */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COUNTERS_MODULES = 256 };

/* Counters first .. first + n - 1 of a module, as point numbers. */
struct counters_range {
    uint32_t first, n;
};

/* Executions and allocated bytes are taken separately. */
enum counters_kind { COUNTERS_EXECUTIONS, COUNTERS_BYTES, COUNTERS_KINDS };
struct counters_set {
    struct counters_range *ranges; /* rising */
    uint32_t n_ranges;
    uint32_t n_counters; /* sum over ranges */
};

struct counters_module {
    uint64_t bias, low, high; /* of the loaded object: its segments lie in [low, high) */
    size_t tls_module;        /* the loader's number for its thread-local block; 0 = it was unloaded */
    uint32_t id;              /* from 1, never reused */
    uint32_t n_points;        /* largest point number + 1 */
    struct counters_set sets[COUNTERS_KINDS];
    bool is_seen_everywhere; /* no thread runs whose counts in it cannot be seen */
    uint64_t *mark;          /* a word in the module's data, 1 once it is known; NULL = it has none */
};

/* All modules of the process. One thread at a time may call counters_scan. */
struct counters_process {
    const char *only;   /* patterns of the functions to take (wrap/only.h); empty or NULL = all */
    uint64_t only_used; /* by pattern: it chose a function of some module */
    bool has_tables;    /* some module was built to count, whether its functions were chosen or not */
    struct counters_module modules[COUNTERS_MODULES];
    uint32_t n_modules;
    unsigned long long n_adds, n_subs; /* the loader's counts at the last scan */
    bool was_scanned;
};

/*
 * Frames that a longjmp removed: calls that will never return, by return address. Counts follow from the flow through a
 * routine, and there such a frame stays for ever in the block of its call. (Exceptions need none of this: the routines
 * they pass have edges for them.) One thread adds to a table, another one may take from it at the same time.
 */
enum { UNWOUND_PLACES = 256 };

struct unwound {
    struct unwound_place {
        _Atomic uint64_t return_address; /* 0 = unused, like all places behind it */
        _Atomic uint64_t n;
        uint64_t n_taken; /* the taker's */
    } places[UNWOUND_PLACES];
    unsigned last;
};

/* Adds n frames. They are left out when the table is full of other places. */
void unwound_add(struct unwound *unwound, uint64_t return_address, uint64_t n);

/* The number added to the place since the last time. */
static inline uint64_t unwound_take(struct unwound_place *place)
{
    uint64_t n = atomic_load_explicit(&place->n, memory_order_relaxed), n_new = n - place->n_taken;
    place->n_taken = n;
    return n_new;
}

/* Adds what was not taken yet to `rest` and leaves nothing. */
void unwound_move(struct unwound *unwound, struct unwound *rest);

/* Facts about one thread's counters. */
struct counters_thread {
    struct counters_view {
        const uint64_t *live;           /* the module's thread-local block; NULL = not looked up yet */
        uint64_t *copy[COUNTERS_KINDS]; /* of the ranges, one after the other */
    } views[COUNTERS_MODULES];
    uint32_t n_modules; /* looked up so far */
    unsigned long long n_subs;
    struct unwound unwound;
};

struct counters_bin {
    uint32_t point;
    uint64_t value;
} __attribute__((packed));

/* Looks for modules that were loaded or unloaded since the last scan. Cheap when nothing changed. New modules are at
 * the end; true when there are any. */
bool counters_scan(struct counters_process *process);

/* Looks up the calling thread's blocks of the first n_modules after a scan found changes. A module for which there is
 * no memory is left out: its view has no live words. Cheap when nothing changed. */
void counters_attach(const struct counters_process *process, uint32_t n_modules, struct counters_thread *thread);

/* Before the thread ends: adds what it counted since the last take to `rest`, from where it can be taken like a living
 * thread's. Another thread can then attach what counters_attach made. */
void counters_leave(const struct counters_process *process, uint32_t n_modules, struct counters_thread *thread,
                    struct counters_thread *rest);

/*
 * Writes a bin for every counter of this kind of the attached module that changed since the last take (or since the
 * thread began), up to n_bins of them, into bins, and remembers their values. Returns how many; when that is n_bins,
 * there may be more: call again with the cursor as it was left (it begins as {0}).
 */
struct counters_cursor {
    uint32_t range, word, at;
};
uint32_t counters_take(const struct counters_module *module, struct counters_view *view, enum counters_kind kind,
                       struct counters_cursor *cursor, struct counters_bin *bins, uint32_t n_bins);

/* The same of frames that a longjmp removed, as bins of points of their own (POINTS_UNWOUND_FRAME). There are at most
 * UNWOUND_PLACES. */
uint32_t counters_take_unwound(const struct counters_module *module, struct unwound *unwound,
                               struct counters_bin *bins);

/* Zeroed memory that is never given back; NULL when there is none. */
void *counters_pages(size_t size_bytes);
