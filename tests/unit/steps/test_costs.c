/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What places cost, from counts and lengths alone, and from what samples and other ranks say where those leave it open.
 * Points of the trace are set to count one unit of work in one place each, so that no counter table is needed; the
 * places are routines of a real program, so that samples can lie in them.
 */
#include "analyze/steps/costs.h"
#include "analyze/steps/spread.h"
#include "tests/unit/scene/trace_memory.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define PROGRAM SHAPES_BIN "/calls-mpi"
enum { N_RANKS = 4, N_POINTS = 2 * COSTS_COLUMNS_MAX, A = 0, B = 1 };
/* True costs; those of some cases differ by rank. */
static const double A_NS = 5, B_NS = 20;

#define assert_near(value, expected, part)                                                                             \
    do {                                                                                                               \
        double is = value;                                                                                             \
        if (!(fabs(is - (expected)) <= (part) * (expected)))                                                           \
            fail_msg("%s is %g, not %g", #value, is, (double)(expected));                                              \
    } while (0)

struct fixture {
    struct trace *trace;
    struct code *code;
    struct steps steps;
    struct sites sites;
    struct executions executions;
    struct work work;
    struct costs costs;
    struct survey survey;
    uint32_t from, to, place[2], frame[2]; /* of A and B */
    uint64_t random;
};

/* Two routines of the program, and a call stack that ends in each. */
static void find_places(struct fixture *fix, uint32_t module)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < code_n_routines(fix->code, module) && n < 2; r++) {
        uint64_t address = code_routine_address(fix->code, module, r);
        uint32_t place = code_place_at(fix->code, module, address);
        const char *name = place == CODE_NONE ? NULL : code_place(fix->code, place)->routine;
        if (!name || (strcmp(name, "straight") && strcmp(name, "steps")))
            continue;
        fix->place[n] = place;
        fix->frame[n++] = trace_memory_frame(
            fix->trace,
            (struct trace_frame){.parent = TRACE_NONE, .module = module, .address = address, .region = TRACE_NONE});
    }
    assert_int_equal(n, 2);
}

static void point_counts(struct fixture *fix, uint32_t point, uint32_t place)
{
    struct term one = {place, 1};
    fix->work.points[point] =
        (struct work_form){.is_known = true, .at = arena_copy(&fix->work.arena, &one, sizeof one), .n = 1};
}

static int set_up(void **state)
{
    struct fixture *fix = calloc(1, sizeof *fix);
    fix->trace = trace_memory(N_RANKS);
    fix->code = code_open();
    fix->trace->n_points = N_POINTS;
    fix->trace->points = arena_array(&fix->trace->arena, struct trace_point, N_POINTS);
    uint32_t module = trace_memory_module(fix->trace, PROGRAM);
    uint32_t barrier = trace_memory_region(fix->trace, "MPI_Barrier", true, WW_COLLECTIVE, WW_COLL_BARRIER);
    if (code_add_module(fix->code, PROGRAM, NULL, 0) != module)
        return -1;
    find_places(fix, module);
    sites_begin(&fix->sites, fix->trace, fix->code, &fix->steps);
    executions_begin(&fix->executions, fix->trace, fix->code);
    work_begin(&fix->work, &fix->executions);
    costs_begin(&fix->costs, &fix->sites, &fix->work, N_RANKS);
    fix->from = sites_put(&fix->sites, sites_context(&fix->sites, fix->frame[A]), barrier);
    fix->to = sites_put(&fix->sites, sites_context(&fix->sites, fix->frame[B]), barrier);
    for (uint32_t point = 0; point < N_POINTS; point++)
        point_counts(fix, point, point < 2 ? fix->place[point] : 1000 + point);
    *state = fix;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fix = *state;
    survey_release(&fix->survey);
    costs_release(&fix->costs);
    work_release(&fix->work);
    executions_release(&fix->executions);
    sites_release(&fix->sites);
    steps_release(&fix->steps);
    code_close(fix->code);
    trace_close(fix->trace);
    free(fix);
    return 0;
}

static struct stretch stretch_of(const struct fixture *fix, double a, double b, double ns)
{
    struct stretch stretch = {
        .end_ns = (uint64_t)ns, .from = fix->from, .to = fix->to, .is_counted = true, .is_count_whole = true};
    sparse_add(&stretch.counts, A, a);
    sparse_add(&stretch.counts, B, b);
    sparse_pack(&stretch.counts);
    return stretch;
}

