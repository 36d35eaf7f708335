/* SPDX-License-Identifier: BSD-3-Clause */
/* The level above the rows: which causes share one reason, and what there is to say first. Causes are built here. */
#include "analyze/verdict/answer.h"
#include "analyze/blame/late.h"
#include "analyze/blame/partitions.h"
#include "tests/unit/scene/scene.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { N = 4, MOST = 256 };
#define MS 1e6

struct run {
    struct trace trace;
    struct analysis analysis;
    struct cause causes[MOST];
    struct cause_rank ranks[MOST][N];
    double sample_ns; /* times err by sqrt(time x this) */
    uint32_t seed;
};

static int run_make(void **state)
{
    struct run *run = calloc(1, sizeof *run);
    run->trace.n_ranks = N;
    run->analysis.trace = &run->trace;
    run->analysis.causes = run->causes;
    run->analysis.efficiency.all_ns = 2e9;
    run->sample_ns = MS;
    *state = run;
    return 0;
}

static int run_free(void **state)
{
    struct run *run = *state;
    arena_release(&run->analysis.arena);
    free(run);
    return 0;
}

/* About normal, with a deviation of 1: the same in each run of the test. */
static double chance(struct run *run)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += (double)((run->seed = run->seed * 1664525u + 1013904223u) >> 8) / (1 << 24);
    return sum - 6;
}

static double sampled(struct run *run, double ns)
{
    return fmax(0, ns + sqrt(ns * run->sample_ns) * chance(run));
}

/* A cause for which all wait for the rank that takes longest; what samples tell of its times is off by chance. */
static struct cause *add(struct run *run, const double ms[N])
{
    uint32_t number = run->analysis.n_causes++, late = 0;
    struct cause_rank *ranks = run->ranks[number];
    double waiting_ns = 0;
    for (uint32_t rank = 1; rank < N; rank++)
        late = ms[rank] > ms[late] ? rank : late;
    for (uint32_t rank = 0; rank < N; rank++) {
        waiting_ns += (ms[late] - ms[rank]) * MS;
        double time_ns = sampled(run, ms[rank] * MS);
        ranks[rank] = (struct cause_rank){
            .rank = rank, .time_ns = time_ns, .error_ns = sqrt((time_ns + run->sample_ns) * run->sample_ns)};
    }
    ranks[late].blame_ns = waiting_ns;
    late_sort(ranks, N);
    struct cause *cause = &run->causes[number];
    *cause = (struct cause){.kind = KIND_MORE_TIME,
                            .kind_ns = {[KIND_MORE_TIME] = waiting_ns},
                            .waiting_ns = waiting_ns,
                            .ranks = ranks,
                            .n_ranks = 1,
                            .n_late = 1,
                            .others = ranks + 1,
                            .n_others = N - 1};
    run->analysis.waiting_ns += waiting_ns;
    return cause;
}

/* Places of unlike size, the smallest with less than a sample on the others. */
static void add_places(struct run *run, uint32_t n, const double factors[N])
{
    for (uint32_t i = 0; i < n; i++) {
        double ms[N];
        for (uint32_t rank = 0; rank < N; rank++)
            ms[rank] = factors[rank] * 60 / (1 + i);
        add(run, ms);
    }
}

static int by_falling_waiting(const void *a, const void *b)
{
    const struct cause *left = a, *right = b;
    return (left->waiting_ns < right->waiting_ns) - (left->waiting_ns > right->waiting_ns);
}

static void find(struct run *run)
{
    qsort(run->causes, run->analysis.n_causes, sizeof *run->causes, by_falling_waiting);
    for (uint32_t i = 0; i < run->analysis.n_causes; i++)
        run->causes[i].share = run->causes[i].waiting_ns / run->analysis.waiting_ns;
    partitions_find(&run->analysis);
    for (uint32_t i = 0; i < run->analysis.n_partitions; i++) {
        const struct partition *partition = &run->analysis.partitions[i];
        double waiting_ns = 0;
        for (uint32_t k = 0; k < partition->n_causes; k++) {
            waiting_ns += run->causes[partition->causes[k]].waiting_ns;
            assert_int_equal(run->causes[partition->causes[k]].partition, i + 1);
        }
        assert_true(fabs(waiting_ns - partition->whole.waiting_ns) < 1);
    }
    answer_find(&run->analysis);
}

