/* SPDX-License-Identifier: BSD-3-Clause */
/* Each kind of wait: how long, who, and whose code is to blame. */
#include "tests/unit/scene/scene.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define assert_us(value, expected) assert_true(fabs((value) - (expected)) < 1e-3)

static void barrier_waits_for_the_last(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    static const uint64_t arrive_us[] = {100, 400, 250};
    for (uint32_t rank = 0; rank < 3; rank++) {
        scene_work(scene, rank, "work", arrive_us[rank]);
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 410);
    }
    const struct analysis *analysis = scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_BARRIER, 0), 300);
    assert_us(scene_waiting(scene, WAIT_BARRIER, 1), 0);
    assert_us(scene_waiting(scene, WAIT_BARRIER, 2), 150);
    assert_us(scene_blame(scene, "work", 1), 450);
    assert_int_equal(analysis->n_causes, 1);
    assert_int_equal(analysis->sites[0].n_instances, 1);
    assert_us(analysis->causes[0].direct_ns / 1000, 450);
    scene_free(scene);
}

static void allreduce_is_all_to_all(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_work(scene, 0, "work", 500);
    scene_work(scene, 1, "work", 100);
    for (uint32_t rank = 0; rank < 2; rank++)
        scene_collective(scene, rank, WW_ID_Allreduce, TRACE_NONE, 510);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_NXN, 1), 400);
    assert_us(scene_blame(scene, "work", 0), 400);
    scene_free(scene);
}

static void broadcast_waits_for_the_root(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    scene_work(scene, 0, "early", 100);
    scene_work(scene, 1, "root", 300);
    scene_work(scene, 2, "late", 500);
    scene_collective(scene, 0, WW_ID_Bcast, 1, 310);
    scene_collective(scene, 1, WW_ID_Bcast, 1, 305);
    scene_collective(scene, 2, WW_ID_Bcast, 1, 510);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_BROADCAST, 0), 200);
    assert_us(scene->analysis->waiting_ns / 1000, 200);
    assert_us(scene_blame(scene, "root", 1), 200);
    scene_free(scene);
}

static void reduce_root_waits_for_the_last(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    scene_work(scene, 0, "root", 100);
    scene_work(scene, 1, "middle", 300);
    scene_work(scene, 2, "late", 500);
    scene_collective(scene, 0, WW_ID_Reduce, 0, 510);
    scene_collective(scene, 1, WW_ID_Reduce, 0, 301);
    scene_collective(scene, 2, WW_ID_Reduce, 0, 505);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_EARLY_REDUCE, 0), 400);
    assert_us(scene->analysis->waiting_ns / 1000, 400);
    assert_us(scene_blame(scene, "late", 2), 400);
    scene_free(scene);
}

static void scan_waits_for_those_before(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    scene_work(scene, 0, "first", 100);
    scene_work(scene, 1, "second", 50);
    scene_work(scene, 2, "third", 400);
    scene_collective(scene, 0, WW_ID_Scan, TRACE_NONE, 102);
    scene_collective(scene, 1, WW_ID_Scan, TRACE_NONE, 104);
    scene_collective(scene, 2, WW_ID_Scan, TRACE_NONE, 402);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_EARLY_SCAN, 1), 50);
    assert_us(scene->analysis->waiting_ns / 1000, 50);
    scene_free(scene);
}

static void receive_waits_for_a_late_send(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_work(scene, 0, "slow", 500);
    scene_send(scene, 0, 1, 7, 501);
    scene_work(scene, 1, "quick", 100);
    scene_receive(scene, 1, 0, 7, 510);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 1), 400);
    assert_us(scene_blame(scene, "slow", 0), 400);
    scene_free(scene);
}

static void messages_keep_their_order(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_work(scene, 0, "a", 100);
    scene_send(scene, 0, 1, 7, 101);
    scene_work(scene, 0, "b", 300);
    scene_send(scene, 0, 1, 7, 301);
    scene_work(scene, 1, "quick", 50);
    scene_receive(scene, 1, 0, 7, 110);
    scene_receive(scene, 1, 0, 7, 310);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 1), 50 + 190);
    scene_free(scene);
}

static void early_message_joins_nothing(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_work(scene, 0, "quick", 100);
    scene_send(scene, 0, 1, 7, 101);
    scene_work(scene, 1, "slow", 500);
    scene_receive(scene, 1, 0, 7, 501);
    scene_analyse(scene);
    assert_us(scene->analysis->waiting_ns, 0);
    assert_int_equal(scene->analysis->n_causes, 0);
    scene_free(scene);
}

static void waitall_waits_for_the_latest(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    scene_work(scene, 0, "slow", 500);
    scene_send(scene, 0, 2, 1, 501);
    scene_work(scene, 1, "slower", 700);
    scene_send(scene, 1, 2, 1, 701);
    uint64_t from_0 = scene_irecv(scene, 2, 2), from_1 = scene_irecv(scene, 2, 4);
    scene_work(scene, 2, "quick", 100);
    scene_enter(scene, 2, WW_ID_Waitall, 100);
    scene_event(scene, (struct event){
                           .kind = EV_IRECV_DONE, .loc = 2, .time_ns = 705000, .peer = 0, .tag = 1, .request = from_0});
    scene_event(scene, (struct event){
                           .kind = EV_IRECV_DONE, .loc = 2, .time_ns = 705000, .peer = 1, .tag = 1, .request = from_1});
    scene_leave(scene, 2, WW_ID_Waitall, 705);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 2), 600);
    assert_us(scene_blame(scene, "slower", 1), 600);
    scene_free(scene);
}