static void add(struct fixture *fix, uint32_t rank, double a, double b, double ns)
{
    struct stretch stretch = stretch_of(fix, a, b, ns);
    costs_add(&fix->costs, rank, &stretch);
    sparse_release(&stretch.counts);
}

static double any_of(struct fixture *fix, unsigned n)
{
    fix->random = fix->random * 6364136223846793005u + 1442695040888963407u;
    return (double)(fix->random >> 33) / 2147483648. * n;
}

/* Stretches in which the two places vary independently: lengths alone tell what each costs. */
static void add_varied(struct fixture *fix, uint32_t rank, double a_ns, double b_ns)
{
    for (int i = 0; i < 40; i++) {
        double a = 100 + floor(any_of(fix, 1000)), b = 100 + floor(any_of(fix, 1000));
        add(fix, rank, a, b, a * a_ns + b * b_ns);
    }
}

/* As often the one as the other in each of them: only the sum of both costs is known. */
static void add_in_step(struct fixture *fix, uint32_t rank, double ns_of_both)
{
    for (int i = 0; i < 40; i++) {
        double n = 100 + floor(any_of(fix, 1000));
        add(fix, rank, n, n, n * ns_of_both);
    }
}

static void sample(struct fixture *fix, uint32_t rank, uint32_t which, uint64_t n)
{
    struct survey_entry entry = {
        .rank = rank, .frame = fix->frame[which], .region = TRACE_NONE, .n_samples = n, .sampled_ns = n * 1000000};
    *vec_push(&fix->survey.entries) = entry;
}

/* Of one execution, as it is charged to steps. */
static double cost_ns(struct fixture *fix, uint32_t rank, uint32_t which)
{
    struct sparse out = {0};
    struct stretch stretch = stretch_of(fix, which == A, which == B, 1000);
    bool is_known = costs_of_stretch(&fix->costs, rank, &stretch, NULL, &out);
    double sum = is_known ? sparse_sum(&out) : NAN;
    for (size_t i = 0; i < out.n; i++) {
        const struct step_key *step = steps_key(&fix->steps, (uint32_t)out.at[i].key);
        assert_true(step->what == WHAT_PLACE && step->id == fix->place[which]);
    }
    sparse_release(&out);
    sparse_release(&stretch.counts);
    return sum;
}

static void lengths_and_counts_alone_tell_costs(void **state)
{
    struct fixture *fix = *state;
    add_varied(fix, 0, A_NS, B_NS);
    costs_fit(&fix->costs, &fix->survey);
    assert_near(cost_ns(fix, 0, A), A_NS, 0.01);
    assert_near(cost_ns(fix, 0, B), B_NS, 0.01);
    double error = costs_error(&fix->costs, 0, fix->place[A]);
    assert_true(error > 0 && error < 0.2);
    assert_true(isnan(cost_ns(fix, 1, A))); /* nothing was counted there */
}

static void a_rank_on_which_a_place_is_dearer_has_its_own_cost(void **state)
{
    struct fixture *fix = *state;
    add_varied(fix, 0, A_NS, B_NS);
    add_varied(fix, 1, A_NS, 3 * B_NS);
    costs_fit(&fix->costs, &fix->survey);
    assert_near(cost_ns(fix, 0, B), B_NS, 0.1);
    assert_near(cost_ns(fix, 1, B), 3 * B_NS, 0.1);
}

/* Nothing tells the places apart: a unit of work is then taken to cost the same everywhere. */
static void what_lengths_leave_open_is_shared_by_work(void **state)
{
    struct fixture *fix = *state;
    add_in_step(fix, 0, A_NS + B_NS);
    costs_fit(&fix->costs, &fix->survey);
    assert_near(cost_ns(fix, 0, A), (A_NS + B_NS) / 2, 0.02);
    assert_near(cost_ns(fix, 0, B), (A_NS + B_NS) / 2, 0.02);
}

static void samples_decide_what_lengths_leave_open(void **state)
{
    struct fixture *fix = *state;
    add_in_step(fix, 0, A_NS + B_NS);
    sample(fix, 0, A, 200);
    sample(fix, 0, B, 800);
    costs_fit(&fix->costs, &fix->survey);
    assert_near(cost_ns(fix, 0, A), A_NS, 0.1);
    assert_near(cost_ns(fix, 0, B), B_NS, 0.05);
    assert_near(cost_ns(fix, 0, A) + cost_ns(fix, 0, B), A_NS + B_NS, 0.01);
}