static const double more_on_0[N] = {2, 1, 1, 1}, more_on_1[N] = {1, 3, 1, 1};

static void assert_partition(const struct run *run, uint32_t number, uint32_t rank, double factor, double share)
{
    const struct partition *partition = &run->analysis.partitions[number];
    assert_true(number < run->analysis.n_partitions);
    assert_int_equal(partition->whole.n_late, 1);
    assert_int_equal(partition->whole.ranks[0].rank, rank);
    assert_true(fabs(partition->factor.value / factor - 1) < 0.25);
    assert_true(partition->whole.waiting_ns >= share * run->analysis.waiting_ns);
    assert_int_equal(partition->reason, PARTITION_DATA);
}

static void more_of_the_data_is_one_reason_for_a_hundred_places(void **state)
{
    struct run *run = *state;
    uint32_t n_covered = 0;
    for (run->seed = 1; run->seed < 50; run->seed++) {
        uint32_t seed = run->seed;
        run->analysis.n_causes = run->analysis.n_partitions = 0;
        run->analysis.waiting_ns = 0;
        add_places(run, 100, more_on_0);
        find(run);
        assert_int_equal(run->analysis.n_partitions, 1);
        assert_partition(run, 0, 0, 2, 0.9);
        assert_int_equal(run->analysis.answer.kind, ANSWER_PARTITION);
        struct ratio factor = run->analysis.partitions[0].factor;
        n_covered += factor.low <= 2 && factor.high >= 2;
        assert_true(factor.low > 1.4 && factor.high < 2.8);
        run->seed = seed;
    }
    assert_true(n_covered >= 44); /* of 49, at two standard errors */
}

static void two_ranks_with_more_of_unlike_data_are_two(void **state)
{
    struct run *run = *state;
    add_places(run, 50, more_on_0);
    add_places(run, 50, more_on_1);
    find(run);
    assert_int_equal(run->analysis.n_partitions, 2);
    assert_partition(run, 0, 1, 3, 0.55);
    assert_partition(run, 1, 0, 2, 0.25);
}

/* In the same places: who is last carries the blame, and the times tell of both. */
static void two_ranks_with_more_of_the_same_data_are_one(void **state)
{
    struct run *run = *state;
    add_places(run, 100, (const double[N]){3, 2, 1, 1});
    find(run);
    assert_int_equal(run->analysis.n_partitions, 1);
    assert_partition(run, 0, 0, 3 / (4. / 3), 0.9);
}

/* What has another reason stands beside it: in the order of the waiting, whichever is more. */
static void a_cause_of_another_rank_or_factor_has_no_part(void **state)
{
    static const double extra_ms[][N] = {{10, 200, 10, 10}, {400, 10, 10, 10}, {10, 1000, 10, 10}};
    struct run *run = *state;
    for (size_t i = 0; i < sizeof extra_ms / sizeof *extra_ms; i++) {
        run->analysis.n_causes = run->analysis.n_partitions = 0;
        run->analysis.waiting_ns = 0;
        add_places(run, 100, more_on_0);
        double extra_ns = add(run, extra_ms[i])->waiting_ns;
        find(run);
        assert_int_equal(run->analysis.n_partitions, 1);
        assert_partition(run, 0, 0, 2, 0.2);
        for (uint32_t k = 0; k < run->analysis.n_causes; k++)
            assert_true(run->causes[k].waiting_ns != extra_ns || !run->causes[k].partition);
        bool is_more = extra_ns > run->analysis.partitions[0].whole.waiting_ns;
        assert_int_equal(run->analysis.answer.kind, is_more ? ANSWER_CAUSE : ANSWER_PARTITION);
    }
}