static void polling_waits_from_the_first_poll(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_work(scene, 0, "slow", 500);
    scene_send(scene, 0, 1, 1, 501);
    uint64_t request = scene_irecv(scene, 1, 2);
    scene_work(scene, 1, "quick", 100);
    scene_enter(scene, 1, WW_ID_Test, 100);
    scene_event(scene, (struct event){.kind = EV_POLLS, .loc = 1, .time_ns = 100000, .bytes = 1000});
    scene_leave(scene, 1, WW_ID_Test, 503);
    scene_enter(scene, 1, WW_ID_Test, 504);
    scene_event(
        scene,
        (struct event){.kind = EV_IRECV_DONE, .loc = 1, .time_ns = 505000, .peer = 0, .tag = 1, .request = request});
    scene_leave(scene, 1, WW_ID_Test, 505);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 1), 400);
    assert_us(scene_blame(scene, "slow", 0), 400);
    assert_int_equal(scene->analysis->n_polls, 1000);
    scene_free(scene);
}

static void probe_waits_for_the_message_it_finds(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_work(scene, 0, "slow", 500);
    scene_send(scene, 0, 1, 1, 501);
    scene_work(scene, 1, "quick", 100);
    scene_enter(scene, 1, WW_ID_Probe, 100);
    scene_leave(scene, 1, WW_ID_Probe, 503);
    scene_receive(scene, 1, 0, 1, 505);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 1), 400);
    assert_string_equal(scene_site(scene, WAIT_LATE_SENDER)->call, "MPI_Probe");
    scene_free(scene);
}

static void rendezvous_waits_for_a_late_receiver(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_work(scene, 0, "quick", 100);
    scene_send(scene, 0, 1, 1, 420);
    scene_work(scene, 1, "slow", 400);
    scene_receive(scene, 1, 0, 1, 430);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_RECEIVER, 0), 300);
    assert_us(scene_blame(scene, "slow", 1), 300);
    scene_free(scene);
}

/* The receive was posted early, but a rendezvous needs the receiver inside MPI: it computes first. */
static void rendezvous_waits_for_the_receiver_to_come_back(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_work(scene, 0, "quick", 100);
    scene_send(scene, 0, 1, 1, 420);
    uint64_t request = scene_irecv(scene, 1, 2);
    scene_work(scene, 1, "slow", 400);
    scene_enter(scene, 1, WW_ID_Wait, 400);
    scene_event(
        scene,
        (struct event){.kind = EV_IRECV_DONE, .loc = 1, .time_ns = 425000, .peer = 0, .tag = 1, .request = request});
    scene_leave(scene, 1, WW_ID_Wait, 425);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_RECEIVER, 0), 300);
    assert_us(scene_blame(scene, "slow", 1), 300 * 398. / 400); /* posting took the other 2 */
    scene_free(scene);
}

/* Rank 0 sends to rank 1 and receives from rank 2, which is early. */
static void shift(struct scene *scene, uint64_t leave_us)
{
    uint64_t enter_us = scene->now_us[0];
    scene_enter(scene, 0, WW_ID_Sendrecv, enter_us);
    scene_event(scene,
                (struct event){.kind = EV_SEND, .time_ns = enter_us * 1000, .comm = scene->comm, .peer = 1, .tag = 1});
    scene_event(scene,
                (struct event){.kind = EV_RECV, .time_ns = leave_us * 1000, .comm = scene->comm, .peer = 2, .tag = 2});
    scene_leave(scene, 0, WW_ID_Sendrecv, leave_us);
}

/* Four times: rank 1 computes and receives `posts_us` after the begin of rank 0's call, which takes 400 us. */
static struct scene *shifts(const uint64_t posts_us[4])
{
    struct scene *scene = scene_make(3);
    for (uint64_t turn = 0; turn < 4; turn++) {
        uint64_t begin_us = 1000 * turn;
        scene_work(scene, 2, "early", begin_us + 50);
        scene_send(scene, 2, 0, 2, begin_us + 60);
        scene_work(scene, 0, "quick", begin_us + 100);
        shift(scene, begin_us + 500);
        scene_work(scene, 1, "slow", begin_us + 100 + posts_us[turn]);
        scene_receive(scene, 1, 0, 1, begin_us + 510);
        for (uint32_t rank = 0; rank < 3; rank++)
            scene_work(scene, rank, "rest", begin_us + 1000);
    }
    scene_analyse(scene);
    return scene;
}

/* It is not believed at the first time. */
static void a_shift_may_wait_for_who_receives(void **state)
{
    (void)state;
    struct scene *scene = shifts((const uint64_t[]){380, 390, 370, 390});
    assert_us(scene_waiting(scene, WAIT_LATE_RECEIVER, 0), 390 + 370 + 390);
    assert_true(scene_blame(scene, "slow", 1) > 0.9 * (390 + 370 + 390));
    scene_free(scene);
}

static void a_shift_does_not_wait_for_who_comes_by_chance(void **state)
{
    (void)state;
    struct scene *scene = shifts((const uint64_t[]){100, 290, 200, 50});
    assert_us(scene_waiting(scene, WAIT_LATE_RECEIVER, 0), 0);
    scene_free(scene);
}

static void buffered_send_waits_for_nobody(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_work(scene, 0, "quick", 100);
    scene_send(scene, 0, 1, 1, 150);
    scene_work(scene, 1, "slow", 400);
    scene_receive(scene, 1, 0, 1, 410);
    scene_analyse(scene);
    assert_us(scene->analysis->waiting_ns, 0);
    scene_free(scene);
}

