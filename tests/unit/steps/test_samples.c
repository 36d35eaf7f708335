/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps from samples: shares of measured lengths, pools of short stretches, time off the CPU, workers. */
#include "tests/unit/scene/scene.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define assert_us(value, expected) assert_true(fabs((value) - (expected)) < 1e-3)

/* A frame of nothing but a region stands for code here: no binary is needed. */
static uint32_t code_frame(struct scene *scene, const char *name)
{
    uint32_t region = trace_memory_region(scene->trace, name, false, WW_LOCAL, WW_COLL_NONE);
    return trace_memory_frame(scene->trace,
                              (struct trace_frame){.parent = TRACE_NONE, .module = TRACE_NONE, .region = region});
}

static void sample(struct scene *scene, uint32_t loc, uint32_t frame, uint64_t time_us, uint16_t flags)
{
    scene_event(scene, (struct event){.kind = EV_SAMPLE,
                                      .loc = loc,
                                      .time_ns = time_us * 1000,
                                      .frame = frame,
                                      .flags = flags,
                                      .weight_ns = 1000000});
}

static void barriers(struct scene *scene, const uint64_t *arrive_us, uint64_t leave_us)
{
    for (uint32_t rank = 0; rank < 2; rank++) {
        scene->now_us[rank] = arrive_us[rank];
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, leave_us);
    }
}

static enum cause_kind kind_of(const struct scene *scene, const char *name, double *share)
{
    for (uint32_t i = 0; i < scene->analysis->n_causes; i++) {
        const struct cause *cause = &scene->analysis->causes[i];
        const char *routine = scene->analysis->steps[cause->step].routine;
        *share = cause->share;
        if (routine && !strcmp(routine, name))
            return cause->kind;
    }
    *share = 0;
    return KIND_N;
}

/* 40 samples in 100 ms: three parts of four in one step, and the steps sum to the measured length. */
static void samples_share_out_the_measured_length(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    barriers(scene, (uint64_t[]){0, 0}, 10);
    uint32_t hot = code_frame(scene, "hot"), cold = code_frame(scene, "cold");
    for (uint64_t i = 0; i < 40; i++)
        sample(scene, 0, i % 4 ? hot : cold, 1000 + 2000 * i, 0);
    barriers(scene, (uint64_t[]){100010, 10}, 100020);
    scene_analyse(scene);
    assert_us(scene_signed(scene, WAIT_BARRIER, "hot"), 75000);
    assert_us(scene_signed(scene, WAIT_BARRIER, "cold"), 25000);
    assert_us(scene_blame(scene, "hot", 0), 75000);
    scene_free(scene);
}

/* A thousand stretches of 100 us with a sample in every tenth: each alone says nothing, together they do. */
static void short_stretches_are_pooled(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint32_t hot = code_frame(scene, "hot"), cold = code_frame(scene, "cold");
    uint64_t now_us = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        if (i % 10 == 5)
            sample(scene, 0, i % 50 == 5 ? cold : hot, now_us + 50, 0);
        if (i % 100 == 15)
            sample(scene, 1, cold, now_us + 5, 0);
        barriers(scene, (uint64_t[]){now_us + 100, now_us + 10}, now_us + 101);
        now_us += 101;
    }
    scene_analyse(scene);
    const struct wait_site *site = scene_site(scene, WAIT_BARRIER);
    assert_us(site->waiting_ns / 1000, 90000);
    assert_true(site->n_classes <= 2); /* the first stretch begins at the start, not at a barrier */
    assert_true(fabs(scene_blame(scene, "hot", 0) / 80000 - 1) < 0.02);
    assert_us(scene_blame(scene, "hot", 0) + scene_blame(scene, "cold", 0) + scene_blame(scene, "hot", 1),
              scene->analysis->waiting_ns / 1000 - 90);
    scene_free(scene);
}

/* A hundred samples in a thousand stretches of 100 us: all of them in the loop that others wait for, or four of five.
 */
static void what_samples_share_out_is_as_certain_as_they_are(void **state)
{
    (void)state;
    for (uint64_t share = 4; share <= 5; share++) {
        struct scene *scene = scene_make(2);
        uint32_t hot = code_frame(scene, "hot"), cold = code_frame(scene, "cold");
        uint64_t now_us = 10;
        barriers(scene, (uint64_t[]){0, 0}, now_us);
        for (uint64_t i = 0; i < 1000; i++) {
            if (i % 10 == 5)
                sample(scene, 0, i / 10 % 5 < share ? hot : cold, now_us + 50, 0);
            barriers(scene, (uint64_t[]){now_us + 100, now_us + 10}, now_us + 101);
            now_us += 101;
        }
        const struct cause_rank *rank = &scene_analyse(scene)->causes[0].ranks[0];
        double part = (double)share / 5, expected = (100 * part + 0.5) / 101;
        assert_int_equal(rank->rank, 0);
        assert_true(fabs(rank->time_ns / (20e6 * (double)share) - 1) < 0.01);
        assert_true(fabs(rank->error_ns / (100e6 * hypot(sqrt(expected * (1 - expected) / 102), expected - part)) - 1) <
                    0.01);
        scene_free(scene);
    }
}

/* One process was never sampled. Between the same calls the other takes as long, but for a sixth: the rest cancels. */
static void who_takes_as_long_does_the_same(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint32_t common = code_frame(scene, "common");
    uint64_t now_us = 10;
    barriers(scene, (uint64_t[]){0, 0}, now_us);
    for (uint64_t i = 0; i < 100; i++) {
        if (i % 10 == 5)
            sample(scene, 0, common, now_us + 50, 0);
        barriers(scene, (uint64_t[]){now_us + 130, now_us + 110}, now_us + 130);
        now_us += 130;
    }
    scene_analyse(scene);
    assert_us(scene_site(scene, WAIT_BARRIER)->waiting_ns / 1000, 2000);
    assert_us(scene_signed(scene, WAIT_BARRIER, "common"), 2000);
    scene_free(scene);
}

