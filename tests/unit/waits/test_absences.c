/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that last because a process was preempted inside one: the machine's time, whoever polled meanwhile. */
#include "analyze/waits/absences.h"
#include "tests/unit/scene/scene.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define assert_us(value, expected) assert_true(fabs((value) - (expected)) < 1e-3)

static void be_preempted(struct scene *scene, uint32_t rank, uint64_t from_us, uint64_t to_us)
{
    scene_event(scene,
                (struct event){.kind = EV_OFF, .loc = rank, .time_ns = from_us * 1000, .flags = WW_SW_PREEMPTED});
    scene_event(scene, (struct event){.kind = EV_ON, .loc = rank, .time_ns = to_us * 1000});
}

/* Waiting that is blamed on the machine, by who had no CPU. */
static double blame_on_machine(const struct scene *scene, uint32_t rank)
{
    const struct machine *machine = &scene->analysis->machine;
    double blame_ns = 0;
    for (uint32_t i = 0; i < machine->n_ranks; i++)
        blame_ns += machine->ranks[i].rank == rank ? machine->ranks[i].blame_ns : 0;
    return blame_ns / 1000;
}

static double blame_on_transfer(const struct scene *scene)
{
    double blame_ns = 0;
    for (uint32_t i = 0; i < scene->analysis->n_causes; i++)
        blame_ns += scene->analysis->causes[i].kind_ns[KIND_TRANSFER];
    return blame_ns / 1000;
}

/* Rank 0 sends from 100 on, and has no CPU from 150 to 350; rank 1 has polled for the message since 10 and has it at
 * 400; then it sends to rank 2, who has waited for that since 10. */
static struct scene *a_sender_preempted(void)
{
    struct scene *scene = scene_make(3);
    scene_work(scene, 0, "computes", 100);
    scene_send(scene, 0, 1, 7, 390);
    be_preempted(scene, 0, 150, 350);
    scene_work(scene, 1, "computes", 10);
    scene_receive(scene, 1, 0, 7, 400);
    scene_send(scene, 1, 2, 7, 401);
    scene_work(scene, 2, "computes", 10);
    scene_receive(scene, 2, 1, 7, 401);
    return scene;
}

static void a_transfer_lasts_while_the_partner_has_no_cpu(void **state)
{
    (void)state;
    struct scene *scene = a_sender_preempted();
    scene_analyse(scene);
    /* Rank 2 waits from 10 to 400: 90 for rank 0's computing, 200 for the machine, 100 for the message. */
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 2), 390);
    assert_us(blame_on_machine(scene, 0), 200);
    assert_us(blame_on_machine(scene, 1), 0);
    assert_us(blame_on_transfer(scene), 100);
    /* Rank 1 itself was on a CPU all the time. */
    assert_us(scene->analysis->ranks[1].descheduled_ns / 1000, 0);
    assert_us(scene->analysis->ranks[1].transfer_ns / 1000, 301);
    assert_us(scene->analysis->ranks[0].descheduled_ns / 1000, 200);
    scene_free(scene);
}

/* Three ranks leave a barrier at 2, but rank 2 is kept in it without a CPU until 505. */
static struct scene *a_rank_kept_in_a_barrier(void)
{
    struct scene *scene = scene_make(3);
    for (uint32_t rank = 0; rank < 3; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, rank == 2 ? 505 : 2);
    be_preempted(scene, 2, 1, 504);
    return scene;
}

/* Rank 1 solves for 480. Rank 2 has next to nothing to do, but is kept in the barrier before without a CPU: it comes
 * last by a little, for which alone the machine is the reason. Rank 0 waits for both. */
static void a_lack_of_cpu_hides_no_work(void **state)
{
    (void)state;
    struct scene *scene = a_rank_kept_in_a_barrier();
    scene_work(scene, 0, "computes", 12);
    scene_work(scene, 1, "solves", 482);
    scene_work(scene, 2, "computes", 515);
    for (uint32_t rank = 0; rank < 3; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 517);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_BARRIER, 0), 503);
    assert_us(scene_waiting(scene, WAIT_BARRIER, 1), 33);
    assert_us(scene_blame(scene, "solves", 1), 470);
    assert_us(blame_on_machine(scene, 2), 2 * 33);
    assert_int_equal(scene_site(scene, WAIT_BARRIER)->n_calls, 1);
    assert_int_equal(scene_site(scene, WAIT_BARRIER)->n_instances, 2);
    scene_free(scene);
}