static void waiting_for_a_send_waits_for_its_receiver(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint64_t request = scene_isend(scene, 0, 1, 1, 2);
    scene_work(scene, 0, "quick", 100);
    scene_enter(scene, 0, WW_ID_Wait, 100);
    scene_event(scene, (struct event){.kind = EV_ISEND_DONE, .loc = 0, .time_ns = 420000, .request = request});
    scene_leave(scene, 0, WW_ID_Wait, 420);
    scene_work(scene, 1, "slow", 400);
    scene_receive(scene, 1, 0, 1, 430);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_RECEIVER, 0), 300);
    scene_free(scene);
}

static void nonblocking_barrier_waits_for_the_last_start(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    static const uint64_t start_us[] = {100, 600}, wait_us[] = {200, 605};
    for (uint32_t rank = 0; rank < 2; rank++) {
        scene_work(scene, rank, "before", start_us[rank]);
        uint64_t request = scene_icollective(scene, rank, WW_ID_Ibarrier, start_us[rank] + 2);
        scene_work(scene, rank, "between", wait_us[rank]);
        scene_enter(scene, rank, WW_ID_Wait, wait_us[rank]);
        scene_event(scene, (struct event){.kind = EV_ICOLL_DONE,
                                          .loc = rank,
                                          .time_ns = 610000,
                                          .coll = WW_COLL_BARRIER,
                                          .peer = TRACE_NONE,
                                          .request = request});
        scene_leave(scene, rank, WW_ID_Wait, 610);
    }
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_ICOLL, 0), 400);
    assert_us(scene_waiting(scene, WAIT_ICOLL, 1), 0);
    scene_free(scene);
}

static void complete_barrier(struct scene *scene, uint32_t rank, uint64_t request, uint64_t leave_us)
{
    scene_enter(scene, rank, WW_ID_Wait, scene->now_us[rank]);
    scene_event(scene, (struct event){.kind = EV_ICOLL_DONE,
                                      .loc = rank,
                                      .time_ns = leave_us * 1000,
                                      .coll = WW_COLL_BARRIER,
                                      .peer = TRACE_NONE,
                                      .request = request});
    scene_leave(scene, rank, WW_ID_Wait, leave_us);
}

/* Both start the first at once, rank 1 the second at 400. Rank 0 completes that one before the first. */
static void nonblocking_collectives_match_as_they_were_started(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint64_t request[2][2];
    for (uint32_t rank = 0; rank < 2; rank++) {
        request[rank][0] = scene_icollective(scene, rank, WW_ID_Ibarrier, 2);
        scene_work(scene, rank, "between", rank ? 400 : 20);
        request[rank][1] = scene_icollective(scene, rank, WW_ID_Ibarrier, rank ? 402 : 22);
    }
    complete_barrier(scene, 0, request[0][1], 410);
    complete_barrier(scene, 0, request[0][0], 412);
    complete_barrier(scene, 1, request[1][0], 409);
    complete_barrier(scene, 1, request[1][1], 411);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_ICOLL, 0), 400 - 22);
    assert_us(scene_waiting(scene, WAIT_ICOLL, 1), 0);
    scene_free(scene);
}

static void creation_and_finalize_are_collective(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    static const uint64_t arrive_us[] = {100, 400}, finish_us[] = {800, 500};
    for (uint32_t rank = 0; rank < 2; rank++) {
        scene_work(scene, rank, "work", arrive_us[rank]);
        scene_enter(scene, rank, WW_ID_Comm_dup, arrive_us[rank]);
        scene_event(
            scene,
            (struct event){
                .kind = EV_COLL_END, .loc = rank, .time_ns = 410000, .coll = WW_COLL_CREATE, .peer = TRACE_NONE});
        scene_leave(scene, rank, WW_ID_Comm_dup, 410);
        scene_work(scene, rank, "more", finish_us[rank]);
        scene_enter(scene, rank, WW_ID_Finalize, finish_us[rank]);
        scene_leave(scene, rank, WW_ID_Finalize, 820);
    }
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_CREATE, 0), 300);
    assert_us(scene_waiting(scene, WAIT_FINALIZE, 1), 300);
    scene_free(scene);
}

static void sub_communicators_are_apart(void **state)
{
    (void)state;
    struct scene *scene = scene_make(4);
    static const uint32_t low[] = {2, 0}, high[] = {1, 3};
    uint32_t low_comm = trace_memory_comm(scene->trace, low, 2), high_comm = trace_memory_comm(scene->trace, high, 2);
    static const uint64_t arrive_us[] = {100, 200, 300, 900}, leave_us[] = {310, 910, 310, 910};
    for (uint32_t rank = 0; rank < 4; rank++) {
        scene->comm = rank % 2 ? high_comm : low_comm;
        scene_work(scene, rank, "work", arrive_us[rank]);
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, leave_us[rank]);
    }
    /* Ranks within the communicator: 0 there is rank 2 of the world. */
    scene->comm = low_comm;
    scene_work(scene, 2, "after", 500);
    scene_send(scene, 2, 1, 1, 502);
    scene_receive(scene, 0, 0, 1, 510);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_BARRIER, 0), 200);
    assert_us(scene_waiting(scene, WAIT_BARRIER, 1), 700);
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 0), 190);
    assert_us(scene_blame(scene, "after", 2), 190);
    scene_free(scene);
}

static void root_is_a_rank_of_its_communicator(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    static const uint32_t ranks[] = {2, 1};
    scene->comm = trace_memory_comm(scene->trace, ranks, 2);
    scene_work(scene, 2, "root", 400);
    scene_collective(scene, 2, WW_ID_Bcast, 0, 402);
    scene_work(scene, 1, "quick", 100);
    scene_collective(scene, 1, WW_ID_Bcast, 0, 410);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_BROADCAST, 1), 300);
    assert_us(scene_blame(scene, "root", 2), 300);
    scene_free(scene);
}

