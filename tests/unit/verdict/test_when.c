/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said of when in the run a cause acts. */
#include "analyze/out/page.h"
#include "analyze/words/when.h"
#include "analyze/verdict/when.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

/* NULL: nothing is known. */
static const char *in_words(struct arena *arena, const struct analysis *analysis, struct cause *cause)
{
    cause->acts = when_acts(analysis, cause);
    return when_in_full(arena, cause);
}

/* The sentence for a run of 32 s in which the part i has `ns(i)`. */
static const char *sentence_of(struct arena *arena, double (*ns)(int part), uint32_t every)
{
    struct analysis analysis = {.efficiency = {.wall_ns = WHEN_PARTS * 1e9}};
    struct cause cause = {.every = every};
    for (int i = 0; i < WHEN_PARTS; i++) {
        cause.when_ns[i] = ns(i);
        cause.when_n[i] = 10;
    }
    const char *text = in_words(arena, &analysis, &cause);
    return text ? text : "";
}

/* Work of one rank that grows from 1 x to 3 x in 200 calls: those at the end take longer, and fewer are in a part. */
static const char *slowing_down(struct arena *arena, uint32_t every, int n_calls)
{
    struct analysis analysis = {.efficiency = {.wall_ns = WHEN_PARTS * 1e9}};
    struct cause cause = {.every = every};
    double all = 2.0 * n_calls, at = 0;
    for (int i = 0; i < n_calls; i++) {
        double more = 2 * (i + 0.5) / n_calls;
        int part = (int)(WHEN_PARTS * at / all);
        cause.when_ns[part] += 1e6 * more;
        cause.when_n[part] += 1;
        at += 1 + more;
    }
    const char *text = in_words(arena, &analysis, &cause);
    return text ? text : "";
}

static const char *sentence(struct arena *arena, double (*ns)(int part))
{
    return sentence_of(arena, ns, 0);
}

static double always(int part)
{
    return part % 2 ? 1e6 : 1.5e6;
}

static double until_12(int part)
{
    return part < 12 ? 1e6 : part == 20 ? 1e3 : 0;
}

static double after_8(int part)
{
    return part >= 8 ? 1e6 : 0;
}

static double between(int part)
{
    return part >= 8 && part < 12 ? 1e6 : 0;
}

/* Ranks start and end, and nobody waits meanwhile. */
static double but_for_both_ends(int part)
{
    return part >= 3 && part < WHEN_PARTS - 3 ? 1e6 : 0;
}

static double stall(int part)
{
    return part == 5 ? 1e8 : 1e5;
}

static double growth(int part)
{
    return 1e5 * part;
}

/* What happened once near the begin says nothing of the rest. */
static double growth_and_a_stop(int part)
{
    return part == 3 ? 1e7 : growth(part);
}

/* Nor does it make a trend where there is none. */
static double two_stops_late(int part)
{
    return part == 27 || part == 30 ? 1e7 : always(part);
}

/* Less by a step, not bit by bit. */
static double less_after_20(int part)
{
    return part < 20 ? 5e6 + 1e5 * (part % 3) : 1e6 + 1e5 * (part % 2);
}

/* Most of it in the second half, and that at its begin: no line through it rises. */
static double heap(int part)
{
    return part < 4 ? 2e6 : part < 16 ? 1e5 : part < 20 ? 6e6 : 1e5;
}

/* Of what comes now and then there may be more in one half. */
static double now_and_then(int part)
{
    return part == 3 || part == 11 ? 1e6 : part == 19 || part == 21 || part == 29 ? 2e6 : 1e4;
}

/* A checkpoint that is written five times, and would be next behind the end. */
static double seldom(int part)
{
    return (part + 4) % 6 < 2 ? 1e6 : 0;
}

/* ... and one that is written until the middle of the run. */
static double seldom_until_16(int part)
{
    return part < 16 ? seldom(part) : 0;
}

/* Cores differ by a little before it begins, or after it has ended. */
static double after_12_beside_noise(int part)
{
    return part < 12 ? 2e4 * (1 + part % 3) : 1e6 + 1e5 * (part % 2);
}

static double until_20_beside_noise(int part)
{
    return after_12_beside_noise(WHEN_PARTS - 1 - part);
}

static double in_the_middle_beside_noise(int part)
{
    return part >= 10 && part < 20 ? 1e6 : 2e4 * (1 + part % 3);
}

/* It begins where a run may still start up. */
static double after_4_beside_noise(int part)
{
    return part < 4 ? 2e5 : 1e6;
}

/* Something happened once, long before. */
static double after_12_and_once_before(int part)
{
    return part == 4 ? 4e5 : part < 12 ? 0 : 1e6;
}

/* Neither in a part alone nor all through the run: nothing is said. */
static double most_in_the_second_half(int part)
{
    return part < 16 ? 2e5 + 1e5 * (part % 3) : 1e6 + 5e5 * (part % 2);
}

/* One wait that lies across two parts. */
static double one_wait(int part)
{
    return part == 11 ? 1e6 : part == 12 ? 4e6 : 0;
}