/* The same of messages: rank 0 waits for one from rank 1, who works, and for one from rank 2. */
static void a_lack_of_cpu_hides_no_other_sender(void **state)
{
    (void)state;
    struct scene *scene = a_rank_kept_in_a_barrier();
    scene_work(scene, 1, "solves", 482);
    scene_send(scene, 1, 0, 1, 484);
    scene_work(scene, 2, "computes", 515);
    scene_send(scene, 2, 0, 2, 517);
    scene_work(scene, 0, "computes", 10);
    uint64_t from_1 = scene_irecv(scene, 0, 11), from_2 = scene_irecv(scene, 0, 12);
    scene_enter(scene, 0, WW_ID_Waitall, 12);
    for (uint32_t i = 0; i < 2; i++)
        scene_event(scene, (struct event){.kind = EV_IRECV_DONE,
                                          .loc = 0,
                                          .time_ns = 518000,
                                          .peer = i ? 2 : 1,
                                          .tag = i ? 2 : 1,
                                          .request = i ? from_2 : from_1});
    scene_leave(scene, 0, WW_ID_Waitall, 518);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 0), 503);
    assert_us(scene_blame(scene, "solves", 1), 470);
    assert_us(blame_on_machine(scene, 2), 33);
    scene_free(scene);
}

/* Neither the partner of another message nor one outside of MPI keeps this message. */
static void others_without_a_cpu_hold_up_nothing(void **state)
{
    (void)state;
    struct scene *scene = scene_make(4);
    scene_work(scene, 0, "computes", 100);
    scene_send(scene, 0, 1, 7, 110);
    scene_work(scene, 0, "computes", 395);
    be_preempted(scene, 0, 150, 250);
    scene_work(scene, 1, "computes", 10);
    scene_receive(scene, 1, 0, 7, 400);
    scene_work(scene, 2, "computes", 10);
    scene_work(scene, 3, "computes", 390);
    scene_send(scene, 3, 2, 7, 392);
    scene_receive(scene, 2, 3, 7, 395);
    be_preempted(scene, 2, 150, 350);
    for (uint32_t rank = 0; rank < 4; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 400);
    scene_analyse(scene);
    assert_us(blame_on_machine(scene, 2), 0);
    scene_free(scene);
}

/* Where sender and receiver take turns on one CPU, each time is the one's that has none. */
static void times_without_a_cpu_are_told_once(void **state)
{
    (void)state;
    struct scene *scene = a_sender_preempted();
    be_preempted(scene, 1, 120, 160);
    be_preempted(scene, 1, 340, 380);
    scene_analyse(scene);
    assert_us(scene->analysis->ranks[1].descheduled_ns / 1000, 80);
    assert_us(blame_on_machine(scene, 0), 180); /* from 160 to 340 */
    assert_us(blame_on_machine(scene, 1), 80);
    assert_us(blame_on_transfer(scene), 40);
    scene_free(scene);
}

/* However often a process leaves the CPU in one call, all of it counts. */
static void a_call_with_many_switches(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_work(scene, 0, "computes", 100);
    scene_work(scene, 1, "computes", 100);
    for (uint32_t rank = 0; rank < 2; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 10300);
    for (uint64_t i = 0; i < 100; i++)
        be_preempted(scene, 1, 200 + 100 * i, 290 + 100 * i);
    scene_analyse(scene);
    assert_us(scene->analysis->ranks[1].descheduled_ns / 1000, 9000);
    assert_us(scene->analysis->ranks[1].transfer_ns / 1000, 1200);
    scene_free(scene);
}

