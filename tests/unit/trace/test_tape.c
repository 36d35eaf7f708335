/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/trace/tape.h"

enum { LOCATIONS = 3, EVENTS = 5000, ROOM = 1 << 20 };

/* Of every kind, with every field in use, times that stand still, go far and go back. */
static struct event event_at(uint32_t location, uint64_t i, uint64_t *raw_ns)
{
    static const uint64_t steps[] = {1, 0, 70000, 5000000000u, (uint64_t)-3};
    *raw_ns = 1000000 + i * 6000000000u + steps[i % 5];
    return (struct event){.loc = location,
                          .kind = (uint16_t)(i % EV_END),
                          .flags = (uint16_t)(i % 3),
                          .region = i % 7 ? (uint32_t)i : TRACE_NONE,
                          .frame = i % 11 ? (uint32_t)(i * i) : TRACE_NONE,
                          .comm = (uint32_t)(i % 2),
                          .peer = i % 4 ? location : TRACE_NONE,
                          .tag = -(int32_t)i,
                          .coll = (uint16_t)(i % 5),
                          .bytes = i << 33,
                          .bytes_in = i,
                          .request = ~i,
                          .n_bins = (uint32_t)(i % 4)};
}

static void assert_same(const struct event *a, const struct event *b)
{
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
    assert_int_equal(a->request, b->request);
    assert_int_equal(a->n_bins, b->n_bins);
}

static void record(struct tapes *tapes)
{
    static const struct trace_bin bins[] = {{7, 1}, {8, (uint64_t)1 << 50}, {UINT32_MAX, 3}};
    for (uint32_t location = 0; location < LOCATIONS; location++) {
        for (uint64_t i = 0; location && i < EVENTS; i++) { /* the first has none */
            uint64_t raw_ns;
            struct event event = event_at(location, i, &raw_ns);
            tape_write(tapes, location, &event, raw_ns, bins);
        }
        tape_end(tapes, location);
    }
}

static void what_was_recorded_is_played_again_and_again(void **state)
{
    (void)state;
    struct tapes tapes;
    struct bin_list bins = {0};
    tapes_begin(&tapes, LOCATIONS, ROOM, 0);
    assert_false(tapes_rewind(&tapes, false));
    record(&tapes);
    for (int reading = 0; reading < 3; reading++) {
        assert_true(tapes_rewind(&tapes, reading == 2));
        for (uint32_t location = 0; location < LOCATIONS; location++) {
            struct event event;
            uint64_t raw_ns, expected_ns;
            for (uint64_t i = 0; location && i < EVENTS; i++) {
                struct event expected = event_at(location, i, &expected_ns);
                bins.n = 0;
                assert_true(tape_play(&tapes, location, &event, &raw_ns, &bins));
                assert_int_equal(raw_ns, expected_ns);
                assert_same(&event, &expected);
                assert_int_equal(bins.n, expected.n_bins);
                if (bins.n == 3)
                    assert_int_equal(bins.at[1].value, (uint64_t)1 << 50);
            }
            assert_false(tape_play(&tapes, location, &event, &raw_ns, &bins));
        }
    }
    assert_false(tapes_rewind(&tapes, true)); /* the last reading has used them up, and leaves none */
    record(&tapes);
    assert_int_equal(tapes.size_bytes, 0);
    vec_release(&bins);
    tapes_release(&tapes);
}

static void what_does_not_fit_is_not_kept(void **state)
{
    (void)state;
    struct tapes tapes;
    tapes_begin(&tapes, LOCATIONS, ROOM / 16, 0);
    assert_false(tapes_rewind(&tapes, false));
    record(&tapes);
    assert_false(tapes_rewind(&tapes, false));
    assert_int_equal(tapes.size_bytes, 0);
    tapes_release(&tapes);
    tapes_begin(&tapes, LOCATIONS, ROOM, ROOM); /* so many records: known before */
    assert_false(tapes_rewind(&tapes, false));
    record(&tapes);
    assert_int_equal(tapes.size_bytes, 0);
    tapes_release(&tapes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_recorded_is_played_again_and_again),
        cmocka_unit_test(what_does_not_fit_is_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