static void one_loop_with_small_change_is_no_partition(void **state)
{
    struct run *run = *state;
    add(run, (const double[N]){1, 1, 300, 1});
    for (uint32_t i = 0; i < 60; i++)
        add(run, (const double[N]){5, 5, 5.2, 5});
    find(run);
    assert_int_equal(run->analysis.n_partitions, 0);
    assert_int_equal(run->analysis.answer.kind, ANSWER_CAUSE);
    assert_int_equal(run->analysis.answer.number, 0);
}

static void what_ranks_sleep_or_move_data_for_has_its_own_reasons(void **state)
{
    struct run *run = *state;
    add_places(run, 40, more_on_0);
    for (uint32_t i = 0; i < 40; i++)
        run->causes[i].kind = i % 2 ? KIND_BLOCKED : KIND_TRANSFER;
    find(run);
    assert_int_equal(run->analysis.n_partitions, 0);
}

/* Each of them errs by more than the rank is late; all together do not. */
static void places_that_are_too_small_alone_are_known_together(void **state)
{
    struct run *run = *state;
    for (uint32_t i = 0; i < 200; i++)
        add(run, (const double[N]){6, 3, 3, 3});
    find(run);
    assert_int_equal(run->analysis.n_partitions, 1);
    assert_partition(run, 0, 0, 2, 0.9);
}

/* Each rank is late in as many places: no rank has more of the data. */
static void ranks_that_are_late_by_turns_have_no_partition(void **state)
{
    struct run *run = *state;
    for (uint32_t i = 0; i < 200; i++) {
        double ms[N] = {3, 3, 3, 3};
        ms[i % N] = 6;
        add(run, ms)->n_late = N;
    }
    find(run);
    for (uint32_t i = 0; i < run->analysis.n_partitions; i++)
        assert_true(isfinite(run->analysis.partitions[i].factor.value) && run->analysis.partitions[i].whole.n_late < N);
}

static void a_slower_rank_does_not_have_more_of_the_data(void **state)
{
    struct run *run = *state;
    for (uint32_t i = 0; i < 40; i++)
        add(run, (const double[N]){78, 60, 60, 60});
    find(run);
    assert_int_equal(run->analysis.n_partitions, 1);
    assert_int_equal(run->analysis.partitions[0].reason, PARTITION_EITHER);
    for (uint32_t i = 0; i < run->analysis.n_causes; i++)
        run->causes[i].kind = KIND_SLOWER, run->causes[i].kind_ns[KIND_SLOWER] = 2 * run->causes[i].waiting_ns;
    run->analysis.n_partitions = 0;
    find(run);
    assert_int_equal(run->analysis.partitions[0].reason, PARTITION_SLOWER);
}