static void intercommunicator_peers_are_remote(void **state)
{
    (void)state;
    struct scene *scene = scene_make(4);
    static const uint32_t ranks[] = {0, 1, 2, 3};
    scene->comm = trace_memory_comm(scene->trace, ranks, 4);
    scene->trace->comms[scene->comm].n = scene->trace->comms[scene->comm].n_remote = 2;
    scene_work(scene, 3, "far", 400);
    scene_send(scene, 3, 0, 1, 402); /* remote rank 0 of the second group: rank 0 */
    scene_work(scene, 0, "near", 100);
    scene_receive(scene, 0, 1, 1, 410); /* remote rank 1 of the first group: rank 3 */
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 0), 300);
    assert_us(scene_blame(scene, "far", 3), 300);
    scene_free(scene);
}

static struct scene *make_two_groups(void)
{
    struct scene *scene = scene_make(4);
    static const uint32_t ranks[] = {0, 1, 2, 3};
    scene->comm = trace_memory_comm(scene->trace, ranks, 4);
    scene->trace->comms[scene->comm].n = scene->trace->comms[scene->comm].n_remote = 2;
    return scene;
}

/* Rank 0 ends before rank 1 of its own group has come. */
static void of_two_groups_each_waits_for_the_other(void **state)
{
    (void)state;
    static const uint64_t enter_us[] = {100, 400, 200, 150}, leave_us[] = {202, 402, 402, 402};
    struct scene *scene = make_two_groups();
    for (uint32_t rank = 0; rank < 4; rank++) {
        scene_work(scene, rank, rank == 1 ? "long" : "work", enter_us[rank]);
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, leave_us[rank]);
    }
    const struct analysis *analysis = scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_BARRIER, 0), 100);
    assert_us(scene_waiting(scene, WAIT_BARRIER, 1), 0);
    assert_us(scene_waiting(scene, WAIT_BARRIER, 2), 200);
    assert_us(scene_waiting(scene, WAIT_BARRIER, 3), 250);
    assert_us(analysis->unexplained_ns, 0);
    scene_free(scene);
}

/* Members of the root's group pass MPI_ROOT or MPI_PROC_NULL, and are no root by number. */
static void a_root_is_known_to_the_other_group(void **state)
{
    (void)state;
    struct scene *scene = make_two_groups();
    static const uint64_t sent_us[] = {300, 50, 100, 150};
    for (uint32_t rank = 0; rank < 4; rank++) {
        scene_work(scene, rank, "work", sent_us[rank]);
        scene_collective(scene, rank, WW_ID_Bcast, rank < 2 ? TRACE_NONE : 0, rank == 1 ? 51 : 302);
    }
    static const uint64_t reduced_us[] = {500, 400, 800, 600};
    for (uint32_t rank = 0; rank < 4; rank++) {
        scene_work(scene, rank, "work", reduced_us[rank]);
        scene_collective(scene, rank, WW_ID_Reduce, rank < 2 ? TRACE_NONE : 0, rank == 0 ? 802 : reduced_us[rank] + 2);
    }
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_BROADCAST, 1), 0);
    assert_us(scene_waiting(scene, WAIT_LATE_BROADCAST, 2), 200);
    assert_us(scene_waiting(scene, WAIT_LATE_BROADCAST, 3), 150);
    assert_us(scene_waiting(scene, WAIT_EARLY_REDUCE, 0), 300);
    assert_us(scene_waiting(scene, WAIT_EARLY_REDUCE, 2), 0);
    scene_free(scene);
}

static void peer_may_be_nobody_or_oneself(void **state)
{
    (void)state;
    struct scene *scene = scene_make(1);
    scene_work(scene, 0, "work", 100);
    scene_send(scene, 0, TRACE_NONE, 1, 101);
    scene_send(scene, 0, 0, 1, 102);
    scene_receive(scene, 0, 0, 1, 103);
    scene_receive(scene, 0, TRACE_NONE, 1, 104);
    scene_collective(scene, 0, WW_ID_Barrier, TRACE_NONE, 105);
    const struct analysis *analysis = scene_analyse(scene);
    assert_us(analysis->waiting_ns, 0);
    assert_int_equal(analysis->n_mpi_calls, 5);
    scene_free(scene);
}

/* Nothing tells who sent what rank 1 received; it is no transfer, though, and rank 1 is waited for. */
static void a_sender_that_is_not_recorded_is_not_known(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_enter(scene, 1, WW_ID_Recv, 50);
    scene_leave(scene, 1, WW_ID_Recv, 400);
    scene_work(scene, 0, "work", 100);
    for (uint32_t rank = 0; rank < 2; rank++)
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 410);
    const struct analysis *analysis = scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_BARRIER, 0), 300);
    assert_true(analysis->causes[0].waiting_ns > 240e3);
    assert_true(analysis->causes[0].is_unexplained);
    assert_us(analysis->efficiency.transfer_ns / 1000, 10 + 10);
    scene_free(scene);
}

static void a_killed_rank_is_waited_for(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    static const uint64_t arrive_us[] = {100, 300};
    for (uint32_t rank = 0; rank < 2; rank++) {
        scene_work(scene, rank, "work", arrive_us[rank]);
        scene_enter(scene, rank, WW_ID_Barrier, arrive_us[rank]);
    }
    scene_work(scene, 2, "crash", 400);
    for (uint32_t rank = 0; rank < 3; rank++)
        scene_event(scene, (struct event){.kind = EV_END, .loc = rank, .time_ns = 500000, .flags = WW_END_SIGNAL});
    const struct analysis *analysis = scene_analyse(scene);
    assert_int_equal(analysis->n_open_waits, 2);
    assert_int_equal(analysis->open_waits[0].for_rank, 2);
    assert_string_equal(analysis->open_waits[1].call, "MPI_Barrier");
    assert_us(analysis->waiting_ns, 0);
    /* It had been outside MPI from the start. */
    for (uint32_t i = 0; i < 2; i++) {
        assert_float_equal(analysis->open_waits[i].meanwhile_share, 0.8, 1e-9);
        assert_string_equal(analysis->steps[analysis->open_waits[i].meanwhile_step].routine, "crash");
    }
    scene_free(scene);
}

