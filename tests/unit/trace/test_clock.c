/* SPDX-License-Identifier: BSD-3-Clause */
/* Clock correction: offsets on lines, floors, alignment from bounds, and whole runs whose clocks disagree. */
#include "analyze/trace/clock.h"
#include "analyze/archive/convert.h"
#include "analyze/files/paths.h"
#include "analyze/trace/trace.h"
#include "tests/unit/archive/spool_image.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_lines(void **state)
{
    (void)state;
    struct clocks clocks;
    struct clock_cursor cursor = {0};
    clocks_init(&clocks, 1);
    *vec_push(&clocks.locations[0].points) = (struct clock_point){3000000, 300};
    *vec_push(&clocks.locations[0].points) = (struct clock_point){1000000, 100};
    *vec_push(&clocks.locations[0].points) = (struct clock_point){2000000, 100};
    clocks_sort(&clocks, 0);
    static const uint64_t expected[][2] = {{0, 100},           {1000000, 1000100}, {1500000, 1500100},
                                           {2500000, 2500200}, {3000000, 3000300}, {3500000, 3500400}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(clocks_correct(&clocks, 0, &cursor, expected[i][0], i), expected[i][1]);
    assert_int_equal(clocks_correct(&clocks, 0, &cursor, 3400000, 9), 3500400); /* never backwards */
    clocks_release(&clocks);
}

static void test_floors(void **state)
{
    (void)state;
    struct clocks clocks;
    struct clock_cursor cursor = {0};
    clocks_init(&clocks, 1);
    *vec_push(&clocks.locations[0].floors) = (struct clock_floor){1, 150};
    *vec_push(&clocks.locations[0].floors) = (struct clock_floor){4, 400};
    static const uint64_t expected[][2] = {{100, 100}, {110, 150}, {120, 150}, {200, 200}, {210, 400}, {500, 500}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(clocks_correct(&clocks, 0, &cursor, expected[i][0], i), expected[i][1]);
    clocks_release(&clocks);
}

/* Messages of 10 to 30 between clocks that are 0, +1000 and -500 off; 0 and 2 never talk, 3 talks to nobody. */
static void test_align(void **state)
{
    (void)state;
    enum { N = 4 };
    int64_t offset[N];
    uint64_t error[N];
    struct clock_pairs pairs = {0};
    clock_pairs_take(&pairs, 0, 1, 25 + 1000); /* only the shortest counts */
    clock_pairs_take(&pairs, 0, 1, 10 + 1000);
    clock_pairs_take(&pairs, 1, 0, 10 - 1000);
    clock_pairs_take(&pairs, 1, 2, 30 - 1500);
    clock_pairs_take(&pairs, 2, 1, 10 + 1500);
    assert_int_equal(clocks_align(&pairs, N, offset, error), 3);
    clock_pairs_release(&pairs);
    assert_int_equal(offset[0], 0);
    assert_int_equal(offset[1], -1000);
    assert_int_equal(offset[2], 490); /* half of the difference between 30 and 10 cannot be known */
    assert_int_equal(offset[3], 0);
    static const uint64_t expected[N] = {0, 10, 10 + 20, 0}; /* half of what there and back take */
    assert_memory_equal(error, expected, sizeof expected);
}

enum { ROUNDS = 50, ROUND_NS = 100000, TRAVEL_NS = 2000 };

/* Rank 1's clock shows offset + time * (1 + drift per million). */
static uint64_t shown(int rank, uint64_t true_ns, int64_t offset_ns, int64_t drift)
{
    int64_t ns = (int64_t)true_ns;
    return rank ? (uint64_t)(ns + offset_ns + ns * drift / 1000000) : true_ns;
}

/* Ping-pong and a barrier each round. Clock records only when measured. */
static char *make_run(int64_t offset_ns, int64_t drift, bool measured)
{
    char *dir = run_dir_new();
    for (int rank = 0; rank < 2; rank++) {
        struct spool_image image = image_events(rank, 2, 0);
        image_world(&image);
        for (uint64_t i = 0; rank && measured && i < 2; i++) {
            uint64_t true_ns = 1000000 + i * ROUNDS * ROUND_NS;
            struct ww_clock clock = {
                .error_ns = 500, .local_ns = shown(1, true_ns, offset_ns, drift), .reference_ns = true_ns};
            image_record(&image, WW_CLOCK, &clock, sizeof clock, NULL, 0);
        }
        for (uint64_t i = 0; i < ROUNDS; i++) {
            uint64_t t = 1000000 + i * ROUND_NS, enter = t + (rank ? 1000 : 5000),
                     leave = t + 5000 + TRAVEL_NS * (uint64_t)rank;
            struct ww_call call = {.call = rank ? WW_ID_Recv : WW_ID_Send,
                                   .comm = 1,
                                   .peer = 1 - rank,
                                   .enter_ns = shown(rank, enter, offset_ns, drift),
                                   .leave_ns = shown(rank, leave, offset_ns, drift)};
            image_call(&image, call);
            call = (struct ww_call){.call = WW_ID_Barrier,
                                    .comm = 1,
                                    .peer = WW_NO_PEER,
                                    .enter_ns = shown(rank, t + 10000 + (uint64_t)rank * 500, offset_ns, drift),
                                    .leave_ns = shown(rank, t + 11000, offset_ns, drift)};
            image_call(&image, call);
        }
        image_save(&image, dir, image.bytes.n);
        image_release(&image);
    }
    return dir;
}

/* Largest distance of a receive from where it really was after its send. */
static int64_t worst_error(struct trace *trace)
{
    int64_t worst = 0, sent_ns = 0;
    for (const struct event *event; (event = trace_next(trace));) {
        if (event->kind == EV_SEND)
            sent_ns = (int64_t)event->time_ns;
        int64_t error = (int64_t)event->time_ns - sent_ns - TRAVEL_NS;
        if (event->kind == EV_RECV && llabs(error) > worst)
            worst = llabs(error);
    }
    return worst;
}

/* Whether the clocks hold may be left to the first reading: then it is told, and the second hands out what a trace does
 * that was checked when it was opened. Returns what it told. */
static int settles_alike(const char *anchor)
{
    struct trace *checked = trace_open(anchor), *unchecked = trace_open_unchecked(anchor);
    assert_non_null(checked);
    assert_non_null(unchecked);
    assert_int_equal(trace_rewind(unchecked), 0);
    while (trace_next(unchecked))
        continue;
    int told = trace_settle(unchecked);
    assert_in_range(told, 0, 1);
    assert_int_equal(trace_settle(unchecked), 1);
    assert_memory_equal(&checked->clocks, &unchecked->clocks, sizeof checked->clocks);
    assert_int_equal(checked->end_ns, unchecked->end_ns);
    assert_int_equal(checked->n_notes, unchecked->n_notes);
    for (uint32_t i = 0; i < checked->n_locations; i++)
        assert_int_equal(checked->locations[i].end_ns, unchecked->locations[i].end_ns);
    assert_int_equal(trace_rewind(checked), 0);
    assert_int_equal(trace_rewind(unchecked), 0);
    const struct event *one, *other;
    do {
        one = trace_next(checked);
        other = trace_next(unchecked);
        assert_int_equal(!one, !other);
        assert_true(!one || (one->time_ns == other->time_ns && one->loc == other->loc && one->kind == other->kind));
    } while (one && other);
    trace_close(checked);
    trace_close(unchecked);
    return told;
}

static void test_measured(void **state)
{
    (void)state;
    static const int64_t cases[][2] = {{0, 0}, {3000000, 0}, {100000000000, 0}, {-500000, 0}, {0, 50}, {7000000, -80}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *dir = make_run(cases[i][0], cases[i][1], true);
        char *anchor = path_format("%s/traces.otf2", dir);
        assert_int_equal(convert_salvage(dir, NULL), 0);
        settles_alike(anchor);
        struct trace *trace = trace_open(anchor);
        assert_non_null(trace);
        assert_true(trace->clocks.measured);
        assert_int_equal(trace->clocks.n_violations, 0);
        assert_true(worst_error(trace) < 10);
        trace_close(trace);
        free(anchor);
        run_dir_remove(dir);
    }
}

/* A measurement that is off by more than a message takes, of a clock that process 0 tells about: its messages do
 * better. */
static void test_repaired(void **state)
{
    (void)state;
    enum { ERROR_NS = 30000 };
    char *dir = make_run(0, 0, false), *anchor = path_format("%s/traces.otf2", dir);
    struct spool_image image = image_samples(1, 2, 0);
    struct ww_clock wrong = {.local_ns = 1000000, .reference_ns = 1000000 - ERROR_NS};
    image_record(&image, WW_CLOCK, &wrong, sizeof wrong, NULL, 0);
    image_save(&image, dir, image.bytes.n);
    image_release(&image);
    assert_int_equal(convert_salvage(dir, NULL), 0);
    assert_int_equal(settles_alike(anchor), 0);
    struct trace *trace = trace_open(anchor);
    assert_non_null(trace);
    assert_true(trace->clocks.n_violations >= ROUNDS);
    assert_int_equal(trace->clocks.n_repaired, 0);
    assert_int_equal(trace->clocks.largest_violation_ns, ERROR_NS - TRAVEL_NS);
    assert_int_equal(trace->n_notes, 1);
    assert_non_null(strstr(trace->notes[0], "piece by piece"));
    assert_true(worst_error(trace) <= TRAVEL_NS);
    trace_close(trace);
    free(anchor);
    run_dir_remove(dir);
}

/* Messages from 1 to 2 alone, and 2's clock measured wrongly: effects are moved behind their causes. */
static void test_moved(void **state)
{
    (void)state;
    char *dir = run_dir_new(), *anchor = path_format("%s/traces.otf2", dir);
    for (int rank = 0; rank < 3; rank++) {
        struct spool_image image = image_events(rank, 3, 0);
        const struct ww_clock wrong = {.local_ns = 1000000, .reference_ns = 1000000 - 3 * TRAVEL_NS};
        image_world(&image);
        if (rank == 2)
            image_record(&image, WW_CLOCK, &wrong, sizeof wrong, NULL, 0);
        for (uint64_t i = 0; rank && i < ROUNDS; i++) {
            uint64_t t = 1000000 + i * ROUND_NS + (rank == 2 ? TRAVEL_NS : 0);
            image_call(&image, (struct ww_call){.call = rank == 1 ? WW_ID_Send : WW_ID_Recv,
                                                .comm = 1,
                                                .peer = 3 - rank,
                                                .enter_ns = t,
                                                .leave_ns = t});
        }
        image_save(&image, dir, image.bytes.n);
        image_release(&image);
    }
    assert_int_equal(convert_salvage(dir, NULL), 0);
    assert_int_equal(settles_alike(anchor), 0);
    struct trace *trace = trace_open(anchor);
    assert_non_null(trace);
    assert_int_equal(trace->clocks.n_violations, ROUNDS);
    assert_int_equal(trace->clocks.n_repaired, ROUNDS);
    assert_int_equal(trace->n_notes, 1);
    assert_non_null(strstr(trace->notes[0], "moved behind"));
    assert_int_equal(worst_error(trace), TRAVEL_NS); /* received when it was sent, not before */
    trace_close(trace);
    free(anchor);
    run_dir_remove(dir);
}

/* Bounds from a clock that is 100 off, drifts by 1 a step, and is set by 5000 half-way; only its ends are known. */
static void test_steps(void **state)
{
    (void)state;
    enum { N = 1000, STEP_NS = 1000, SLACK_NS = 400 };
    static const struct clock_point known[] = {{0, 100}, {(uint64_t)N * STEP_NS, 100 + N + 5000}};
    struct clock_steps steps;
    struct clock_pieces found = {0};
    clock_steps_init(&steps, 2);
    for (int64_t i = 0; i < N; i++) {
        int64_t offset = 100 + i + (i < N / 2 ? 0 : 5000), time = i * STEP_NS;
        clock_steps_take(&steps, 0, (uint64_t)(time + offset - SLACK_NS), 1, (uint64_t)time);
        clock_steps_take(&steps, 1, (uint64_t)time, 0, (uint64_t)(time + offset + SLACK_NS));
    }
    clock_steps_find(&steps, 1, known, 2, &found);
    size_t piece = 0;
    for (int64_t i = 0; i < N; i++) {
        while (found.pieces.at[piece].until_ns < (uint64_t)(i * STEP_NS))
            piece++;
        int64_t offset = 100 + i + (i < N / 2 ? 0 : 5000);
        assert_true(llabs(found.pieces.at[piece].offset_ns - offset) <= SLACK_NS);
    }
    assert_true(found.pieces.n <= 8);
    vec_release(&found.pieces);
    clock_steps_release(&steps);
}

/* One clock: nothing is said, nothing is done. */
static void test_one_clock(void **state)
{
    (void)state;
    char *dir = make_run(0, 0, false), *anchor = path_format("%s/traces.otf2", dir);
    assert_int_equal(convert_salvage(dir, NULL), 0);
    assert_int_equal(settles_alike(anchor), 1);
    struct trace *trace = trace_open(anchor);
    assert_non_null(trace);
    assert_false(trace->clocks.measured || trace->clocks.aligned);
    assert_int_equal(trace->n_notes, 0);
    assert_int_equal(worst_error(trace), 0);
    trace_close(trace);
    free(anchor);
    run_dir_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines),    cmocka_unit_test(test_floors),
                                       cmocka_unit_test(test_align),    cmocka_unit_test(test_measured),
                                       cmocka_unit_test(test_repaired), cmocka_unit_test(test_one_clock),
                                       cmocka_unit_test(test_moved),    cmocka_unit_test(test_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
