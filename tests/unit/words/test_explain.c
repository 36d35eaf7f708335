/* SPDX-License-Identifier: BSD-3-Clause */
/* Sentences of causes: who carries the blame, by how much each exceeds the others, and what is not known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/words/explain.h"
#include "analyze/words/next.h"
#include "analyze/verdict/verdict.h"
#include <stdio.h>
#include <string.h>

enum { RANKS_MAX = 64 };

/* As the verdict makes it. `analysis`: NULL for one of which nothing is known. */
static struct cause settled(const struct analysis *analysis, const struct cause *given)
{
    struct step step = {.place = CODE_NONE};
    struct trace trace = {0};
    const struct analysis unknown = {.trace = &trace, .steps = &step, .n_steps = 1, .efficiency = {.wall_ns = 1e9}};
    struct cause cause = *given;
    verdict_settle(analysis ? analysis : &unknown, &cause);
    return cause;
}

static const char *told_cause(struct arena *arena, const struct cause *given)
{
    const struct cause cause = settled(NULL, given);
    return explain_cause(arena, &cause);
}

static const char *told_kind_words(struct arena *arena, const struct cause *given)
{
    const struct cause cause = settled(NULL, given);
    return explain_kind_words(arena, &cause);
}

static const char *told_next(struct arena *arena, const struct analysis *analysis, const struct cause *given)
{
    const struct cause cause = settled(analysis, given);
    return next_for_cause(arena, analysis, &cause);
}

static const char *told_instead(const struct label_book *book, const struct cause *given)
{
    const struct cause cause = settled(NULL, given);
    return explain_instead(book, &cause);
}

/* Those that carry the blame first. */
static void expect_text(const struct cause_rank *ranks, uint32_t n_late, uint32_t n, enum cause_kind kind,
                        const char *expected)
{
    struct arena arena = {0};
    struct cause_rank late[RANKS_MAX], others[RANKS_MAX];
    struct cause cause = {.kind = kind,
                          .waiting_ns = 1e9,
                          .ranks = late,
                          .n_ranks = n_late,
                          .n_late = n_late,
                          .others = others,
                          .n_others = n - n_late};
    cause.kind_ns[kind] = cause.waiting_ns;
    for (uint32_t i = 0; i < n; i++)
        *(i < n_late ? &late[i] : &others[i - n_late]) = ranks[i];
    assert_string_equal(told_cause(&arena, &cause), expected);
    arena_release(&arena);
}

static void half_of_all_ranks_have_one_range(void **state)
{
    (void)state;
    struct cause_rank ranks[RANKS_MAX];
    for (uint32_t i = 0; i < RANKS_MAX; i++) {
        bool is_late = i < RANKS_MAX / 2;
        ranks[i] = (struct cause_rank){.rank = is_late ? 2 * i + 1 : 2 * (i - RANKS_MAX / 2),
                                       .time_ns = is_late ? 1.9e9 + 0.2e9 * i / 31 : 1e9};
    }
    expect_text(ranks, 32, 64, KIND_MORE_TIME,
                "ranks 1,3,5 ... 63 spend 1.9 to 2.1 x as long in it as ranks 0,2,4 ... 62");
}

/* Executions and time of one rank, with the error of the cost. */
static struct cause_rank ran(uint32_t rank, uint64_t executions, double cost_ns, double error)
{
    return (struct cause_rank){.rank = rank,
                               .executions = executions,
                               .instructions = (double)executions,
                               .time_ns = (double)executions * cost_ns,
                               .computing_ns = (double)executions * cost_ns,
                               .cost_error = error};
}

static void unlike_ranks_have_each_their_own_ratio(void **state)
{
    (void)state;
    struct cause_rank ranks[] = {ran(2, 4500000, 10, 0.01), ran(0, 2000000, 10, 0.01), ran(1, 1000000, 10, 0.01)};
    expect_text(ranks, 2, 3, KIND_MORE_WORK,
                "ranks 0,2 run it 2.0 x and 4.5 x as often as rank 1, at the same cost each time");
    for (int i = 0; i < 3; i++)
        ranks[i].executions = 0;
    expect_text(ranks, 2, 3, KIND_MORE_TIME, "ranks 0,2 spend 2.0 x and 4.5 x as long in it as rank 1");
}

/* How the threads of the rank most to blame share the cause, and what to do about it. */
static const struct {
    uint32_t n_threads, n_at_once;
    double at_a_time, most_share, most_error, lacking_ns, threads_lacked_ns;
    const char *told, *next; /* NULL: nothing is said of threads */
    double others_at_a_time;
} sharings[] = {
    {4, 4, 1.4, 0.71, 0.02, 0, 0, "; one of 4 threads of rank 1 has 71 % of that rank's time in it",
     "divide it evenly among the threads of rank 1 first: another schedule", 0},
    {2, 2, 1.1, 0.91, 0.03, 0, 0, "; one of 2 threads of rank 1 has 91 % of that rank's time in it",
     "divide it evenly among the threads of rank 1 first", 0},
    /* Too few samples to know. */
    {4, 4, 3.1, 0.36, 0.1, 0, 0, NULL, NULL, 0},
    {4, 4, 3.9, 0.27, 0.01, 0, 0, NULL, NULL, 0},
    {4, 4, 1, 0.27, 0.01, 0, 0, "; 4 threads of rank 1 take turns in it, one at a time",
     "let the threads of rank 1 work at the same time: cut it into more pieces", 0},
    /* Of 9 s that three more threads could have worked, they had no CPU for 4 or 5. */
    {4, 4, 1, 0.27, 0.01, 0, 4e9, "; 4 threads of rank 1 take turns in it, one at a time",
     "let the threads of rank 1 work at the same time: cut it into more pieces", 0},
    {4, 4, 1, 0.27, 0.01, 0, 5e9,
     "; 4 threads of rank 1 take turns in it, one at a time, because of a lock or too few CPUs",
     "let the threads of rank 1 work at the same time: give each a CPU of its own first", 0},
    /* Each waits for the other no longer than that one works. */
    {2, 2, 1, 0.7, 0.06, 0, 0.8e9, "; 2 threads of rank 1 take turns in it, one at a time",
     "let the threads of rank 1 work at the same time: cut it into more pieces", 0},
    {2, 2, 1, 0.7, 0.06, 0, 1e9,
     "; 2 threads of rank 1 take turns in it, one at a time, because of a lock or too few CPUs",
     "let the threads of rank 1 work at the same time: give each a CPU of its own first", 0},
    /* The other rank's do so as well, and are done sooner. */
    {4, 4, 1, 0.27, 0.01, 0, 5e9, NULL, NULL, 1.2},
    /* They have one CPU, or others use the rest: no wonder. */
    {4, 1, 1, 0.27, 0.01, 0, 0, NULL, NULL, 0},
    {4, 4, 1, 0.27, 0.01, 1.5e9, 0, NULL, NULL, 0},
    {1, 4, 1, 1, 0.01, 0, 0, NULL, NULL, 0},
};

static void threads_that_share_unevenly_are_told(void **state)
{
    (void)state;
    const struct step step = {.place = CODE_NONE};
    struct trace trace = {0};
    struct analysis analysis = {.trace = &trace, .steps = (struct step *)(uintptr_t)&step};
    for (size_t i = 0; i < sizeof sharings / sizeof *sharings; i++) {
        struct arena arena = {0};
        struct cause_rank late = {.rank = 1,
                                  .time_ns = 3e9,
                                  .computing_ns = 3e9,
                                  .threads_lacked_ns = sharings[i].threads_lacked_ns,
                                  .n_threads = sharings[i].n_threads,
                                  .n_at_once = sharings[i].n_at_once,
                                  .threads = sharings[i].at_a_time,
                                  .most_share = sharings[i].most_share,
                                  .most_error = sharings[i].most_error};
        struct cause_rank other = {
            .rank = 0, .time_ns = 1e9, .computing_ns = 1e9, .threads = sharings[i].others_at_a_time};
        struct cause cause = {.kind = KIND_MORE_TIME,
                              .waiting_ns = 1e9,
                              .lacking_ns = sharings[i].lacking_ns,
                              .ranks = &late,
                              .n_ranks = 1,
                              .n_late = 1,
                              .others = &other,
                              .n_others = 1};
        analysis.causes = &cause;
        cause.kind_ns[KIND_MORE_TIME] = cause.waiting_ns;
        const char *expected = "rank 1 spends 3.0 x as long in it as rank 0";
        assert_string_equal(told_cause(&arena, &cause),
                            sharings[i].told ? arena_printf(&arena, "%s%s", expected, sharings[i].told) : expected);
        const char *next = told_next(&arena, &analysis, &cause);
        assert_int_equal(!strncmp(next, sharings[i].next ? sharings[i].next : "`whywait re", 11), 1);
        if (sharings[i].next)
            assert_non_null(strstr(next, sharings[i].next));
        cause.is_alone = true; /* the same is easier among its threads than among ranks */
        next = told_next(&arena, &analysis, &cause);
        assert_non_null(strstr(next, sharings[i].next ? sharings[i].next : "only rank 1 spends time in this"));
        arena_release(&arena);
    }
}

