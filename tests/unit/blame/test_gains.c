/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a run would gain, against the run in which it is so. Each program is played twice: as it is, and with the work
 * of one cause shared out as well as that alone can help (or gone, or on late ranks as on the others). The difference
 * of the two ends is the gain.
 */
#include "analyze/blame/efficiency.h"
#include "tests/unit/scene/scene.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum how { AS_IS, BALANCED, GONE, AS_OTHERS };
enum { STEPS = 10 };

struct play {
    struct scene *scene;
    uint32_t n_ranks;
};

static uint64_t now_us(const struct play *play, uint32_t rank)
{
    return play->scene->now_us[rank];
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void work(struct play *play, uint32_t rank, const char *name, uint64_t us)
{
    if (us)
        scene_work(play->scene, rank, name, now_us(play, rank) + us);
}

static void all_work(struct play *play, const char *name, uint64_t us)
{
    for (uint32_t rank = 0; rank < play->n_ranks; rank++)
        work(play, rank, name, us);
}

/* Ranks `first` to `last` are communicator `comm`. */
static void meet(struct play *play, uint32_t comm, uint32_t first, uint32_t last)
{
    uint64_t end_us = 0;
    for (uint32_t rank = first; rank <= last; rank++)
        end_us = later(end_us, now_us(play, rank));
    play->scene->comm = comm;
    for (uint32_t rank = first; rank <= last; rank++)
        scene_collective(play->scene, rank, WW_ID_Barrier, TRACE_NONE, end_us);
    play->scene->comm = 0;
}

static void meet_all(struct play *play)
{
    meet(play, 0, 0, play->n_ranks - 1);
}

static void send(struct play *play, uint32_t from, uint32_t to)
{
    scene_send(play->scene, from, to, 0, now_us(play, from));
}

static void receive(struct play *play, uint32_t to, uint32_t from, uint64_t sent_us)
{
    scene_receive(play->scene, to, from, 0, later(now_us(play, to), sent_us));
}

static void one_rank_is_late(struct play *play, enum how how)
{
    for (int step = 0; step < STEPS; step++) {
        all_work(play, "common", 1000);
        for (uint32_t rank = 0; rank < play->n_ranks; rank++)
            work(play, rank, "cause",
                 how == BALANCED             ? 1500
                 : how == GONE               ? 0
                 : how == AS_IS && rank == 1 ? 3000
                                             : 1000);
        meet_all(play);
    }
}

static void who_is_late_changes(struct play *play, enum how how)
{
    for (int step = 0; step < 3 * 4; step++) {
        all_work(play, "common", 1000);
        for (uint32_t rank = 0; rank < play->n_ranks; rank++)
            work(play, rank, "cause",
                 how == BALANCED                     ? 1500
                 : how == GONE                       ? 0
                 : how == AS_IS && rank == step % 4u ? 3000
                                                     : 1000);
        meet_all(play);
    }
}

/* Two causes in turn, each with its own barrier. */
static void another_phase_has_another_cause(struct play *play, enum how how)
{
    for (int step = 0; step < STEPS; step++) {
        for (uint32_t rank = 0; rank < play->n_ranks; rank++)
            work(play, rank, "cause", how == BALANCED ? 750 : how == AS_IS && rank == 1 ? 3000 : 0);
        meet_all(play);
        work(play, 0, "other", 2000);
        meet_all(play);
    }
}

/* Two causes on one rank before one barrier. */
static void two_causes_on_one_rank(struct play *play, enum how how)
{
    for (int step = 0; step < STEPS; step++) {
        for (uint32_t rank = 0; rank < play->n_ranks; rank++)
            work(play, rank, "cause", how == BALANCED ? 500 : how == AS_IS && rank == 1 ? 2000 : 0);
        work(play, 1, "other", 1000);
        meet_all(play);
    }
}

/* Rank 2 is late for its own reason, and nearly as much: whatever becomes of the cause, the others wait for rank 2. */
static void another_rank_is_nearly_as_late(struct play *play, enum how how)
{
    for (int step = 0; step < STEPS; step++) {
        all_work(play, "common", 1000);
        for (uint32_t rank = 0; rank < play->n_ranks; rank++)
            work(play, rank, "cause", how == BALANCED ? (rank == 2 ? 0 : 1333) : how == AS_IS && rank == 1 ? 4000 : 0);
        work(play, 2, "other", 3600);
        meet_all(play);
    }
}

/* Rank 0 waits for rank 1 in their half, but all wait for the other half in the end. */
static void nobody_in_the_end_waits_for_it(struct play *play, enum how how)
{
    for (int step = 0; step < STEPS; step++) {
        for (uint32_t rank = 0; rank < 2; rank++)
            work(play, rank, "cause", how == BALANCED ? 500 : how == AS_IS && rank == 1 ? 1000 : 0);
        meet(play, 1, 0, 1);
        work(play, 2, "other", 5000);
        work(play, 3, "other", 5000);
        meet_all(play);
    }
}

/* A chain of two causes ends later than what rank 3 does besides. */
static void a_rank_besides_has_little_slack(struct play *play, enum how how)
{
    for (int step = 0; step < STEPS; step++) {
        for (uint32_t rank = 0; rank < 3; rank++)
            work(play, rank, "cause", how == BALANCED ? 1000 : how == AS_IS && rank == 1 ? 3000 : 0);
        uint64_t sent_us = now_us(play, 1);
        send(play, 1, 2);
        receive(play, 2, 1, sent_us);
        work(play, 2, "other", 2000);
        work(play, 3, "besides", 4500);
        meet_all(play);
    }
}

/* Waits for rank 1 run round the ring with the steps. */
static void neighbours_wait_in_a_ring(struct play *play, enum how how)
{
    for (int step = 0; step < 4 * STEPS; step++) {
        uint64_t sent_us[4] = {0};
        for (uint32_t rank = 0; rank < play->n_ranks; rank++)
            work(play, rank, "cause",
                 how == BALANCED             ? 1000
                 : how == GONE               ? 0
                 : how == AS_IS && rank == 1 ? 2500
                                             : 500);
        for (uint32_t rank = 0; rank < play->n_ranks; rank++) {
            sent_us[rank] = now_us(play, rank);
            send(play, rank, (rank + 1) % 4);
        }
        for (uint32_t rank = 0; rank < play->n_ranks; rank++)
            receive(play, rank, (rank + 3) % 4, sent_us[(rank + 3) % 4]);
    }
    meet_all(play);
}

/* The last of four stages takes longest; messages are buffered. */
static void one_stage_of_a_pipeline_is_slow(struct play *play, enum how how)
{
    for (int item = 0; item < 10 * STEPS; item++) {
        uint64_t sent_us = 0;
        for (uint32_t rank = 0; rank < play->n_ranks; rank++) {
            if (rank)
                receive(play, rank, rank - 1, sent_us);
            work(play, rank, "stage", 100);
            work(play, rank, "cause", how == BALANCED ? 75 : how == AS_IS && rank == 3 ? 300 : 0);
            sent_us = now_us(play, rank);
            if (rank < 3)
                send(play, rank, rank + 1);
        }
    }
    meet_all(play);
}

/* Every rank has the same work, each after the one before it: what a wavefront of fine blocks gains over one of coarse
 * blocks. Here the cause is that it is serial. */
static void a_wavefront_is_coarse(struct play *play, enum how how)
{
    int n_blocks = how == BALANCED ? 400 : 4;
    for (int block = 0; block < n_blocks; block++) {
        uint64_t sent_us = 0;
        for (uint32_t rank = 0; rank < play->n_ranks; rank++) {
            if (rank)
                receive(play, rank, rank - 1, sent_us);
            work(play, rank, "cause", how == GONE ? 0 : 4000 / (uint64_t)n_blocks);
            sent_us = now_us(play, rank);
            if (rank < 3)
                send(play, rank, rank + 1);
        }
    }
    meet_all(play);
}

/* Rank 1 does something else meanwhile, so that only a part of what is too much on rank 0 shows. */
static void the_waiting_side_hides_a_part(struct play *play, enum how how)
{
    for (int step = 0; step < STEPS; step++) {
        for (uint32_t rank = 0; rank < play->n_ranks; rank++)
            work(play, rank, "common", rank < 2 ? 1000 : 4000);
        work(play, 0, "cause", how == BALANCED ? 2250 : how == AS_IS ? 4000 : 0);
        work(play, 1, "hiding", 2000);
        if (how == BALANCED)
            work(play, 1, "cause", 250);
        meet_all(play);
    }
}

/* All wait for what rank 0 does alone. */
static void a_part_is_serial(struct play *play, enum how how)
{
    for (int step = 0; step < STEPS; step++) {
        for (uint32_t rank = 0; rank < play->n_ranks; rank++)
            work(play, rank, "cause", how == BALANCED ? 500 : how == AS_IS && !rank ? 2000 : 0);
        uint64_t root_us = now_us(play, 0);
        for (uint32_t rank = 0; rank < play->n_ranks; rank++)
            scene_collective(play->scene, rank, WW_ID_Bcast, 0, later(root_us, now_us(play, rank)));
        all_work(play, "compute", 1500);
        meet_all(play);
    }
}

static void sync_lock(struct play *play, uint32_t rank, enum ww_call_id call, uint32_t target, uint64_t leave_us)
{
    scene_enter(play->scene, rank, call, now_us(play, rank));
    scene_event(play->scene, (struct event){.kind = EV_RMA_SYNC,
                                            .loc = rank,
                                            .time_ns = leave_us * 1000,
                                            .peer = target,
                                            .tag = call == WW_ID_Win_lock ? WW_LOCK_EXCLUSIVE : 0,
                                            .window = 3});
    scene_leave(play->scene, rank, call, leave_us);
}

/* Returns when it gives the lock back. */
static uint64_t work_under_lock(struct play *play, uint32_t rank, uint32_t target, uint64_t free_us, uint64_t us)
{
    sync_lock(play, rank, WW_ID_Win_lock, target, later(now_us(play, rank), free_us));
    work(play, rank, "cause", us);
    sync_lock(play, rank, WW_ID_Win_unlock, target, now_us(play, rank));
    return now_us(play, rank);
}

/* Whoever does it has locked rank 3: nobody else can meanwhile. */
static void a_lock_lets_in_one_at_a_time(struct play *play, enum how how)
{
    for (int step = 0; step < STEPS; step++) {
        all_work(play, "common", 1000);
        uint64_t free_us = work_under_lock(play, 0, 3, 0, how == BALANCED ? 2000 : how == AS_IS ? 3000 : 0);
        work_under_lock(play, 1, 3, free_us, how == BALANCED ? 2000 : how == AS_IS ? 1000 : 0);
        meet_all(play);
    }
}

/* Two locks, which ranks 0 and 1 take in turns: one under each can be done at a time. */
static void two_locks_let_in_two(struct play *play, enum how how)
{
    for (int step = 0; step < STEPS; step++) {
        uint64_t first_us = how == BALANCED ? 1000 : how == AS_IS ? 1500 : 0;
        uint64_t second_us = how == BALANCED ? 1000 : how == AS_IS ? 500 : 0;
        uint64_t a_us = work_under_lock(play, 0, 2, 0, first_us), b_us = work_under_lock(play, 1, 3, 0, second_us);
        work_under_lock(play, 0, 3, b_us, first_us);
        work_under_lock(play, 1, 2, a_us, second_us);
        meet_all(play);
    }
}

/* Nobody else takes these locks: the work under them can be shared out as any. */
static void locks_of_ones_own_keep_out_nobody(struct play *play, enum how how)
{
    for (int step = 0; step < STEPS; step++) {
        for (uint32_t rank = 0; rank < play->n_ranks; rank++)
            work_under_lock(play, rank, rank, 0,
                            how == BALANCED             ? 1500
                            : how == GONE               ? 0
                            : how == AS_IS && rank == 1 ? 3000
                                                        : 1000);
        meet_all(play);
    }
}

/* What all ranks do one after the other, each as much as is said. */
struct job {
    const char *name;
    uint64_t us[4];
};

enum { CPUS = 2, TURN_US = 100 };

/* All begin together, and take turns on fewer CPUs than there are ranks. */
static void compete(struct play *play, const struct job *jobs, size_t n_jobs)
{
    size_t at[4] = {0};
    uint64_t time_us = now_us(play, 0), done_us[4] = {0};
    bool is_off[4] = {false};
    uint32_t first = 0;
    for (int n_on = CPUS; n_on; time_us += TURN_US) {
        n_on = 0;
        uint32_t begin = first;
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t rank = (begin + k) % 4;
            while (at[rank] < n_jobs && done_us[rank] == jobs[at[rank]].us[rank]) {
                if (done_us[rank])
                    scene_work(play->scene, rank, jobs[at[rank]].name, time_us);
                done_us[rank] = 0;
                at[rank]++;
            }
            bool gets_cpu = n_on < CPUS;
            if (at[rank] == n_jobs)
                continue;
            if (gets_cpu == is_off[rank])
                scene_event(play->scene, (struct event){.kind = gets_cpu ? EV_ON : EV_OFF,
                                                        .loc = rank,
                                                        .time_ns = time_us * 1000,
                                                        .flags = WW_SW_PREEMPTED});
            is_off[rank] = !gets_cpu;
            done_us[rank] += gets_cpu ? TURN_US : 0;
            first = gets_cpu ? (rank + 1) % 4 : first;
            n_on += gets_cpu;
        }
    }
}

