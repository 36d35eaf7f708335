/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and non-blocking collectives that only move on while a partner, who computes, is in MPI. */
#include "analyze/pipeline.h"
#include "tests/unit/scene/scene.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define assert_us(value, expected) assert_true(fabs((value) - (expected)) < 1e-3)

static void wait_for(struct scene *scene, uint32_t rank, enum event_kind kind, uint64_t request, uint64_t enter_us,
                     uint64_t leave_us)
{
    scene_enter(scene, rank, WW_ID_Wait, enter_us);
    scene_event(scene, (struct event){.kind = kind,
                                      .loc = rank,
                                      .time_ns = leave_us * 1000,
                                      .coll = kind == EV_ICOLL_DONE ? WW_COLL_ALLREDUCE : WW_COLL_NONE,
                                      .peer = TRACE_NONE,
                                      .request = request});
    scene_leave(scene, rank, WW_ID_Wait, leave_us);
}

/* Rank 0 computes from 2 to 400 between MPI_Isend and MPI_Wait. */
static void send_and_compute(struct scene *scene, uint64_t sent_us)
{
    uint64_t request = scene_isend(scene, 0, 1, 7, 2);
    scene_work(scene, 0, "computes", 400);
    wait_for(scene, 0, EV_ISEND_DONE, request, 400, sent_us);
}

static void a_receiver_waits_for_the_sender_to_come_back(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_work(scene, 1, "short", 50);
    scene_receive(scene, 1, 0, 7, 420);
    send_and_compute(scene, 410);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_PROGRESS, 1), 350);
    assert_true(scene_blame(scene, "computes", 0) > 345);
    assert_us(scene->analysis->waiting_ns / 1000, 350);
    scene_free(scene);
}

/* The receiver is slower to see it than the sender, who has gone to compute again, and even come back. */
static void what_the_sender_does_afterwards_does_not_matter(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_work(scene, 1, "short", 50);
    scene_receive(scene, 1, 0, 7, 520);
    send_and_compute(scene, 410);
    scene_work(scene, 0, "later", 500);
    scene_isend(scene, 0, 1, 8, 501);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_PROGRESS, 1), 350);
    assert_us(scene_blame(scene, "later", 0), 0);
    scene_free(scene);
}

/* A message that came while its sender computed needs nobody's help, and nor do others like it. */
static void a_message_that_comes_by_itself_waits_for_nobody(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_work(scene, 1, "short", 50);
    scene_receive(scene, 1, 0, 7, 60);
    send_and_compute(scene, 410);
    scene_work(scene, 1, "short", 500);
    scene_receive(scene, 1, 0, 7, 820);
    uint64_t request = scene_isend(scene, 0, 1, 7, 412);
    scene_work(scene, 0, "computes", 800);
    wait_for(scene, 0, EV_ISEND_DONE, request, 800, 810);
    scene_analyse(scene);
    assert_us(scene->analysis->waiting_ns / 1000, 0);
    scene_free(scene);
}

/* A sender that has completed its message, or sent it by MPI_Send, is not waited for when it goes away. */
static void a_completed_send_needs_no_progress(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_send(scene, 0, 1, 7, 2);
    scene_work(scene, 0, "computes", 400);
    scene_send(scene, 0, 1, 8, 402);
    scene_work(scene, 1, "short", 50);
    scene_receive(scene, 1, 0, 7, 410);
    scene_receive(scene, 1, 0, 8, 412);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_PROGRESS, 1), 0);
    scene_free(scene);
}

/* Both have posted their receives and send. Rank 1 comes back with its own send, and completes its receive later than
 * rank 0's send has ended. */
static void a_sender_waits_for_the_receiver_to_come_back(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint64_t requests[2];
    for (uint32_t rank = 0; rank < 2; rank++)
        requests[rank] = scene_irecv(scene, rank, 2);
    scene_work(scene, 0, "short", 50);
    scene_send(scene, 0, 1, 7, 405);
    scene_work(scene, 1, "computes", 400);
    scene_send(scene, 1, 0, 7, 410);
    for (uint32_t rank = 0; rank < 2; rank++) {
        scene_enter(scene, rank, WW_ID_Wait, 420);
        scene_event(scene, (struct event){.kind = EV_IRECV_DONE,
                                          .loc = rank,
                                          .time_ns = 421000,
                                          .peer = 1 - rank,
                                          .tag = 7,
                                          .request = requests[rank]});
        scene_leave(scene, rank, WW_ID_Wait, 421);
    }
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_RECEIVER, 0), 350);
    assert_true(scene_blame(scene, "computes", 1) > 345);
    assert_us(scene->analysis->waiting_ns / 1000, 350);
    scene_free(scene);
}

/* Both overlap the same work with their messages. Rank 1, who is late, posts its receive and goes on to that work,
 * which rank 0 has done before. */