/* A range of ratios on both sides of one says nothing. */
static void late_ranks_that_spend_no_longer_are_told_apart(void **state)
{
    (void)state;
    struct cause_rank ranks[] = {ran(2, 4500000, 10, 0.01), ran(0, 1000000, 10, 0.01), ran(1, 1000000, 10, 0.01)};
    expect_text(ranks, 2, 3, KIND_MORE_WORK,
                "rank 2 runs it 4.5 x as often as rank 1, at the same cost each time; rank 0 spends the same total "
                "time in it as rank 1, but later");
    struct cause_rank times[] = {{.rank = 0, .time_ns = 0.9e9}, {.rank = 1, .time_ns = 1.2e9},
                                 {.rank = 5, .time_ns = 1e9},   {.rank = 6, .time_ns = 1.2e9},
                                 {.rank = 7, .time_ns = 1.2e9}, {.rank = 2, .time_ns = 1e9},
                                 {.rank = 3, .time_ns = 1e9},   {.rank = 4, .time_ns = 1e9}};
    expect_text(
        times, 5, 8, KIND_MORE_TIME,
        "ranks 1,6,7 spend 1.2 x as long in it as ranks 2-4; ranks 0,5 spend no more time in it than ranks 2-4, "
        "but later");
    times[1].time_ns = times[3].time_ns = times[4].time_ns = 0.3e9;
    expect_text(times, 5, 8, KIND_MORE_TIME, "ranks 0,1,5-7 spend no more time in it than ranks 2-4, but later");
}

/* What is said of several ranks that differ holds for their mean alone. */
static void ranks_that_differ_are_compared_with_on_average(void **state)
{
    (void)state;
    struct cause_rank times[] = {{.rank = 1, .time_ns = 3e9},
                                 {.rank = 0, .time_ns = 1.4e9},
                                 {.rank = 2, .time_ns = 0.8e9},
                                 {.rank = 3, .time_ns = 0.8e9}};
    expect_text(times, 1, 4, KIND_MORE_TIME, "rank 1 spends 3.0 x as long in it as ranks 0,2,3 on average");
    times[1].time_ns = 0.83e9;
    expect_text(times, 1, 4, KIND_MORE_TIME, "rank 1 spends 3.7 x as long in it as ranks 0,2,3");
    times[1].time_ns = 180e6;
    times[2].time_ns = times[3].time_ns = 10e6;
    expect_text(times, 1, 4, KIND_MORE_TIME, "rank 1 spends 45 x as long in it as ranks 0,2,3 on average");
    /* Those that never come to it are no part of the average, unless nobody else does. */
    times[2].time_ns = times[3].time_ns = 0;
    expect_text(times, 1, 4, KIND_MORE_TIME, "rank 1 spends 17 x as long in it as rank 0");
    struct cause_rank worker[] = {ran(1, 5000000, 10, 0.01), ran(0, 0, 0, 0), ran(2, 2000000, 10, 0.01)};
    expect_text(worker, 1, 3, KIND_MORE_WORK, "rank 1 runs it 2.5 x as often as rank 2, at the same cost each time");
    times[1].time_ns = 20e6;
    expect_text(times, 1, 4, KIND_MORE_TIME, "rank 1 spends 3.00 s in it, ranks 0,2,3 next to nothing");
    struct cause_rank runs[] = {ran(1, 4000000, 10, 0.01), ran(0, 2000000, 10, 0.01), ran(2, 1000000, 10, 0.01)};
    expect_text(runs, 1, 3, KIND_MORE_WORK,
                "rank 1 runs it 2.7 x as often as ranks 0,2 on average, at the same cost each time");
    struct cause_rank slower[] = {ran(1, 1000000, 90, 0.01), ran(0, 1000000, 20, 0.01), ran(2, 1000000, 10, 0.01)};
    expect_text(slower, 1, 3, KIND_SLOWER,
                "rank 1 runs it as often as ranks 0,2 on average, each time at 6.0 x the cost");
}

/* A loop enters others that are no part of the cause: what is said of its own time is not said of all of it. */
static void what_a_cause_enters_is_told_apart(void **state)
{
    (void)state;
    struct cause_rank times[] = {{.rank = 1, .time_ns = 300e6, .entered_ns = 10e6}, {.rank = 0}};
    expect_text(times, 1, 2, KIND_MORE_TIME, "rank 1 spends 300 ms in it, rank 0 next to nothing");
    times[1].entered_ns = 200e6;
    expect_text(times, 1, 2, KIND_MORE_TIME, "rank 1 spends 300 ms in it itself, rank 0 next to nothing");
    times[1].time_ns = 100e6;
    expect_text(times, 1, 2, KIND_MORE_TIME, "rank 1 spends 3.0 x as long in it itself as rank 0");
    times[1].time_ns = 300e6;
    expect_text(times, 1, 2, KIND_MORE_TIME, "rank 1 spends the same total time in it itself as rank 0, but later");
}

