/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/trace/tape.h"

enum { LOCATIONS = 3, EVENTS = 5000, ROOM = 1 << 20 };

static const struct trace_bin counts[] = {{7, 1}, {8, (uint64_t)1 << 50}, {UINT32_MAX, 3}};

/* Of every kind, with every field in use, times that stand still, go far and go back. */
static struct event event_at(uint64_t i)
{
    static const uint64_t steps[] = {1, 0, 70000, 5000000000u, (uint64_t)-3};
    uint32_t location = (uint32_t)(i % LOCATIONS);
    struct event event = {.time_ns = 1000000 + i * 6000000000u + steps[i % 5],
                          .loc = location,
                          .kind = (uint16_t)(i % (EV_END + 1)),
                          .flags = (uint16_t)(i % 3),
                          .region = i % 7 ? (uint32_t)i : TRACE_NONE,
                          .frame = i % 11 ? (uint32_t)(i * i) : TRACE_NONE,
                          .comm = (uint32_t)(i % 2),
                          .peer = i % 4 ? location : TRACE_NONE,
                          .tag = -(int32_t)i,
                          .coll = (uint16_t)(i % 5),
                          .bytes = i << 33,
                          .bytes_in = i,
                          .request = ~i};
    if (event.kind == EV_BINS) {
        event.n_bins = (uint32_t)(i % 4);
        event.bins = counts;
    }
    return event;
}

static void assert_same(const struct event *a, const struct event *b)
{
    assert_int_equal(a->time_ns, b->time_ns);
    assert_int_equal(a->loc, b->loc);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->region, b->region);
    assert_int_equal(a->frame, b->frame);
    assert_int_equal(a->comm, b->comm);
    assert_int_equal(a->peer, b->peer);
    assert_int_equal(a->tag, b->tag);
    assert_int_equal(a->coll, b->coll);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->bytes_in, b->bytes_in);
    if (a->kind != EV_BINS)
        assert_int_equal(a->request, b->request);
    for (uint32_t i = 0; i < event_n_bins(a); i++) {
        assert_int_equal(a->bins[i].point, b->bins[i].point);
        assert_int_equal(a->bins[i].value, b->bins[i].value);
    }
}

static void record(struct tape *tape)
{
    for (uint64_t i = 0; i < EVENTS;) {
        struct event events[EVENTS_READY];
        struct event_block block = {.n = 0};
        for (; block.n < EVENTS_READY && i < EVENTS; i++) {
            events[block.n] = event_at(i);
            block.at[block.n] = &events[block.n];
            block.n++;
        }
        tape_write(tape, &block);
    }
    tape_end(tape);
}

static void what_was_recorded_is_played_again_and_again(void **state)
{
    (void)state;
    struct tape tape;
    tape_begin(&tape, ROOM, 0);
    assert_false(tape_rewind(&tape, false));
    record(&tape);
    for (int reading = 0; reading < 3; reading++) {
        assert_true(tape_rewind(&tape, reading == 2));
        struct event_block block;
        for (uint64_t i = 0; i < EVENTS;) {
            tape_play(&tape, &block);
            assert_true(block.n);
            for (uint32_t k = 0; k < block.n; k++) {
                struct event expected = event_at(i++);
                assert_same(block.at[k], &expected);
            }
        }
        for (int again = 0; again < 2; again++) {
            tape_play(&tape, &block);
            assert_int_equal(block.n, 0);
        }
    }
    assert_false(tape_rewind(&tape, true)); /* the last reading has used it up, and leaves none */
    record(&tape);
    assert_int_equal(tape.size_bytes, 0);
    tape_release(&tape);
}

static void a_reading_that_was_broken_off_leaves_nothing(void **state)
{
    (void)state;
    struct tape tape;
    struct event event = event_at(0);
    tape_begin(&tape, ROOM, 0);
    assert_false(tape_rewind(&tape, false));
    tape_write(&tape, &(struct event_block){.at = {&event}, .n = 1});
    assert_false(tape_rewind(&tape, false));
    record(&tape);
    for (int reading = 0; reading < 2; reading++) { /* played in part, it is whole all the same */
        struct event_block block;
        assert_true(tape_rewind(&tape, false));
        tape_play(&tape, &block);
        assert_same(block.at[0], &event);
    }
    tape_release(&tape);
}

static void an_empty_run_is_played_as_one(void **state)
{
    (void)state;
    struct tape tape;
    tape_begin(&tape, ROOM, 0);
    assert_false(tape_rewind(&tape, false));
    tape_end(&tape);
    struct event_block block;
    assert_true(tape_rewind(&tape, true));
    tape_play(&tape, &block);
    assert_int_equal(block.n, 0);
    tape_release(&tape);
}

static void what_does_not_fit_is_not_kept(void **state)
{
    (void)state;
    struct tape tape;
    tape_begin(&tape, ROOM / 16, 0);
    assert_false(tape_rewind(&tape, false));
    record(&tape);
    assert_false(tape_rewind(&tape, false));
    assert_int_equal(tape.size_bytes, 0);
    tape_release(&tape);
    tape_begin(&tape, ROOM, ROOM); /* so many records: known before */
    assert_false(tape_rewind(&tape, false));
    record(&tape);
    assert_int_equal(tape.size_bytes, 0);
    tape_release(&tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_recorded_is_played_again_and_again),
        cmocka_unit_test(a_reading_that_was_broken_off_leaves_nothing),
        cmocka_unit_test(an_empty_run_is_played_as_one),
        cmocka_unit_test(what_does_not_fit_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