/* Samples carry the interrupt's own cost and stray; lengths do not. */
static void lengths_outweigh_samples_that_contradict_them(void **state)
{
    struct fixture *fix = *state;
    add_varied(fix, 0, A_NS, B_NS);
    sample(fix, 0, A, 50);
    sample(fix, 0, B, 50);
    costs_fit(&fix->costs, &fix->survey);
    assert_near(cost_ns(fix, 0, A), A_NS, 0.15);
    assert_near(cost_ns(fix, 0, B), B_NS, 0.15);
}

/* On rank 1 stretches differ by little of A, and something that has no count goes with that. Two thousand of them say
 * no more than samples and the other rank, which agree. */
static void many_lengths_do_not_outvote_all_else(void **state)
{
    struct fixture *fix = *state;
    const double most = 10000, b = most * A_NS / B_NS / 5;
    add_varied(fix, 0, A_NS, B_NS);
    for (int i = 0; i < 2000; i++) {
        double less = 200. * (i % 5), a = most - less, ns = a * A_NS + b * B_NS - less * A_NS / 4;
        add(fix, 1, a, b, ns * (0.98 + any_of(fix, 100) / 2500));
    }
    sample(fix, 1, A, 500);
    sample(fix, 1, B, 100);
    costs_fit(&fix->costs, &fix->survey);
    assert_near(cost_ns(fix, 1, A), A_NS, 0.06);
    assert_near(cost_ns(fix, 1, B), B_NS, 0.2);
}

/* Rank 1 runs both places in step; what rank 0's variety tells is good for it as well. */
static void a_place_costs_what_it_costs_elsewhere(void **state)
{
    struct fixture *fix = *state;
    add_varied(fix, 0, A_NS, B_NS);
    add_in_step(fix, 1, A_NS + B_NS);
    costs_fit(&fix->costs, &fix->survey);
    assert_near(cost_ns(fix, 1, A), A_NS, 0.1);
    assert_near(cost_ns(fix, 1, B), B_NS, 0.1);
}

/* Rank 1 does little of what is dear, always along with other work, and is hardly sampled there: nothing but rank 0
 * tells that it is dear. */
static void hardly_any_samples_contradict_nobody(void **state)
{
    struct fixture *fix = *state;
    add_varied(fix, 0, 1, 500);
    sample(fix, 0, B, 12);
    for (int i = 0; i < 40; i++)
        add(fix, 1, 10000 + 100 * i, 100 + i, (10000 + 100 * i) + (100 + i) * 500.);
    sample(fix, 1, A, 1);
    costs_fit(&fix->costs, &fix->survey);
    assert_near(cost_ns(fix, 1, B), 500, 0.1);
    assert_near(cost_ns(fix, 1, A), 1, 0.5);
}

/* The places run in step on both ranks, so only samples tell them apart; B is next to nothing on rank 0. That rank 1
 * takes so much longer is B's doing, by twenty samples of its own, and A costs what it costs on rank 0. */
static void a_place_that_is_dearer_is_left_to_its_samples(void **state)
{
    struct fixture *fix = *state;
    static const double b_ns[] = {A_NS / 60, A_NS * 2 / 3};
    add_in_step(fix, 0, A_NS + b_ns[0]);
    add_in_step(fix, 1, A_NS + b_ns[1]);
    sample(fix, 0, A, 30);
    sample(fix, 1, A, 32);
    sample(fix, 1, B, 18);
    costs_fit(&fix->costs, &fix->survey);
    assert_near(cost_ns(fix, 1, B), b_ns[1], 0.12);
    assert_near(cost_ns(fix, 1, A), A_NS, 0.08);
    assert_near(cost_ns(fix, 0, A), A_NS, 0.08);
    assert_true(cost_ns(fix, 0, B) < 0.1 * A_NS);
}

/* As before, on four ranks: what the others hear of B from rank 1 does not make it dearer there, nor cheaper on rank 1.
 */
static void a_rank_that_differs_does_not_mislead_the_others(void **state)
{
    struct fixture *fix = *state;
    static const struct {
        double b_ns;
        uint64_t a, b;
    } ranks[] = {{A_NS / 3, 30, 10}, {A_NS, 32, 28}, {A_NS / 3, 31, 9}, {A_NS / 3, 29, 11}};
    for (uint32_t rank = 0; rank < 4; rank++) {
        add_in_step(fix, rank, A_NS + ranks[rank].b_ns);
        sample(fix, rank, A, ranks[rank].a);
        sample(fix, rank, B, ranks[rank].b);
    }
    costs_fit(&fix->costs, &fix->survey);
    for (uint32_t rank = 0; rank < 4; rank++) {
        assert_near(cost_ns(fix, rank, A), A_NS, 0.08);
        assert_near(cost_ns(fix, rank, B), ranks[rank].b_ns, 0.15);
    }
}