static void times_are_told_as_well_as_samples_know_them(void **state)
{
    (void)state;
    static const struct {
        double late_ms, others_ms, late_error_ms, others_error_ms;
        const char *text;
    } cases[] = {
        {4, 0, 4, 0, "rank 0 spends 4.00 ms in it, ranks 1-3 next to nothing, as far as few samples tell"},
        {40, 0, 12, 0, "rank 0 spends 40.0 ms in it, ranks 1-3 next to nothing"},
        {40, 0, 1, 3, "rank 0 spends 40.0 ms in it, ranks 1-3 at most 3.46 ms"},
        {40, 0, 12, 40, "rank 0 spends 40.0 ms in it, ranks 1-3 next to nothing, as far as few samples tell"},
        {8, 4, 5, 4, "rank 0 spends 2.0 x as long in it as ranks 1-3, as far as few samples tell"},
        {520, 18, 12, 10, "rank 0 spends 29 x (at least 15) as long in it as ranks 1-3"},
        {60, 20, 0, 10, "rank 0 spends 3.0 x (at least 1.7) as long in it as ranks 1-3"},
        {60, 20, 0, 5, "rank 0 spends 3.0 x (2.2 to 4.0) as long in it as ranks 1-3"},
        {60, 20, 2, 2, "rank 0 spends 3.0 x as long in it as ranks 1-3"},
        {400, 360, 25, 30, "rank 0 spends 1.1 x (0.9 to 1.3) as long in it as ranks 1-3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cause_rank ranks[4];
        for (uint32_t rank = 0; rank < 4; rank++) {
            double time_ns = 1e6 * (rank ? cases[i].others_ms : cases[i].late_ms);
            double error_ns = 1e6 * (rank ? cases[i].others_error_ms : cases[i].late_error_ms);
            ranks[rank] =
                (struct cause_rank){.rank = rank, .time_ns = time_ns, .computing_ns = time_ns, .error_ns = error_ns};
        }
        expect_text(ranks, 1, 4, KIND_MORE_TIME, cases[i].text);
    }
}

/* Where a team spins while its one busy thread may have no CPU, nobody knows how long the work took. */
static void time_in_which_teams_spin_is_in_doubt(void **state)
{
    (void)state;
    static const struct {
        double threads[2];
        const char *text;
    } cases[] = {
        {{1, 1}, "rank 0 spends 2.0 x as long in it as rank 1"},
        {{1.4, 1.8}, "rank 0 spends 2.0 x as long in it as rank 1"},
        {{0.9, 0.8}, "rank 0 spends 2.0 x (1.6 to 2.5) as long in it as rank 1"},
        {{0.7, 0.6}, "rank 0 spends 2.0 x (at least 1.2) as long in it as rank 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cause_rank ranks[2];
        for (uint32_t rank = 0; rank < 2; rank++) {
            double time_ns = rank ? 500e6 : 1000e6;
            ranks[rank] = (struct cause_rank){
                .rank = rank, .time_ns = time_ns, .computing_ns = time_ns, .threads = cases[i].threads[rank]};
        }
        expect_text(ranks, 1, 2, KIND_MORE_TIME, cases[i].text);
    }
}

/* A thread that runs ahead works while the rank is in MPI: the rank's time there is what it waited for it. */
static void work_of_helpers_is_compared_where_they_ran_ahead(void **state)
{
    (void)state;
    struct cause_rank ranks[2] = {
        {.rank = 0,
         .time_ns = 1000e6,
         .computing_ns = 1000e6,
         .threads = 1,
         .worked_ns = 1000e6,
         .worked_error_ns = 10e6},
        {.rank = 1, .time_ns = 100e6, .computing_ns = 100e6, .worked_ns = 250e6, .worked_error_ns = 3e6}};
    expect_text(ranks, 1, 2, KIND_MORE_TIME, "rank 0 spends 10 x as long in it as rank 1");
    ranks[1].time_is_not_theirs = true;
    expect_text(ranks, 1, 2, KIND_MORE_TIME, "rank 0 spends 4.0 x as long in it as rank 1");
    ranks[0].worked_ns = 0; /* not known of both */
    expect_text(ranks, 1, 2, KIND_MORE_TIME, "rank 0 spends 10 x as long in it as rank 1");
}

/* Threads that ended before they were sampled may have been there as well, and a rank that was seen nowhere. */
static void time_that_nobody_saw_is_in_doubt(void **state)
{
    (void)state;
    static const struct {
        double time_ns, unseen_ns;
        const char *text;
    } cases[] = {
        {0, 47e6, "rank 0 spends 1.00 s in it, rank 1 next to nothing"},
        {0, 62e6, "rank 0 spends 1.00 s in it, rank 1 at most 62.0 ms"},
        {5e6, 57e6, "rank 0 spends 1.00 s in it, rank 1 at most 62.0 ms"},
        {500e6, 0, "rank 0 spends 2.0 x as long in it as rank 1"},
        {500e6, 150e6, "rank 0 spends 2.0 x (1.5 to 2.7) as long in it as rank 1"},
        {500e6, 600e6, "rank 0 spends 2.0 x as long in it as rank 1, as far as few samples tell"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cause_rank ranks[] = {{.rank = 0, .time_ns = 1000e6},
                                     {.rank = 1, .time_ns = cases[i].time_ns, .unseen_ns = cases[i].unseen_ns}};
        expect_text(ranks, 1, 2, KIND_MORE_TIME, cases[i].text);
    }
}

/* Time that samples of others alone put there is no factor. */
static void time_that_others_were_seen_in_is_a_bound(void **state)
{
    (void)state;
    struct cause_rank ranks[] = {{.rank = 0, .time_ns = 1000e6, .error_ns = 20e6},
                                 {.rank = 1, .time_ns = 20e6, .error_ns = 10e6}};
    expect_text(ranks, 1, 2, KIND_MORE_TIME, "rank 0 spends 50 x (at least 19) as long in it as rank 1");
    ranks[1].borrowed_ns = 20e6;
    expect_text(ranks, 1, 2, KIND_MORE_TIME, "rank 0 spends 1.00 s in it, rank 1 about 20.0 ms and at most 52.4 ms");
}

static void ranks_that_take_turns_are_told_from_those_with_more(void **state)
{
    (void)state;
    struct cause_rank ranks[] = {ran(1, 3000000, 10, 0.01), ran(0, 3000000, 12, 0.01), ran(2, 3010000, 10, 0.01)};
    expect_text(ranks, 3, 3, KIND_MORE_WORK, "ranks 0-2 run it one after the other; the rest wait");
    ranks[2].executions = 1000000;
    expect_text(ranks, 3, 3, KIND_MORE_WORK, "ranks 0-2 are late by turns; each spends 32.0 ms in it on average");
    ranks[1] = ran(0, 3000000, 10, 0.01);
    ranks[2] = ran(2, 3010000, 10, 0.01);
    expect_text(
        ranks, 2, 3, KIND_MORE_WORK,
        "ranks 0,1 run it as often in all as rank 2, at the same cost each time, but at other times: others wait "
        "meanwhile");
}

/* Those who wait were in it as well, though for less. */
static void ranks_that_are_late_by_turns_are_not_one_after_the_other(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct cause_rank ranks[] = {ran(1, 3000000, 10, 0.01), ran(0, 3000000, 11, 0.01)};
    struct cause cause = {.kind = KIND_MORE_TIME, .waiting_ns = 1e9, .ranks = ranks, .n_ranks = 2, .n_late = 2};
    cause.kind_ns[KIND_MORE_TIME] = cause.waiting_ns;
    cause.meanwhile = 0.5;
    const struct cause by_turns = settled(NULL, &cause);
    assert_int_equal(by_turns.balance, BALANCE_EACH_TIME);
    assert_string_equal(explain_cause(&arena, &by_turns),
                        "ranks 0,1 run it as often each, but in each step another one of them is longer in it");
    cause.meanwhile = 0;
    assert_string_equal(told_cause(&arena, &cause), "ranks 0,1 run it one after the other; the rest wait");
    arena_release(&arena);
}

/* "More" is not said of ranks that have no more of it than those who wait. */
static void what_nobody_has_more_of_is_serialisation(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct trace trace = {0};
    struct step step = {.place = 1};
    struct analysis analysis = {.trace = &trace, .steps = &step, .n_steps = 1};
    struct cause_rank late[] = {ran(1, 3000000, 10, 0.01), ran(2, 3000000, 10, 0.01)},
                      other = ran(0, 3000000, 10, 0.01);
    struct cause cause = {.kind = KIND_MORE_WORK, .ranks = late, .n_ranks = 2, .n_late = 2, .others = &other};
    cause.kind_ns[KIND_MORE_WORK] = cause.waiting_ns = 1e9;
    assert_string_equal(told_kind_words(&arena, &cause), "serialisation");
    cause.n_others = 1;
    assert_string_equal(told_kind_words(&arena, &cause), "serialisation");
    cause.kind_ns[KIND_SLOWER] = 1e9;
    assert_string_equal(told_kind_words(&arena, &cause), "serialisation");
    late[0].executions = 6000000;
    assert_string_equal(told_kind_words(&arena, &cause), "more work");
    cause = (struct cause){.kind = KIND_MORE_TIME, .ranks = late, .n_ranks = 2, .n_late = 2, .others = &other};
    cause.n_others = 1;
    late[0].time_ns = late[1].time_ns = 2 * other.time_ns;
    assert_string_equal(told_kind_words(&arena, &cause), "more time");
    late[0].time_ns = late[1].time_ns = other.time_ns;
    assert_string_equal(told_kind_words(&arena, &cause), "serialisation");
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "no rank has more of it in total"));
    arena_release(&arena);
}

/* Where all are late in turn, times that samples may as well have made different are no reason to call one longer. */
static void nobody_has_more_as_far_as_samples_tell(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct cause_rank late[] = {ran(0, 0, 0, 0), ran(1, 0, 0, 0)};
    struct cause cause = {.kind = KIND_MORE_TIME, .ranks = late, .n_ranks = 2, .n_late = 2};
    cause.kind_ns[KIND_MORE_TIME] = cause.waiting_ns = 1e8;
    late[0].time_ns = 58e6, late[1].time_ns = 50e6;
    late[0].error_ns = late[1].error_ns = 4e6;
    assert_string_equal(told_kind_words(&arena, &cause), "serialisation");
    late[0].error_ns = late[1].error_ns = 1e6;
    assert_string_equal(told_kind_words(&arena, &cause), "more time");
    /* Nor do they, each in its turn, have to have as much of it in all. */
    struct trace trace = {0};
    struct step step = {.place = 1};
    struct analysis analysis = {.trace = &trace, .steps = &step, .n_steps = 1};
    assert_null(strstr(told_next(&arena, &analysis, &cause), "at each time"));
    cause.meanwhile = 0.25;
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "in each step another rank has more of it"));
    arena_release(&arena);
}