static void sentences_say_when(void **state)
{
    (void)state;
    struct arena arena = {0};
    assert_string_equal(sentence(&arena, always), "all through the run");
    assert_string_equal(sentence(&arena, until_12), "only in the first 12.0 s");
    assert_string_equal(sentence(&arena, after_8), "only from 8.00 s on");
    assert_string_equal(sentence(&arena, between), "only from 8.00 s to 12.0 s after the start");
    assert_string_equal(sentence(&arena, stall), "close together, about 5.50 s after the start");
    assert_string_equal(sentence(&arena, but_for_both_ends), "all through the run");
    assert_string_equal(sentence(&arena, growth), "growing from 25.0 us to 315 us of waiting each time");
    assert_string_equal(sentence(&arena, growth_and_a_stop), "growing from 25.0 us to 315 us of waiting each time");
    assert_string_equal(sentence(&arena, two_stops_late), "all through the run");
    assert_string_equal(sentence(&arena, heap), "");
    assert_string_equal(sentence(&arena, less_after_20), "");
    assert_string_equal(slowing_down(&arena, 0, 3200), "growing from 118 us to 2.00 ms of waiting each time");
    assert_string_equal(slowing_down(&arena, 4, 3200),
                        "every 4th time, growing from 473 us to 8.00 ms of waiting each time");
    assert_string_equal(sentence(&arena, now_and_then), "all through the run");
    assert_string_equal(sentence(&arena, one_wait), "only from 11.0 s to 13.0 s after the start");
    assert_string_equal(sentence(&arena, seldom), "all through the run");
    assert_string_equal(sentence(&arena, after_12_beside_noise), "mostly from 12.0 s on");
    assert_string_equal(sentence(&arena, after_12_and_once_before), "mostly from 12.0 s on");
    assert_string_equal(sentence(&arena, until_20_beside_noise), "mostly in the first 20.0 s");
    assert_string_equal(sentence(&arena, in_the_middle_beside_noise), "mostly from 10.0 s to 20.0 s after the start");
    assert_string_equal(sentence(&arena, most_in_the_second_half), "");
    assert_string_equal(sentence(&arena, after_4_beside_noise), "");
    assert_string_equal(sentence_of(&arena, seldom, 10), "every 10th time");
    assert_string_equal(sentence_of(&arena, seldom_until_16, 10), "every 10th time, only in the first 16.0 s");
    assert_string_equal(sentence_of(&arena, always, 10), "every 10th time");
    assert_string_equal(sentence_of(&arena, after_8, 3), "every 3rd time, only from 8.00 s on");
    assert_string_equal(sentence_of(&arena, always, 12), "every 12th time");
    assert_string_equal(sentence_of(&arena, always, 22), "every 22nd time");
    arena_release(&arena);
}

/* In the second half the machine stops nearly all steps: who is late otherwise is not to be seen there. Where it does
 * so all through the run, that the cause is silent says something. */
static void silence_below_the_machine_is_no_news(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct analysis analysis = {.efficiency = {.wall_ns = WHEN_PARTS * 1e9}};
    struct cause cause = {0};
    for (int i = 0; i < WHEN_PARTS; i++) {
        cause.when_ns[i] = until_12(i);
        cause.when_n[i] = 10;
        analysis.machine.when_ns[i] = i < 12 ? 0 : 3e6;
    }
    assert_null(in_words(&arena, &analysis, &cause));
    for (int i = 0; i < 12; i++)
        analysis.machine.when_ns[i] = 3e6;
    assert_string_equal(in_words(&arena, &analysis, &cause), "only in the first 12.0 s");
    arena_release(&arena);
}

/* Its own instances are few: those of other causes at the same call make no trend. */
static void few_instances_make_no_trend(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct analysis analysis = {.efficiency = {.wall_ns = WHEN_PARTS * 1e9}};
    struct cause few = {0}, several = {0};
    for (int i = 0; i < 6; i++) {
        few.when_ns[5 * i] = 1e6 * (6 - i);
        few.when_n[5 * i] = 1;
    }
    for (int i = 0; i < 16; i++) {
        several.when_ns[2 * i] = 1e6 * (16 - i);
        several.when_n[2 * i] = 1;
    }
    assert_false(when_acts(&analysis, &few).is_trend);
    assert_true(when_acts(&analysis, &several).is_trend);
    /* Once much, and then next to nothing in any order. */
    several.when_ns[0] = 214e6;
    for (int i = 1; i < 16; i++)
        several.when_ns[2 * i] = 1e6 * (i * 7 % 16 + 1);
    assert_false(when_acts(&analysis, &several).is_trend);
    arena_release(&arena);
}