/* A local call that is made at a place of its own. */
static void call_from(struct scene *scene, uint32_t rank, uint32_t region, uint32_t frame, uint64_t time_us)
{
    for (uint64_t kind = EV_ENTER, i = 0; i < 2; kind = EV_LEAVE, i++)
        scene_event(scene, (struct event){.kind = (uint16_t)kind,
                                          .loc = rank,
                                          .time_ns = (time_us + i) * 1000,
                                          .region = region,
                                          .frame = frame});
}

/* The same, after a call that each process makes at another place. */
static void after_the_same_function_too(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint32_t common = code_frame(scene, "common"), ways[] = {code_frame(scene, "east"), code_frame(scene, "west")};
    uint32_t local = trace_memory_region(scene->trace, "MPI_Comm_rank", true, WW_LOCAL, WW_COLL_NONE);
    uint64_t now_us = 10;
    barriers(scene, (uint64_t[]){0, 0}, now_us);
    for (uint64_t i = 0; i < 100; i++) {
        for (uint32_t rank = 0; rank < 2; rank++)
            call_from(scene, rank, local, ways[rank], now_us);
        if (i % 10 == 5)
            sample(scene, 0, common, now_us + 50, 0);
        barriers(scene, (uint64_t[]){now_us + 130, now_us + 110}, now_us + 130);
        now_us += 130;
    }
    scene_analyse(scene);
    assert_us(scene_site(scene, WAIT_BARRIER)->waiting_ns / 1000, 2000);
    assert_us(scene_signed(scene, WAIT_BARRIER, "common"), 2000);
    scene_free(scene);
}

/* Seven stretches, two samples: both of one step, or of two. */
static double blame_with_two_samples(bool agree)
{
    struct scene *scene = scene_make(2);
    uint32_t hot = code_frame(scene, "hot"), cold = code_frame(scene, "cold");
    uint64_t now_us = 10;
    barriers(scene, (uint64_t[]){0, 0}, now_us);
    for (uint64_t i = 0; i < 7; i++) {
        if (i == 2 || i == 5)
            sample(scene, 0, i == 2 || agree ? hot : cold, now_us + 500, 0);
        barriers(scene, (uint64_t[]){now_us + 1000, now_us + 10}, now_us + 1000);
        now_us += 1000;
    }
    scene_analyse(scene);
    double blame = scene_blame(scene, "hot", 0);
    scene_free(scene);
    return blame;
}

static void few_samples_that_agree_name_the_code(void **state)
{
    (void)state;
    assert_us(blame_with_two_samples(true), 7 * 990);
    assert_us(blame_with_two_samples(false), 0);
}

/* Between the same two calls fifty short stretches and a long one, which has too few samples to stand alone, but tells
 * more of itself than all the short ones do. */
static void a_rare_long_stretch_is_not_like_the_others(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint32_t light = code_frame(scene, "light"), heavy = code_frame(scene, "heavy");
    uint64_t now_us = 10;
    barriers(scene, (uint64_t[]){0, 0}, now_us);
    for (uint64_t i = 0; i < 51; i++) {
        uint64_t length_us = i == 25 ? 60000 : 4000;
        for (uint64_t at = 2000; at < length_us; at += 4000)
            sample(scene, 0, i == 25 ? heavy : light, now_us + at, 0);
        barriers(scene, (uint64_t[]){now_us + length_us, now_us}, now_us + length_us);
        now_us += length_us;
    }
    scene_analyse(scene);
    assert_true(scene_blame(scene, "heavy", 0) > 0.85 * 60000 && scene_blame(scene, "heavy", 0) < 1.01 * 60000);
    assert_true(scene_blame(scene, "light", 0) > 0.98 * 200000);
    scene_free(scene);
}

static void off_and_on(struct scene *scene, uint32_t rank, uint64_t from_us, uint64_t to_us, uint16_t flags)
{
    scene_event(scene, (struct event){.kind = EV_OFF, .loc = rank, .time_ns = from_us * 1000, .flags = flags});
    scene_event(scene, (struct event){.kind = EV_ON, .loc = rank, .time_ns = to_us * 1000});
}

static void preemption_is_no_work(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint32_t loop = code_frame(scene, "loop");
    barriers(scene, (uint64_t[]){0, 0}, 10);
    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint64_t i = 0; i < 30; i++)
            sample(scene, rank, loop, 1000 + 1000 * i, 0);
    off_and_on(scene, 0, 31500, 71500, WW_SW_OUT | WW_SW_PREEMPTED);
    barriers(scene, (uint64_t[]){80010, 40010}, 80020);
    scene_analyse(scene);
    const struct machine *machine = &scene->analysis->machine;
    assert_int_equal(scene->analysis->n_causes, 0);
    assert_true(machine->share == 1 && machine->n_ranks == 1 && machine->ranks[0].rank == 0);
    assert_us(machine->ranks[0].blame_ns / 1000, 40000);
    assert_us(machine->ranks[0].time_ns / 1000, 40000);
    assert_int_equal(machine->n_places, 1);
    assert_string_equal(scene->analysis->steps[machine->places[0].step].routine, "loop");
    assert_us(scene->analysis->efficiency.descheduled_ns / 1000, 40000);
    scene_free(scene);
}

/* Without a CPU from the very first moment on, time 0. */
static void starting_without_a_cpu_is_the_machine(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    off_and_on(scene, 1, 0, 30000, WW_SW_OUT | WW_SW_PREEMPTED);
    barriers(scene, (uint64_t[]){0, 30000}, 30010);
    scene_analyse(scene);
    assert_int_equal(scene->analysis->n_causes, 0);
    assert_true(scene->analysis->machine.share == 1);
    assert_us(scene->analysis->machine.waiting_ns / 1000, 30000);
    scene_free(scene);
}

