/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of points: a sound one is solved, a damaged one gives fewer functions and never a crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/counts/counts.h"
#include "analyze/counts/table.h"
#include <string.h>

enum { N_EDGES = 7, N_ADDRESSES = 6, N_LINES = 3 };

/* The loop over an if of test_knuth.c, as the plugin writes it: blocks 0 root, 1 EXIT, 2 head, 3 body, 4 then, 5 join.
 */
struct example {
    struct points_function head;
    struct points_edge edges[N_EDGES];
    uint32_t padding;
    struct points_address addresses[N_ADDRESSES];
    struct points_line lines[N_LINES];
    struct points_alloc allocs[1];
};
static const char strings[] = "example\0example.c\0called";

static const struct example sound = {
    .head = {.magic = POINTS_MAGIC,
             .size_bytes = sizeof(struct example),
             .version = POINTS_VERSION,
             .address = 0x1000,
             .tls_offset_bytes = 16,
             .n_counters = 4,
             .n_blocks = 6,
             .n_edges = N_EDGES,
             .n_addresses = N_ADDRESSES,
             .n_lines = N_LINES,
             .n_allocs = 1,
             .name = 0,
             .file = 8,
             .line = 10,
             .dispatcher = POINTS_NONE},
    .edges = {{0, 2, 0},
              {2, 3, POINTS_NONE},
              {2, 1, POINTS_NONE},
              {3, 4, 1},
              {3, 5, 2},
              {4, 5, POINTS_NONE},
              {5, 2, POINTS_NONE}},
    /* An instruction of the body was moved out of the loop, to 0x1006. */
    .addresses = {{0x1000, 2, POINTS_CODE},
                  {0x1006, 3, POINTS_CODE},
                  {0x100a, 2, POINTS_CODE},
                  {0x1010, 3, POINTS_CODE},
                  {0x101c, 4, POINTS_CODE},
                  {0x1020, 4, POINTS_RETURN}},
    .lines = {{2, 8, 11}, {3, 8, 12}, {4, 8, 13}},
    .allocs = {{3, 4, 8, 13}},
};

static struct counts *counts_apart(const void *example, size_t bytes, struct points_offsets offsets)
{
    struct counts *counts = test_calloc(1, sizeof *counts);
    unsigned char *copy = arena_copy(&counts->arena, example, bytes);
    table_read(counts, copy, bytes, strings, sizeof strings, offsets);
    return counts;
}

static struct counts *counts_of(const void *example, size_t bytes)
{
    return counts_apart(example, bytes, (struct points_offsets){0});
}

static void drop(struct counts *counts)
{
    for (uint32_t f = 0; f < counts->n_functions; f++)
        cfg_release(&counts->functions[f].cfg);
    arena_release(&counts->arena);
    test_free(counts);
}

static uint64_t executions(const struct counts_result *result, uint32_t block)
{
    for (size_t i = 0; i < result->rows.n; i++)
        if (result->rows.at[i].block == block)
            return result->rows.at[i].executions;
    return 0;
}

/* The loop again, whose body calls a function of the same unit that does not count its calls (blocks 0 root, 1 EXIT, 2
 * condition, 3 then, 4 join). The `then` calls it as well, behind a call that may not come back: that is counted. */
struct called {
    struct points_function head;
    struct points_edge edges[5];
    uint32_t padding;
    struct points_address addresses[1];
    struct points_calls calls;
};
struct caller {
    struct example example;
    struct points_calls calls;
    struct points_site sites[2];
    struct called called;
};
enum { CALLER, CALLED };