/* The waits stay as long: more and more of each is for the machine. */
static void what_the_machine_takes_over_is_no_trend(void **state)
{
    (void)state;
    struct analysis analysis = {.efficiency = {.wall_ns = WHEN_PARTS * 1e9}};
    struct cause cause = {0};
    for (int i = 0; i < WHEN_PARTS; i++) {
        cause.when_ns[i] = 1e7 * (WHEN_PARTS - i);
        cause.when_n[i] = 10;
        analysis.machine.when_ns[i] = 1e7;
    }
    assert_true(when_acts(&analysis, &cause).is_trend);
    for (int i = 0; i < WHEN_PARTS; i++)
        analysis.machine.when_ns[i] = 1e7 * i;
    assert_false(when_acts(&analysis, &cause).is_trend);
}

static void a_stall_is_told_as_one(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct analysis analysis = {.efficiency = {.wall_ns = WHEN_PARTS * 1e9}};
    struct cause cause = {.stall_ns = 20e9, .stall_after_ns = 4000000000};
    for (int i = 4; i < 24; i++) {
        cause.when_ns[i] = 1e9;
        cause.when_n[i] = 0.05;
    }
    assert_string_equal(in_words(&arena, &analysis, &cause), "once, for 20.0 s, 4.00 s after the start");
    struct cause_site felt = {.n_calls = 1};
    cause.sites = &felt;
    cause.n_sites = 1;
    assert_string_equal(in_words(&arena, &analysis, &cause), "once, for 20.0 s, 4.00 s after the start");
    felt.n_calls = 5;
    assert_string_equal(in_words(&arena, &analysis, &cause), "nearly all at once, for 20.0 s, 4.00 s after the start");
    arena_release(&arena);
}

/* Ranks are late one after the other, with a part in which the work moves on. Twice the same rank is no move. */
static void ranks_are_late_one_after_the_other(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct analysis analysis = {.efficiency = {.wall_ns = WHEN_PARTS * 1e9}};
    struct when_rank ranks[3] = {{.rank = 5}, {.rank = 0}, {.rank = 7}};
    struct cause cause = {.when_ranks = ranks, .n_when_ranks = 2, .n_late = 2};
    for (int i = 0; i < WHEN_PARTS; i++) {
        cause.when_ns[i] = 1e9;
        ranks[i < 12].ns[i] = i == 12 ? 6e8 : 1e9;
        ranks[i >= 12].ns[i] += i == 12 ? 4e8 : 0;
    }
    assert_string_equal(in_words(&arena, &analysis, &cause), "rank 0 until 12.0 s, then rank 5");
    memset(ranks[0].ns, 0, sizeof ranks[0].ns);
    cause.n_when_ranks = cause.n_late = 3;
    for (int i = 13; i < WHEN_PARTS; i++)
        ranks[i < 20 ? 0 : 2].ns[i] = 1e9;
    assert_string_equal(in_words(&arena, &analysis, &cause), "rank 0 first, until 13.0 s, rank 7 last");
    ranks[1].ns[30] = 1e11;
    assert_string_equal(in_words(&arena, &analysis, &cause), "all through the run");
    arena_release(&arena);
}

/* Both sides last met long before the others waited: what they wait for has been going on since then. */
static void what_acts_begins_where_both_last_met(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct analysis analysis = {.efficiency = {.wall_ns = WHEN_PARTS * 1e9}};
    struct cause late = {.lead_ns = 8e9}, once = {.lead_ns = 20e9};
    for (int i = 0; i < WHEN_PARTS; i++) {
        late.when_ns[i] = i >= 8 ? 1e9 : 0;
        once.when_ns[i] = i >= 20 && i < 29 ? 1e9 : 0;
    }
    assert_null(in_words(&arena, &analysis, &late));
    late.lead_ns = 2e9;
    assert_string_equal(in_words(&arena, &analysis, &late), "only from 6.00 s on");
    assert_null(in_words(&arena, &analysis, &once));
    once.lead_ns = 12e9;
    assert_string_equal(in_words(&arena, &analysis, &once), "only from 8.00 s on");
    arena_release(&arena);
}

static void blocks_stand_for_parts(void **state)
{
    (void)state;
    struct arena arena = {0};
    double parts[WHEN_PARTS] = {8, 4, 0.01};
    const struct look plain = {0}, ascii = {.drawing = DRAW_ASCII};
    const char *text = style_sparkline(&arena, &plain, parts, WHEN_PARTS);
    assert_int_equal(strncmp(text, "\u2588\u2584\u2581 ", 10), 0);
    assert_int_equal(strlen(text), 3 * 3 + WHEN_PARTS - 3);
    assert_int_equal(strncmp(style_sparkline(&arena, &ascii, parts, WHEN_PARTS), "@=. ", 4), 0);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_say_when),          cmocka_unit_test(silence_below_the_machine_is_no_news),
        cmocka_unit_test(few_instances_make_no_trend), cmocka_unit_test(what_the_machine_takes_over_is_no_trend),
        cmocka_unit_test(a_stall_is_told_as_one),      cmocka_unit_test(what_acts_begins_where_both_last_met),
        cmocka_unit_test(blocks_stand_for_parts),      cmocka_unit_test(ranks_are_late_one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