/* Both were killed while they exchanged data: what each waited for had been sent, unless it was of another tag. */
static void an_exchange_that_was_cut_off_is_no_deadlock(void **state)
{
    (void)state;
    for (int other_tag = 0; other_tag < 2; other_tag++) {
        struct scene *scene = scene_make(2);
        for (uint32_t rank = 0; rank < 2; rank++) {
            scene_irecv(scene, rank, 100);
            scene_isend(scene, rank, 1 - rank, 7, 110);
            scene_enter(scene, rank, WW_ID_Waitall, 120);
        }
        for (uint32_t rank = 0; rank < 2; rank++)
            scene_event(
                scene,
                (struct event){
                    .kind = EV_UNFINISHED, .loc = rank, .time_ns = 500000, .peer = 1 - rank, .tag = 7 + other_tag});
        for (uint32_t rank = 0; rank < 2; rank++)
            scene_event(scene, (struct event){.kind = EV_END, .loc = rank, .time_ns = 500000, .flags = WW_END_SIGNAL});
        const struct analysis *analysis = scene_analyse(scene);
        assert_int_equal(analysis->n_open_waits, 2);
        for (uint32_t rank = 0; rank < 2; rank++) {
            assert_int_equal(analysis->open_waits[rank].for_rank, 1 - rank);
            assert_int_equal(analysis->open_waits[rank].is_sent, !other_tag);
        }
        scene_free(scene);
    }
}

/* Both are in a barrier, of one communicator or of two, each of which lacks the other rank. */
static void barriers_of_two_communicators_are_told_apart(void **state)
{
    (void)state;
    for (uint32_t n_comms = 1; n_comms <= 2; n_comms++) {
        struct scene *scene = scene_make(2);
        uint32_t comms[] = {0, trace_memory_comm(scene->trace, (uint32_t[]){0, 1}, 2)};
        for (uint32_t rank = 0; rank < 2; rank++)
            scene_enter(scene, rank, WW_ID_Barrier, 100 + 10 * rank);
        for (uint32_t rank = 0; rank < 2; rank++)
            scene_event(scene, (struct event){.kind = EV_UNFINISHED,
                                              .loc = rank,
                                              .time_ns = 500000,
                                              .comm = comms[rank % n_comms],
                                              .peer = TRACE_NONE});
        for (uint32_t rank = 0; rank < 2; rank++)
            scene_event(scene, (struct event){.kind = EV_END, .loc = rank, .time_ns = 500000, .flags = WW_END_SIGNAL});
        const struct analysis *analysis = scene_analyse(scene);
        assert_int_equal(analysis->n_open_waits, 2);
        assert_int_equal(analysis->n_deadlock, n_comms == 2 ? 2 : 0);
        for (uint32_t rank = 0; rank < 2; rank++)
            assert_int_equal(analysis->open_waits[rank].is_for_other_comm, n_comms == 2);
        scene_free(scene);
    }
}

/* When the run breaks off, rank 0 is in a call that waits for nobody, rank 1 computes, and rank 2 is through. */
static void where_ranks_were_at_the_end_is_known(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    scene_work(scene, 0, "work", 100);
    scene_enter(scene, 0, WW_ID_Group_incl, 100);
    for (uint32_t rank = 1; rank < 3; rank++) {
        scene_enter(scene, rank, WW_ID_Comm_rank, 10);
        scene_leave(scene, rank, WW_ID_Comm_rank, 12);
        scene_work(scene, rank, "work", 500);
    }
    for (uint32_t rank = 0; rank < 3; rank++) {
        scene->trace->locations[rank].end_how = rank < 2 ? WW_END_NONE : WW_END_FINALIZE;
        scene_event(scene, (struct event){.kind = EV_END, .loc = rank, .time_ns = 500000, .flags = WW_END_NONE});
    }
    const struct analysis *analysis = scene_analyse(scene);
    assert_int_equal(analysis->n_last_places, 2);
    assert_string_equal(analysis->last_places[0].call, "MPI_Group_incl");
    assert_null(analysis->last_places[1].call);
    assert_string_equal(analysis->steps[analysis->last_places[1].step].routine, "work");
    assert_int_equal(scene_answer(scene), ANSWER_BROKE_OFF);
    scene_free(scene);
}

/* Both poll for each other when the job is ended: that is how it looks at any moment, unless it lasts. */
static void polls_that_were_cut_off_are_no_deadlock(void **state)
{
    (void)state;
    static const uint64_t cut_off_us[] = {1050, 1500};
    for (int lasts = 0; lasts < 2; lasts++) {
        struct scene *scene = scene_make(2);
        scene_work(scene, 0, "late", 300);
        scene_send(scene, 0, 1, 7, 310);
        scene_work(scene, 1, "early", 100);
        scene_receive(scene, 1, 0, 7, 320);
        for (uint32_t rank = 0; rank < 2; rank++) {
            scene_irecv(scene, rank, 900);
            scene_enter(scene, rank, WW_ID_Test, 1000);
        }
        for (uint32_t rank = 0; rank < 2; rank++) {
            uint64_t end_ns = cut_off_us[lasts] * 1000;
            scene_event(scene, (struct event){
                                   .kind = EV_UNFINISHED, .loc = rank, .time_ns = end_ns, .peer = 1 - rank, .tag = 7});
            scene_event(scene, (struct event){.kind = EV_END, .loc = rank, .time_ns = end_ns, .flags = WW_END_SIGNAL});
        }
        const struct analysis *analysis = scene_analyse(scene);
        assert_int_equal(analysis->n_open_waits, 2);
        assert_true(analysis->open_waits[0].polls);
        assert_int_equal(analysis->open_waits[0].longest_ns, 200000);
        assert_int_equal(analysis->n_deadlock, lasts ? 2 : 0);
        scene_free(scene);
    }
}