static struct caller caller(void)
{
    struct caller both = {
        .example = sound,
        .calls = {0x9000, 70, 2},
        .sites = {{3, 71, POINTS_NONE}, {4, 71, 3}},
        .called = {
            .head = {.magic = POINTS_MAGIC,
                     .size_bytes = sizeof both.called,
                     .version = POINTS_VERSION,
                     .flags = POINTS_F_CALLED,
                     .address = 0x2000,
                     .tls_offset_bytes = 56,
                     .n_counters = 1,
                     .n_blocks = 5,
                     .n_edges = 5,
                     .n_addresses = 1,
                     .name = 18,
                     .dispatcher = POINTS_NONE},
            .edges = {{0, 2, POINTS_NONE}, {2, 3, 0}, {2, 4, POINTS_NONE}, {3, 4, POINTS_NONE}, {4, 1, POINTS_NONE}},
            .addresses = {{0x2008, 3, POINTS_RETURN}},
            .calls = {0x9000, 71, 0}}};
    both.example.head.flags |= POINTS_F_CALLS;
    both.example.head.size_bytes = offsetof(struct caller, called);
    both.example.head.n_counters = 5;
    both.example.allocs[0].counter = 4;
    return both;
}

/* Eleven bodies, of which four took the `then`; there, three called. Of these fourteen calls five took the condition of
 * the called function, one of which waits. */
static const struct counts_bin caller_bins[] = {{2, 3}, {3, 4}, {4, 7}, {5, 3}, {6, 288}, {7, 5}};
static const struct counts_frame caller_frames[] = {{0x1020, 1}, {0x2008, 1}};
static const int64_t called_executions[] = {14, 0, 14, 5, 13};

static void test_called(void **state)
{
    (void)state;
    struct caller both = caller();
    struct counts *counts = counts_of(&both, sizeof both);
    assert_int_equal(counts->n_functions, 2);
    struct counts_result result = {.keeps_flows = true};
    for (int again = 0; again < 2; again++) {
        int64_t found[5] = {0};
        counts_solve(counts, caller_bins, 6, caller_frames, 2, &result);
        assert_int_equal(result.faults.n, 0);
        for (size_t i = 0; i < result.rows.n; i++)
            if (result.rows.at[i].function == CALLED)
                found[result.rows.at[i].block] = (int64_t)result.rows.at[i].executions;
        assert_memory_equal(found, called_executions, sizeof found);
        assert_int_equal(result.flows.at[CALLED].calls, 14);
    }
    /* Its own counters alone: more went through the condition than called. */
    counts_solve(counts, caller_bins + 5, 1, NULL, 0, &result);
    assert_int_equal(result.faults.n, 1);
    /* More frames than came contradict the caller: what it calls is unknown. */
    counts_solve(counts, caller_bins, 2, &(struct counts_frame){0x1020, 5}, 1, &result);
    assert_int_equal(result.faults.n, 2);
    assert_int_equal(result.rows.n, 0);
    counts_result_release(&result);
    drop(counts);
}

static void test_called_effects(void **state)
{
    (void)state;
    struct caller both = caller();
    struct counts *counts = counts_of(&both, sizeof both);
    struct counts_effects effects = {0};
    int64_t sum[5] = {0};
    for (size_t i = 0; i < 8; i++) {
        int64_t n = i < 6 ? (int64_t)caller_bins[i].value : 1;
        if (i < 6 && i != 4)
            counts_point_effects(counts, caller_bins[i].point, &effects);
        else if (i != 4)
            counts_frame_effects(counts, caller_frames[i - 6].return_address, &effects);
        for (size_t j = 0; j < effects.n; j++)
            if (effects.at[j].function == CALLED && i != 4)
                sum[effects.at[j].block] += effects.at[j].executions * n;
    }
    assert_memory_equal(sum, called_executions, sizeof sum);
    vec_release(&effects);
    drop(counts);
}

/* Of the called function alone, calls are known by what the other one counted, of which nothing is shown. */
static void test_called_only(void **state)
{
    (void)state;
    struct caller both = caller();
    struct counts *counts = counts_of(&both, sizeof both);
    struct counts_result result = {0};
    uint32_t function, block;
    counts_keep_only(counts, "called");
    assert_int_equal(counts_n_functions(counts), 1);
    counts_solve(counts, caller_bins, 6, caller_frames, 2, &result);
    assert_int_equal(result.faults.n, 0);
    assert_int_equal(result.bytes.n, 0);
    for (size_t i = 0; i < result.rows.n; i++) {
        assert_int_equal(result.rows.at[i].function, 0);
        assert_int_equal(result.rows.at[i].executions, called_executions[result.rows.at[i].block]);
    }
    assert_int_equal(result.rows.n, 4);
    assert_false(counts_parked_at(counts, 0x1020, &function, &block));
    counts_result_release(&result);
    drop(counts);
}