#define COMPETE(play, ...)                                                                                             \
    compete(play, (const struct job[]){__VA_ARGS__}, sizeof((const struct job[]){__VA_ARGS__}) / sizeof(struct job))

static void one_rank_is_late_where_cpus_are_few(struct play *play, enum how how)
{
    uint64_t late_us = how == BALANCED ? 1500 : how == GONE ? 0 : how == AS_IS ? 3000 : 1000;
    uint64_t others_us = how == BALANCED ? 1500 : how == GONE ? 0 : 1000;
    for (int step = 0; step < STEPS; step++) {
        COMPETE(play, {"common", {1000, 1000, 1000, 1000}}, {"cause", {others_us, late_us, others_us, others_us}});
        meet_all(play);
    }
}

/* As many as there are CPUs: who waits leaves its CPU to one of the two that work on. */
static void waiting_leaves_no_cpu_idle(struct play *play, enum how how)
{
    uint64_t late_us = how == BALANCED ? 2000 : how == GONE ? 0 : how == AS_IS ? 3000 : 1000;
    uint64_t others_us = how == BALANCED ? 2000 : how == GONE ? 0 : 1000;
    for (int step = 0; step < STEPS; step++) {
        COMPETE(play, {"cause", {late_us, others_us, late_us, others_us}}, {"common", {1000, 1000, 1000, 1000}});
        meet_all(play);
    }
}