/* How far costs differ from rank to rank is seen where lengths tell them on each, one that is far off apart. */
static void ranks_that_agree_speak_for_each_other(void **state)
{
    struct fixture *fix = *state;
    add_varied(fix, 0, A_NS, B_NS);
    add_varied(fix, 1, A_NS, B_NS);
    costs_fit(&fix->costs, &fix->survey);
    assert_true(fix->costs.across_ranks > 0 && fix->costs.across_ranks < 0.018);
}

static void ranks_that_differ_speak_less_for_each_other(void **state)
{
    struct fixture *fix = *state;
    add_varied(fix, 0, A_NS, B_NS);
    add_varied(fix, 1, 1.06 * A_NS, B_NS / 1.06);
    costs_fit(&fix->costs, &fix->survey);
    assert_true(fix->costs.across_ranks > 0.022 && fix->costs.across_ranks < 0.2);
}

static void a_rank_that_is_far_off_is_no_measure_for_others(void **state)
{
    struct fixture *fix = *state;
    add_varied(fix, 0, A_NS, B_NS);
    add_varied(fix, 1, A_NS, 4 * B_NS);
    costs_fit(&fix->costs, &fix->survey);
    assert_true(fix->costs.across_ranks < 0.025);
}

/* What a signal handler did inside MPI is counted with the stretch that follows, here one of a moment. */
static void work_that_no_core_can_do_in_the_time_tells_no_cost(void **state)
{
    struct fixture *fix = *state;
    add_varied(fix, 0, A_NS, B_NS);
    struct stretch last = stretch_of(fix, 0, 100000, 200);
    last.from = fix->to;
    costs_add(&fix->costs, 0, &last);
    sparse_release(&last.counts);
    costs_fit(&fix->costs, &fix->survey);
    assert_near(cost_ns(fix, 0, A), A_NS, 0.1);
    assert_near(cost_ns(fix, 0, B), B_NS, 0.1);
}

/* B runs in each third stretch. On rank 1 it takes far longer there, now more and now less, and has few samples; so its
 * lengths tell that it is dearer, and A shall not pay for it. */
static void lengths_that_scatter_contradict_what_it_costs_elsewhere(void **state)
{
    struct fixture *fix = *state;
    for (uint32_t rank = 0; rank < 2; rank++)
        for (int i = 0; i < 42; i++) {
            double b = i % 3 ? 0 : 100, b_ns = rank ? 50 * B_NS * (0.2 + any_of(fix, 1600) / 1000) : B_NS;
            add(fix, rank, 5000, b, 5000 * A_NS * (0.8 + any_of(fix, 400) / 1000) + b * b_ns);
        }
    sample(fix, 1, A, 2);
    sample(fix, 1, B, 3);
    sample(fix, 0, A, 2);
    costs_fit(&fix->costs, &fix->survey);
    assert_near(cost_ns(fix, 1, A), A_NS, 0.25);
    assert_near(cost_ns(fix, 1, B), 50 * B_NS, 0.25);
    assert_true(cost_ns(fix, 0, B) < 10 * B_NS);
}

static void an_interruption_that_nobody_recorded_weighs_little(void **state)
{
    struct fixture *fix = *state;
    add_varied(fix, 0, A_NS, B_NS);
    add(fix, 0, 500, 500, 100 * (500 * A_NS + 500 * B_NS));
    add_varied(fix, 0, A_NS, B_NS);
    costs_fit(&fix->costs, &fix->survey);
    assert_near(cost_ns(fix, 0, A), A_NS, 0.35);
    assert_near(cost_ns(fix, 0, B), B_NS, 0.35);
}

/* Time off the CPU is known and no part of the costs. */
static void time_off_the_cpu_is_not_computing(void **state)
{
    struct fixture *fix = *state;
    add_varied(fix, 0, A_NS, B_NS);
    for (int i = 0; i < 40; i++) {
        double a = 100 + floor(any_of(fix, 1000));
        struct stretch stretch = stretch_of(fix, a, 100, a * A_NS + 100 * B_NS + 1e6);
        stretch.off_ns[OFF_PREEMPTED] = 1000000;
        costs_add(&fix->costs, 0, &stretch);
        sparse_release(&stretch.counts);
    }
    costs_fit(&fix->costs, &fix->survey);
    assert_near(cost_ns(fix, 0, A), A_NS, 0.01);
    assert_near(cost_ns(fix, 0, B), B_NS, 0.01);
}