/* Tables of the version before have no such functions. Two that call each other are a circle: only damage makes one. */
static void test_called_otherwise(void **state)
{
    (void)state;
    struct caller both = caller();
    struct counts_result result = {0};
    both.example.head.flags |= POINTS_F_CALLED;
    both.calls.function = 71;
    struct counts *counts = counts_of(&both, sizeof both);
    counts_solve(counts, caller_bins, 6, caller_frames, 2, &result);
    drop(counts);
    struct example old = sound;
    old.head.version = 4;
    counts = counts_of(&old, sizeof old);
    assert_int_equal(counts->n_functions, 1);
    drop(counts);
    old.head.version = 3;
    counts = counts_of(&old, sizeof old);
    assert_int_equal(counts->n_functions, 0);
    drop(counts);
    counts_result_release(&result);
}

/* Two calls, ten iterations of which three took the `then`, in which 96 bytes were allocated each time; then a third
 * call that waits in it. */
static void test_sound(void **state)
{
    (void)state;
    struct counts *counts = counts_of(&sound, sizeof sound);
    assert_int_equal(counts->n_functions, 1);
    assert_string_equal(counts->functions[0].name, "example");
    assert_int_equal(counts->functions[0].blocks[4].lines[0].line, 13);
    assert_int_equal(counts->functions[0].loops.n, 1);
    static const struct counts_bin bins[] = {{2, 3}, {3, 4}, {4, 7}, {5, 288}, {77, 5}};
    static const struct counts_frame frames[] = {{0x1020, 1}, {0x5555, 1}};
    struct counts_result result = {0};
    for (int again = 0; again < 2; again++) {
        counts_solve(counts, bins, 5, frames, 2, &result);
        assert_int_equal(result.faults.n, 0);
        assert_int_equal(executions(&result, 0), 3);
        assert_int_equal(executions(&result, 2), 13);
        assert_int_equal(executions(&result, 3), 11);
        assert_int_equal(executions(&result, 4), 4);
        assert_int_equal(executions(&result, 5), 10);
        assert_int_equal(result.bytes.n, 1);
        assert_int_equal(result.bytes.at[0].bytes, 288);
    }
    counts_solve(counts, bins, 1, &frames[1], 1, &result);
    assert_int_equal(result.rows.n, 2); /* three calls that ran no iteration: the root and the head */
    counts_result_release(&result);
    drop(counts);
}

/* The effects of counters and frames, added up, are what solving gives. */
/* The linker puts the offset of the counters into a section of its own. */
static void test_offset_apart(void **state)
{
    (void)state;
    const uint64_t words[] = {UINT64_MAX, 16, 12};
    const struct points_offsets offsets = {(const unsigned char *)words, 0x2000, sizeof words};
    const struct {
        uint64_t address;
        uint32_t n_functions;
    } cases[] = {{0x2008, 1}, {0x2000, 0}, {0x2010, 0}, {0x1ff8, 0}, {0x2011, 0}, {0x2018, 0}, {UINT64_MAX, 0}};
    struct example example = sound;
    example.head.flags |= POINTS_F_OFFSET_APART;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        example.head.tls_offset_bytes = cases[i].address;
        struct counts *counts = counts_apart(&example, sizeof example, offsets);
        assert_int_equal(counts->n_functions, cases[i].n_functions);
        if (counts->n_functions)
            assert_int_equal(counts->functions[0].first_point, 2);
        drop(counts);
    }
}