/* While ranks wait for the cause one CPU is idle, while they wait for the other one none is. */
static void phases_differ_where_cpus_are_few(struct play *play, enum how how)
{
    uint64_t late_us = how == BALANCED ? 1000 : how == AS_IS ? 4000 : 0, others_us = how == BALANCED ? 1000 : 0;
    for (int step = 0; step < STEPS; step++) {
        COMPETE(play, {"cause", {others_us, others_us, late_us, others_us}}, {"common", {1000, 1000, 1000, 1000}});
        meet_all(play);
        COMPETE(play, {"other", {3000, 1000, 3000, 1000}});
        meet_all(play);
    }
}

static void cpu(struct play *play, uint32_t rank, bool is_off, uint64_t time_us)
{
    scene_event(play->scene,
                (struct event){
                    .kind = is_off ? EV_OFF : EV_ON, .loc = rank, .time_ns = time_us * 1000, .flags = WW_SW_PREEMPTED});
}

/* While rank 3 computes, ranks 0 and 1 poll for it on the other CPU, and rank 2, released by the step before, gets none
 * for a part of that time: it does not wait for rank 3 then, but would have a CPU if the others had nothing to do or to
 * wait for. */
static void who_waits_takes_a_cpu(struct play *play, enum how how)
{
    for (int step = 0; step < STEPS; step++) {
        if (how == BALANCED)
            COMPETE(play, {"common", {100, 100, 100, 100}}, {"cause", {1000, 1000, 1000, 1000}});
        else
            all_work(play, "common", 100);
        work(play, 3, "cause", how == AS_IS ? 4000 : 0);
        uint64_t end_us = now_us(play, 3);
        bool lacks_cpu = how == AS_IS && step + 1 < STEPS;
        for (uint32_t rank = 0; rank < play->n_ranks; rank++)
            scene_collective(play->scene, rank, WW_ID_Barrier, TRACE_NONE,
                             later(end_us, now_us(play, rank)) + (rank == 2 && lacks_cpu ? 500 : 0));
        if (lacks_cpu) {
            cpu(play, 2, true, end_us + 1);
            cpu(play, 2, false, end_us + 499);
        }
    }
}