/* The root of a broadcast has been through it and waits for the other in turn: that one waits for nobody, and the two
 * are not in each other's way. */
static void a_root_that_went_on_is_not_waited_for(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_work(scene, 0, "work", 100);
    scene_collective(scene, 0, WW_ID_Bcast, 0, 110);
    scene_enter(scene, 0, WW_ID_Recv, 120);
    scene_work(scene, 1, "late", 400);
    scene_enter(scene, 1, WW_ID_Bcast, 400);
    scene_event(scene, (struct event){.kind = EV_END, .loc = 0, .peer = 1, .time_ns = 500000, .flags = WW_END_SIGNAL});
    scene_event(
        scene, (struct event){.kind = EV_END, .loc = 1, .peer = TRACE_NONE, .time_ns = 500000, .flags = WW_END_SIGNAL});
    const struct analysis *analysis = scene_analyse(scene);
    assert_int_equal(analysis->n_open_waits, 2);
    assert_int_equal(analysis->open_waits[0].for_rank, 1);
    assert_int_equal(analysis->open_waits[1].for_rank, TRACE_NONE);
    scene_free(scene);
}

/* Rank 0 has written its part and computes: rank 2 has not come. */
static void who_has_written_is_not_waited_for(void **state)
{
    (void)state;
    struct scene *scene = scene_make(3);
    scene_enter(scene, 0, WW_ID_File_write_all, 100);
    scene_event(scene, (struct event){.kind = EV_IO, .loc = 0, .time_ns = 110000, .comm = 0});
    scene_leave(scene, 0, WW_ID_File_write_all, 110);
    scene_work(scene, 0, "on", 500);
    scene_enter(scene, 1, WW_ID_File_write_all, 100);
    scene_work(scene, 2, "late", 500);
    for (uint32_t rank = 0; rank < 3; rank++)
        scene_event(scene, (struct event){.kind = EV_END, .loc = rank, .time_ns = 500000, .flags = WW_END_SIGNAL});
    const struct analysis *analysis = scene_analyse(scene);
    assert_int_equal(analysis->n_open_waits, 1);
    assert_int_equal(analysis->open_waits[0].for_rank, 2);
    scene_free(scene);
}

static void fence_is_a_barrier(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    static const uint64_t arrive_us[] = {100, 400};
    for (uint32_t rank = 0; rank < 2; rank++) {
        scene_work(scene, rank, "work", arrive_us[rank]);
        scene_enter(scene, rank, WW_ID_Win_fence, arrive_us[rank]);
        scene_event(scene, (struct event){.kind = EV_RMA_SYNC, .loc = rank, .time_ns = 410000, .peer = TRACE_NONE});
        scene_leave(scene, rank, WW_ID_Win_fence, 410);
    }
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_RMA, 0), 300);
    assert_us(scene_blame(scene, "work", 1), 300);
    scene_free(scene);
}

static void epoch_call(struct scene *scene, uint32_t rank, enum ww_call_id call, uint32_t peer, uint64_t leave_us)
{
    scene_enter(scene, rank, call, scene->now_us[rank]);
    scene_event(scene, (struct event){.kind = EV_RMA_SYNC, .loc = rank, .time_ns = leave_us * 1000, .peer = peer});
    scene_leave(scene, rank, call, leave_us);
}

/* Rank 1 exposes late: MPI_Win_start lets rank 0 go on, its MPI_Win_complete waits; then rank 1 waits for rank 0. */
static void epochs_wait_for_each_other(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    epoch_call(scene, 0, WW_ID_Win_start, 1, 2);
    scene_work(scene, 0, "quick", 100);
    epoch_call(scene, 0, WW_ID_Win_complete, 1, 410);
    scene_work(scene, 1, "slow", 400);
    epoch_call(scene, 1, WW_ID_Win_post, 0, 402);
    epoch_call(scene, 1, WW_ID_Win_wait, 0, 412);
    scene_work(scene, 0, "more", 900);
    epoch_call(scene, 0, WW_ID_Win_start, 1, 902);
    epoch_call(scene, 0, WW_ID_Win_complete, 1, 904);
    epoch_call(scene, 1, WW_ID_Win_post, 0, 414);
    epoch_call(scene, 1, WW_ID_Win_wait, 0, 910);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_RMA, 0), 300);
    assert_us(scene_waiting(scene, WAIT_RMA, 1), 902 - 414);
    scene_free(scene);
}

/* MPI_Win_start is over as soon as the post is entered, which is recorded when the post itself is. */
static void start_waits_for_a_post_that_ends_later(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    epoch_call(scene, 0, WW_ID_Win_start, 1, 403);
    epoch_call(scene, 0, WW_ID_Win_complete, 1, 410);
    scene_work(scene, 1, "slow", 400);
    epoch_call(scene, 1, WW_ID_Win_post, 0, 405);
    epoch_call(scene, 1, WW_ID_Win_wait, 0, 412);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_RMA, 0), 400);
    assert_us(scene_blame(scene, "slow", 1), 400);
    scene_free(scene);
}