/* Beyond what people care for in a run, even at the least; not what has no row. */
static void a_row_that_gains_far_more_is_found(void **state)
{
    struct run *run = *state;
    add(run, (const double[N]){300, 60, 60, 60});
    add(run, (const double[N]){60, 160, 60, 60});
    add(run, (const double[N]){60, 60.1, 60, 60});
    find(run);
    run->analysis.efficiency.wall_ns = 500 * MS;
    static const struct {
        double gain_ms, least_ms, small_ms;
        uint32_t more; /* from 1 */
    } cases[] = {{10, 10, 0, 0}, {20, 8, 0, 0}, {14, 14, 0, 0}, {20, 16, 0, 2}, {10, 10, 60, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run->causes[0].gain_ns = run->causes[0].gain_least_ns = 10 * MS;
        run->causes[1].gain_ns = cases[i].gain_ms * MS;
        run->causes[1].gain_least_ns = cases[i].least_ms * MS;
        run->causes[2].gain_ns = run->causes[2].gain_least_ns = cases[i].small_ms * MS;
        answer_find(&run->analysis);
        assert_int_equal(run->analysis.answer.kind, ANSWER_CAUSE);
        assert_int_equal(run->analysis.answer.number, 0);
        assert_int_equal(run->analysis.answer.gains_more, cases[i].more);
    }
}

/* How ranks end, when, and whether they waited without end before; who is found to have ended first. */
static void who_ended_first_is_found(void **state)
{
    struct run *run = *state;
    enum { FIN = WW_END_FINALIZE, EXIT = WW_END_EXIT, ABORT = WW_END_ABORT, NONE = WW_END_NONE };
    static const struct {
        uint32_t how[N], ms[N], hung, first; /* from 1 */
    } cases[] = {
        {{NONE, NONE, NONE, NONE}, {1000, 2, 1000, 999}, 0, 2},
        {{NONE, NONE, NONE, NONE}, {1000, 2, 1000, 999}, 2, 0},
        {{NONE, NONE, NONE, NONE}, {1000, 985, 1000, 999}, 0, 0},
        {{NONE, NONE, NONE, NONE}, {1000, 3, 2, 999}, 1, 3},
        {{EXIT, EXIT, NONE, NONE}, {20, 21, 1000, 1000}, 0, 1},
        {{NONE, NONE, NONE, ABORT}, {1000, 990, 800, 1000}, 0, 4},
        {{EXIT, EXIT, EXIT, EXIT}, {1000, 999, 998, 1000}, 0, 0},
        {{FIN, FIN, EXIT, FIN}, {1000, 1000, 998, 999}, 0, 3},
        {{FIN, FIN, FIN, FIN}, {1000, 1000, 1000, 1000}, 0, 0},
    };
    static struct trace_location locations[N];
    static struct last_place places[N];
    static struct open_wait wait = {.dur_ns = 100000000};
    run->trace.locations = locations;
    run->trace.n_locations = N;
    run->analysis.last_places = places;
    run->analysis.open_waits = &wait;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run->analysis.n_last_places = 0;
        run->analysis.n_open_waits = cases[i].hung > 0;
        wait.rank = cases[i].hung - 1;
        for (uint32_t rank = 0; rank < N; rank++) {
            locations[rank] = (struct trace_location){
                .rank = rank, .end_how = cases[i].how[rank], .end_ns = cases[i].ms[rank] * (uint64_t)MS};
            if (cases[i].how[rank] != WW_END_FINALIZE)
                places[run->analysis.n_last_places++] = (struct last_place){.rank = rank};
        }
        answer_find(&run->analysis);
        assert_int_equal(run->analysis.answer.first_end, cases[i].first);
    }
}

static void little_waiting_at_random_is_nothing_to_mend(void **state)
{
    struct run *run = *state;
    run->analysis.efficiency.all_ns = 40e9;
    for (uint32_t i = 0; i < 8; i++) {
        double ms[N] = {1000, 1000, 1000, 1000};
        ms[i % N] += 40;
        struct cause *cause = add(run, ms);
        cause->n_ranks = 3; /* the blame goes from rank to rank */
        cause->n_others = 1;
    }
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_FINE);
    assert_true(fabs(run->analysis.answer.program_share - 0.024) < 1e-6);
    run->analysis.n_partitions = 0;
    add(run, (const double[N]){1000, 1, 1, 1});
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_CAUSE);
}

/* Of little, the answer is that there is nothing to mend; of much, that steps vary. A wait without end is more. */
static void steps_that_vary_are_no_cause(void **state)
{
    struct run *run = *state;
    struct open_wait wait = {.dur_ns = 1000 * (uint64_t)MS, .longest_ns = 2000 * (uint64_t)MS};
    run->analysis.efficiency.all_ns = 40e9;
    run->analysis.open_waits = &wait;
    run->analysis.n_open_waits = 1;
    struct cause *cause = add(run, (const double[N]){9000, 6000, 6000, 6000});
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_CAUSE);
    cause->balance = BALANCE_VARYING;
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_VARYING);
    run->analysis.efficiency.all_ns = 400e9;
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_FINE);
    wait.dur_ns = 3000 * (uint64_t)MS;
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_CAUSE);
}