/* The load is 40 ms more on rank 0. It had no CPU for 60 ms before that, rank 1 for 40 ms meanwhile: that is 20 ms that
 * the machine made them differ by, though it was elsewhere. */
static void who_had_no_cpu_elsewhere_was_held_up_as_well(void **state)
{
    (void)state;
    static const uint64_t on_ms[2][2] = {{40, 80}, {40, 40}}, off_ms[2][2] = {{60, 0}, {0, 40}};
    struct scene *scene = scene_make(2);
    uint32_t frames[] = {code_frame(scene, "before"), code_frame(scene, "load")};
    uint64_t arrive_us[2];
    barriers(scene, (uint64_t[]){0, 0}, 10);
    for (uint32_t rank = 0; rank < 2; rank++) {
        uint64_t now_us = 10;
        for (int part = 0; part < 2; part++) {
            for (uint64_t i = 0; i < on_ms[rank][part]; i++)
                sample(scene, rank, frames[part], now_us + 500 + 1000 * i, 0);
            now_us += 1000 * on_ms[rank][part];
            if (off_ms[rank][part])
                off_and_on(scene, rank, now_us - 100, now_us - 100 + 1000 * off_ms[rank][part],
                           WW_SW_OUT | WW_SW_PREEMPTED);
            now_us += 1000 * off_ms[rank][part];
            if (part == 0) {
                scene_enter(scene, rank, WW_ID_Comm_rank, now_us);
                scene_leave(scene, rank, WW_ID_Comm_rank, now_us);
            }
        }
        arrive_us[rank] = now_us;
    }
    barriers(scene, arrive_us, 190020);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_BARRIER, 1), 60000);
    assert_us(scene_blame(scene, "load", 0), 40000);
    assert_us(scene->analysis->machine.waiting_ns / 1000, 20000);
    scene_free(scene);
}

static void sleep_is_charged_to_the_call_that_slept(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint32_t loop = code_frame(scene, "loop"), writer = code_frame(scene, "writer");
    double share;
    barriers(scene, (uint64_t[]){0, 0}, 10);
    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint64_t i = 0; i < 30; i++)
            sample(scene, rank, loop, 1000 + 1000 * i, 0);
    off_and_on(scene, 0, 31500, 71500, WW_SW_OUT);
    sample(scene, 0, writer, 71600, WW_S_BLOCKED);
    barriers(scene, (uint64_t[]){80010, 40010}, 80020);
    scene_analyse(scene);
    assert_int_equal(kind_of(scene, "writer", &share), KIND_BLOCKED);
    assert_true(share == 1);
    assert_us(scene_blame(scene, "writer", 0), 40000);
    scene_free(scene);
}

/* Short sleeps are seldom looked at: where they were is known from other ranks between the same calls. Rank 0 naps and
 * computes, and no look fell into its naps. */
static void sleep_that_nobody_saw_is_where_others_slept(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint32_t loop = code_frame(scene, "loop"), nap = code_frame(scene, "nap");
    double share;
    barriers(scene, (uint64_t[]){0, 0}, 10);
    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint64_t i = 0; i < 30; i++)
            sample(scene, rank, loop, 1000 + 1000 * i, 0);
    off_and_on(scene, 0, 31500, 41500, WW_SW_OUT);
    off_and_on(scene, 1, 31500, 81500, WW_SW_OUT);
    sample(scene, 1, nap, 81600, WW_S_BLOCKED);
    barriers(scene, (uint64_t[]){41600, 81600}, 81610);
    scene_analyse(scene);
    assert_int_equal(kind_of(scene, "nap", &share), KIND_BLOCKED);
    assert_us(scene_blame(scene, "nap", 1), 40000);
    assert_us(scene_blame(scene, "loop", 0) + scene_blame(scene, "loop", 1), 0);
    const struct cause *cause = &scene->analysis->causes[0];
    assert_us(cause->ranks[0].time_ns / 1000, 50000);
    assert_int_equal(cause->n_others, 1);
    assert_us(cause->others[0].time_ns / 1000, 10000);
    scene_free(scene);
}

/* Rank 0 has a third of the work of rank 1 between the same two calls, and no sample fell into it. */
static void code_that_nobody_saw_is_what_others_do_for_longer(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint32_t loop = code_frame(scene, "loop");
    barriers(scene, (uint64_t[]){0, 0}, 10);
    for (uint64_t i = 0; i < 4; i++)
        sample(scene, 1, loop, 1000 + 20000 * i, 0);
    barriers(scene, (uint64_t[]){30010, 90010}, 90020);
    scene_analyse(scene);
    assert_us(scene_blame(scene, "loop", 1), 60000);
    const struct cause *cause = &scene->analysis->causes[0];
    assert_us(cause->ranks[0].time_ns / 1000, 90000);
    assert_int_equal(cause->n_others, 1);
    assert_us(cause->others[0].time_ns / 1000, 30000);
    assert_true(cause->others[0].error_ns > 0);
    scene_free(scene);
}

/* Likewise, but it has a ninth: that may be other code as well. However many samples the others have. */
static void code_that_nobody_saw_may_be_what_others_do(void **state)
{
    (void)state;
    for (uint64_t n_samples = 4; n_samples <= 40; n_samples *= 10) {
        struct scene *scene = scene_make(2);
        uint32_t loop = code_frame(scene, "loop");
        barriers(scene, (uint64_t[]){0, 0}, 10);
        for (uint64_t i = 0; i < n_samples; i++)
            sample(scene, 1, loop, 1000 + 80000 * i / n_samples, 0);
        barriers(scene, (uint64_t[]){10010, 90010}, 90020);
        scene_analyse(scene);
        const struct cause *cause = &scene->analysis->causes[0];
        assert_us(cause->ranks[0].time_ns / 1000, 90000);
        assert_us(cause->ranks[0].unseen_ns / 1000, 0);
        assert_int_equal(cause->n_others, 1);
        assert_us(cause->others[0].time_ns / 1000, 0);
        assert_us(cause->others[0].unseen_ns / 1000, 10000);
        scene_free(scene);
    }
}