/* It costs the same in all: then it is not slower, but single steps are, by much or by little. */
static void an_equal_cost_is_never_slower(void **state)
{
    (void)state;
    struct cause_rank ranks[] = {ran(1, 3000000, 10, 0.01), ran(0, 3000000, 10, 0.01)};
    struct arena arena = {0};
    struct trace trace = {.is_counted = true};
    struct step step = {.place = 1};
    struct analysis analysis = {.trace = &trace, .steps = &step, .n_steps = 1};
    struct cause cause = {.kind = KIND_SLOWER, .waiting_ns = 1e9, .ranks = ranks, .n_ranks = 1, .n_late = 1};
    cause.others = ranks + 1;
    cause.n_others = 1;
    cause.kind_ns[KIND_SLOWER] = 1e9;
    cause.meanwhile = 0.9;
    cause.if_balanced_ns = cause.if_as_others_ns = 1e8;
    assert_string_equal(told_cause(&arena, &cause),
                        "rank 1 runs it as often as rank 0, at the same cost each time; single steps vary");
    assert_true(settled(NULL, &cause).remedy == REMEDY_NONE && settled(NULL, &cause).gain_ns == 0);
    assert_string_equal(told_kind_words(&arena, &cause), "steps vary");
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "nothing: no rank has more of it"));
    /* Nor is a core that is slower by a twentieth, as cores are. */
    ranks[0] = ran(1, 3000000, 10.6, 0.01);
    assert_string_equal(told_kind_words(&arena, &cause), "steps vary");
    /* Nor by more than that where the error is as large. */
    ranks[0] = ran(1, 3000000, 11.7, 0.083);
    ranks[1] = ran(0, 3000000, 10, 0.083);
    assert_string_equal(told_kind_words(&arena, &cause), "steps vary");
    ranks[1] = ran(0, 3000000, 10, 0.01);
    ranks[0] = ran(1, 3000000, 12.5, 0.01);
    assert_string_equal(told_kind_words(&arena, &cause), "slower");
    assert_true(settled(NULL, &cause).gain_ns == 1e8);
    /* Nor is one of which too little is known. */
    ranks[0] = ran(1, 3000000, 12.5, 0.4);
    assert_string_equal(
        told_cause(&arena, &cause),
        "rank 1 runs it as often as rank 0, each time at a cost that is not known well enough to compare");
    assert_string_equal(told_kind_words(&arena, &cause), "more time");
    ranks[0] = ran(1, 3000000, 40, 0.3);
    assert_string_equal(told_kind_words(&arena, &cause), "slower");
    ranks[0] = ran(1, 3000000, 10, 0.01);
    cause.meanwhile = 0.5;
    assert_string_equal(
        told_cause(&arena, &cause),
        "rank 1 runs it as often as rank 0, at the same cost each time in all, slower when others wait");
    assert_string_equal(told_kind_words(&arena, &cause), "more time");
    /* At other times as well. */
    cause.kind_ns[KIND_SLOWER] = cause.kind_ns[KIND_MORE_WORK] = 5e8;
    assert_string_equal(told_cause(&arena, &cause),
                        "rank 1 runs it as often in all as rank 0, at the same cost each time in all, but at other "
                        "times, and slower then: others wait meanwhile");
    arena_release(&arena);
}

/* The same time in all, with nothing known of its cost. */
static void an_equal_time_is_never_slower(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct cause_rank ranks[] = {{.rank = 1, .time_ns = 30.5e6, .computing_ns = 30.5e6},
                                 {.rank = 0, .time_ns = 30e6, .computing_ns = 30e6}};
    struct cause cause = {.kind = KIND_SLOWER, .waiting_ns = 1e9, .ranks = ranks, .n_ranks = 1, .n_late = 1};
    cause.others = ranks + 1;
    cause.n_others = 1;
    cause.kind_ns[KIND_SLOWER] = 1e9;
    cause.meanwhile = 0.9;
    assert_string_equal(told_kind_words(&arena, &cause), "steps vary");
    arena_release(&arena);
}

/* As often in all at the same cost, though it was more work in the steps in which others waited. */
static void an_equal_number_is_never_more_work(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct cause_rank ranks[] = {ran(1, 3000000, 11.3, 0.13), ran(0, 3000000, 10, 0.13)};
    struct cause cause = {.kind = KIND_MORE_WORK, .waiting_ns = 1e9, .ranks = ranks, .n_ranks = 1, .n_late = 1};
    struct parting trips = {.kind = PARTING_TRIPS, .late = 3, .others = 1};
    cause.others = ranks + 1;
    cause.n_others = 1;
    cause.kind_ns[KIND_MORE_WORK] = 1e9;
    cause.is_in_library = true;
    assert_string_equal(told_kind_words(&arena, &cause), "more time");
    /* What the library calls back may be more. */
    cause.called_back = "compare";
    assert_string_equal(told_kind_words(&arena, &cause), "more work");
    /* A decision tells of more work, and of nothing where there is none. */
    cause.called_back = NULL;
    cause.partings = &trips;
    cause.n_partings = 1;
    assert_int_equal(settled(NULL, &cause).n_partings, 1);
    cause.kind = KIND_MORE_TIME;
    cause.kind_ns[KIND_MORE_TIME] = 1e9;
    cause.kind_ns[KIND_MORE_WORK] = 0;
    assert_int_equal(settled(NULL, &cause).n_partings, 0);
    arena_release(&arena);
}

static void a_smaller_part_tells_what_blocks(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct cause cause = {.kind = KIND_TRANSFER, .pause = PAUSE_CHILD};
    cause.kind_ns[KIND_TRANSFER] = 3e9;
    cause.kind_ns[KIND_BLOCKED] = 1e9;
    assert_string_equal(told_kind_words(&arena, &cause), "transfer 75 %, blocked: waiting for another process 25 %");
    cause.pause = PAUSE_UNKNOWN;
    assert_string_equal(told_kind_words(&arena, &cause), "transfer 75 %, blocked: asleep or in the kernel 25 %");
    arena_release(&arena);
}

static void advice_fits_what_is_explained(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct trace trace = {0};
    struct step step = {.place = 1};
    struct analysis analysis = {.trace = &trace, .steps = &step, .n_steps = 1};
    struct cause_rank late = ran(1, 3000000, 10, 0.01), other = ran(0, 3000000, 10, 0.01);
    struct cause cause = {.kind = KIND_MORE_WORK, .ranks = &late, .n_ranks = 1, .n_late = 1, .others = &other};
    cause.n_others = 1;
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "no rank has more of it in total"));
    struct parting trips = {.kind = PARTING_TRIPS, .late = 4, .others = 1};
    cause.partings = &trips;
    cause.n_partings = 1; /* a pipeline has as much to do each time */
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "in each step one has: divide"));
    cause.n_partings = 0;
    cause.meanwhile = 0.25; /* nor does anybody else do a part of it before */
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "in each step one has: divide"));
    cause.meanwhile = 0;
    late.executions = 6000000;
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "divide this work differently"));
    step.is_loop = true;
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "divide the work of this loop differently"));
    cause.kind = KIND_TRANSFER;
    cause.is_spinning = true;
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "which rank writes to this memory"));
    cause.is_spinning = false;
    cause.kind = KIND_BLOCKED;
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "waits for a lock"));
    cause.pause = PAUSE_SLEEP;
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "remove the sleep or shorten it"));
    cause.pause = PAUSE_MEMORY;
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "huge pages"));
    cause.pause = PAUSE_FILE;
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "collective MPI-IO"));
    assert_string_equal(told_kind_words(&arena, &cause), "blocked: reading or writing files");
    cause.pause = PAUSE_DATA;
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "until data comes (select, poll, a socket)"));
    cause.pause = PAUSE_LOCK;
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "holds the lock"));
    assert_string_equal(told_kind_words(&arena, &cause), "blocked: waiting for a lock or another thread");
    cause.pause = PAUSE_CHILD;
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "start that process earlier"));
    assert_string_equal(told_kind_words(&arena, &cause), "blocked: waiting for another process");
    cause.kind = KIND_SLOWER;
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "memory access"));
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "denormals"));
    struct cause_rank both[] = {other, ran(1, 3000000, 10, 0.01)};
    struct cause by_turns = {.kind = KIND_SLOWER, .ranks = both, .n_ranks = 2, .n_late = 2};
    by_turns.kind_ns[KIND_SLOWER] = 1e9;
    by_turns.meanwhile = 0.9;
    assert_non_null(strstr(told_next(&arena, &analysis, &by_turns), "nothing: no rank has more of it"));
    cause.library = "/lib/libstdc++.so.6"; /* of which nothing is counted */
    assert_non_null(
        strstr(told_next(&arena, &analysis, &cause), "what libstdc++.so.6 does may be slower there or more"));
    arena_release(&arena);
}