/* A post comes any time after MPI_Win_start has returned: it is not taken for the next epoch's. */
static void late_posts_stay_with_their_epochs(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    for (uint64_t at_us = 0; at_us < 300000; at_us += 60000) {
        scene_work(scene, 0, "quick", at_us + 10);
        epoch_call(scene, 0, WW_ID_Win_start, 1, at_us + 12);
        epoch_call(scene, 0, WW_ID_Win_complete, 1, at_us + 50010);
        scene_work(scene, 1, "slow", at_us + 50000);
        epoch_call(scene, 1, WW_ID_Win_post, 0, at_us + 50002);
        epoch_call(scene, 1, WW_ID_Win_wait, 0, at_us + 50020);
    }
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_RMA, 0), 5 * (50000 - 12));
    assert_true(scene_blame(scene, "slow", 1) > 0.99 * scene_waiting(scene, WAIT_RMA, 0));
    scene_free(scene);
}

/* A line of three: rank 0 receives from rank 1 only, so that rank 2 cannot make it wait. */
static struct scene *line_make(void)
{
    static const uint32_t peers[][2] = {{1, 1}, {0, 2}, {1, 1}};
    static struct trace_neighbors neighbors[3];
    struct scene *scene = scene_make(3);
    for (uint32_t rank = 0; rank < 3; rank++)
        neighbors[rank] = (struct trace_neighbors){
            .rank = rank, .n_in = rank == 1 ? 2 : 1, .n_out = rank == 1 ? 2 : 1, .peers = peers[rank]};
    scene->trace->neighbors = neighbors;
    scene->trace->n_neighbors = 3;
    return scene;
}

static const uint64_t line_arrive_us[] = {100, 300, 900}, line_leave_us[] = {310, 910, 910};

static void neighbours_wait_for_those_they_receive_from(void **state)
{
    (void)state;
    struct scene *scene = line_make();
    for (uint32_t rank = 0; rank < 3; rank++) {
        scene_work(scene, rank, "work", line_arrive_us[rank]);
        scene_collective(scene, rank, WW_ID_Neighbor_allgather, TRACE_NONE, line_leave_us[rank]);
    }
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_NEIGHBOR, 0), 200);
    assert_us(scene_waiting(scene, WAIT_NEIGHBOR, 1), 600);
    assert_us(scene_waiting(scene, WAIT_NEIGHBOR, 2), 0);
    scene_free(scene);
}

/* In archives its completion has the operation of the same data flow: only its start tells that it is a
 * neighbourhood's.
 */
static void nonblocking_neighbours_do_so_too(void **state)
{
    (void)state;
    struct scene *scene = line_make();
    for (uint32_t rank = 0; rank < 3; rank++) {
        scene_work(scene, rank, "work", line_arrive_us[rank] - 5);
        uint64_t request = scene_icollective(scene, rank, WW_ID_Ineighbor_allgather, line_arrive_us[rank]);
        scene_enter(scene, rank, WW_ID_Wait, line_arrive_us[rank]);
        scene_event(scene, (struct event){.kind = EV_ICOLL_DONE,
                                          .loc = rank,
                                          .time_ns = line_leave_us[rank] * 1000,
                                          .coll = WW_COLL_ALLGATHER,
                                          .peer = TRACE_NONE,
                                          .request = request});
        scene_leave(scene, rank, WW_ID_Wait, line_leave_us[rank]);
    }
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_ICOLL, 0), 195);
    assert_us(scene_waiting(scene, WAIT_ICOLL, 1), 595);
    assert_us(scene_waiting(scene, WAIT_ICOLL, 2), 0);
    assert_true(scene->analysis->unexplained_ns == 0);
    scene_free(scene);
}

/* Of two ranks; location 2 is a second thread of rank 0. */
static struct scene *scene_with_thread(void)
{
    struct scene *scene = scene_make(2);
    struct trace *trace = scene->trace;
    struct trace_location *locations = arena_array(&trace->arena, struct trace_location, 3);
    memcpy(locations, trace->locations, 2 * sizeof *locations);
    locations[2] = (struct trace_location){.rank = 0, .thread = 1};
    trace->locations = locations;
    trace->n_locations = 3;
    return scene;
}

/* It receives what rank 1 sends; its wait is explained like any other, beside the main thread. */
static void threads_have_chains_of_their_own(void **state)
{
    (void)state;
    struct scene *scene = scene_with_thread();
    for (uint32_t rank = 0; rank < 2; rank++) {
        scene_work(scene, rank, "both", 100);
        scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 101);
    }
    scene_work(scene, 0, "main", 2000);
    scene->now_us[2] = 150;
    scene_receive(scene, 2, 1, 7, 1010);
    scene_work(scene, 1, "slow", 1000);
    scene_send(scene, 1, 0, 7, 1001);
    scene_collective(scene, 0, WW_ID_Barrier, TRACE_NONE, 2001);
    scene_collective(scene, 1, WW_ID_Barrier, TRACE_NONE, 2001);
    const struct analysis *analysis = scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 0), 850);
    assert_true(scene_blame(scene, "slow", 1) > 0.99 * 850);
    assert_us(scene_waiting(scene, WAIT_BARRIER, 1), 999);
    assert_us(analysis->efficiency.all_ns / 1000, 2001 + 2001 + 860);
    assert_us(analysis->efficiency.compute_ns / 1000, 1999 + 999);
    assert_us(analysis->efficiency.waiting_ns / 1000, 850 + 999);
    scene_free(scene);
}

/* It works from 150 us on and then sends, for the first time. The main thread's last call before that ends at 101 us,
 * before it begins, or at 601, when it has worked for a while. */