/* A loop comes to its call from elsewhere the first time. No look fell into that sleep; those of the next time tell
 * where it was, and what was sampled before it does not. */
static void sleep_that_nobody_saw_is_where_it_was_before_the_same_call(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint32_t loop = code_frame(scene, "loop"), nap = code_frame(scene, "nap");
    uint64_t now_us = 10;
    barriers(scene, (uint64_t[]){0, 0}, now_us);
    for (uint64_t i = 0; i < 2; i++) {
        sample(scene, 0, loop, now_us + 500, 0);
        sample(scene, 1, loop, now_us + 500, 0);
        off_and_on(scene, 0, now_us + 1000, now_us + 9000, WW_SW_OUT);
        if (i == 1)
            sample(scene, 0, nap, now_us + 5000, WW_S_BLOCKED);
        for (uint32_t rank = 0; rank < 2; rank++) {
            scene->now_us[rank] = now_us + (rank ? 1000 : 9000);
            scene_collective(scene, rank, WW_ID_Allreduce, TRACE_NONE, now_us + 9010);
        }
        now_us += 9010;
    }
    scene_analyse(scene);
    assert_true(scene_blame(scene, "nap", 0) > 15000);
    scene_free(scene);
}

/* Rank 0 waits for a lock before every second barrier. A look found it there the first time, and samples of the second
 * time, though there are many, say only what it computed. */
static void a_lock_that_nobody_saw_waited_for_is_where_others_were(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint32_t loop = code_frame(scene, "loop"), lock = code_frame(scene, "lock");
    uint64_t now_us = 10;
    double share;
    barriers(scene, (uint64_t[]){0, 0}, now_us);
    for (uint64_t i = 0; i < 4; i++, now_us += 60020) {
        bool is_locked = i % 2 == 0;
        for (uint32_t rank = 0; rank < 2; rank++)
            for (uint64_t k = 0; k < 30; k++)
                sample(scene, rank, loop, now_us + 1000 * k, 0);
        if (is_locked)
            off_and_on(scene, 0, now_us + 31000, now_us + 60000, WW_SW_OUT);
        if (is_locked && i == 0)
            sample(scene, 0, lock, now_us + 50000, WW_S_BLOCKED | WW_S_SYNC);
        uint64_t short_us = now_us + 31010, long_us = now_us + 60010;
        barriers(scene, (uint64_t[]){is_locked ? long_us : short_us, short_us}, now_us + 60020);
    }
    scene_analyse(scene);
    assert_int_equal(kind_of(scene, "lock", &share), KIND_BLOCKED);
    assert_us(scene_blame(scene, "lock", 0), 58000);
    assert_us(scene_blame(scene, "loop", 0), 0);
    assert_us((double)scene->analysis->efficiency.blocked_ns / 1000, 58000);
    scene_free(scene);
}

/* Location 2 + r is a worker of rank r. */
static void add_workers(struct trace *trace, uint32_t n)
{
    struct trace_location *locations = arena_array(&trace->arena, struct trace_location, 2 + n);
    memcpy(locations, trace->locations, 2 * sizeof *locations);
    for (uint32_t rank = 0; rank < n; rank++)
        locations[2 + rank] = (struct trace_location){.rank = rank, .thread = 1};
    trace->locations = locations;
    trace->n_locations = 2 + n;
}

/* Of naps that are too short for any look, samples tell that came while the thread was on its way to sleep or back. */
static void sleep_that_nobody_saw_is_where_system_calls_were_sampled(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint32_t loop = code_frame(scene, "loop"), nap = code_frame(scene, "nap");
    barriers(scene, (uint64_t[]){0, 0}, 10);
    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint64_t i = 0; i < 30; i++)
            sample(scene, rank, i == 29 ? nap : loop, 1000 + 1000 * i, i == 29 ? WW_S_KERNEL : 0);
    off_and_on(scene, 0, 31500, 71500, WW_SW_OUT);
    barriers(scene, (uint64_t[]){71600, 31600}, 71610);
    scene_analyse(scene);
    assert_us(scene_blame(scene, "nap", 0), 40000);
    assert_us(scene_blame(scene, "loop", 0), 0);
    scene_free(scene);
}

static void check_busy_worker(uint16_t how_main_left, uint32_t how_worker_runs, enum cause_kind kind)
{
    struct scene *scene = scene_make(2);
    add_workers(scene->trace, 1);
    uint32_t loop = code_frame(scene, "loop");
    double share;
    barriers(scene, (uint64_t[]){0, 0}, 10);
    for (uint64_t i = 0; i < 60; i++)
        sample(scene, 2, loop, 1000 + 1000 * i, how_worker_runs);
    off_and_on(scene, 0, 20, 60000, how_main_left);
    barriers(scene, (uint64_t[]){60010, 10010}, 60020);
    scene_analyse(scene);
    assert_int_equal(kind_of(scene, "loop", &share), kind);
    assert_true(share > 0.99);
    scene_free(scene);
}

/* The main thread sleeps at the end of a parallel region while a worker is busy: the worker's loop is the cause. So it
 * is where the worker took the CPU from the main thread before that slept, and where the worker is in the kernel. */
static void busy_workers_are_what_the_process_does(void **state)
{
    (void)state;
    check_busy_worker(WW_SW_OUT, 0, KIND_MORE_TIME);
    check_busy_worker(WW_SW_OUT | WW_SW_PREEMPTED, 0, KIND_MORE_TIME);
    check_busy_worker(WW_SW_OUT, WW_S_KERNEL, KIND_BLOCKED);
}

/* Another thread of rank 0 calls MPI as well, and sleeps. What a worker does while both sleep is no time of theirs by
 * itself: it is the main thread's, which fell asleep last. */