static void what_both_overlap_is_not_to_blame(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_irecv(scene, 0, 2);
    scene_work(scene, 0, "both", 200);
    scene_send(scene, 0, 1, 7, 705);
    scene_work(scene, 1, "late", 500);
    uint64_t request = scene_irecv(scene, 1, 502);
    scene_work(scene, 1, "both", 700);
    scene_enter(scene, 1, WW_ID_Wait, 700);
    scene_event(
        scene,
        (struct event){.kind = EV_IRECV_DONE, .loc = 1, .time_ns = 705000, .peer = 0, .tag = 7, .request = request});
    scene_leave(scene, 1, WW_ID_Wait, 705);
    scene_analyse(scene);
    assert_us(scene_blame(scene, "both", 1), 0);
    assert_us(scene_waiting(scene, WAIT_LATE_RECEIVER, 0), 500);
    assert_us(scene->analysis->waiting_ns / 1000, 500);
    assert_true(scene_blame(scene, "late", 1) > 497);
    scene_free(scene);
}

/* The sender has no CPU until the receiver, who has got the message long ago, comes back and yields. */
static void a_receiver_that_has_the_message_is_not_waited_for(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint64_t request = scene_irecv(scene, 1, 2);
    scene_work(scene, 0, "short", 50);
    scene_send(scene, 0, 1, 7, 405);
    scene_enter(scene, 1, WW_ID_Wait, 40);
    scene_event(scene, (struct event){
                           .kind = EV_IRECV_DONE, .loc = 1, .time_ns = 60000, .peer = 0, .tag = 7, .request = request});
    scene_leave(scene, 1, WW_ID_Wait, 60);
    scene_irecv(scene, 1, 62);
    scene_work(scene, 1, "computes", 400);
    scene_send(scene, 1, 0, 8, 402);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_RECEIVER, 0), 0);
    assert_us(scene_blame(scene, "computes", 1), 0);
    scene_free(scene);
}

/* The archive lacks rank 0's main thread, so nothing is known of where it ran. */
static void a_partner_without_a_main_thread_is_borne(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    ((struct trace_location *)scene->trace->locations)[0].thread = 1;
    scene_work(scene, 1, "short", 50);
    scene_receive(scene, 1, 0, 7, 420);
    send_and_compute(scene, 410);
    /* Nobody knows what its main thread did: the parts of the time lack that. */
    scene->analysis = analysis_run(scene->trace, NULL, NULL, 0);
    assert_non_null(scene->analysis);
    assert_int_equal(scene->analysis->n_mpi_calls, 3);
    scene_free(scene);
}

/* All start at 0; rank r computes until until_us[r] and sees the end at done_us[r]. */
static struct scene *reduction(const uint64_t until_us[3], const uint64_t done_us[3])
{
    static const char *const names[] = {"computes0", "computes1", "computes2"};
    struct scene *scene = scene_make(3);
    for (uint32_t rank = 0; rank < 3; rank++) {
        uint64_t request = scene_icollective(scene, rank, WW_ID_Iallreduce, 2);
        scene_work(scene, rank, names[rank], until_us[rank]);
        wait_for(scene, rank, EV_ICOLL_DONE, request, until_us[rank], done_us[rank]);
        scene_work(scene, rank, "after", 900);
    }
    scene_analyse(scene);
    return scene;
}

static void a_collective_waits_for_the_last_member_to_come_back(void **state)
{
    (void)state;
    struct scene *scene = reduction((uint64_t[]){100, 400, 250}, (uint64_t[]){450, 410, 430});
    assert_us(scene_waiting(scene, WAIT_PROGRESS, 0), 300);
    assert_us(scene_waiting(scene, WAIT_PROGRESS, 2), 150);
    assert_us(scene_waiting(scene, WAIT_PROGRESS, 1), 0);
    assert_true(scene_blame(scene, "computes1", 1) > 445);
    scene_free(scene);
}

/* Ranks 0 and 2 are through while rank 1 computes. */
static void a_collective_that_goes_on_alone_waits_for_nobody(void **state)
{
    (void)state;
    struct scene *scene = reduction((uint64_t[]){100, 600, 120}, (uint64_t[]){135, 610, 136});
    assert_us(scene->analysis->waiting_ns / 1000, 0);
    scene_free(scene);
}

/* Failing polls; n_polls 0: they go on with those before, after a nap. */
static void poll(struct scene *scene, uint32_t rank, uint64_t n_polls, uint64_t leave_us)
{
    scene_enter(scene, rank, WW_ID_Test, scene->now_us[rank]);
    scene_event(scene, (struct event){.kind = EV_POLLS, .loc = rank, .time_ns = leave_us * 1000, .bytes = n_polls});
    scene_leave(scene, rank, WW_ID_Test, leave_us);
}

/* Rank 2 starts last, at 1000. Rank 1 polls and naps, from 1050 to 1300 for the last time but one, rank 0 is through
 * when it looks again. All three meet when rank 2 has worked on until 2000. */