/* The counts of these are not all that ran in them, or more: as equations they would be false. */
static void stretches_that_are_not_wholly_counted_are_no_equations(void **state)
{
    struct fixture *fix = *state;
    add_varied(fix, 0, A_NS, B_NS);
    uint32_t start = sites_put(&fix->sites, TRACE_NONE, TRACE_NONE);
    for (unsigned how = 0; how < 3; how++)
        for (int i = 0; i < 40; i++) {
            struct stretch stretch = stretch_of(fix, 100, 100, 1e6);
            stretch.is_count_whole = how != 0;
            stretch.n_worker = how == 1;
            stretch.from = how == 2 ? start : fix->from;
            costs_add(&fix->costs, 0, &stretch);
            sparse_release(&stretch.counts);
        }
    costs_fit(&fix->costs, &fix->survey);
    assert_near(cost_ns(fix, 0, A), A_NS, 0.15);
    assert_near(cost_ns(fix, 0, B), B_NS, 0.15);
}

/* A call of MPI; before it counts were taken, or not. */
static void enter(struct fixture *fix, struct lanes *lanes, bool is_counted, uint64_t enter_us)
{
    const struct trace_bin bin = {.point = A, .value = 100};
    struct event event = {.kind = EV_BINS, .time_ns = enter_us * 1000, .bins = &bin, .n_bins = 1};
    if (is_counted)
        lanes_feed(lanes, &event);
    uint32_t region = sites_at(&fix->sites, fix->from)->region;
    event = (struct event){.kind = EV_ENTER, .time_ns = event.time_ns, .frame = fix->frame[A], .region = region};
    lanes_feed(lanes, &event);
}

static void leave(struct lanes *lanes, uint64_t leave_us)
{
    lanes_feed(lanes, &(struct event){.kind = EV_LEAVE, .time_ns = leave_us * 1000});
}

/* Before polls that come soon no counts are taken. The next are of the time between them as well. */
static void counts_are_of_all_that_passed_since_the_last(void **state)
{
    struct fixture *fix = *state;
    struct lanes lanes;
    lanes_begin(&lanes, &fix->sites);
    enter(fix, &lanes, true, 1000);
    leave(&lanes, 1010);
    enter(fix, &lanes, false, 1015);
    leave(&lanes, 1020);
    enter(fix, &lanes, false, 1023);
    leave(&lanes, 1030);
    enter(fix, &lanes, true, 2030);
    const struct stretch *stretch = &lanes.at[0].stretch;
    assert_true(stretch->is_counted && stretch->is_count_whole);
    assert_near(stretch->count_more_ns, 8000, 1e-9);
    for (int i = 0; i < 40; i++) {
        struct stretch polled = stretch_of(fix, 1000 + 10 * i, 0, (1000 + 10 * i) * A_NS - 1000);
        polled.count_more_ns = 1000;
        costs_add(&fix->costs, 0, &polled);
        sparse_release(&polled.counts);
    }
    costs_fit(&fix->costs, &fix->survey);
    assert_near(cost_ns(fix, 0, A), A_NS, 0.01);
    lanes_release(&lanes);
}

/* Recording began with the first call, and the counters long before. */
static void what_was_counted_before_the_run_is_left_out(void **state)
{
    struct fixture *fix = *state;
    struct lanes lanes;
    lanes_begin(&lanes, &fix->sites);
    struct stretch *stretch = &lanes.at[0].stretch;
    enter(fix, &lanes, true, 1000);
    assert_false(stretch->is_counted);
    assert_int_equal(stretch->counts.n, 0);
    leave(&lanes, 1010);
    enter(fix, &lanes, true, 1020);
    assert_true(stretch->is_counted && stretch->is_count_whole);
    sparse_pack(&stretch->counts);
    assert_near(sparse_get(&stretch->counts, A), 100, 1e-9);
    lanes_release(&lanes);
}

/* B runs once, in a long stretch beside A, twenty times as much of it on rank 0. It is dear (it calls what is not
 * counted), and rank 1 has one sample of it. */