/* It gives the program next to no time, in which ranks shift against each other. */
static void what_gains_nothing_is_no_answer_on_a_full_machine(void **state)
{
    struct run *run = *state;
    run->analysis.efficiency.all_ns = 40e9;
    run->analysis.efficiency.descheduled_ns = 38e9;
    struct cause *cause = add(run, (const double[N]){90, 60, 60, 60});
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_CAUSE);
    cause->is_gain_minor = true;
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_FINE);
    /* As much is taken by ranks without a CPU and by those that wait for them. */
    run->analysis.efficiency.descheduled_ns = 19e9;
    run->analysis.machine.waiting_ns = 19e9;
    run->analysis.waiting_ns += 19e9;
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_FINE);
    cause->is_gain_minor = false;
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_CAUSE);
    cause->is_gain_minor = true;
    run->analysis.waiting_ns -= 19e9;
    run->analysis.machine.waiting_ns = 0;
    run->analysis.efficiency.descheduled_ns = 0;
    run->analysis.efficiency.all_ns = 2e9;
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_CAUSE);
}

static void one_rank_and_no_waiting_are_answers(void **state)
{
    struct run *run = *state;
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_NO_WAIT);
    run->trace.n_ranks = 1;
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_ALONE);
}

/* Ranks hang if they wait for longer than all waits took that ended, but not for no longer than one of these. */
static void waits_without_end_are_an_answer(void **state)
{
    struct run *run = *state;
    struct open_wait wait = {.rank = 1, .dur_ns = (uint64_t)(1000 * MS), .longest_ns = (uint64_t)(100 * MS)};
    add(run, (const double[N]){1, 1, 1, 101}); /* 300 ms of waiting */
    run->analysis.open_waits = &wait;
    run->analysis.n_open_waits = 1;
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_HANG);
    wait.dur_ns = (uint64_t)(200 * MS);
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_CAUSE);
    wait.dur_ns = wait.longest_ns = (uint64_t)(1000 * MS);
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_CAUSE);
}

/* Moving data takes longer than ranks wait for the program, or not; and too little to be the first to be told. */
static void what_is_larger_is_the_answer(void **state)
{
    struct run *run = *state;
    static const struct {
        double transfer_ms;
        enum answer_kind kind;
    } cases[] = {{310, ANSWER_TRANSFERS}, {290, ANSWER_CAUSE}};
    add(run, (const double[N]){1, 1, 1, 101}); /* 300 ms of waiting, beside 2 s of the machine's */
    run->analysis.transfers.n_places = 1;
    run->analysis.waiting_ns += 2000 * MS;
    run->analysis.machine.waiting_ns = 2000 * MS;
    run->analysis.efficiency.all_ns = 4e9;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run->analysis.efficiency.transfer_ns = cases[i].transfer_ms * MS;
        find(run);
        assert_int_equal(run->analysis.answer.kind, cases[i].kind);
        assert_true(run->analysis.answer.has_causes);
    }
    /* A transfer is long as well while a partner has no CPU. */
    run->analysis.efficiency.transfer_ns = 310 * MS;
    run->analysis.efficiency.descheduled_ns = 400 * MS;
    run->analysis.transfers.advice = ADVICE_CPU_BEFORE;
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_CAUSE);
    run->analysis.efficiency.descheduled_ns = 300 * MS;
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_TRANSFERS);
    run->analysis.efficiency.all_ns = 310e9; /* a thousandth of it */
    run->analysis.efficiency.transfer_ns = 310 * MS;
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_FINE);
}

/* A run that broke off begins with its end, unless ranks lost more before than it takes to die. */
static void the_end_of_a_run_is_an_answer(void **state)
{
    struct run *run = *state;
    struct last_place place = {.rank = 1};
    struct open_wait wait = {.rank = 0, .dur_ns = (uint64_t)(19 * MS)};
    run->analysis.efficiency.wall_ns = run->analysis.efficiency.all_ns / N;
    run->analysis.last_places = &place;
    run->analysis.n_last_places = 1;
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_BROKE_OFF); /* nobody waited */
    add(run, (const double[N]){1, 1, 1, 26});                      /* 75 ms of waiting of 4 ranks */
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_BROKE_OFF);
    run->analysis.open_waits = &wait; /* it dies inside a call */
    run->analysis.n_open_waits = 1;
    run->analysis.causes[0].waiting_ns = run->analysis.waiting_ns = 10 * MS;
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_BROKE_OFF);
    wait.dur_ns = (uint64_t)(21 * MS);
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_HANG);
    wait.dur_ns = 0;
    run->analysis.causes[0].waiting_ns = run->analysis.waiting_ns = 85 * MS;
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_CAUSE);
}