/* Of a line of a script: what it calls. */
static void most_of_a_cause_is_named(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct cause_rank ranks[] = {{.rank = 1, .time_ns = 3e9, .blame_ns = 1e9}};
    struct cause cause = {.kind = KIND_MORE_TIME, .waiting_ns = 1e9, .ranks = ranks, .n_ranks = 1, .n_late = 1};
    struct code_place inside = {
        .file = "/x/site-packages/mesh/smooth.py", .line_first = 7, .line_last = 7, .routine = "smooth"};
    cause.library = "/x/site-packages/mesh/_fast.abi3.so";
    assert_non_null(strstr(told_cause(&arena, &cause), "; most of it inside mesh._fast"));
    cause.expression = "fast.smooth()";
    assert_non_null(strstr(told_cause(&arena, &cause), "; most of it inside mesh._fast, in fast.smooth()"));
    cause.inside = &inside;
    assert_non_null(strstr(told_cause(&arena, &cause), "; most of it in mesh.smooth.smooth()"));
    inside.is_loop = true;
    assert_non_null(strstr(told_cause(&arena, &cause), "; most of it in loop smooth.py:7 in mesh.smooth.smooth()"));
    inside.line_last = 9;
    cause.main_line = 12;
    assert_non_null(strstr(told_cause(&arena, &cause), "; most of it at line 12, and in loop smooth.py:7-9 in mesh."));
    cause.inside = NULL;
    cause.library = NULL;
    assert_non_null(strstr(told_cause(&arena, &cause), "; most of it at line 12, and in fast.smooth()"));
    cause.expression = NULL;
    assert_non_null(strstr(told_cause(&arena, &cause), "; most of it at line 12"));
    arena_release(&arena);
}

/* What a poll takes may be the asking itself. */
/* Executions by threads that work for another one are known over the run alone. */
static void more_executions_are_more_work_unless_they_cost_more(void **state)
{
    (void)state;
    static const struct {
        uint64_t late, others;
        double late_cost_ns;
        enum cause_kind kind;
    } cases[] = {
        {15900000, 3600000, 8.6, KIND_MORE_WORK},
        {15900000, 3600000, 80, KIND_MORE_TIME},
        {20000000, 0, 8, KIND_MORE_WORK},
        {3600000, 3600000, 10, KIND_MORE_TIME},
        {0, 0, 8, KIND_MORE_TIME},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cause_rank late = ran(1, cases[i].late, cases[i].late_cost_ns, 0.17),
                          others = ran(0, cases[i].others, 7.6, 0.17);
        struct cause cause = {.kind = KIND_MORE_TIME, .waiting_ns = 1e9, .kind_ns[KIND_MORE_TIME] = 1e9};
        cause.ranks = &late;
        cause.others = &others;
        cause.n_ranks = cause.n_late = cause.n_others = 1;
        assert_int_equal(settled(NULL, &cause).kind, cases[i].kind);
    }
}

static void who_polls_is_told_to_do_so_less_often(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct trace_region regions[] = {{.name = "MPI_Recv", .is_mpi = true, .class = WW_RECV},
                                     {.name = "MPI_Iprobe", .is_mpi = true, .class = WW_IPROBE}};
    struct trace trace = {.regions = regions, .n_regions = 2};
    struct step step = {.call = "MPI_Iprobe"};
    struct analysis analysis = {.trace = &trace, .steps = &step, .n_steps = 1};
    struct cause_rank late = ran(1, 9000000, 10, 0.01), other = ran(0, 3000000, 10, 0.01);
    struct cause cause = {.kind = KIND_TRANSFER, .ranks = &late, .n_ranks = 1, .n_late = 1, .others = &other};
    cause.n_others = 1;
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "ask less often"));
    step.call = "MPI_Recv";
    assert_null(strstr(told_next(&arena, &analysis, &cause), "ask less often"));
    arena_release(&arena);
}

/* Calls that move no data are no transfer, and nothing is said of data types or messages. */
static void calls_that_move_nothing_are_inside_mpi(void **state)
{
    (void)state;
    struct arena arena = {0};
    static const struct {
        enum ww_call_id call;
        enum ww_class class;
        bool moves;
        const char *next;
    } cases[] = {
        {WW_ID_Init, WW_INIT, false, "here MPI or a process starts"},
        {WW_ID_Comm_rank, WW_LOCAL, false, "moves no data: make it less often"},
        {WW_ID_Win_sync, WW_LOCAL, false, "moves no data: make it less often"},
        {WW_ID_Comm_split, WW_COMM_CREATE, false, "moves no data: make it less often"},
        {WW_ID_Iprobe, WW_IPROBE, false, "ask less often"},
        {WW_ID_Pack, WW_LOCAL, true, "data types of fewer"},
        {WW_ID_Bcast, WW_COLLECTIVE, true, "fewer or smaller messages"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace_region region = {
            .name = "MPI_Call", .is_mpi = true, .call = cases[i].call, .class = cases[i].class};
        struct trace trace = {.regions = &region, .n_regions = 1};
        struct step step = {.call = "MPI_Call"};
        struct analysis analysis = {.trace = &trace, .steps = &step, .n_steps = 1};
        struct cause_rank late = ran(1, 9000000, 10, 0.01);
        struct cause cause = {.kind = KIND_TRANSFER, .ranks = &late, .n_ranks = 1, .n_late = 1};
        cause.kind_ns[KIND_TRANSFER] = 1e9;
        cause = settled(&analysis, &cause);
        const char *next = next_for_cause(&arena, &analysis, &cause);
        if (!strstr(next, cases[i].next))
            fail_msg("of case %zu: %s", i, next);
        assert_string_equal(explain_kind_words(&arena, &cause), cases[i].moves ? "transfer" : "inside MPI");
        assert_int_equal(strstr(explain_cause(&arena, &cause), "moving data") != NULL, cases[i].moves);
    }
    arena_release(&arena);
}

static void who_waits_for_progress_is_told_to_let_mpi_go_on(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct trace trace = {0};
    struct step step = {.place = 1};
    struct wait_site sites[] = {{.kind = WAIT_NXN}, {.kind = WAIT_PROGRESS}};
    struct rank_summary sums[] = {{.waiting_ns = 0}, {.waiting_ns = 5e8}};
    struct analysis analysis = {
        .trace = &trace, .steps = &step, .n_steps = 1, .sites = sites, .n_sites = 2, .ranks = sums};
    struct cause_rank late = ran(1, 9000000, 10, 0.01), other = ran(0, 3000000, 10, 0.01);
    struct cause_site at[] = {{.site = 1, .waiting_ns = 6e8}, {.site = 0, .waiting_ns = 4e8}};
    struct cause cause = {.kind = KIND_MORE_WORK, .ranks = &late, .n_ranks = 1, .n_late = 1, .others = &other};
    cause.n_others = 1;
    cause.waiting_ns = 1e9;
    cause.sites = at;
    cause.n_sites = 2;
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "only when the late side comes back to it"));
    sums[1].waiting_ns = 1e7; /* a late rank that never waits: the library alone gains next to nothing */
    cause.if_balanced_ns = 4e8;
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "divide this work differently"));
    cause.kind = KIND_BLOCKED; /* who sleeps cannot call MPI meanwhile */
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "waits for a lock"));
    cause.kind = KIND_MORE_WORK;
    at[0].waiting_ns = 4e8; /* most of it is waited for where all have to come */
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "divide this work differently"));
    arena_release(&arena);
}

static void a_place_of_one_rank_is_told_by_how_often_it_ran(void **state)
{
    (void)state;
    struct cause_rank ranks[] = {ran(1, 1, 1e6, 0.01), ran(0, 0, 0, 0), ran(2, 0, 0, 0)};
    expect_text(ranks, 1, 3, KIND_MORE_WORK, "only rank 1 runs it, once");
    ranks[0] = ran(1, 60000, 10, 0.01);
    expect_text(ranks, 1, 3, KIND_MORE_WORK, "only rank 1 runs it, 60,000 times");
    ranks[1] = ran(0, 2, 10, 0.01);
    expect_text(ranks, 1, 3, KIND_MORE_WORK, "rank 1 runs it 60,000 times, ranks 0,2 next to never");
    ranks[1] = ran(0, 60000, 10, 0.01);
    expect_text(ranks, 2, 3, KIND_MORE_WORK, "only ranks 0,1 run it, 60,000 times each");
    ranks[1] = ran(0, 50000, 10, 0.01);
    expect_text(ranks, 2, 3, KIND_MORE_WORK, "only ranks 0,1 run it, 55,000 times each on average");
}