static const struct {
    const char *name;
    void (*program)(struct play *, enum how);
    uint32_t last_rank; /* whose own work bounds the gain; 0 = any */
    uint32_t n_cpus;    /* 0 = one for every rank */
    /* That somebody has more of it than others: hidden where the run is not known to end sooner by all of it. */
    enum { KNOWN, HIDDEN, NONE } surplus;
} programs[] = {
#define PROGRAM(name) {#name, name, 0, 0, KNOWN}
#define BOUNDED(name, last_rank) {#name, name, last_rank, 0, KNOWN}
#define CROWDED(name) {#name, name, 0, CPUS, KNOWN}
    PROGRAM(one_rank_is_late),
    PROGRAM(who_is_late_changes),
    PROGRAM(another_phase_has_another_cause),
    PROGRAM(two_causes_on_one_rank),
    BOUNDED(another_rank_is_nearly_as_late, 2),
    BOUNDED(nobody_in_the_end_waits_for_it, 2),
    BOUNDED(a_rank_besides_has_little_slack, 3),
    PROGRAM(neighbours_wait_in_a_ring),
    PROGRAM(one_stage_of_a_pipeline_is_slow),
    {"a_wavefront_is_coarse", a_wavefront_is_coarse, 0, 0, NONE},
    PROGRAM(the_waiting_side_hides_a_part),
    PROGRAM(a_part_is_serial),
    PROGRAM(a_lock_lets_in_one_at_a_time),
    {"two_locks_let_in_two", two_locks_let_in_two, 0, 0, HIDDEN},
    PROGRAM(locks_of_ones_own_keep_out_nobody),
    CROWDED(one_rank_is_late_where_cpus_are_few),
    {"waiting_leaves_no_cpu_idle", waiting_leaves_no_cpu_idle, 0, CPUS, HIDDEN},
    CROWDED(phases_differ_where_cpus_are_few),
    CROWDED(who_waits_takes_a_cpu),
#undef PROGRAM
#undef BOUNDED
#undef CROWDED
};