/* On a busy machine the late rank is kept waiting for a CPU too: that is told with it, and what is the machine's else.
 */
static void what_the_machine_did_to_the_late_rank_is_told_with_it(void **state)
{
    struct run *run = *state;
    struct cause *cause = add(run, (const double[N]){1, 1, 1, 101});
    cause->lacking_ns = 900 * MS;
    run->analysis.machine.waiting_ns = 2500 * MS;
    run->analysis.waiting_ns += 2500 * MS;
    run->analysis.machine.share = 2500 * MS / run->analysis.waiting_ns;
    find(run);
    const struct answer *answer = &run->analysis.answer;
    assert_int_equal(answer->kind, ANSWER_CAUSE);
    assert_true(answer->waiting_ns == 1200 * MS && fabs(answer->share - 12. / 28) < 1e-9 && !answer->is_minor);
    assert_true(answer->is_lacking && fabs(answer->lacking_share - 0.75) < 1e-9);
    assert_true(fabs(answer->elsewhere_share - 16. / 28) < 1e-9);
    /* Where its code is a trifle beside that, the machine comes first, whoever it kept waiting. */
    run->analysis.machine.waiting_ns = 3700 * MS;
    run->analysis.waiting_ns += 1200 * MS;
    run->analysis.machine.share = 3700 * MS / run->analysis.waiting_ns;
    find(run);
    assert_true(answer->is_minor && !answer->is_lacking && answer->waiting_ns == 300 * MS);
    assert_true(fabs(answer->elsewhere_share - 37. / 40) < 1e-9);
}

/* Two rows of one rank, late by one factor, are one reason: together they may be more than the largest row. */
static void the_answer_counts_rows_together_that_are_like(void **state)
{
    struct run *run = *state;
    struct cause *largest = add(run, (const double[N]){1, 1, 1, 101});
    add(run, (const double[N]){71, 1, 1, 1});
    struct cause *like = add(run, (const double[N]){61, 1, 1, 1});
    like->like = 2;
    largest->gain_ns = largest->gain_least_ns = 50 * MS;
    run->causes[1].gain_ns = like->gain_ns = 30 * MS;
    find(run);
    const struct answer *answer = &run->analysis.answer;
    assert_true(answer->kind == ANSWER_CAUSE && answer->number == 1 && answer->n_like == 1);
    assert_true(answer->waiting_ns == 390 * MS && !answer->gains_more);
    like->like = 0;
    find(run);
    assert_true(answer->number == 0 && answer->n_like == 0 && answer->waiting_ns == 300 * MS);
}

/* A row that says to do nothing is not the answer, however large. */
static void the_answer_is_something_to_mend(void **state)
{
    struct run *run = *state;
    add(run, (const double[N]){1, 1, 1, 101});
    add(run, (const double[N]){61, 1, 1, 1});
    run->causes[0].advice = ADVICE_NOTHING;
    run->causes[0].balance = BALANCE_VARYING;
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_CAUSE);
    assert_int_equal(run->analysis.answer.number, 1);
    /* Unless there is nothing else, and a call without end makes the causes worth a look. */
    struct open_wait wait = {.rank = 1, .for_rank = 3, .dur_ns = 50 * MS};
    run->analysis.causes[1].advice = ADVICE_NOTHING;
    run->analysis.causes[1].balance = BALANCE_VARYING;
    run->analysis.open_waits = &wait;
    run->analysis.n_open_waits = 1;
    find(run);
    assert_int_equal(run->analysis.answer.kind, ANSWER_CAUSE);
    assert_int_equal(run->analysis.answer.number, 0);
}