static struct scene *reduction_with_naps(void)
{
    struct scene *scene = scene_make(3);
    static const uint64_t start_us[] = {300, 200, 1000};
    uint64_t request[3];
    for (uint32_t rank = 0; rank < 3; rank++) {
        scene_work(scene, rank, rank == 2 ? "long" : "short", start_us[rank] - 2);
        request[rank] = scene_icollective(scene, rank, WW_ID_Iallreduce, start_us[rank]);
    }
    poll(scene, 1, 9, 1050);
    scene_work(scene, 1, "nap", 1300);
    poll(scene, 1, 0, 1302);
    scene_work(scene, 1, "nap", 1340);
    wait_for(scene, 1, EV_ICOLL_DONE, request[1], 1340, 1345);
    wait_for(scene, 0, EV_ICOLL_DONE, request[0], 300, 1310);
    scene_work(scene, 2, "more", 1990);
    wait_for(scene, 2, EV_ICOLL_DONE, request[2], 1990, 1991);
    scene_work(scene, 2, "more", 2000);
    for (uint32_t rank = 0; rank < 3; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 2005);
    scene_analyse(scene);
    return scene;
}

/* The last start is certain; the return to MPI explains what is left, as far as rank 1 was outside. */
static void a_nap_explains_no_more_than_itself(void **state)
{
    (void)state;
    struct scene *scene = reduction_with_naps();
    assert_us(scene_waiting(scene, WAIT_ICOLL, 0), 1000 - 2 - 300);
    assert_us(scene_waiting(scene, WAIT_ICOLL, 1), 1000 - 2 - 200);
    assert_us(scene_waiting(scene, WAIT_PROGRESS, 0), 1300 - 1050);
    assert_true(scene_blame(scene, "nap", 1) > 200); /* the rest: it polled where rank 0 waited */
    assert_us(scene_signed(scene, WAIT_PROGRESS, "nap"), 1300 - 1050);
    assert_us(scene_signed(scene, WAIT_PROGRESS, "long"), 0);
    scene_free(scene);
}

/* What ranks 0 and 1 waited for already cancels: rank 0 went on from rank 1, which had gone on from rank 2. */
static void who_naps_has_gone_on_from_its_own_release(void **state)
{
    (void)state;
    struct scene *scene = reduction_with_naps();
    assert_us(scene_signed(scene, WAIT_BARRIER, "long"), 0);
    assert_us(scene_signed(scene, WAIT_BARRIER, "short"), 0);
    assert_us(scene_signed(scene, WAIT_BARRIER, "more"), 2 * (1990 - 998 - 2 + 9));
    assert_true(scene_blame(scene, "more", 2) >
                0.99 * (scene_waiting(scene, WAIT_BARRIER, 0) + scene_waiting(scene, WAIT_BARRIER, 1)));
    scene_free(scene);
}

/* Rank 1 has begun a large send and then polls for something else, with naps, to the end of the run, while ranks 0 and
 * 2 go on. Nobody can wait for that end to be known. */
static void who_polls_for_ever_holds_up_nothing(void **state)
{
    (void)state;
    enum { ROUNDS = 25000 };
    struct scene *scene = scene_make(3);
    uint64_t request = scene_isend(scene, 1, 0, 7, 2);
    poll(scene, 1, 9, 10);
    scene_work(scene, 1, "nap", 400);
    scene_work(scene, 0, "short", 50);
    scene_receive(scene, 0, 1, 7, 410);
    for (uint32_t round = 0; round < ROUNDS; round++)
        for (uint32_t rank = 0; rank < 3; rank += 2) {
            uint64_t now_us = scene->now_us[rank];
            scene_send(scene, rank, 2 - rank, 1, now_us + 1);
            scene_receive(scene, 2 - rank, rank, 1,
                          scene->now_us[2 - rank] > now_us + 1 ? scene->now_us[2 - rank] + 1 : now_us + 2);
        }
    while (scene->now_us[1] < scene->now_us[0]) {
        poll(scene, 1, 0, scene->now_us[1] + 2);
        scene_work(scene, 1, "nap", scene->now_us[1] + 300);
    }
    scene->now_us[0] = scene->now_us[1];
    wait_for(scene, 1, EV_ISEND_DONE, request, scene->now_us[0], scene->now_us[0] + 1);
    scene_analyse(scene);
    assert_int_equal(scene->analysis->n_forced, 0);
    assert_us(scene_waiting(scene, WAIT_PROGRESS, 0), 350);
    assert_true(scene_blame(scene, "nap", 1) > 345);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receiver_waits_for_the_sender_to_come_back),
        cmocka_unit_test(what_the_sender_does_afterwards_does_not_matter),
        cmocka_unit_test(a_message_that_comes_by_itself_waits_for_nobody),
        cmocka_unit_test(a_completed_send_needs_no_progress),
        cmocka_unit_test(a_sender_waits_for_the_receiver_to_come_back),
        cmocka_unit_test(what_both_overlap_is_not_to_blame),
        cmocka_unit_test(a_receiver_that_has_the_message_is_not_waited_for),
        cmocka_unit_test(a_partner_without_a_main_thread_is_borne),
        cmocka_unit_test(a_collective_waits_for_the_last_member_to_come_back),
        cmocka_unit_test(a_collective_that_goes_on_alone_waits_for_nobody),
        cmocka_unit_test(a_nap_explains_no_more_than_itself),
        cmocka_unit_test(who_naps_has_gone_on_from_its_own_release),
        cmocka_unit_test(who_polls_for_ever_holds_up_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