static struct scene *play(size_t number, enum how how, double *end_us)
{
    struct play play = {.scene = scene_make(4), .n_ranks = 4};
    static const uint32_t cpus[CPUS] = {0, 1};
    trace_memory_comm(play.scene->trace, (uint32_t[]){0, 1}, 2);
    for (uint32_t rank = 0; rank < play.n_ranks; rank++)
        play.scene->trace->processes[rank].cpus = (struct trace_cpus){cpus, programs[number].n_cpus};
    programs[number].program(&play, how);
    *end_us = 0;
    for (uint32_t rank = 0; rank < play.n_ranks; rank++)
        *end_us = fmax(*end_us, (double)now_us(&play, rank));
    return play.scene;
}

static const struct cause *find_cause(const struct analysis *analysis)
{
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        if (!strcmp(analysis->steps[analysis->causes[i].step].routine, "cause"))
            return &analysis->causes[i];
    return NULL;
}

static void check_gain(const char *program, const char *what, double predicted_us, double measured_us, double run_us)
{
    if (fabs(predicted_us - measured_us) > 0.02 * run_us + 0.001)
        fail_msg("%s, %s: predicted %.0f us, measured %.0f of %.0f", program, what, predicted_us, measured_us, run_us);
}

static void what_is_predicted_comes_true(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        double run_us, balanced_us, gone_us, as_others_us;
        struct scene *scene = play(i, AS_IS, &run_us);
        scene_free(play(i, BALANCED, &balanced_us));
        scene_free(play(i, GONE, &gone_us));
        scene_free(play(i, AS_OTHERS, &as_others_us));
        const struct cause *cause = find_cause(scene_analyse(scene));
        assert_non_null(cause);
        check_gain(programs[i].name, "balanced", cause->if_balanced_ns / 1000, run_us - balanced_us, run_us);
        if (programs[i].last_rank)
            assert_int_equal(cause->last_rank, programs[i].last_rank);
        if (programs[i].surplus == KNOWN)
            check_gain(programs[i].name, "as others", cause->if_as_others_ns / 1000, run_us - as_others_us, run_us);
        else if (programs[i].surplus == HIDDEN)
            assert_true(cause->if_as_others_ns / 1000 <= run_us - as_others_us);
        check_gain(programs[i].name, "gone", cause->if_gone_ns / 1000, run_us - gone_us, run_us);
        /* No more than ranks are in it, but for what they lack a CPU. */
        double in_it_ns = 0;
        for (uint32_t k = 0; k < cause->n_ranks + cause->n_others; k++)
            in_it_ns += (k < cause->n_ranks ? cause->ranks[k] : cause->others[k - cause->n_ranks]).time_ns;
        assert_true(cause->if_gone_ns - cause->if_gone_off_ns <= in_it_ns + 1);
        scene_free(scene);
    }
}