static void a_worker_works_for_the_thread_that_slept_last(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    add_workers(scene->trace, 2);
    scene->trace->locations[3] = (struct trace_location){.rank = 0, .thread = 2};
    uint32_t loop = code_frame(scene, "loop"), join = code_frame(scene, "join");
    barriers(scene, (uint64_t[]){0, 0}, 10);
    scene_enter(scene, 2, WW_ID_Comm_rank, 12);
    scene_leave(scene, 2, WW_ID_Comm_rank, 13);
    for (uint64_t i = 0; i < 60; i++)
        sample(scene, 3, loop, 1000 + 1000 * i, 0);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t sleeper = i ? 0 : 2;
        uint64_t since_ns = i ? 20000 : 15000;
        scene_event(scene, (struct event){.kind = EV_OFF, .loc = sleeper, .time_ns = since_ns, .flags = WW_SW_OUT});
        for (uint64_t k = 1; k < 6; k++)
            sample(scene, sleeper, join, 10000 * k, WW_S_BLOCKED | WW_S_SYNC);
        scene_event(scene, (struct event){.kind = EV_ON, .loc = sleeper, .time_ns = 60000000});
    }
    barriers(scene, (uint64_t[]){60010, 10010}, 60020);
    scene_analyse(scene);
    const struct cause *cause = &scene->analysis->causes[0];
    assert_true(scene->analysis->n_causes && !strcmp(scene->analysis->steps[cause->step].routine, "loop"));
    assert_in_range(cause->ranks[0].time_ns / 1000, 57000, 60000);
    scene_free(scene);
}

/* The main thread of rank 0 waits in `lock` until a worker that slept in `fetch` wakes it. */
static void check_sleeping_worker(uint64_t worker_sleeps_us, const char *place)
{
    struct scene *scene = scene_make(2);
    add_workers(scene->trace, 1);
    uint32_t lock = code_frame(scene, "lock"), fetch = code_frame(scene, "fetch");
    double share;
    barriers(scene, (uint64_t[]){0, 0}, 10);
    off_and_on(scene, 2, 60000 - worker_sleeps_us, 60000, WW_SW_OUT);
    sample(scene, 2, fetch, 59000, WW_S_BLOCKED);
    off_and_on(scene, 0, 20, 60005, WW_SW_OUT);
    for (uint64_t i = 1; i < 6; i++)
        sample(scene, 0, lock, 9000 * i, WW_S_BLOCKED | WW_S_SYNC);
    barriers(scene, (uint64_t[]){60010, 10010}, 60020);
    scene_analyse(scene);
    assert_int_equal(kind_of(scene, place, &share), KIND_BLOCKED);
    assert_us(scene_blame(scene, place, 0), 50000);
    scene_free(scene);
}

/* It woke it after most of that time, or after a moment: then it waited for something else. */
static void who_sleeps_for_a_sleeper_sleeps_where_that_one_does(void **state)
{
    (void)state;
    check_sleeping_worker(50000, "fetch");
    check_sleeping_worker(2000, "lock");
}

/* The main threads sleep while their workers compute, that of rank 1 for longer in each of 30 steps. They have
 * no CPU for a while, in all steps but the first: that is nothing the program did, and all steps are alike. */
static void workers_without_a_cpu_are_not_code(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    add_workers(scene->trace, 2);
    uint32_t loop = code_frame(scene, "loop");
    uint64_t now_us = 10;
    barriers(scene, (uint64_t[]){0, 0}, now_us);
    for (uint64_t i = 0; i < 30; i++, now_us += 61000) {
        for (uint64_t k = 0; k < 25; k++)
            sample(scene, 3, loop, now_us + 1000 + 1000 * k, 0);
        sample(scene, 2, loop, now_us + 1000, 0);
        sample(scene, 2, loop, now_us + 2000, 0);
        if (i > 0) {
            off_and_on(scene, 2, now_us + 2500, now_us + 49000, WW_SW_OUT | WW_SW_PREEMPTED);
            off_and_on(scene, 3, now_us + 26000, now_us + 59000, WW_SW_OUT | WW_SW_PREEMPTED);
        }
        uint64_t arrive_us[] = {now_us + (i > 0 ? 50000 : 3000), now_us + (i > 0 ? 60000 : 26000)};
        for (uint32_t rank = 0; rank < 2; rank++)
            off_and_on(scene, rank, now_us + 10, arrive_us[rank] - 10, WW_SW_OUT);
        barriers(scene, arrive_us, now_us + 61000);
    }
    scene_analyse(scene);
    assert_true(scene_blame(scene, "loop", 1) > 100000);
    uint32_t n_alike = 0;
    const struct wait_site *site = scene_site(scene, WAIT_BARRIER);
    for (uint32_t i = 0; i < site->n_classes; i++)
        n_alike += site->classes[i].n_instances == 30;
    assert_int_equal(n_alike, 1);
    scene_free(scene);
}

/* Threads that are too young for samples: of the main thread's sleep, as much as they were on a CPU is computing. */
static void young_threads_compute_while_the_main_thread_sleeps(void **state)
{
    (void)state;
    struct trace_point young = {.module = TRACE_NONE, .is_young_time = true};
    const struct trace_bin bin = {.point = 0, .value = 700000};
    struct scene *scene = scene_make(2);
    scene->trace->points = &young;
    scene->trace->n_points = 1;
    barriers(scene, (uint64_t[]){0, 0}, 10);
    off_and_on(scene, 0, 20, 1000, WW_SW_OUT);
    scene_event(scene, (struct event){.kind = EV_BINS, .time_ns = 1010000, .bins = &bin, .n_bins = 1});
    barriers(scene, (uint64_t[]){1010, 10}, 1020);
    scene_analyse(scene);
    assert_us((double)scene->analysis->efficiency.compute_ns / 1000, 720);
    assert_us((double)scene->analysis->efficiency.blocked_ns / 1000, 280);
    scene_free(scene);
}