static void amounts_that_are_alike_are_told_once(void **state)
{
    (void)state;
    struct cause_rank ranks[] = {ran(0, 0, 0, 0), ran(1, 0, 0, 0), ran(2, 0, 0, 0)};
    for (int i = 0; i < 3; i++) {
        ranks[i].time_ns = i ? 1e9 : 2e9;
        ranks[i].bytes = 5530000;
    }
    const char *longer = "rank 0 spends 2.0 x as long in it as ranks 1,2; rank 0 allocates 5.53 MB there, ranks 1,2 ";
    char expected[200];
    snprintf(expected, sizeof expected, "%sas much each", longer);
    expect_text(ranks, 1, 3, KIND_MORE_TIME, expected);
    ranks[2].bytes = ranks[1].bytes = 0;
    snprintf(expected, sizeof expected, "%snothing", longer);
    expect_text(ranks, 1, 3, KIND_MORE_TIME, expected);
}

/* 4.6 +- 8.2 ns against 1.3 +- 15 ns is nothing. */
static void ratios_inside_their_error_are_no_facts(void **state)
{
    (void)state;
    static const struct {
        double late_ns, late_error, others_ns, others_error;
        const char *text;
    } cases[] = {
        {4.6, 8.2 / 4.6, 1.3, 15 / 1.3, "at a cost that is not known well enough to compare"},
        {3, 0.01, 1, 0.01, "at 3.0 x the cost"},
        {3, 0.05, 1, 0.1, "at 3.0 x (2.4 to 3.8) the cost"},
        {30, 0.4, 1, 0.3, "at 30 x (at least 5.7) the cost"},
        {1.1, 0.01, 1, 0.01, "at 1.1 x the cost"},
        {1.1, 0.04, 1, 0.05, NULL},
        {1.04, 0.001, 1, 0.001, NULL},
        {0.8, 0.2, 1, 0.02, NULL},
        {1.1, 0, 1, 0, NULL},
        {3, 0, 1, 0, "at 3.0 x (2.6 to 3.5) the cost"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[200];
        struct cause_rank ranks[] = {ran(1, 2000, cases[i].late_ns, cases[i].late_error),
                                     ran(0, 1000, cases[i].others_ns, cases[i].others_error)};
        snprintf(expected, sizeof expected, "rank 1 runs it 2.0 x as often as rank 0, %s%s",
                 cases[i].text ? "each time " : "at the same cost each time", cases[i].text ? cases[i].text : "");
        expect_text(ranks, 1, 2, KIND_MORE_WORK, expected);
    }
}

static void partings_are_told(void **state)
{
    (void)state;
    static const struct {
        struct parting parting;
        const char *text;
    } cases[] = {
        {{.kind = PARTING_TRIPS, .is_itself = true, .late = 1200, .others = 300, .entered = 1},
         "4.0 x as many iterations each time it is entered"},
        {{.kind = PARTING_TRIPS, .is_itself = true, .late = 1200, .others = 300, .entered = 2.5},
         "it is entered 2.5 x as often, for 4.0 x as many iterations each time"},
        {{.kind = PARTING_TRIPS, .is_itself = true, .late = 7200, .others = 300, .entered = 0.0417},
         "it is entered 0.04 x as often, for 24 x as many iterations each time"},
        {{.kind = PARTING_TRIPS, .is_around = true, .late = 28, .others = 2, .entered = 1},
         "14 x as many iterations of the loop around it"},
        {{.kind = PARTING_TRIPS,
          .is_around = true,
          .file = "src/a.c",
          .line_first = 3,
          .line_last = 9,
          .late = 28,
          .others = 2,
          .entered = 1},
         "14 x as many iterations of loop a.c:3-9 around it"},
        {{.kind = PARTING_TRIPS, .file = "src/a.c", .line_first = 3, .line_last = 9, .late = 28, .others = 2},
         "14 x as many iterations of loop a.c:3-9 each time"},
        {{.kind = PARTING_TRIPS, .routine = "solve", .late = 28, .others = 2},
         "14 x as many iterations of a loop in solve() each time"},
        {{.kind = PARTING_BRANCH,
          .file = "a.c",
          .line_first = 8,
          .line_last = 8,
          .line_to = 9,
          .late = .9,
          .others = .1},
         "the condition at a.c:8 leads to line 9 90 % of the time, but on rank 0 10 %"},
        {{.kind = PARTING_BRANCH, .file = "a.c", .line_first = 8, .line_last = 8, .line_to = 8, .late = 1, .others = 0},
         "the condition at a.c:8 leads to this code every time, but on rank 0 never"},
        {{.kind = PARTING_BRANCH, .routine = "treat", .late = .25, .others = 0},
         "a condition in treat() leads to this code 25 % of the time, but on rank 0 never"},
        {{.kind = PARTING_RECURSION, .routine = "walk", .late = 41, .others = 11},
         "walk() calls itself 3.7 x as often for each call from outside"},
        {{.kind = PARTING_RECURSION,
          .routine = "std::_Rb_tree<int, std::pair<int const, int>, std::less<int> >::_M_erase",
          .late = 2,
          .others = 1},
         "std::_Rb_tree<...>::_M_erase() calls itself 2.0 x as often for each call from outside"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct parting parting = cases[i].parting;
        parting.late_least = parting.late_most = parting.late;
        parting.entered_least = parting.entered_most = parting.entered;
        verdict_settle_parting(&parting);
        assert_string_equal(explain_parting(&arena, &parting, "rank 0"), cases[i].text);
        arena_release(&arena);
    }
}

/* "3.0 x as often; 3.0 x as many iterations each time" reads like nine times as many. */
static void a_decision_is_no_second_fact(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct cause_rank late = {.rank = 1, .time_ns = 3e9, .executions = 3000, .computing_ns = 3e9, .cost_error = 0.01};
    struct cause_rank other = {.rank = 0, .time_ns = 1e9, .executions = 1000, .computing_ns = 1e9, .cost_error = 0.01};
    struct parting trips = {.kind = PARTING_TRIPS,
                            .is_itself = true,
                            .late = 300,
                            .late_least = 300,
                            .late_most = 300,
                            .others = 100,
                            .entered = 1,
                            .entered_least = 1,
                            .entered_most = 1};
    struct cause cause = {.kind = KIND_MORE_WORK, .ranks = &late, .n_ranks = 1, .n_late = 1, .others = &other};
    cause.n_others = cause.n_partings = 1;
    cause.partings = &trips;
    late.instructions = 30000;
    other.instructions = 10000;
    assert_string_equal(told_cause(&arena, &cause), "rank 1 runs it 3.0 x as often as rank 0 (3.0 x as many iterations "
                                                    "each time it is entered), at the same cost each time");
    late.executions = 1000;
    assert_string_equal(told_cause(&arena, &cause), "rank 1 runs it as often as rank 0, each time with 3.0 x the "
                                                    "instructions (3.0 x as many iterations each time it is entered)");
    arena_release(&arena);
}

/* One step in three hundred has all of it: in that step the factor is far larger. */
static void a_factor_of_what_acts_at_times_is_that_over_the_run(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct cause_rank late = {.rank = 1, .time_ns = 2.5e9}, other = {.rank = 0, .time_ns = 1e9};
    struct cause cause = {.kind = KIND_MORE_TIME, .ranks = &late, .n_ranks = 1, .n_late = 1, .others = &other};
    cause.n_others = 1;
    assert_string_equal(told_cause(&arena, &cause), "rank 1 spends 2.5 x as long in it as rank 0");
    cause.every = 7;
    assert_string_equal(told_cause(&arena, &cause), "rank 1 spends 2.5 x as long in it as rank 0 over the whole run");
    cause.every = 0;
    cause.stall_ns = cause.when_ns[3] = 1e8;
    assert_string_equal(told_cause(&arena, &cause), "rank 1 spends 2.5 x as long in it as rank 0 over the whole run");
    cause.kind = KIND_MORE_WORK;
    late.executions = 2500;
    other.executions = 1000;
    late.computing_ns = late.time_ns;
    other.computing_ns = other.time_ns;
    assert_non_null(strstr(told_cause(&arena, &cause), "2.5 x as often as rank 0 over the whole run, at"));
    other.executions = 2500;
    other.computing_ns = late.computing_ns;
    assert_null(strstr(told_cause(&arena, &cause), "over the whole run"));
    arena_release(&arena);
}

static void expect_gain(double gain_ns, double least_share, const char *gain, const char *of_run)
{
    enum { RUN_NS = 1000000000 }; /* as in settled() */
    struct arena arena = {0};
    struct cause_rank late = {.rank = 1, .time_ns = 2e9}, other = {.rank = 0, .time_ns = 1e9};
    struct cause cause = {.kind = KIND_MORE_TIME, .ranks = &late, .n_ranks = 1, .n_late = 1, .others = &other};
    cause.n_others = 1;
    cause.if_balanced_ns = gain_ns;
    cause.if_balanced_least_ns = least_share * gain_ns;
    cause = settled(NULL, &cause);
    assert_string_equal(explain_gain(&arena, &cause), gain);
    assert_string_equal(explain_gain_share(&arena, &cause, RUN_NS), of_run);
    arena_release(&arena);
}

/* Nobody needs to know of one nanosecond. */
static void gains_that_nobody_needs_are_no_figures(void **state)
{
    (void)state;
    expect_gain(120e6, 1, "-120 ms", "12 %");
    expect_gain(120e6, 0.5, "-60 ms to -120 ms", "6.0 % to 12 %");
    expect_gain(120e6, 0.05, "up to -120 ms", "up to 12 %");
    expect_gain(9e6, 1, "next to nothing", "");
    expect_gain(1, 1, "next to nothing", "");
    expect_gain(0, 1, "nothing", "");
}

/* A routine that is called from two places, one of which is the cause; and a wait for what no record tells. */
static void what_is_not_the_cause_s_alone_is_told_as_such(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct cause_rank late = {.rank = 1, .time_ns = 4e9}, other = {.rank = 0, .time_ns = 1e9};
    struct parting trips = {
        .kind = PARTING_TRIPS, .is_itself = true, .late = 2600, .others = 1400, .entered = 1, .late_least = 2600};
    trips.late_most = trips.late_least;
    trips.entered_least = trips.entered_most = 1;
    struct cause cause = {.kind = KIND_MORE_WORK, .ranks = &late, .n_ranks = 1, .n_late = 1, .others = &other};
    cause.n_others = cause.n_partings = 1;
    cause.partings = &trips;
    cause.is_elsewhere = true;
    assert_string_equal(told_cause(&arena, &cause), "rank 1 spends 4.0 x as long in it as rank 0; 1.9 x as many "
                                                    "iterations each time it is entered, its other calls included");
    struct cause unexplained = {.kind = KIND_MORE_TIME, .ranks = &late, .n_ranks = 1, .n_late = 1};
    unexplained.is_unexplained = true;
    assert_string_equal(told_cause(&arena, &unexplained),
                        "rank 1 waits there as well when others wait, and no record tells for whom");
    assert_string_equal(told_kind_words(&arena, &unexplained), "not known");
    unexplained.is_for_outside = true;
    assert_string_equal(told_cause(&arena, &unexplained),
                        "rank 1 waits there as well when others wait, for processes outside this run");
    unexplained.is_for_outside = false;
    struct trace trace = {.is_counted = true};
    struct step step = {.place = CODE_NONE};
    struct analysis analysis = {.trace = &trace, .steps = &step, .n_steps = 1};
    assert_non_null(strstr(told_next(&arena, &analysis, &unexplained), "perhaps for a process that is not recorded"));
    arena_release(&arena);
}

/* Threads that run Python code take turns, and the one that calls MPI with them. */
static void the_lock_of_an_interpreter_is_told(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct cause_rank late = {.rank = 1, .time_ns = 4e9, .n_threads = 4}, other = {.time_ns = 1e9};
    struct cause cause = {.kind = KIND_MORE_TIME, .ranks = &late, .n_ranks = 1, .n_late = 1, .others = &other};
    cause.n_others = 1;
    cause.sharing = SHARED_BY_INTERPRETER;
    assert_non_null(
        strstr(explain_cause(&arena, &cause), "4 threads of rank 1 take turns in it, as each needs Python's"));
    cause.errand = ERRAND_INTERPRETER_LOCK;
    assert_null(strstr(explain_cause(&arena, &cause), "as each needs"));
    assert_non_null(
        strstr(explain_cause(&arena, &cause), "its 4 threads have Python's lock (GIL) in turn, and the MPI"));
    late.n_threads = 1;
    assert_non_null(
        strstr(explain_cause(&arena, &cause), "its thread has Python's lock (GIL), and the MPI thread waits"));
    arena_release(&arena);
}

static void what_late_ranks_decide_unlike_is_told_as_a_range(void **state)
{
    (void)state;
    static const struct {
        struct parting parting;
        const char *text;
    } cases[] = {
        {{.kind = PARTING_TRIPS,
          .is_itself = true,
          .late = 1000,
          .late_least = 900,
          .late_most = 1200,
          .others = 300,
          .entered = 1,
          .entered_least = 1,
          .entered_most = 1},
         "3.0 to 4.0 x as many iterations each time it is entered"},
        {{.kind = PARTING_TRIPS,
          .is_itself = true,
          .late = 1200,
          .late_least = 1199,
          .late_most = 1201,
          .others = 300,
          .entered = 1.5,
          .entered_least = 1,
          .entered_most = 2},
         "it is entered 1.00 to 2.0 x as often, for 4.0 x as many iterations each time"},
        {{.kind = PARTING_BRANCH,
          .file = "a.c",
          .line_first = 8,
          .line_last = 8,
          .line_to = 9,
          .late = .75,
          .late_least = .6,
          .late_most = .9,
          .others = .1},
         "the condition at a.c:8 leads to line 9 60 % to 90 % of the time, but on rank 0 10 %"},
        {{.kind = PARTING_BRANCH,
          .file = "a.c",
          .line_first = 8,
          .line_last = 8,
          .line_to = 9,
          .late = 1,
          .late_least = 1,
          .late_most = 1,
          .others = .5,
          .others_most = 1},
         "the condition at a.c:8 leads to line 9 every time, but on rank 0 0 % to 100 %"},
        {{.kind = PARTING_RECURSION, .routine = "walk", .late = 30, .late_least = 22, .late_most = 44, .others = 11},
         "walk() calls itself 2.0 to 4.0 x as often for each call from outside"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena = {0};
        struct parting parting = cases[i].parting;
        verdict_settle_parting(&parting);
        assert_string_equal(explain_parting(&arena, &parting, "rank 0"), cases[i].text);
        arena_release(&arena);
    }
}

static void rows_that_are_alike_are_told(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct cause causes[] = {{.waiting_ns = 4e9, .n_late = 1, .kind = KIND_MORE_WORK}, {.waiting_ns = 3e9, .like = 1},
                             {.waiting_ns = 2e9, .n_late = 2, .kind = KIND_MORE_TIME}, {.waiting_ns = 1e9, .like = 1},
                             {.waiting_ns = 5e8, .like = 3, .kind = KIND_MORE_TIME},   {.waiting_ns = 4e8, .like = 1}};
    struct analysis analysis = {.causes = causes, .n_causes = sizeof causes / sizeof *causes, .waiting_ns = 12e9};
    causes[2].reason.times.mean = 1.4;
    verdict_settle_like(&analysis);
    assert_string_equal(explain_like(&arena, &analysis, 0, NULL),
                        "rows 2,4,6 have the same rank late by the same factor: it has more of the data; together "
                        "8.40 s, 70 % of all waiting");
    assert_null(explain_like(&arena, &analysis, 1, NULL));
    assert_string_equal(explain_like(&arena, &analysis, 2, NULL),
                        "row 5 has the same ranks late by the same factor: perhaps they have more of the data, or "
                        "slower CPUs or memory; together 2.50 s, 21 % of all waiting");
    /* Only rows that the reader has before him go by their numbers. */
    static const bool only_second[6] = {[0] = true, [1] = true}, only_first[6] = {[0] = true};
    assert_string_equal(explain_like(&arena, &analysis, 0, only_second),
                        "row 2 and 2 more causes (--all) have the same rank late by the same factor: it has more of "
                        "the data; together 8.40 s, 70 % of all waiting");
    assert_string_equal(explain_like(&arena, &analysis, 0, only_first),
                        "3 more causes (--all) have the same rank late by the same factor: it has more of the data; "
                        "together 8.40 s, 70 % of all waiting");
    assert_string_equal(explain_like(&arena, &analysis, 2, only_first),
                        "1 more cause (--all) has the same ranks late by the same factor: perhaps they have more of "
                        "the data, or slower CPUs or memory; together 2.50 s, 21 % of all waiting");
    /* What nobody else does has no factor. */
    const struct reason alone = {.kind = REASON_TIME_ALONE, .is_alone = true};
    causes[0].reason = alone;
    assert_string_equal(explain_like(&arena, &analysis, 0, only_second),
                        "row 2 and 2 more causes (--all) have the same rank late as well: it has more of the data; "
                        "together 8.40 s, 70 % of all waiting");
    causes[1].reason = causes[3].reason = causes[4].reason = causes[5].reason = alone;
    assert_string_equal(explain_like(&arena, &analysis, 0, only_second),
                        "row 2 and 2 more causes (--all) are this rank's alone as well; together 8.40 s, 70 % of all "
                        "waiting");
    causes[2].reason = (struct reason){.kind = REASON_ONLY, .is_alone = true};
    assert_string_equal(explain_like(&arena, &analysis, 2, NULL),
                        "row 5 is these ranks' alone as well; together 2.50 s, 21 % of all waiting");
    for (uint32_t i = 0; i < analysis.n_causes; i++)
        causes[i].reason = (struct reason){.kind = REASON_LONGER};
    causes[2].reason.times.mean = 3;
    causes[0].kind = causes[1].kind = causes[3].kind = causes[5].kind = KIND_SLOWER;
    verdict_settle_like(&analysis);
    assert_string_equal(explain_like(&arena, &analysis, 0, NULL),
                        "rows 2,4,6 have the same rank late by the same factor: its CPU or memory is slower; together "
                        "8.40 s, 70 % of all waiting");
    assert_string_equal(explain_like(&arena, &analysis, 2, NULL),
                        "row 5 has the same ranks late by the same factor: perhaps they have more of the data; "
                        "together 2.50 s, 21 % of all waiting");
    causes[1].kind = KIND_MORE_WORK; /* counted otherwise than the largest */
    verdict_settle_like(&analysis);
    assert_int_equal(causes[0].like_reason, PARTITION_EITHER);
    arena_release(&arena);
}

/* However well times agree. */
static void counts_tell_whether_rows_are_alike(void **state)
{
    (void)state;
    const struct reason counted = {.kind = REASON_WORK, .often = {.is_known = true, .mean = 2}, .has_same_code = true};
    static const struct {
        double often, code;
        bool has_same_code, is_alike;
    } cases[] = {{2.8, 0, true, true}, {8, 0, true, false}, {1, 2, false, true}, {1, 2, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cause causes[] = {{.waiting_ns = 2, .reason = counted}, {.waiting_ns = 1, .like = 1, .reason = counted}};
        struct analysis analysis = {.causes = causes, .n_causes = 2, .waiting_ns = 3};
        causes[1].reason.often.mean = cases[i].often;
        causes[1].reason.code.mean = cases[i].code;
        causes[1].reason.has_same_code = cases[i].has_same_code;
        verdict_settle_like(&analysis);
        assert_int_equal(causes[1].like, cases[i].is_alike);
    }
}

/* Who never comes to the cause is thought idle, unless it is said what else it did. */
static void what_others_do_instead_is_told(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct step step = {.file = "/src/b.c", .routine = "lower", .line_first = 9, .is_loop = true};
    step.caller = TRACE_NONE;
    struct trace trace = {0};
    const struct analysis analysis = {.trace = &trace, .steps = &step, .n_steps = 1};
    const struct label_book book = {.arena = &arena, .analysis = &analysis};
    struct cause_rank late = {.rank = 1, .time_ns = 8e9}, other = {.rank = 0, .time_ns = 0};
    struct cause cause = {.ranks = &late, .n_ranks = 1, .n_late = 1, .others = &other, .n_others = 1};
    cause.kind = KIND_MORE_TIME;
    cause.instead_share = 0.99;
    assert_string_equal(told_instead(&book, &cause),
                        "those who wait are nearly as long in loop b.c:9 in lower() meanwhile");
    cause.instead_share = 0.6;
    assert_string_equal(told_instead(&book, &cause),
                        "those who wait are 60 % as long in loop b.c:9 in lower() meanwhile");
    cause.instead_share = 0.4;
    assert_null(told_instead(&book, &cause));
    cause.instead_share = 0.99;
    cause.kind = KIND_TRANSFER; /* both ends of a message */
    assert_null(told_instead(&book, &cause));
    cause.kind = KIND_MORE_TIME;
    other.time_ns = 2e9; /* they are compared with the late one by their time in it */
    assert_null(told_instead(&book, &cause));
    arena_release(&arena);
}

/* "Only rank 1" is said of time, unless counts show that others come to it as well. And to do parts of it at the same
 * time is no advice for ranks that do other work meanwhile. */
static void who_is_alone_in_it_is_advised_by_what_others_do(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct step step = {.is_loop = true, .caller = TRACE_NONE, .place = CODE_NONE};
    struct trace trace = {0};
    struct cause_rank late = {.rank = 1, .time_ns = 8e9}, other = {.rank = 0, .time_ns = 0};
    struct cause cause = {
        .waiting_ns = 1e9, .ranks = &late, .n_ranks = 1, .n_late = 1, .others = &other, .n_others = 1};
    const struct analysis analysis = {.trace = &trace, .steps = &step, .n_steps = 1, .causes = &cause};
    cause.kind = KIND_MORE_TIME;
    cause.kind_ns[KIND_MORE_TIME] = cause.waiting_ns;
    cause.is_alone = true;
    assert_non_null(
        strstr(told_next(&arena, &analysis, &cause), "only rank 1 spends time in this: let ranks do parts"));
    cause.instead_share = 0.8;
    assert_non_null(strstr(told_next(&arena, &analysis, &cause), "rank 0 does other work meanwhile (--cause "));
    cause.instead_share = 0;
    late = ran(1, 8000, 1000, 0.01);
    other = ran(0, 20, 1000, 0.01);
    cause.kind = KIND_MORE_WORK;
    assert_string_equal(told_next(&arena, &analysis, &cause),
                        "divide the work of this loop differently among the ranks");
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_others_do_instead_is_told),
        cmocka_unit_test(who_is_alone_in_it_is_advised_by_what_others_do),
        cmocka_unit_test(half_of_all_ranks_have_one_range),
        cmocka_unit_test(unlike_ranks_have_each_their_own_ratio),
        cmocka_unit_test(late_ranks_that_spend_no_longer_are_told_apart),
        cmocka_unit_test(ranks_that_differ_are_compared_with_on_average),
        cmocka_unit_test(what_a_cause_enters_is_told_apart),
        cmocka_unit_test(times_are_told_as_well_as_samples_know_them),
        cmocka_unit_test(time_in_which_teams_spin_is_in_doubt),
        cmocka_unit_test(work_of_helpers_is_compared_where_they_ran_ahead),
        cmocka_unit_test(time_that_nobody_saw_is_in_doubt),
        cmocka_unit_test(time_that_others_were_seen_in_is_a_bound),
        cmocka_unit_test(ranks_that_take_turns_are_told_from_those_with_more),
        cmocka_unit_test(ranks_that_are_late_by_turns_are_not_one_after_the_other),
        cmocka_unit_test(what_nobody_has_more_of_is_serialisation),
        cmocka_unit_test(nobody_has_more_as_far_as_samples_tell),
        cmocka_unit_test(an_equal_cost_is_never_slower),
        cmocka_unit_test(an_equal_time_is_never_slower),
        cmocka_unit_test(an_equal_number_is_never_more_work),
        cmocka_unit_test(more_executions_are_more_work_unless_they_cost_more),
        cmocka_unit_test(most_of_a_cause_is_named),
        cmocka_unit_test(who_polls_is_told_to_do_so_less_often),
        cmocka_unit_test(calls_that_move_nothing_are_inside_mpi),
        cmocka_unit_test(who_waits_for_progress_is_told_to_let_mpi_go_on),
        cmocka_unit_test(a_smaller_part_tells_what_blocks),
        cmocka_unit_test(advice_fits_what_is_explained),
        cmocka_unit_test(a_place_of_one_rank_is_told_by_how_often_it_ran),
        cmocka_unit_test(amounts_that_are_alike_are_told_once),
        cmocka_unit_test(ratios_inside_their_error_are_no_facts),
        cmocka_unit_test(threads_that_share_unevenly_are_told),
        cmocka_unit_test(partings_are_told),
        cmocka_unit_test(gains_that_nobody_needs_are_no_figures),
        cmocka_unit_test(a_factor_of_what_acts_at_times_is_that_over_the_run),
        cmocka_unit_test(a_decision_is_no_second_fact),
        cmocka_unit_test(what_is_not_the_cause_s_alone_is_told_as_such),
        cmocka_unit_test(the_lock_of_an_interpreter_is_told),
        cmocka_unit_test(what_late_ranks_decide_unlike_is_told_as_a_range),
        cmocka_unit_test(rows_that_are_alike_are_told),
        cmocka_unit_test(counts_tell_whether_rows_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