/* A rank that waits for ever would not have gone on with a CPU. */
static void a_call_that_never_ended_lacks_no_cpu(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        scene_work(scene, rank, "computes", 100);
        scene_enter(scene, rank, WW_ID_Recv, 100);
        be_preempted(scene, rank, 200, 900);
        scene_event(scene,
                    (struct event){.kind = EV_UNFINISHED, .loc = rank, .time_ns = 1000000, .peer = 1 - rank, .tag = 7});
        scene_event(scene, (struct event){.kind = EV_END, .loc = rank, .time_ns = 1000000, .flags = WW_END_SIGNAL});
    }
    scene_analyse(scene);
    for (uint32_t rank = 0; rank < 2; rank++) {
        assert_us(scene->analysis->ranks[rank].descheduled_ns / 1000, 0);
        assert_us(scene->analysis->ranks[rank].mpi_ns / 1000, 900);
    }
    assert_int_equal(scene->analysis->n_deadlock, 2);
    scene_free(scene);
}

/* Rank 2 leaves the broadcast early and has no CPU in its next call; rank 0, still in it, lacks one as well. */
static void a_collective_lasts_for_those_who_are_still_in_it(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    scene_collective(scene, 0, WW_ID_Allreduce, TRACE_NONE, 300);
    be_preempted(scene, 0, 50, 150);
    scene_collective(scene, 1, WW_ID_Allreduce, TRACE_NONE, 300);
    scene_collective(scene, 2, WW_ID_Allreduce, TRACE_NONE, 20);
    scene_work(scene, 0, "computes", 305);
    scene_work(scene, 1, "computes", 310);
    for (uint32_t rank = 0; rank < 3; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 320);
    be_preempted(scene, 2, 30, 290);
    scene_analyse(scene);
    /* Rank 2 waits at the barrier for rank 1, which the allreduce kept: 100 for rank 0. */
    double machine_us = blame_on_machine(scene, 0);
    assert_true(machine_us > 90 && machine_us <= 110);
    assert_us(blame_on_machine(scene, 2), 0);
    scene_free(scene);
}

static void what_is_forgotten_is_gone_and_the_rest_is_not(void **state)
{
    (void)state;
    struct absences absences = {0};
    absence_list found = {0};
    for (uint64_t i = 0; i < 100; i++)
        absences_add_over(&absences,
                          (struct absence){.from_ns = 10 * i, .to_ns = 10 * i + 4, .lane = (uint32_t)(i % 2)});
    *vec_push(&absences.under_way) = (struct absence){.from_ns = 995, .to_ns = UINT64_MAX, .lane = 2};
    assert_true(absences_are_many(&absences));
    absences_forget(&absences, 902);
    assert_false(absences_are_many(&absences));
    struct idle idle = {&absences, 1};
    assert_int_equal(idle_between(&idle, 902, 2000), 5 * 4);
    assert_int_equal(idle_between(&idle, 912, 931), 2 + 1);
    absences_find(&absences, 902, 1000, &found);
    assert_int_equal(found.n, 11);
    assert_int_equal(found.at[0].from_ns, 902);
    assert_int_equal(found.at[0].to_ns, 904);
    assert_int_equal(found.at[10].to_ns, 1000); /* not over yet */
    vec_release(&found);
    vec_release(&absences.over);
    vec_release(&absences.under_way);
}

/* Rank 1 tests in vain, without a CPU from `off_us` on (0 = it has one). */
static void fail_to_receive(struct scene *scene, uint64_t off_us, uint64_t n_polls, uint64_t leave_us)
{
    scene_enter(scene, 1, WW_ID_Test, scene->now_us[1]);
    if (off_us)
        be_preempted(scene, 1, off_us, leave_us - 1);
    scene_event(scene, (struct event){.kind = EV_POLLS, .loc = 1, .time_ns = leave_us * 1000, .bytes = n_polls});
    scene_leave(scene, 1, WW_ID_Test, leave_us);
}

static void receive_by_test(struct scene *scene, uint64_t request, uint32_t tag, uint64_t leave_us)
{
    scene_enter(scene, 1, WW_ID_Test, scene->now_us[1]);
    scene_event(
        scene,
        (struct event){
            .kind = EV_IRECV_DONE, .loc = 1, .time_ns = leave_us * 1000, .peer = 0, .tag = tag, .request = request});
    scene_leave(scene, 1, WW_ID_Test, leave_us);
}