/* Rank 1 is in the cause, for 38 of 100 without a CPU, and rank 0 waits for it. A cause that takes next to nothing
 * frees no CPU for those who lack one elsewhere. */
static void what_goes_with_it_of_time_without_a_cpu_is_told(void **state)
{
    (void)state;
    static const struct {
        double waits_ns[2], lacks_ns[2], in_it_ns, gone_ns, off_ns;
    } cases[] = {{{100, 0}, {0}, 100, 100, 38},
                 {{80, 0}, {0}, 100, 80, 18},
                 {{50, 0}, {0}, 100, 50, 0},
                 {{100, 30}, {20}, 100, 120, 58},
                 {{3, 0}, {50, 50}, 2, 7, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sparse times = {0};
        sparse_add(&times, 1, cases[i].in_it_ns);
        sparse_pack(&times);
        struct gain gain =
            gain_of(&(struct gain_input){.efficiency = &(struct efficiency){.wall_ns = 200, .all_ns = 400},
                                         .ranks = (struct rank_time[2]){{0}},
                                         .n_ranks = 2,
                                         .waits_ns = cases[i].waits_ns,
                                         .takes_part = (bool[]){true, true},
                                         .times = &times,
                                         .blames = &times,
                                         .usual_ns = 0,
                                         .lacks_ns = cases[i].lacks_ns,
                                         .critical_ns = 100,
                                         .critical_off_ns = 38,
                                         .critical_lacks_ns = 50});
        assert_true(gain.if_gone_ns == cases[i].gone_ns);
        assert_true(gain.if_gone_off_ns == cases[i].off_ns);
        sparse_release(&times);
    }
}

/* Four ranks compute for 1 s, then rank 1 for 3 s and the others for 1 s. Another program has rank 1's CPU for every
 * other moment of that. With 1.5 s for each rank, the run ends after 4 s instead of 7 if the other program goes on so.
 * That lies between the gain from the work alone, 1.5 s, and the gain if all of the lack goes. */
static void late_ranks_may_lack_a_cpu_as_long_afterwards(void **state)
{
    (void)state;
    static const double others_wait_ns = 5e9;
    struct sparse times = {0}, blames = {0};
    for (uint32_t rank = 0; rank < 4; rank++)
        sparse_add(&times, rank, rank == 1 ? 6e9 : 1e9);
    sparse_add(&blames, 1, 3 * 2e9);
    sparse_pack(&times);
    sparse_pack(&blames);
    struct rank_time ranks[4] = {{.compute_ns = 2e9}, {.compute_ns = 4e9}, {.compute_ns = 2e9}, {.compute_ns = 2e9}};
    struct gain_input input = {.efficiency = &(struct efficiency){.wall_ns = 7e9, .all_ns = 28e9},
                               .ranks = ranks,
                               .n_ranks = 4,
                               .waits_ns = (double[]){others_wait_ns, 0, others_wait_ns, others_wait_ns},
                               .takes_part = (bool[]){true, true, true, true},
                               .times = &times,
                               .blames = &blames,
                               .usual_ns = 1e9,
                               .waiting_ns = 3 * 2e9,
                               .left_idle_ns = 3 * 2e9,
                               .lacking_ns = 3 * 3e9,
                               .critical_ns = 6e9,
                               .critical_off_ns = 3e9};
    struct gain gain = gain_of(&input);
    assert_float_equal(gain.if_balanced_least_ns, 1.5e9, 1);
    assert_float_equal(gain.if_balanced_ns, 3.75e9, 1);
    /* Two CPUs take at least 5 s for what the ranks compute. */
    input.n_at_once = 2;
    gain = gain_of(&input);
    assert_float_equal(gain.if_balanced_least_ns, 1.5e9, 1);
    assert_float_equal(gain.if_balanced_ns, 2e9, 1);
    sparse_release(&times);
    sparse_release(&blames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_predicted_comes_true),
        cmocka_unit_test(what_goes_with_it_of_time_without_a_cpu_is_told),
        cmocka_unit_test(late_ranks_may_lack_a_cpu_as_long_afterwards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