/* All passes, from events on: rank 0 takes twice as long in 28 places, rank 1 very long in another one. */
static void a_trace_tells_the_partition_and_what_is_beside_it(void **state)
{
    enum { PLACES = 28, STEPS = 5 };
    static char names[PLACES][16];
    struct scene *scene = scene_make(N);
    (void)state;
    for (uint32_t step = 0; step < STEPS; step++)
        for (uint32_t place = 0; place <= PLACES; place++) {
            uint64_t end_us = 0;
            for (uint32_t rank = 0; rank < N; rank++) {
                uint64_t us = place < PLACES ? (rank == 0 ? 2000 + 20 * place : 1000 + 10 * place)
                              : rank == 1    ? 9000
                                             : 500;
                if (place < PLACES)
                    snprintf(names[place], sizeof names[place], "place%u", place);
                scene_work(scene, rank, place < PLACES ? names[place] : "extra", scene->now_us[rank] + us);
                end_us = scene->now_us[rank] > end_us ? scene->now_us[rank] : end_us;
            }
            for (uint32_t rank = 0; rank < N; rank++)
                scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, end_us + 5);
        }
    const struct analysis *analysis = scene_analyse(scene);
    const struct partition *partition = &analysis->partitions[0];
    assert_int_equal(analysis->n_partitions, 1);
    assert_int_equal(partition->n_causes, PLACES);
    assert_int_equal(partition->whole.n_late, 1);
    assert_int_equal(partition->whole.ranks[0].rank, 0);
    assert_true(fabs(partition->factor.value - 2) < 0.05);
    assert_true(partition->whole.if_balanced_ns > 0);
    assert_true(partition->whole.if_balanced_ns <= partition->whole.waiting_ns / N + 1);
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        assert_true(analysis->causes[i].ranks[0].rank == 0 || !analysis->causes[i].partition);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(more_of_the_data_is_one_reason_for_a_hundred_places, run_make, run_free),
        cmocka_unit_test_setup_teardown(two_ranks_with_more_of_unlike_data_are_two, run_make, run_free),
        cmocka_unit_test_setup_teardown(two_ranks_with_more_of_the_same_data_are_one, run_make, run_free),
        cmocka_unit_test_setup_teardown(a_cause_of_another_rank_or_factor_has_no_part, run_make, run_free),
        cmocka_unit_test_setup_teardown(one_loop_with_small_change_is_no_partition, run_make, run_free),
        cmocka_unit_test_setup_teardown(what_ranks_sleep_or_move_data_for_has_its_own_reasons, run_make, run_free),
        cmocka_unit_test_setup_teardown(places_that_are_too_small_alone_are_known_together, run_make, run_free),
        cmocka_unit_test_setup_teardown(ranks_that_are_late_by_turns_have_no_partition, run_make, run_free),
        cmocka_unit_test(a_trace_tells_the_partition_and_what_is_beside_it),
        cmocka_unit_test_setup_teardown(a_row_that_gains_far_more_is_found, run_make, run_free),
        cmocka_unit_test_setup_teardown(who_ended_first_is_found, run_make, run_free),
        cmocka_unit_test_setup_teardown(a_slower_rank_does_not_have_more_of_the_data, run_make, run_free),
        cmocka_unit_test_setup_teardown(little_waiting_at_random_is_nothing_to_mend, run_make, run_free),
        cmocka_unit_test_setup_teardown(steps_that_vary_are_no_cause, run_make, run_free),
        cmocka_unit_test_setup_teardown(waits_without_end_are_an_answer, run_make, run_free),
        cmocka_unit_test_setup_teardown(what_is_larger_is_the_answer, run_make, run_free),
        cmocka_unit_test_setup_teardown(the_end_of_a_run_is_an_answer, run_make, run_free),
        cmocka_unit_test_setup_teardown(what_gains_nothing_is_no_answer_on_a_full_machine, run_make, run_free),
        cmocka_unit_test_setup_teardown(one_rank_and_no_waiting_are_answers, run_make, run_free),
        cmocka_unit_test_setup_teardown(what_the_machine_did_to_the_late_rank_is_told_with_it, run_make, run_free),
        cmocka_unit_test_setup_teardown(the_answer_counts_rows_together_that_are_like, run_make, run_free),
        cmocka_unit_test_setup_teardown(the_answer_is_something_to_mend, run_make, run_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