/* The same sender; rank 1 has begun to receive at 10, or when rank 0 had sent, and polls for it with MPI_Test. */
static struct scene *a_sender_preempted_and_polls(uint64_t since_us, uint64_t poll_us)
{
    struct scene *scene = scene_make(3);
    uint64_t request = scene_irecv(scene, 1, 2);
    scene_work(scene, 0, "computes", 100);
    scene_send(scene, 0, 1, 7, 390);
    be_preempted(scene, 0, 150, 350);
    scene_work(scene, 1, "computes", since_us);
    while (scene->now_us[1] + poll_us < 395)
        fail_to_receive(scene, 0, 5, scene->now_us[1] + poll_us);
    receive_by_test(scene, request, 7, 400);
    scene_send(scene, 1, 2, 7, 401);
    scene_work(scene, 2, "computes", 10);
    scene_receive(scene, 2, 1, 7, 401);
    return scene;
}

/* Waiting for a message by many calls is one wait. Of many calls, those that are no longer told apart are taken to be
 * evenly mixed. */
static void polls_last_while_the_partner_has_no_cpu(void **state)
{
    (void)state;
    for (uint64_t since_us = 10; since_us <= 120; since_us += 110)
        for (uint64_t poll_us = 5; poll_us <= 90; poll_us += 85) {
            struct scene *scene = a_sender_preempted_and_polls(since_us, poll_us);
            scene_analyse(scene);
            assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 2), 390);
            assert_us(blame_on_machine(scene, 0), 200);
            assert_us(blame_on_transfer(scene), since_us == 10 ? 100 : 80 + 2); /* MPI_Irecv */
            assert_us(scene->analysis->ranks[1].descheduled_ns / 1000, 0);
            scene_free(scene);
        }
}

/* Ranks come to their first call at 20 and 100; the second one had no CPU before. */
static void start_up_without_a_cpu_is_the_machines(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    be_preempted(scene, 1, 10, 80);
    scene->now_us[0] = 20, scene->now_us[1] = 100;
    for (uint32_t rank = 0; rank < 2; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 105);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_BARRIER, 0), 80);
    assert_us(blame_on_machine(scene, 1), 70);
    assert_int_equal(scene->analysis->n_causes, 1);
    assert_us(scene->analysis->causes[0].waiting_ns / 1000, 10);
    scene_free(scene);
}

/* Rank 1 looks for a message after each piece of its work, and loses its CPU in the first look, when it offers it to
 * others. The message comes while it works. */
static void losing_the_cpu_in_a_look_is_no_wait(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint64_t request = scene_irecv(scene, 1, 2);
    scene_work(scene, 1, "piece", 50);
    fail_to_receive(scene, 51, 1, 250);
    scene_work(scene, 1, "piece", 290);
    fail_to_receive(scene, 0, 1, 291);
    scene_work(scene, 1, "piece", 330);
    receive_by_test(scene, request, 1, 331);
    scene_work(scene, 0, "slow", 300);
    scene_send(scene, 0, 1, 1, 301);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 1), 0);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(polls_last_while_the_partner_has_no_cpu),
                                       cmocka_unit_test(losing_the_cpu_in_a_look_is_no_wait),
                                       cmocka_unit_test(start_up_without_a_cpu_is_the_machines),
                                       cmocka_unit_test(a_transfer_lasts_while_the_partner_has_no_cpu),
                                       cmocka_unit_test(a_lack_of_cpu_hides_no_work),
                                       cmocka_unit_test(a_lack_of_cpu_hides_no_other_sender),
                                       cmocka_unit_test(others_without_a_cpu_hold_up_nothing),
                                       cmocka_unit_test(times_without_a_cpu_are_told_once),
                                       cmocka_unit_test(a_call_with_many_switches),
                                       cmocka_unit_test(a_call_that_never_ended_lacks_no_cpu),
                                       cmocka_unit_test(a_collective_lasts_for_those_who_are_still_in_it),
                                       cmocka_unit_test(what_is_forgotten_is_gone_and_the_rest_is_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