/* The main thread waits for a worker that is recorded by its end alone. By its own account it was on a CPU for 70 us,
 * and slept for the rest. */
static void a_thread_known_by_its_end_ran_no_longer_than_it_says(void **state)
{
    (void)state;
    struct trace_point young = {.module = TRACE_NONE, .is_young_time = true};
    const struct trace_bin bin = {.point = 0, .value = 70000};
    struct scene *scene = scene_make(2);
    scene->trace->points = &young;
    scene->trace->n_points = 1;
    add_workers(scene->trace, 1);
    uint32_t join = code_frame(scene, "join");
    barriers(scene, (uint64_t[]){0, 0}, 10);
    off_and_on(scene, 0, 20, 60001, WW_SW_OUT);
    for (uint64_t i = 1; i < 6; i++)
        sample(scene, 0, join, 9000 * i, WW_S_BLOCKED | WW_S_SYNC);
    scene_event(scene, (struct event){.kind = EV_OFF, .loc = 2, .time_ns = 60000000, .flags = WW_SW_OUT});
    scene_event(scene, (struct event){.kind = EV_END, .loc = 2, .time_ns = 60000000});
    scene_event(scene, (struct event){.kind = EV_BINS, .time_ns = 60010000, .bins = &bin, .n_bins = 1});
    barriers(scene, (uint64_t[]){60010, 10010}, 60020);
    scene_analyse(scene);
    assert_in_range(scene->analysis->efficiency.blocked_ns / 1000, 59800, 60000);
    scene_free(scene);
}

/* One of two young threads was sampled, and ended before the other one began. */
static void young_threads_that_samples_missed_compute_as_well(void **state)
{
    (void)state;
    struct trace_point young = {.module = TRACE_NONE, .is_young_time = true};
    const struct trace_bin bin = {.point = 0, .value = 70000000};
    struct scene *scene = scene_make(2);
    scene->trace->points = &young;
    scene->trace->n_points = 1;
    add_workers(scene->trace, 1);
    uint32_t loop = code_frame(scene, "loop");
    double share;
    barriers(scene, (uint64_t[]){0, 0}, 10);
    for (uint64_t i = 0; i < 30; i++)
        sample(scene, 2, loop, 1000 + 1000 * i, 0);
    off_and_on(scene, 2, 30100, 100000, WW_SW_OUT);
    off_and_on(scene, 0, 20, 100000, WW_SW_OUT);
    scene_event(scene, (struct event){.kind = EV_BINS, .time_ns = 100010000, .bins = &bin, .n_bins = 1});
    barriers(scene, (uint64_t[]){100010, 10}, 100020);
    scene_analyse(scene);
    assert_in_range(scene->analysis->efficiency.compute_ns / 1000, 69000, 71000);
    assert_in_range(scene->analysis->efficiency.blocked_ns / 1000, 29000, 31000);
    assert_int_equal(kind_of(scene, "loop", &share), KIND_MORE_TIME);
    assert_true(share > 0.65);
    scene_free(scene);
}

/* Two of them at a time, which had no CPU for as long as they computed; where, nothing tells but the main thread's
 * waiting for them. */
static void young_threads_without_a_cpu_are_the_machine_s(void **state)
{
    (void)state;
    struct trace_point young[] = {{.module = TRACE_NONE, .is_young_time = true},
                                  {.module = TRACE_NONE, .is_young_ready = true}};
    const struct trace_bin bins[] = {{.point = 0, .value = 900000}, {.point = 1, .value = 900000}};
    struct scene *scene = scene_make(2);
    scene->trace->points = young;
    scene->trace->n_points = 2;
    uint32_t join = code_frame(scene, "loop");
    barriers(scene, (uint64_t[]){0, 0}, 10);
    off_and_on(scene, 0, 20, 1000, WW_SW_OUT);
    sample(scene, 0, join, 900, WW_S_BLOCKED | WW_S_SYNC);
    sample(scene, 0, join, 910, WW_S_BLOCKED | WW_S_SYNC);
    scene_event(scene, (struct event){.kind = EV_BINS, .time_ns = 1010000, .bins = bins, .n_bins = 2});
    barriers(scene, (uint64_t[]){1010, 10}, 1020);
    scene_analyse(scene);
    double share;
    assert_us((double)scene->analysis->efficiency.descheduled_ns / 1000, 490);
    assert_us((double)scene->analysis->efficiency.compute_ns / 1000, 510);
    assert_us((double)scene->analysis->efficiency.blocked_ns / 1000, 0);
    assert_int_equal(kind_of(scene, "loop", &share), KIND_MORE_TIME);
    scene_free(scene);
}

/* Ranks 1 and 3 are late in each of a thousand steps, rank 1 by a hair more; half of its time is in a loop, of the
 * other's two fifths. A hundred samples do not tell these apart, a thousand do. */
static void who_spends_as_long_is_late_as_far_as_samples_tell(void **state)
{
    (void)state;
    for (uint64_t each = 1; each <= 10; each += 9) {
        struct scene *scene = scene_make(4);
        uint32_t hot = code_frame(scene, "hot"), cold = code_frame(scene, "cold");
        for (uint64_t step = 0; step < 1000; step++) {
            uint64_t begin_us = scene->now_us[0];
            for (uint32_t rank = 1; rank < 4 && step % each == 0; rank += 2)
                sample(scene, rank, step / each % 10 < (rank == 1 ? 5 : 4) ? hot : cold, begin_us + 50, 0);
            for (uint32_t rank = 0; rank < 4; rank++)
                scene->now_us[rank] += rank == 1 ? 101 : rank == 3 ? 100 : 10;
            for (uint32_t rank = 0; rank < 4; rank++)
                scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, begin_us + 102);
        }
        const struct analysis *analysis = scene_analyse(scene);
        const struct cause *cause = &analysis->causes[0];
        while (strcmp(analysis->steps[cause->step].routine, "hot"))
            cause++;
        assert_int_equal(cause->n_late, each == 1 ? 1 : 2);
        assert_int_equal(cause->ranks[0].rank, 1);
        assert_true(each == 1 || cause->ranks[1].rank == 3);
        scene_free(scene);
    }
}