static void what_a_thread_does_before_its_first_call_is_known(void **state)
{
    (void)state;
    for (int calls_meanwhile = 0; calls_meanwhile < 2; calls_meanwhile++) {
        struct scene *scene = scene_with_thread();
        for (uint32_t rank = 0; rank < 2; rank++) {
            scene_work(scene, rank, "both", 100);
            scene_collective(scene, rank, WW_ID_Barrier, TRACE_NONE, 101);
        }
        if (calls_meanwhile) {
            scene_work(scene, 0, "main", 600);
            scene_send(scene, 0, 1, 8, 601);
            scene_receive(scene, 1, 0, 8, 601);
        }
        scene->now_us[2] = 150;
        scene_work(scene, 2, "first", 2000);
        scene_send(scene, 2, 1, 7, 2001);
        scene_receive(scene, 1, 0, 7, 2001);
        const struct analysis *analysis = scene_analyse(scene);
        double waited = calls_meanwhile ? 1400 : 1900;
        assert_true(scene_blame(scene, "first", 0) > 0.95 * waited);
        assert_true(analysis->unexplained_ns == 0);
        scene_free(scene);
    }
}

static void a_lost_send_holds_nothing_up(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    scene_work(scene, 1, "quick", 100);
    scene_receive(scene, 1, 0, 7, 300);
    scene_work(scene, 1, "next", 350);
    scene_collective(scene, 1, WW_ID_Barrier, TRACE_NONE, 5010);
    scene_work(scene, 0, "slow", 5000);
    scene_collective(scene, 0, WW_ID_Barrier, TRACE_NONE, 5010);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_BARRIER, 1), 4650);
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 1), 0);
    scene_free(scene);
}

/* Nobody sees when it does; later receives meet the sends of their own. */
static void a_freed_receive_takes_its_message(void **state)
{
    (void)state;
    struct scene *scene = scene_make(2);
    uint64_t request = scene_irecv(scene, 0, 1);
    scene_enter(scene, 0, WW_ID_Request_free, 1);
    scene_event(
        scene,
        (struct event){
            .kind = EV_CANCELLED, .time_ns = 2000, .comm = scene->comm, .peer = 1, .tag = 7, .request = request});
    scene_leave(scene, 0, WW_ID_Request_free, 2);
    scene_receive(scene, 0, 1, 7, 305);
    scene_send(scene, 1, 0, 7, 10);
    scene_work(scene, 1, "late", 300);
    scene_send(scene, 1, 0, 7, 302);
    scene_analyse(scene);
    assert_us(scene_waiting(scene, WAIT_LATE_SENDER, 0), 298);
    scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_freed_receive_takes_its_message),
        cmocka_unit_test(barrier_waits_for_the_last),
        cmocka_unit_test(allreduce_is_all_to_all),
        cmocka_unit_test(broadcast_waits_for_the_root),
        cmocka_unit_test(reduce_root_waits_for_the_last),
        cmocka_unit_test(scan_waits_for_those_before),
        cmocka_unit_test(receive_waits_for_a_late_send),
        cmocka_unit_test(messages_keep_their_order),
        cmocka_unit_test(early_message_joins_nothing),
        cmocka_unit_test(waitall_waits_for_the_latest),
        cmocka_unit_test(polling_waits_from_the_first_poll),
        cmocka_unit_test(probe_waits_for_the_message_it_finds),
        cmocka_unit_test(rendezvous_waits_for_a_late_receiver),
        cmocka_unit_test(rendezvous_waits_for_the_receiver_to_come_back),
        cmocka_unit_test(a_shift_may_wait_for_who_receives),
        cmocka_unit_test(a_shift_does_not_wait_for_who_comes_by_chance),
        cmocka_unit_test(buffered_send_waits_for_nobody),
        cmocka_unit_test(waiting_for_a_send_waits_for_its_receiver),
        cmocka_unit_test(nonblocking_barrier_waits_for_the_last_start),
        cmocka_unit_test(nonblocking_collectives_match_as_they_were_started),
        cmocka_unit_test(creation_and_finalize_are_collective),
        cmocka_unit_test(sub_communicators_are_apart),
        cmocka_unit_test(root_is_a_rank_of_its_communicator),
        cmocka_unit_test(intercommunicator_peers_are_remote),
        cmocka_unit_test(of_two_groups_each_waits_for_the_other),
        cmocka_unit_test(a_root_is_known_to_the_other_group),
        cmocka_unit_test(peer_may_be_nobody_or_oneself),
        cmocka_unit_test(a_sender_that_is_not_recorded_is_not_known),
        cmocka_unit_test(a_killed_rank_is_waited_for),
        cmocka_unit_test(an_exchange_that_was_cut_off_is_no_deadlock),
        cmocka_unit_test(barriers_of_two_communicators_are_told_apart),
        cmocka_unit_test(where_ranks_were_at_the_end_is_known),
        cmocka_unit_test(polls_that_were_cut_off_are_no_deadlock),
        cmocka_unit_test(a_root_that_went_on_is_not_waited_for),
        cmocka_unit_test(who_has_written_is_not_waited_for),
        cmocka_unit_test(fence_is_a_barrier),
        cmocka_unit_test(epochs_wait_for_each_other),
        cmocka_unit_test(start_waits_for_a_post_that_ends_later),
        cmocka_unit_test(late_posts_stay_with_their_epochs),
        cmocka_unit_test(neighbours_wait_for_those_they_receive_from),
        cmocka_unit_test(nonblocking_neighbours_do_so_too),
        cmocka_unit_test(threads_have_chains_of_their_own),
        cmocka_unit_test(what_a_thread_does_before_its_first_call_is_known),
        cmocka_unit_test(a_lost_send_holds_nothing_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