static void what_runs_once_costs_what_it_costs_elsewhere(void **state)
{
    struct fixture *fix = *state;
    const double DEAR_NS = 400, OF_A = 50000, OF_B[] = {100000, 5000};
    fix->trace->end_ns = 200000000;
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct stretch once = stretch_of(fix, OF_A, OF_B[rank], OF_A * A_NS + OF_B[rank] * DEAR_NS);
        once.from = fix->to;
        costs_add(&fix->costs, rank, &once);
        sparse_release(&once.counts);
        for (int i = 0; i < 40; i++)
            add(fix, rank, OF_A + i, 0, (OF_A + i) * A_NS);
        sample(fix, rank, A, 10);
        sample(fix, rank, B, rank ? 1 : 40);
    }
    costs_fit(&fix->costs, &fix->survey);
    for (uint32_t rank = 0; rank < 2; rank++) {
        assert_near(cost_ns(fix, rank, A), A_NS, 0.02);
        assert_near(cost_ns(fix, rank, B), DEAR_NS, 0.2);
    }
}

/* Both ranks run A once and in no other stretch, with a little of something else. In the same, B is a single call on
 * rank 1 alone, of what is not counted. */
static void a_call_that_takes_most_of_a_long_stretch_is_no_cost_of_the_rest(void **state)
{
    struct fixture *fix = *state;
    const double OF_A = 1000000, OF_REST = 30000, B_CALL_NS = 60e6;
    fix->trace->end_ns = 200000000;
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct stretch once = stretch_of(fix, OF_A, rank, (OF_A + OF_REST) * A_NS + rank * B_CALL_NS);
        sparse_add(&once.counts, B + 1, OF_REST);
        sparse_pack(&once.counts);
        costs_add(&fix->costs, rank, &once);
        sparse_release(&once.counts);
    }
    sample(fix, 0, A, 5);
    sample(fix, 1, A, 5);
    sample(fix, 1, B, 60);
    costs_fit(&fix->costs, &fix->survey);
    assert_near(cost_ns(fix, 1, A), A_NS, 0.2);
    assert_near(cost_ns(fix, 1, B), B_CALL_NS, 0.2);
}

/* Rank 1 calls from B what is not counted, always beside as much of A. A short stretch at the start has some of B as
 * well, without that call. */
static void a_short_stretch_that_runs_once_does_not_tell_what_a_call_costs(void **state)
{
    struct fixture *fix = *state;
    const double OF_A = 1000000, OF_B[] = {81, 89}, CALL_NS[] = {0, 3e6};
    fix->trace->end_ns = 400000000;
    for (uint32_t rank = 0; rank < 2; rank++) {
        struct stretch once = stretch_of(fix, 0, 3, 800);
        once.from = fix->to;
        costs_add(&fix->costs, rank, &once);
        sparse_release(&once.counts);
        for (int i = 0; i < 40; i++)
            add(fix, rank, OF_A, OF_B[rank], (1 + 0.02 * any_of(fix, 2)) * (OF_A * A_NS + CALL_NS[rank]));
        sample(fix, rank, A, 200);
    }
    sample(fix, 1, B, 120);
    costs_fit(&fix->costs, &fix->survey);
    assert_near(cost_ns(fix, 1, A), A_NS, 0.1);
    assert_near(cost_ns(fix, 1, B), CALL_NS[1] / OF_B[1], 0.2);
}

/* These ran once, not for long, and so have no columns of their own: what they cost is known as far as they were
 * sampled.
 */
static void what_shares_a_column_is_known_by_its_samples(void **state)
{
    struct fixture *fix = *state;
    add(fix, 0, 1000, 1000, 1000 * (A_NS + B_NS));
    sample(fix, 0, A, 24);
    costs_fit(&fix->costs, &fix->survey);
    assert_near(costs_error(&fix->costs, 0, fix->place[A]), 0.2, 1e-6);
    assert_near(costs_error(&fix->costs, 0, fix->place[B]), 1, 1e-6);
}