static void test_effects(void **state)
{
    (void)state;
    struct counts *counts = counts_of(&sound, sizeof sound);
    static const struct counts_bin bins[] = {{2, 3}, {3, 4}, {4, 7}};
    struct counts_effects effects = {0};
    int64_t sum[6] = {0};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(counts_point_effects(counts, bins[i].point, &effects), 0);
        for (size_t j = 0; j < effects.n; j++)
            sum[effects.at[j].block] += effects.at[j].executions * (int64_t)bins[i].value;
    }
    assert_int_equal(counts_frame_effects(counts, 0x1020, &effects), 0);
    for (size_t j = 0; j < effects.n; j++)
        sum[effects.at[j].block] += effects.at[j].executions;
    static const int64_t expected[] = {3, 0, 13, 11, 4, 10};
    for (uint32_t block = 0; block < 6; block++)
        assert_int_equal(sum[block], expected[block]);
    assert_int_equal(counts_point_effects(counts, 77, &effects), CFG_NONE);
    assert_int_equal(counts_frame_effects(counts, 0x5555, &effects), CFG_NONE);
    assert_int_equal(effects.n, 0);
    vec_release(&effects);
    drop(counts);
}

/* The example with other numbers of counters and allocation points: of sound ones, and of three that cannot be. */
static void test_allocation_points(void **state)
{
    (void)state;
    static const struct {
        uint32_t n_counters, n_allocs, counter, n_functions;
    } each[] = {{4, 1, 3, 1}, {4, 0, 0, 1}, {5, 1, 4, 1}, {5, 1, 3, 0}, {4, 1, 2, 0}, {0, 1, UINT32_MAX, 0}};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        struct example example = sound;
        example.head.n_counters = each[i].n_counters;
        example.head.n_allocs = each[i].n_allocs;
        example.allocs[0].counter = each[i].counter;
        for (int e = 0; e < N_EDGES && !each[i].n_counters; e++)
            example.edges[e].counter = POINTS_NONE;
        struct counts *counts = counts_of(&example, sizeof example);
        assert_int_equal(counts->n_functions, each[i].n_functions);
        drop(counts);
    }
}

/* Sites lie in blocks, their counters before those of allocation points, and all in the record. */
static void test_called_damaged(void **state)
{
    (void)state;
    static const struct {
        uint32_t n_sites, block, counter, n_functions;
    } each[] = {{2, 4, 3, 2}, {2, 5, POINTS_NONE, 2}, {3, 4, 3, 1}, {2, 6, 3, 1}, {2, 4, 4, 1}};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        struct caller both = caller();
        both.calls.n_sites = each[i].n_sites;
        both.sites[1] = (struct points_site){each[i].block, 71, each[i].counter};
        struct counts *counts = counts_of(&both, sizeof both);
        assert_int_equal(counts->n_functions, each[i].n_functions);
        drop(counts);
    }
}

static void test_damaged(void **state)
{
    (void)state;
    uint64_t random = 5;
    uint32_t n_refused = 0;
    for (int round = 0; round < 50000; round++) {
        struct caller example = caller();
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t at = (size_t)(random >> 33) % sizeof example;
        ((unsigned char *)&example)[at] ^= (unsigned char)(1 + (random >> 20) % 255);
        size_t bytes = random >> 60 ? sizeof example : (size_t)(random >> 40) % sizeof example;
        struct counts *counts = counts_of(&example, bytes);
        n_refused += counts->n_functions == 0;
        if (counts->n_functions && counts->n_points < 10000) {
            static const struct counts_bin bins[] = {{2, 3}, {3, 4}, {4, 7}, {5, 288}};
            static const struct counts_frame frames[] = {{0x1020, 1}};
            struct counts_result result = {0};
            struct counts_effects effects = {0};
            counts_solve(counts, bins, 4, frames, 1, &result);
            counts_result_release(&result);
            for (uint32_t point = 0; point < counts->n_points; point++)
                counts_point_effects(counts, point, &effects);
            vec_release(&effects);
        }
        drop(counts);
    }
    assert_true(n_refused > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),          cmocka_unit_test(test_offset_apart),
        cmocka_unit_test(test_effects),        cmocka_unit_test(test_allocation_points),
        cmocka_unit_test(test_damaged),        cmocka_unit_test(test_called),
        cmocka_unit_test(test_called_damaged), cmocka_unit_test(test_called_effects),
        cmocka_unit_test(test_called_only),    cmocka_unit_test(test_called_otherwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