static void without_samples_the_calls_around_are_named(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    barriers(scene, (uint64_t[]){0, 0}, 10);
    barriers(scene, (uint64_t[]){1010, 110}, 1020);
    const struct analysis *analysis = scene_analyse(scene);
    assert_int_equal(analysis->n_causes, 1);
    assert_string_equal(analysis->steps[analysis->causes[0].step].label, "code between MPI_Barrier and MPI_Barrier");
    assert_true(analysis->causes[0].kind == KIND_MORE_TIME);
    scene_free(scene);
}

/* A nap in each interval and, in every third of one rank, a longer or an equally long one behind it or before it. */
struct naps {
    uint64_t each_us, rare_us;
    bool is_rare_first;
};

static uint64_t nap_once(struct scene *scene, uint32_t rank, uint32_t frame, uint64_t from_us, uint64_t us,
                         bool is_looked_at)
{
    scene_event(scene, (struct event){.kind = EV_OFF, .loc = rank, .time_ns = from_us * 1000});
    if (is_looked_at)
        sample(scene, rank, frame, from_us + us / 2, WW_S_BLOCKED);
    scene_event(scene, (struct event){.kind = EV_ON, .loc = rank, .time_ns = (from_us + us) * 1000});
    return from_us + us + 10;
}

static void each_sleep_has_a_place_of_its_own(void **state)
{
    (void)state;
    const struct naps all[] = {{2000, 10000, false}, {2000, 10000, true}, {2000, 2000, false},
                               {2000, 2000, true},   {9000, 2000, false}, {500, 20000, true}};
    for (size_t kind = 0; kind < sizeof all / sizeof *all; kind++) {
        const struct naps *naps = &all[kind];
        struct scene *scene = scene_make(2);
        uint32_t each = code_frame(scene, "each"), rare = code_frame(scene, "rare");
        uint64_t now_us = 10, n_naps = 0;
        barriers(scene, (uint64_t[]){0, 0}, now_us);
        for (uint64_t i = 0; i < 120; i++) {
            uint64_t come_us[2];
            for (uint32_t rank = 0; rank < 2; rank++) {
                come_us[rank] = now_us + 10;
                /* A look at every fifth sleep, as they come. */
                for (int turn = 0; turn < 2; turn++)
                    if ((turn == 1) == naps->is_rare_first)
                        come_us[rank] = nap_once(scene, rank, each, come_us[rank], naps->each_us, n_naps++ % 5 == 0);
                    else if (rank == 1 && i % 3 == 0)
                        come_us[rank] = nap_once(scene, rank, rare, come_us[rank], naps->rare_us, n_naps++ % 5 == 0);
            }
            now_us = come_us[1] + 5;
            barriers(scene, come_us, now_us);
        }
        scene_analyse(scene);
        assert_true(fabs(scene_blame(scene, "rare", 1) / (40 * (double)naps->rare_us) - 1) < 0.02);
        assert_true(scene_blame(scene, "each", 0) + scene_blame(scene, "each", 1) < 400);
        scene_free(scene);
    }
}

static uint64_t nap_often(struct scene *scene, uint32_t rank, uint32_t frame, uint64_t from_us, int times, uint64_t *n)
{
    for (int i = 0; i < times; i++)
        from_us = nap_once(scene, rank, frame, from_us, 500, (*n)++ % 23 == 0);
    return from_us;
}

/* Rank 1 naps 14 times more often in each third step, for as long each time. A look in 23 naps is too few to know of
 * each, by its order, where it was; of stretches with about as many it is known. */
static void naps_are_where_others_of_as_many_were(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint32_t each = code_frame(scene, "each"), rare = code_frame(scene, "rare");
    uint64_t now_us = 10, n_naps = 0;
    barriers(scene, (uint64_t[]){0, 0}, now_us);
    for (uint64_t i = 0; i < 60; i++) {
        uint64_t come_us[2];
        for (uint32_t rank = 0; rank < 2; rank++)
            come_us[rank] = nap_often(scene, rank, each, now_us + 10, 3, &n_naps);
        if (i % 3 == 0)
            come_us[1] = nap_often(scene, 1, rare, come_us[1], 14, &n_naps);
        now_us = come_us[1] + 5;
        barriers(scene, come_us, now_us);
    }
    scene_analyse(scene);
    assert_true(scene_blame(scene, "rare", 1) > 0.75 * 20 * 14 * 500);
    assert_true(scene_blame(scene, "each", 0) + scene_blame(scene, "each", 1) < 0.25 * 20 * 14 * 500);
    scene_free(scene);
}

/* Ranks come to a barrier from calls of their own. Both nap before it, and no look fell into the naps of rank 1: where
 * those are is known from rank 0, and not from the longer sleep that rank 1 was seen in. */
static void sleep_that_nobody_saw_is_where_as_long_ones_were_before_the_same_call(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint32_t each = code_frame(scene, "each"), rare = code_frame(scene, "rare");
    uint64_t now_us = 10;
    barriers(scene, (uint64_t[]){0, 0}, now_us);
    for (uint64_t i = 0; i < 60; i++) {
        for (uint32_t rank = 0; rank < 2; rank++) {
            enum ww_call_id own = rank ? WW_ID_Comm_size : WW_ID_Comm_rank;
            scene_enter(scene, rank, own, now_us + 1);
            scene_leave(scene, rank, own, now_us + 5);
        }
        uint64_t come_us[] = {nap_once(scene, 0, each, now_us + 10, 2000, i % 3 == 0),
                              nap_once(scene, 1, each, now_us + 10, 2000, false)};
        if (i % 2)
            come_us[1] = nap_once(scene, 1, rare, come_us[1], 10000, i % 3 == 0);
        now_us = come_us[1] + 5;
        barriers(scene, come_us, now_us);
    }
    scene_analyse(scene);
    assert_true(fabs(scene_blame(scene, "rare", 1) / (30 * 10000.) - 1) < 0.02);
    assert_true(fabs(scene->analysis->causes[0].ranks[0].time_ns / (30 * 10000000.) - 1) < 0.02);
    scene_free(scene);
}