/* As many places as there are columns and more: the others share one, in which only samples tell of each. */
static void places_beyond_the_last_column_share_one(void **state)
{
    struct fixture *fix = *state;
    for (int i = 0; i < 20; i++)
        for (uint32_t point = 2; point < N_POINTS; point += 16) {
            struct stretch stretch = {
                .from = fix->from, .to = fix->to, .is_counted = true, .is_count_whole = true, .end_ns = 16000};
            for (uint32_t at = point; at < point + 16 && at < N_POINTS; at++)
                sparse_add(&stretch.counts, at, 100);
            sparse_pack(&stretch.counts);
            costs_add(&fix->costs, 0, &stretch);
            sparse_release(&stretch.counts);
        }
    costs_fit(&fix->costs, &fix->survey);
    assert_int_equal(fix->costs.n_columns, COSTS_COLUMNS_MAX);
    uint32_t n_own = 0, shared = 0;
    for (uint32_t point = 2; point < N_POINTS; point++)
        if (costs_error(&fix->costs, 0, 1000 + point) < 1)
            n_own++;
        else
            shared = point;
    assert_int_equal(n_own, COSTS_COLUMNS_MAX - 1);
    struct stretch last = {.from = fix->from, .to = fix->to, .is_counted = true, .end_ns = 1000};
    struct sparse out = {0};
    sparse_add(&last.counts, shared, 100);
    assert_true(costs_of_stretch(&fix->costs, 0, &last, NULL, &out));
    assert_near(sparse_sum(&out), 1000, 0.1);
    sparse_release(&out);
    sparse_release(&last.counts);
}

/* How much of a stretch falls to B, in which all its samples are; A and B run as often as where they were learned. */
static double share_of_b(struct fixture *fix, double times_as_long, uint32_t n_samples)
{
    struct pools pools;
    struct sparse out = {0};
    double all_ns = 0, of_b_ns = 0, length_ns = times_as_long * 1000 * (A_NS + B_NS);
    struct stretch stretch = stretch_of(fix, 1000, 1000, length_ns);
    stretch.n_on = n_samples;
    sparse_add(&stretch.on, steps_put(&fix->steps, STEP_COMPUTING, WHAT_PLACE, fix->place[B], TRACE_NONE),
               n_samples * 4e6);
    pools_begin(&pools, &fix->sites, &fix->costs);
    struct spent spent;
    spread_stretch(&pools, 0, &stretch, &out, NULL, &spent);
    for (size_t i = 0; i < out.n; i++) {
        const struct step_key *step = steps_key(&fix->steps, key_atom(out.at[i].key));
        all_ns += out.at[i].ns;
        of_b_ns += step->what == WHAT_PLACE && step->id == fix->place[B] ? out.at[i].ns : 0;
    }
    assert_near(all_ns, floor(length_ns), 1e-9);
    pools_release(&pools);
    sparse_release(&out);
    sparse_release(&stretch.on);
    sparse_release(&stretch.counts);
    return of_b_ns / all_ns;
}

/* For 10 ms, in one of the places if a look found it there. */
static void sleep_in(struct fixture *fix, struct stretch *stretch, const uint32_t *place)
{
    stretch->off_ns[OFF_BLOCKED] += 10000000;
    sleeps_add(&stretch->sleeps, 10000000);
    if (place) {
        uint32_t step = steps_put(&fix->steps, STEP_BLOCKED, WHAT_PLACE, *place, TRACE_NONE);
        sleeps_look(&stretch->sleeps, step, false);
        sparse_add(&stretch->blocked, step, 10e6);
        stretch->n_blocked++;
    }
    sleeps_close(&stretch->sleeps);
}

/* Of a sleep of rank 1 at which nobody looked, in B, when rank 0 was seen asleep so often in A and in B. */
static double part_asleep_in_b(struct fixture *fix, int looks_a, int looks_b, double a, double b)
{
    struct pools pools;
    struct spent spent;
    struct sparse out = {0};
    struct stretch seen = stretch_of(fix, 1000, 1000, 50e6), unseen = stretch_of(fix, a, b, 10e6);
    for (int i = 0; i < looks_a + looks_b; i++)
        sleep_in(fix, &seen, &fix->place[i < looks_a ? A : B]);
    sleep_in(fix, &unseen, NULL);
    pools_begin(&pools, &fix->sites, &fix->costs);
    pools_add_samples(&pools, 0, &seen);
    pools_complete(&pools);
    spread_stretch(&pools, 1, &unseen, &out, NULL, &spent);
    double in_b_ns = 0, asleep_ns = 0;
    for (size_t i = 0; i < out.n; i++) {
        struct term single;
        struct shares shares = atom_expand(&pools, key_atom(out.at[i].key), &single);
        for (size_t k = 0; k < shares.n; k++) {
            const struct step_key *step = steps_key(&fix->steps, (uint32_t)shares.at[k].key);
            bool is_asleep = step->state == STEP_BLOCKED;
            asleep_ns += is_asleep ? out.at[i].ns * shares.at[k].ns : 0;
            in_b_ns += is_asleep && step->id == fix->place[B] ? out.at[i].ns * shares.at[k].ns : 0;
        }
    }
    assert_near(asleep_ns, 10e6, 1e-9);
    pools_release(&pools);
    sparse_release(&out);
    struct stretch *both[] = {&seen, &unseen};
    for (int i = 0; i < 2; i++) {
        sleeps_release(&both[i]->sleeps);
        sparse_release(&both[i]->blocked);
        sparse_release(&both[i]->counts);
    }
    return in_b_ns / asleep_ns;
}

