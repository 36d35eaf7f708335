/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that begin by an index read the same sections as one that reads all from the first event. Archives of other
 * tools, or those that are named (by hand, those of ours).
 */
#include "analyze/sections/index.h"
#include "analyze/engine/share.h"
#include "analyze/sections/sections.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct section {
    uint64_t turn, begin_ns, end_ns, n_events, sum;
};

struct reading {
    struct trace *trace;
    struct sections_index index;
    VEC(struct section) sections; /* taken */
    uint64_t n_read;              /* by this process, of events that are in its sections */
};

static uint64_t add(uint64_t sum, const void *what, size_t n_bytes)
{
    for (const unsigned char *at = what; n_bytes--; at++)
        sum = (sum ^ *at) * 1099511628211u;
    return sum;
}

static struct section read_section(struct sections *sections)
{
    struct section section = {.turn = sections_turn(sections), .begin_ns = sections->begin_ns};
    for (const struct event *event; (event = sections_next(sections)); section.n_events++) {
        struct event copy = *event;
        if (copy.kind == EV_BINS)
            copy.bins = NULL; /* they may be anywhere */
        const unsigned how = sections->event;
        section.sum = add(section.sum, &how, sizeof how);
        section.sum = add(section.sum, &copy, sizeof copy);
        section.sum = add(section.sum, event->bins, event_n_bins(event) * sizeof *event->bins);
    }
    section.end_ns = sections->end_ns;
    return section;
}

static bool perform(void *context, struct deal *deal)
{
    struct reading *reading = context;
    struct sections sections;
    static const struct sections_index none;
    const struct sections_index *index = deal_is_as_planned(deal) ? &reading->index : &none;
    bool is_there = sections_begin_at(&sections, reading->trace, index);
    while (is_there) {
        if (deal_has(deal, sections_turn(&sections))) {
            struct section section = read_section(&sections);
            deal_give(deal, (uint32_t)section.turn, (struct parcel){&section, sizeof section});
            reading->n_read += section.n_events;
        } else if (index->firsts && reading->n_read) {
            break; /* others go on */
        } else {
            sections_skip(&sections);
        }
        is_there = sections_go_on(&sections);
    }
    sections_release(&sections);
    return !reading->trace->has_failed;
}

static void take(void *context, uint32_t turn, struct parcel result)
{
    struct reading *reading = context;
    struct section *section = vec_push(&reading->sections);
    memcpy(section, result.at, sizeof *section);
    assert_int_equal(section->turn, turn);
}

/* Twice, as the analysis does. In number 0: what was taken, and how many processes had sections. */
static uint32_t read_shared(struct reading *reading, const char *anchor, uint32_t n)
{
    struct engine engine = {0};
    struct parcel taken[16];
    reading->trace = trace_open(anchor);
    assert_non_null(reading->trace);
    engine_fork(&engine, n);
    sections_find_index(reading->trace, &engine, &reading->index);
    const struct share share = {.context = reading, .perform = perform, .take = take, .firsts = reading->index.firsts};
    for (int time = 0; time < 2; time++) {
        reading->sections.n = 0;
        reading->n_read = 0;
        if (!share_perform(&engine, &share))
            exit(1);
    }
    const uint64_t mine = reading->n_read;
    engine_gather(&engine, (struct parcel){&mine, sizeof mine}, taken);
    uint32_t n_busy = 0;
    for (uint32_t i = 0; i < engine_n(&engine) && engine_is_first(&engine); i++)
        n_busy += *(const uint64_t *)taken[i].at > 0;
    engine_end(&engine);
    trace_close(reading->trace);
    index_release(&reading->index);
    return n_busy;
}

static void check_archive(const char *anchor)
{
    static const uint32_t sizes[] = {2, 3, 7};
    struct reading alone = {0};
    read_shared(&alone, anchor, 1);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct reading shared = {0};
        uint32_t n_busy = read_shared(&shared, anchor, sizes[k]);
        if (getenv("SHOW"))
            printf("%s: %zu sections, %u of %u processes read some\n", anchor, alone.sections.n, n_busy, sizes[k]);
        assert_int_equal(shared.sections.n, alone.sections.n);
        for (size_t i = 0; i < alone.sections.n; i++)
            assert_memory_equal(&shared.sections.at[i], &alone.sections.at[i], sizeof *alone.sections.at);
        if (alone.sections.n > 100) /* there is something for everybody */
            assert_int_equal(n_busy, sizes[k]);
        vec_release(&shared.sections);
    }
    vec_release(&alone.sections);
}

static void test_archives_of_others(void **state)
{
    static const char *const anchors[] = {"scorep-phases/traces.otf2", "tau-phases/traces.otf2",
                                          "eztrace-phases/eztrace_log.otf2"};
    (void)state;
    setenv("WHYWAIT_SECTION_EVENTS", "30", 0);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_archives_of_others)};
    const struct CMUnitTest one[] = {cmocka_unit_test(test_named)};
    int n_failed = argc < 2 ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
    for (int i = 1; i < argc; i++) {
        named = argv[i];
        n_failed += cmocka_run_group_tests_name(named, one, NULL, NULL);
    }
    return n_failed;
}
