/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reading that begins at marks hands out what a reading from the first record would from there on, at the same times.
 * Archives of other tools, each with its manners, or those that are named (by hand, those of ours).
 */
#include "analyze/trace/mark.h"
#include "analyze/trace/trace.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Shares of a location's events before its mark. */
enum { SHARES = 7 };

struct seen {
    VEC(struct event) events;
    VEC(struct trace_bin) bins;
};

static void see(struct seen *seen, const struct event *event)
{
    struct event *copy = vec_push(&seen->events);
    *copy = *event;
    for (uint32_t i = 0; i < event_n_bins(event); i++)
        *vec_push(&seen->bins) = event->bins[i];
    if (event->kind == EV_BINS)
        copy->bins = NULL; /* where they are need not agree */
}

/* By location. */
static struct seen *read_on(struct trace *trace)
{
    struct seen *seen = memory_lines(trace->n_locations, sizeof *seen);
    uint64_t last_ns = 0;
    for (const struct event *event; (event = trace_next(trace));) {
        assert_true(event->time_ns >= last_ns);
        last_ns = event->time_ns;
        see(&seen[event->loc], event);
    }
    return seen;
}

static void forget(const struct trace *trace, struct seen *seen)
{
    for (uint32_t i = 0; i < trace->n_locations; i++) {
        vec_release(&seen[i].events);
        vec_release(&seen[i].bins);
    }
    vec_free(seen);
}

static void check_rest(const struct seen *all, const struct seen *rest)
{
    size_t n = rest->events.n, n_bins = rest->bins.n;
    assert_true(n <= all->events.n && n_bins <= all->bins.n);
    assert_memory_equal(all->events.at + all->events.n - n, rest->events.at, n * sizeof *rest->events.at);
    if (n_bins)
        assert_memory_equal(all->bins.at + all->bins.n - n_bins, rest->bins.at, n_bins * sizeof *rest->bins.at);
}

/* Each location is marked at a place of its own. Ranks are read by two processes, as it were. */
static void mark_all(struct trace *trace, const struct seen *all, uint32_t share, struct packing *marks, size_t *n_left)
{
    struct packing *of = memory_lines(trace->n_locations, sizeof *of);
    for (uint32_t number = 0; number < 2; number++) {
        assert_true(mark_begin(trace, number, 2));
        for (uint32_t loc = 0; loc < trace->n_locations; loc++) {
            if (trace->locations[loc].rank % 2 != number)
                continue;
            size_t n = all[loc].events.n, n_before = (n * (share % SHARES) + loc) / SHARES;
            for (size_t i = 0; i < n_before; i++)
                assert_int_equal(mark_next(trace, loc)->time_ns, all[loc].events.at[i].time_ns);
            const struct event *ahead = mark_ahead(trace, loc);
            assert_true(n_before < n ? ahead && ahead->kind == all[loc].events.at[n_before].kind : !ahead);
            mark_write(trace, loc, &of[loc]);
            n_left[loc] = n - n_before;
        }
        mark_end(trace);
    }
    for (uint32_t loc = 0; loc < trace->n_locations; loc++) {
        pack_bytes(marks, of[loc].bytes.at, of[loc].bytes.n);
        vec_release(&of[loc].bytes);
    }
    vec_free(of);
}

static void check_archive(const char *anchor)
{
    struct trace *trace = trace_open(anchor);
    assert_non_null(trace);
    assert_int_equal(trace_rewind(trace), 0);
    struct seen *all = read_on(trace);
    size_t *n_left = memory_lines(trace->n_locations, sizeof *n_left);
    for (uint32_t share = 0; share < SHARES; share++) {
        struct packing marks = {0};
        mark_all(trace, all, share, &marks, n_left);
        struct unpacking from = {marks.bytes.at, marks.bytes.at + marks.bytes.n};
        assert_int_equal(mark_rewind(trace, &from), 0);
        assert_ptr_equal(from.at, from.end);
        struct seen *rest = read_on(trace);
        for (uint32_t loc = 0; loc < trace->n_locations; loc++) {
            assert_int_equal(rest[loc].events.n, n_left[loc]);
            check_rest(&all[loc], &rest[loc]);
        }
        forget(trace, rest);
        vec_release(&marks.bytes);
    }
    assert_int_equal(trace_rewind(trace), 0); /* and once more from the first */
    struct seen *again = read_on(trace);
    for (uint32_t loc = 0; loc < trace->n_locations; loc++) {
        assert_int_equal(again[loc].events.n, all[loc].events.n);
        check_rest(&all[loc], &again[loc]);
    }
    forget(trace, again);
    forget(trace, all);
    vec_free(n_left);
    trace_close(trace);
}

static void test_archives_of_others(void **state)
{
    static const char *const anchors[] = {"scorep-phases/traces.otf2", "tau-phases/traces.otf2",
                                          "eztrace-phases/eztrace_log.otf2"};
    (void)state;
    for (size_t i = 0; i < sizeof anchors / sizeof *anchors; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", TEST_DATA, anchors[i]);
        check_archive(path);
    }
}

static const char *named;

static void test_named(void **state)
{
    (void)state;
    check_archive(named);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_archives_of_others)},
                            one[] = {cmocka_unit_test(test_named)};
    int n_failed = argc < 2 ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
    for (int i = 1; i < argc; i++) {
        named = argv[i];
        n_failed += cmocka_run_group_tests_name(named, one, NULL, NULL);
    }
    return n_failed;
}