/* Others slept in both places. This process came to one of them only, as its counts say. */
static void nobody_sleeps_where_it_never_ran(void **state)
{
    struct fixture *fix = *state;
    add_varied(fix, 0, A_NS, B_NS);
    costs_fit(&fix->costs, &fix->survey);
    assert_near(part_asleep_in_b(fix, 1, 4, 1000, 0), 0, 1e-9);
    assert_near(part_asleep_in_b(fix, 4, 1, 0, 1000), 1, 1e-9);
}

/* As often as B runs, it sleeps there. */
static void sleeps_follow_executions(void **state)
{
    struct fixture *fix = *state;
    add_varied(fix, 0, A_NS, B_NS);
    costs_fit(&fix->costs, &fix->survey);
    double of_a = 1 / sparse_get(&fix->costs.all.work, fix->place[A]);
    double of_b = 1 / sparse_get(&fix->costs.all.work, fix->place[B]);
    assert_near(part_asleep_in_b(fix, 4, 4, 1000, 1000), of_b / (of_a + of_b), 1e-9);
    assert_near(part_asleep_in_b(fix, 4, 4, 1000, 5000), 5 * of_b / (of_a + 5 * of_b), 1e-9);
    assert_near(part_asleep_in_b(fix, 4, 2, 3000, 1000), of_b / (6 * of_a + of_b), 1e-9);
}

/* As where pages are touched for the first time. */
static void what_a_stretch_takes_beyond_its_costs_only_samples_tell(void **state)
{
    struct fixture *fix = *state;
    const double OF_B = B_NS / (A_NS + B_NS);
    add_varied(fix, 0, A_NS, B_NS);
    costs_fit(&fix->costs, &fix->survey);
    assert_near(share_of_b(fix, 1, 0), OF_B, 0.02);
    assert_near(share_of_b(fix, 20, 0), OF_B, 0.02);
    assert_in_range(100 * (share_of_b(fix, 1, 6) - OF_B), 0, 10);
    assert_true(share_of_b(fix, 20, 6) > 1 - 0.2 * (1 - OF_B));
    assert_true(share_of_b(fix, 0.05, 6) > 1 - 0.2 * (1 - OF_B));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(lengths_and_counts_alone_tell_costs),
        TEST(a_rank_on_which_a_place_is_dearer_has_its_own_cost),
        TEST(what_lengths_leave_open_is_shared_by_work),
        TEST(samples_decide_what_lengths_leave_open),
        TEST(lengths_outweigh_samples_that_contradict_them),
        TEST(many_lengths_do_not_outvote_all_else),
        TEST(a_place_costs_what_it_costs_elsewhere),
        TEST(hardly_any_samples_contradict_nobody),
        TEST(a_place_that_is_dearer_is_left_to_its_samples),
        TEST(a_rank_that_differs_does_not_mislead_the_others),
        TEST(lengths_that_scatter_contradict_what_it_costs_elsewhere),
        TEST(ranks_that_agree_speak_for_each_other),
        TEST(ranks_that_differ_speak_less_for_each_other),
        TEST(a_rank_that_is_far_off_is_no_measure_for_others),
        TEST(an_interruption_that_nobody_recorded_weighs_little),
        TEST(work_that_no_core_can_do_in_the_time_tells_no_cost),
        TEST(time_off_the_cpu_is_not_computing),
        TEST(stretches_that_are_not_wholly_counted_are_no_equations),
        TEST(counts_are_of_all_that_passed_since_the_last),
        TEST(what_was_counted_before_the_run_is_left_out),
        TEST(what_runs_once_costs_what_it_costs_elsewhere),
        TEST(a_call_that_takes_most_of_a_long_stretch_is_no_cost_of_the_rest),
        TEST(a_short_stretch_that_runs_once_does_not_tell_what_a_call_costs),
        TEST(what_shares_a_column_is_known_by_its_samples),
        TEST(places_beyond_the_last_column_share_one),
        TEST(what_a_stretch_takes_beyond_its_costs_only_samples_tell),
        TEST(nobody_sleeps_where_it_never_ran),
        TEST(sleeps_follow_executions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