/* Both ranks spend as long in code of two parts; samples find more of the one part here, and more of the other there.
 */
static void the_slowest_rank_is_chosen_on_the_whole(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint32_t whole = code_frame(scene, "whole"), parts[2];
    for (int i = 0; i < 2; i++) {
        uint32_t region = trace_memory_region(scene->trace, i ? "second" : "first", false, WW_LOCAL, WW_COLL_NONE);
        parts[i] = trace_memory_frame(scene->trace,
                                      (struct trace_frame){.parent = whole, .module = TRACE_NONE, .region = region});
    }
    barriers(scene, (uint64_t[]){0, 0}, 10);
    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint64_t i = 0; i < 50; i++)
            sample(scene, rank, parts[(i % 5 < 3) == rank], 1000 + 2000 * i, 0);
    barriers(scene, (uint64_t[]){100010, 99010}, 100020);
    scene_analyse(scene);
    double longest_ns = 0;
    for (uint32_t i = 0; i < scene->analysis->n_nodes; i++) {
        bool is_code = scene->analysis->steps[scene->analysis->nodes[i].step].state == STEP_COMPUTING;
        longest_ns += is_code ? scene->analysis->nodes[i].longest_ns : 0;
    }
    assert_us(longest_ns / 1000, 100000);
    scene_free(scene);
}

/* Rank 0 waits a hundred times for rank 1, and at the same call once for rank 2, which has been at other work all the
 * time: what that one wait ends is a hundred times as long as the others, and still no more than one wait. */
static void a_long_history_does_not_speak_for_many_waits(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    for (uint32_t rank = 0; rank < 3; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 10);
    uint32_t first = code_frame(scene, "first"), second = code_frame(scene, "second");
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t begin_us = scene->now_us[1];
        sample(scene, 1, first, begin_us + 250, 0);
        sample(scene, 1, first, begin_us + 750, 0);
        scene->now_us[1] += 990;
        scene_send(scene, 1, 0, 1, scene->now_us[1] + 10);
        scene_receive(scene, 0, 1, 1, scene->now_us[1]);
    }
    scene_enter(scene, 2, WW_ID_Comm_rank, 10);
    scene_leave(scene, 2, WW_ID_Comm_rank, 5010);
    for (uint64_t at_us = 5500; at_us < 102000; at_us += 1000)
        sample(scene, 2, second, at_us, 0);
    scene->now_us[2] = 102000;
    scene_send(scene, 2, 0, 1, 102010);
    scene_receive(scene, 0, 2, 1, 102010);
    scene_analyse(scene);
    assert_true(fabs(scene_blame(scene, "first", 1) - 99000) < 2000);
    assert_true(scene_blame(scene, "second", 2) < 2100);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_history_does_not_speak_for_many_waits),
        cmocka_unit_test(samples_share_out_the_measured_length),
        cmocka_unit_test(short_stretches_are_pooled),
        cmocka_unit_test(what_samples_share_out_is_as_certain_as_they_are),
        cmocka_unit_test(who_takes_as_long_does_the_same),
        cmocka_unit_test(after_the_same_function_too),
        cmocka_unit_test(few_samples_that_agree_name_the_code),
        cmocka_unit_test(a_rare_long_stretch_is_not_like_the_others),
        cmocka_unit_test(preemption_is_no_work),
        cmocka_unit_test(starting_without_a_cpu_is_the_machine),
        cmocka_unit_test(who_had_no_cpu_elsewhere_was_held_up_as_well),
        cmocka_unit_test(sleep_is_charged_to_the_call_that_slept),
        cmocka_unit_test(sleep_that_nobody_saw_is_where_others_slept),
        cmocka_unit_test(code_that_nobody_saw_is_what_others_do_for_longer),
        cmocka_unit_test(sleep_that_nobody_saw_is_where_it_was_before_the_same_call),
        cmocka_unit_test(a_lock_that_nobody_saw_waited_for_is_where_others_were),
        cmocka_unit_test(each_sleep_has_a_place_of_its_own),
        cmocka_unit_test(naps_are_where_others_of_as_many_were),
        cmocka_unit_test(sleep_that_nobody_saw_is_where_as_long_ones_were_before_the_same_call),
        cmocka_unit_test(the_slowest_rank_is_chosen_on_the_whole),
        cmocka_unit_test(sleep_that_nobody_saw_is_where_system_calls_were_sampled),
        cmocka_unit_test(busy_workers_are_what_the_process_does),
        cmocka_unit_test(a_worker_works_for_the_thread_that_slept_last),
        cmocka_unit_test(who_sleeps_for_a_sleeper_sleeps_where_that_one_does),
        cmocka_unit_test(workers_without_a_cpu_are_not_code),
        cmocka_unit_test(young_threads_compute_while_the_main_thread_sleeps),
        cmocka_unit_test(a_thread_known_by_its_end_ran_no_longer_than_it_says),
        cmocka_unit_test(young_threads_that_samples_missed_compute_as_well),
        cmocka_unit_test(young_threads_without_a_cpu_are_the_machine_s),
        cmocka_unit_test(who_spends_as_long_is_late_as_far_as_samples_tell),
        cmocka_unit_test(without_samples_the_calls_around_are_named),
        cmocka_unit_test(code_that_nobody_saw_may_be_what_others_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
