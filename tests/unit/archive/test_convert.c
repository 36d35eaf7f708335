/* SPDX-License-Identifier: BSD-3-Clause */
/* From spool files through OTF2 back to events: what was recorded is what the passes see. */
#include "analyze/files/paths.h"
#include "tests/unit/archive/conversion.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

static void test_messages(void **state)
{
    (void)state;
    char *dir = run_dir_new();
    struct spool_image a = image_events(0, 2, 0), b = image_events(1, 2, 0);
    image_world(&a);
    image_world(&b);
    image_call(&a, CALL(Send, 0, 10, .peer = 1, .tag = 5, .bytes_out = 100));
    image_call(&b, CALL(Recv, 1, 11, .peer = 0, .tag = 5, .bytes_in = 100));
    image_call(&a, CALL(Isend, 20, 22, .peer = 1, .tag = 6, .bytes_out = 8, .request = 0xffff0001));
    image_call(&a, CALL(Irecv, 24, 26, .peer = 1, .tag = 7, .request = 0xffff0002));
    image_call(&a, CALL(Waitall, 28, 40, .comm = 0));
    image_done(&a, WW_DONE, (struct ww_done){.request = 0xffff0001});
    image_done(&a, WW_DONE, (struct ww_done){.request = 0xffff0002, .peer = 1, .tag = 7, .bytes = 16});
    image_call(&b, CALL(Sendrecv, 30, 42, .peer = 0, .tag = 7, .bytes_out = 16));
    image_done(&b, WW_DONE, (struct ww_done){.peer = 0, .tag = 6, .bytes = 8});
    image_call(&b, CALL(Send, 50, 51, .flags = WW_F_NULL));
    save(&a, dir);
    save(&b, dir);
    struct trace *trace = make_trace(dir);
    static const char *const expected[] = {"0 enter MPI_Send frame -1",
                                           "0 send to 1 comm 0 tag 5 bytes 100",
                                           "1 enter MPI_Recv frame -1",
                                           "0 leave MPI_Send",
                                           "1 recv from 0 comm 0 tag 5 bytes 100",
                                           "1 leave MPI_Recv",
                                           "0 enter MPI_Isend frame -1",
                                           "0 isend to 1 comm 0 tag 6 bytes 8 request 0",
                                           "0 leave MPI_Isend",
                                           "0 enter MPI_Irecv frame -1",
                                           "0 irecv request 1",
                                           "0 leave MPI_Irecv",
                                           "0 enter MPI_Waitall frame -1",
                                           "1 enter MPI_Sendrecv frame -1",
                                           "1 send to 0 comm 0 tag 7 bytes 16",
                                           "0 isend done 0",
                                           "0 irecv done from 1 comm 0 tag 7 bytes 16 request 1",
                                           "0 leave MPI_Waitall",
                                           "0 end 0",
                                           "1 recv from 0 comm 0 tag 6 bytes 8",
                                           "1 leave MPI_Sendrecv",
                                           "1 enter MPI_Send frame -1",
                                           "1 leave MPI_Send",
                                           "1 end 0",
                                           NULL};
    expect_events(trace, expected);
    assert_int_equal(trace_rewind(trace), 0);
    expect_events(trace, expected);
    assert_string_equal(trace->program, "app");
    assert_string_equal(trace->command, "./app 1 2");
    assert_string_equal(trace->run_dir, dir);
    trace_close(trace);
    run_dir_remove(dir);
}

enum { H = 0x100, P = 0x200 };

static void add_receives(struct spool_image *image)
{
    for (uint64_t i = 0; i < 2; i++) {
        image_call(image, CALL(Irecv, 10 * i, 10 * i + 1, .peer = 0, .request = H));
        image_call(image, CALL(Wait, 10 * i + 2, 10 * i + 3, .comm = 0));
        image_done(image, WW_DONE, (struct ww_done){.request = H, .peer = 0, .tag = (int)i, .bytes = i});
    }
}

static void add_persistent(struct spool_image *image)
{
    image_call(image, CALL(Send_init, 20, 21, .peer = 0, .tag = 9, .bytes_out = 4, .request = P));
    for (uint64_t i = 0; i < 2; i++) {
        image_call(image, CALL(Start, 30 + 10 * i, 31 + 10 * i, .comm = 0));
        image_done(image, WW_STARTED, (struct ww_done){.request = P});
        image_call(image, CALL(Wait, 32 + 10 * i, 33 + 10 * i, .comm = 0));
        image_done(image, WW_DONE, (struct ww_done){.request = P, .flags = i ? WW_F_NULL : 0});
    }
}

/* One process, whose first file is this one. */
static void expect_of(struct spool_image *image, const char *const *expected)
{
    char *dir = run_dir_new();
    save(image, dir);
    struct trace *trace = make_trace(dir);
    expect_events(trace, expected);
    trace_close(trace);
    run_dir_remove(dir);
}

/* A handle is used again at once; a persistent request is started twice; one is cancelled. What is complete gives its
 * id to the next. */
static void test_requests(void **state)
{
    (void)state;
    struct spool_image a = image_events(0, 1, 0);
    image_world(&a);
    add_receives(&a);
    add_persistent(&a);
    image_call(&a, CALL(Irecv, 50, 51, .peer = 0, .request = H));
    image_call(&a, CALL(Ibarrier, 52, 53, .request = H + 1));
    image_call(&a, CALL(Test, 54, 60, .comm = 0, .flags = WW_F_POLL | WW_F_FOUND, .n_polls = 1234));
    image_done(&a, WW_DONE, (struct ww_done){.request = H + 1});
    static const char *const expected[] = {"0 enter MPI_Irecv frame -1",
                                           "0 irecv request 0",
                                           "0 leave MPI_Irecv",
                                           "0 enter MPI_Wait frame -1",
                                           "0 irecv done from 0 comm 0 tag 0 bytes 0 request 0",
                                           "0 leave MPI_Wait",
                                           "0 enter MPI_Irecv frame -1",
                                           "0 irecv request 0",
                                           "0 leave MPI_Irecv",
                                           "0 enter MPI_Wait frame -1",
                                           "0 irecv done from 0 comm 0 tag 1 bytes 1 request 0",
                                           "0 leave MPI_Wait",
                                           "0 enter MPI_Send_init frame -1",
                                           "0 leave MPI_Send_init",
                                           "0 enter MPI_Start frame -1",
                                           "0 isend to 0 comm 0 tag 9 bytes 4 request 0",
                                           "0 leave MPI_Start",
                                           "0 enter MPI_Wait frame -1",
                                           "0 isend done 0",
                                           "0 leave MPI_Wait",
                                           "0 enter MPI_Start frame -1",
                                           "0 isend to 0 comm 0 tag 9 bytes 4 request 0",
                                           "0 leave MPI_Start",
                                           "0 enter MPI_Wait frame -1",
                                           "0 cancelled 0",
                                           "0 leave MPI_Wait",
                                           "0 enter MPI_Irecv frame -1",
                                           "0 irecv request 0",
                                           "0 leave MPI_Irecv",
                                           "0 enter MPI_Ibarrier frame -1",
                                           "0 icoll 1 comm 0 request 1",
                                           "0 leave MPI_Ibarrier",
                                           "0 enter MPI_Test frame -1",
                                           "0 icoll done 1 comm 0 request 1",
                                           "0 polls 1234",
                                           "0 leave MPI_Test calls +1234",
                                           "0 end 0",
                                           NULL};
    expect_of(&a, expected);
}

/* OTF2 has no operation for neighbourhoods, and MPI_Start does not tell of which operation: the request's maker does.
 */
static void test_persistent_collectives(void **state)
{
    (void)state;
    struct spool_image a = image_events(0, 1, 0);
    image_world(&a);
    image_call(&a, CALL(Neighbor_alltoall_init, 0, 1, .bytes_out = 8, .request = P));
    image_call(&a, CALL(Barrier_init, 2, 3, .request = H));
    image_call(&a, CALL(Startall, 4, 5, .comm = 0));
    image_done(&a, WW_STARTED, (struct ww_done){.request = P});
    image_done(&a, WW_STARTED, (struct ww_done){.request = H});
    image_call(&a, CALL(Waitall, 6, 9, .comm = 0));
    image_done(&a, WW_DONE, (struct ww_done){.request = P});
    image_done(&a, WW_DONE, (struct ww_done){.request = H});
    char started[2][64];
    snprintf(started[0], sizeof started[0], "0 icoll %d comm 0 request 0", WW_COLL_NEIGHBOR);
    snprintf(started[1], sizeof started[1], "0 icoll %d comm 0 request 1", WW_COLL_BARRIER);
    const char *const expected[] = {"0 enter MPI_Neighbor_alltoall_init frame -1",
                                    "0 leave MPI_Neighbor_alltoall_init",
                                    "0 enter MPI_Barrier_init frame -1",
                                    "0 leave MPI_Barrier_init",
                                    "0 enter MPI_Startall frame -1",
                                    started[0],
                                    started[1],
                                    "0 leave MPI_Startall",
                                    "0 enter MPI_Waitall frame -1",
                                    "0 icoll done 11 comm 0 request 0",
                                    "0 icoll done 1 comm 0 request 1",
                                    "0 leave MPI_Waitall",
                                    "0 end 0",
                                    NULL};
    expect_of(&a, expected);
}

/* Polls, polls after a nap that found a message, a probe of a message from nobody, and one that failed. */
static void test_probes(void **state)
{
    (void)state;
    struct spool_image a = image_events(0, 1, 0);
    image_world(&a);
    image_call(&a, CALL(Iprobe, 10, 20, .comm = 0, .peer = WW_NO_PEER, .flags = WW_F_POLL, .n_polls = 7));
    image_call(&a, CALL(Iprobe, 30, 40, .peer = 0, .tag = 5, .flags = WW_F_POLL | WW_F_AFTER_NAP | WW_F_FOUND));
    image_call(&a, CALL(Probe, 50, 60, .peer = WW_NO_PEER, .flags = WW_F_NULL));
    image_call(&a, CALL(Mprobe, 70, 80, .peer = 0, .flags = WW_F_ERROR));
    static const char *const expected[] = {"0 enter MPI_Iprobe frame -1",
                                           "0 polls 7",
                                           "0 leave MPI_Iprobe calls +6",
                                           "0 enter MPI_Iprobe frame -1",
                                           "0 polls 0",
                                           "0 probed 0 comm 0 tag 5",
                                           "0 leave MPI_Iprobe",
                                           "0 enter MPI_Probe frame -1",
                                           "0 leave MPI_Probe",
                                           "0 enter MPI_Mprobe frame -1",
                                           "0 leave MPI_Mprobe",
                                           "0 end 0",
                                           NULL};
    expect_of(&a, expected);
}

/* On a communicator with spawned processes alone, received by requests, also persistent ones: only the calls that
 * complete them, and what never came, tell of those. A send and a cancelled receive await nobody. */
static void test_requests_of_outsiders(void **state)
{
    (void)state;
    static const int32_t ranks[] = {0, -1};
    static const struct ww_done receives = {.request = H, .peer = 0};
    static const struct ww_done cancels = {.request = H, .flags = WW_F_NULL}, starts = {.request = P};
    struct spool_image a = image_events(0, 1, 0);
    image_world(&a);
    image_comm(&a, 3, 0, ranks, 1, 1);
    image_call(&a, CALL(Irecv, 0, 1, .comm = 3, .peer = WW_NO_PEER, .flags = WW_F_ANY, .request = H));
    image_call(&a, CALL(Wait, 2, 3, .comm = 0));
    image_done(&a, WW_DONE, receives);
    image_call(&a, CALL(Isend, 4, 5, .comm = 3, .peer = 0, .request = H));
    image_call(&a, CALL(Irecv, 6, 7, .comm = 3, .peer = 0, .request = H));
    image_call(&a, CALL(Wait, 8, 9, .comm = 0));
    image_done(&a, WW_DONE, cancels);
    image_call(&a, CALL(Recv_init, 10, 11, .comm = 3, .peer = 0, .request = P));
    image_call(&a, CALL(Start, 12, 13, .comm = 0));
    image_done(&a, WW_STARTED, starts);
    image_call(&a, (struct ww_call){.call = WW_ID_Wait, .enter_ns = at(14), .peer = WW_NO_PEER});
    static const char *const expected[] = {"0 enter MPI_Irecv frame -1",
                                           "0 leave MPI_Irecv",
                                           "0 enter MPI_Wait frame -1",
                                           "0 outside",
                                           "0 leave MPI_Wait",
                                           "0 enter MPI_Isend frame -1",
                                           "0 leave MPI_Isend",
                                           "0 enter MPI_Irecv frame -1",
                                           "0 leave MPI_Irecv",
                                           "0 enter MPI_Wait frame -1",
                                           "0 leave MPI_Wait",
                                           "0 enter MPI_Recv_init frame -1",
                                           "0 leave MPI_Recv_init",
                                           "0 enter MPI_Start frame -1",
                                           "0 leave MPI_Start",
                                           "0 enter MPI_Wait frame -1",
                                           "0 outside",
                                           "0 unfinished MPI_Wait comm -1 peer -1 tag 0",
                                           "0 end 0",
                                           NULL};
    expect_of(&a, expected);
}

/* Both ranks make two communicators of the same group; ids differ, the turn tells which is which. */
static void test_communicators(void **state)
{
    (void)state;
    char *dir = run_dir_new();
    static const int32_t both[] = {1, 0}, one[] = {0};
    struct spool_image a = image_events(0, 2, 0), b = image_events(1, 2, 0);
    image_world(&a);
    image_comm(&a, 3, 1, one, 1, 0);
    image_comm(&a, 4, 1, both, 2, 0);
    image_comm(&a, 5, 1, both, 2, 0);
    image_comm(&a, 6, 1, both, 1, 1); /* intercommunicator: 1 | 0 */
    image_world(&b);
    image_comm(&b, 3, 1, both, 2, 0);
    image_comm(&b, 4, 1, both, 2, 0);
    static const int32_t other[] = {0, 1};
    image_comm(&b, 5, 1, other, 1, 1);
    image_call(&a, CALL(Bcast, 0, 1, .comm = 5, .peer = 1, .bytes_out = 3, .bytes_in = 2));
    image_call(&b, CALL(Bcast, 2, 3, .comm = 4, .peer = 1, .bytes_in = 3));
    image_call(&a, CALL(Barrier, 4, 5, .comm = 2));
    image_call(&b, CALL(Barrier, 6, 7, .comm = 2));
    image_call(&a, CALL(Send, 8, 9, .comm = 6, .peer = 0));
    image_call(&b, CALL(Recv, 10, 11, .comm = 5, .peer = 0));
    save(&a, dir);
    save(&b, dir);
    struct trace *trace = make_trace(dir);
    assert_int_equal(trace->comms[0].n, 2);
    assert_string_equal(trace->comms[0].name, "MPI_COMM_WORLD");
    uint32_t bcast_comm[2] = {0}, self_comm[2] = {0}, inter_comm[2] = {0};
    for (const struct event *event; (event = trace_next(trace));) {
        if (event->kind == EV_COLL_END && event->coll == WW_COLL_BCAST)
            bcast_comm[event->loc] = event->comm;
        if (event->kind == EV_COLL_END && event->coll == WW_COLL_BARRIER)
            self_comm[event->loc] = event->comm;
        if (event->kind == EV_SEND || event->kind == EV_RECV)
            inter_comm[event->loc] = event->comm;
    }
    assert_int_equal(bcast_comm[0], bcast_comm[1]);
    assert_int_equal(trace->comms[bcast_comm[0]].ranks[0], 1);
    assert_int_not_equal(self_comm[0], self_comm[1]);
    assert_int_equal(trace->comms[self_comm[1]].ranks[0], 1);
    assert_int_equal(inter_comm[0], inter_comm[1]);
    assert_int_equal(trace->comms[inter_comm[0]].n_remote, 1);
    trace_close(trace);
    run_dir_remove(dir);
}

/* Stacks of two processes at different load addresses, in copies of one build, are the same frames; samples stand among
 * the events. */
static void test_stacks(void **state)
{
    (void)state;
    char *dir = run_dir_new();
    for (int rank = 0; rank < 2; rank++) {
        uint64_t bias = rank ? 0x550000 : 0x770000;
        const uint64_t call_stack[] = {bias + 0x100, bias + 0x200}, sample_stack[] = {bias + 0x180, bias + 0x200};
        struct spool_image events = image_events(rank, 2, 0), samples = image_samples(rank, 2, 0);
        image_world(&events);
        image_module(&events, 1, bias, bias + 0x1000, bias, rank ? "/tmp/node1/app" : "/home/user/app");
        image_stack(&events, 1, call_stack, 2);
        for (uint64_t i = 0; i < 3; i++)
            image_call(&events, CALL(Barrier, 100 * i, 100 * i + 10, .stack = 1));
        image_call(&events, CALL(Barrier, 400, 410, .stack = 99));
        image_stack(&samples, 1, sample_stack, 2);
        image_sample(&samples, (struct ww_sample){.time_ns = at(50), .weight_ns = 1000000, .stack = 1});
        image_switch(&samples, (struct ww_switch){.time_ns = at(60), .flags = WW_SW_OUT | WW_SW_PREEMPTED});
        image_switch(&samples, (struct ww_switch){.time_ns = at(70)});
        image_switch(&samples,
                     (struct ww_switch){.time_ns = at(72), .flags = WW_SW_OUT | WW_SW_PREEMPTED | WW_SW_STOPPED});
        image_switch(&samples, (struct ww_switch){.time_ns = at(74)});
        image_sample(&samples,
                     (struct ww_sample){.time_ns = at(80), .weight_ns = 7, .stack = 1, .flags = WW_S_BLOCKED});
        image_sample(&samples, (struct ww_sample){
                                   .time_ns = at(90), .weight_ns = 8, .stack = 1, .flags = WW_S_BLOCKED | WW_S_PIPE});
        save(&events, dir);
        save(&samples, dir);
    }
    struct trace *trace = make_trace(dir);
    assert_int_equal(trace->n_frames, 3);
    assert_int_equal(trace->n_modules, 1);
    assert_string_equal(trace->modules[0].path, "/home/user/app");
    assert_int_equal(trace->modules[0].build_id_bytes, 2);
    assert_int_equal(trace->modules[0].build_id[1], 0xcd);
    assert_int_equal(trace->frames[1].parent, 0);
    assert_int_equal(trace->frames[1].address, 0x100);
    assert_true(trace->frames[1].is_return);
    assert_int_equal(trace->frames[2].address, 0x180);
    assert_false(trace->frames[2].is_return);
    assert_int_equal(trace->locations[1].sample_period_ns, 1000000);
    static const char *const of_rank_1[] = {"1 enter MPI_Barrier frame 1",
                                            "1 coll begin",
                                            "1 coll end 1 comm 0 root -1 bytes 0 in 0",
                                            "1 leave MPI_Barrier",
                                            "1 sample frame 2 weight 1000000 flags 0",
                                            "1 off 2",
                                            "1 on",
                                            "1 off 18",
                                            "1 on",
                                            "1 sample frame 2 weight 7 flags 2",
                                            "1 sample frame 2 weight 8 flags 10",
                                            "1 enter MPI_Barrier frame 1"};
    size_t i = 0;
    unsigned n_unknown = 0;
    for (const struct event *event; (event = trace_next(trace));) {
        char line[512];
        show_event(line, sizeof line, trace, event);
        if (event->loc == 1 && i < sizeof of_rank_1 / sizeof *of_rank_1)
            assert_string_equal(line, of_rank_1[i++]);
        n_unknown += event->kind == EV_ENTER && event->frame == TRACE_NONE;
    }
    assert_int_equal(n_unknown, 2);
    trace_close(trace);
    run_dir_remove(dir);
}

/* Rank 1 is watched by the scheduler long before any rank makes a call: that is no part of the run. */
static void test_a_run_begins_with_its_first_call(void **state)
{
    (void)state;
    char *dir = run_dir_new();
    for (int rank = 0; rank < 2; rank++) {
        struct spool_image events = image_events(rank, 2, 0), samples = image_samples(rank, 2, 0);
        image_world(&events);
        image_call(&events, CALL(Barrier, 500 + 100 * (uint64_t)rank, 700));
        image_switch(&samples, (struct ww_switch){.time_ns = at(rank ? 100 : 720), .flags = WW_SW_OUT});
        image_switch(&samples, (struct ww_switch){.time_ns = at(rank ? 550 : 730)});
        save(&events, dir);
        save(&samples, dir);
    }
    struct trace *trace = make_trace(dir);
    static const uint64_t of_rank_1_ns[] = {0, 50, 100};
    assert_int_equal(trace_rewind(trace), 0);
    size_t n = 0;
    for (const struct event *event; (event = trace_next(trace));)
        if (event->loc == 1 && n < 3)
            assert_int_equal(event->time_ns, of_rank_1_ns[n++]);
    assert_int_equal(n, 3);
    assert_true(trace->end_ns < 300);
    trace_close(trace);
    run_dir_remove(dir);
}

/* Every order of call stacks comes back, whatever the prediction of the format makes of it. */
static void test_stack_prediction(void **state)
{
    (void)state;
    enum { N_STACKS = 5, N_CALLS = 400 };
    char *dir = run_dir_new();
    struct spool_image events = image_events(0, 1, 0);
    uint32_t order[N_CALLS], seed = 1;
    image_world(&events);
    image_module(&events, 1, 0x1000, 0x9000, 0, "/a");
    for (uint32_t id = 1; id <= N_STACKS; id++) {
        /* The last two are the same addresses under two ids. */
        uint64_t address = 0x1000 + 16 * (id == N_STACKS ? N_STACKS - 1 : id);
        image_stack(&events, id, &address, 1);
    }
    for (uint32_t i = 0; i < N_CALLS; i++) {
        seed = seed * 1103515245 + 12345;
        order[i] = (seed >> 16) % (N_STACKS + 1);
        image_call(&events, CALL(Comm_rank, i * 10, i * 10 + 1, .stack = order[i]));
    }
    save(&events, dir);
    struct trace *trace = make_trace(dir);
    uint32_t n = 0;
    for (const struct event *event; (event = trace_next(trace));) {
        if (event->kind != EV_ENTER)
            continue;
        uint32_t id = order[n++] == N_STACKS ? N_STACKS - 1 : order[n - 1];
        uint64_t address = event->frame == TRACE_NONE ? 0x1000 : trace->frames[event->frame].address;
        assert_int_equal(address, 0x1000 + 16 * id);
    }
    assert_int_equal(n, N_CALLS);
    trace_close(trace);
    run_dir_remove(dir);
}

/* Several receives, several sends, one wait, from one line each: nothing of it is written more than once. */
static void test_runs_are_foreseen(void **state)
{
    (void)state;
    static const uint32_t turn[] = {1, 1, 1, 1, 2, 2, 2, 2, 3};
    enum { N_TURN = sizeof turn / sizeof *turn, N_CALLS = 100 * N_TURN };
    char *dir = run_dir_new(), *path = path_format("%s/traces/0.evt", dir);
    struct spool_image events = image_events(0, 1, 0);
    image_world(&events);
    image_module(&events, 1, 0x1000, 0x9000, 0, "/a");
    for (uint32_t id = 1; id <= 3; id++)
        image_stack(&events, id, &(uint64_t){0x1000 + 16 * id}, 1);
    for (uint32_t i = 0; i < N_CALLS; i++)
        image_call(&events, CALL(Comm_rank, i * 10, i * 10 + 1, .stack = turn[i % N_TURN]));
    save(&events, dir);
    struct trace *trace = make_trace(dir);
    uint32_t n = 0;
    for (const struct event *event; (event = trace_next(trace));)
        if (event->kind == EV_ENTER)
            assert_int_equal(trace->frames[event->frame].address, 0x1000 + 16 * turn[n++ % N_TURN]);
    assert_int_equal(n, N_CALLS);
    /* Two time stamps of 9 bytes, two records of 5, for each call; stacks would take 9 more. */
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_true(status.st_size < N_CALLS * 29);
    trace_close(trace);
    free(path);
    run_dir_remove(dir);
}

/* Killed in a receive: the call is open, the archive still regular. */
static void test_unfinished(void **state)
{
    (void)state;
    char *dir = run_dir_new();
    struct spool_image a = image_events(0, 2, 0), b = image_events(1, 2, 0);
    image_world(&a);
    image_world(&b);
    image_call(&a, CALL(Barrier, 0, 5));
    image_call(&a, (struct ww_call){.call = WW_ID_Recv, .enter_ns = at(10), .comm = 1, .peer = 1, .tag = 3});
    image_call(&b, CALL(Irecv, 0, 5, .peer = 0, .tag = 4, .request = 0x10));
    image_call(&b, (struct ww_call){.call = WW_ID_Wait, .enter_ns = at(20), .peer = WW_NO_PEER});
    image_header(&b)->end_ns = at(1000);
    image_header(&b)->end_how = WW_END_SIGNAL;
    image_header(&b)->end_detail = 15;
    save(&a, dir);
    save(&b, dir);
    struct trace *trace = make_trace(dir);
    static const char *const expected[] = {"0 enter MPI_Barrier frame -1",
                                           "0 coll begin",
                                           "1 enter MPI_Irecv frame -1",
                                           "1 irecv request 0",
                                           "0 coll end 1 comm 0 root -1 bytes 0 in 0",
                                           "0 leave MPI_Barrier",
                                           "1 leave MPI_Irecv",
                                           "0 enter MPI_Recv frame -1",
                                           "0 unfinished MPI_Recv comm 0 peer 1 tag 3",
                                           "0 end 0",
                                           "1 enter MPI_Wait frame -1",
                                           "1 pending 1 comm 0 peer 0 tag 4",
                                           "1 unfinished MPI_Wait comm 0 peer 0 tag 4",
                                           "1 end 4",
                                           NULL};
    expect_events(trace, expected);
    assert_int_equal(trace->locations[1].end_how, WW_END_SIGNAL);
    assert_int_equal(trace->locations[1].end_detail, 15);
    assert_int_equal(trace->locations[1].end_ns - trace->locations[0].end_ns, 990);
    trace_close(trace);
    run_dir_remove(dir);
}

/* A request started in one thread completes in another; a thread that only has samples is a location, too. */
static void test_threads(void **state)
{
    (void)state;
    char *dir = run_dir_new();
    static const uint64_t stack[] = {0x1100};
    struct spool_image a = image_events(0, 1, 0), b = image_events(0, 1, 1), c = image_samples(0, 1, 2);
    image_world(&a);
    image_call(&a, CALL(Irecv, 0, 10, .peer = 0, .request = 0x10));
    image_call(&b, CALL(Wait, 5, 30, .comm = 0));
    image_done(&b, WW_DONE, (struct ww_done){.request = 0x10, .peer = 0, .tag = 1, .bytes = 2});
    image_call(&a, CALL(Irecv, 15, 25, .peer = 0, .request = 0x20));
    image_call(&a, CALL(Wait, 35, 40, .comm = 0));
    image_done(&a, WW_DONE, (struct ww_done){.request = 0x20, .peer = 0, .tag = 3, .bytes = 4});
    image_stack(&c, 1, stack, 1);
    image_sample(&c, (struct ww_sample){.time_ns = at(22), .weight_ns = 1, .stack = 1});
    save(&a, dir);
    save(&b, dir);
    save(&c, dir);
    struct trace *trace = make_trace(dir);
    assert_int_equal(trace->n_locations, 3);
    assert_int_equal(trace->locations[2].thread, 2);
    static const char *const expected[] = {"0 enter MPI_Irecv frame -1",
                                           "0 irecv request 0",
                                           "1 enter MPI_Wait frame -1",
                                           "0 leave MPI_Irecv",
                                           "0 enter MPI_Irecv frame -1",
                                           "0 irecv request 1",
                                           "2 sample frame 0 weight 1 flags 0",
                                           "2 end 0",
                                           "0 leave MPI_Irecv",
                                           "1 irecv done from 0 comm 0 tag 1 bytes 2 request 0",
                                           "1 leave MPI_Wait",
                                           "1 end 0",
                                           "0 enter MPI_Wait frame -1",
                                           "0 irecv done from 0 comm 0 tag 3 bytes 4 request 1",
                                           "0 leave MPI_Wait",
                                           "0 end 0",
                                           NULL};
    expect_events(trace, expected);
    trace_close(trace);
    run_dir_remove(dir);
}

/* Two windows, and synchronisation of every kind on them. */
static void add_windows(struct spool_image *image)
{
    const struct ww_win win = {.id = 1, .comm = 1}, other = {.id = 2, .comm = 1};
    const struct ww_ranks ranks = {.n = 1};
    const int32_t one = 1;
    image_world(image);
    image_call(image, CALL(Win_create, 0, 1));
    image_record(image, WW_WIN, &win, sizeof win, NULL, 0);
    image_record(image, WW_WIN, &other, sizeof other, NULL, 0);
    image_call(image, CALL(Win_fence, 2, 3));
    image_call(image, CALL(Put, 4, 5, .peer = 1, .bytes_out = 8));
    image_call(image, CALL(Win_start, 6, 7));
    image_record(image, WW_RANKS, &ranks, offsetof(struct ww_ranks, rank), &one, sizeof one);
    image_call(image, CALL(Win_complete, 8, 9));
    image_call(image, CALL(Win_lock, 10, 11, .peer = 1, .tag = WW_LOCK_EXCLUSIVE));
    image_call(image, CALL(Win_lock_all, 11, 12, .comm = 2, .peer = WW_NO_PEER, .tag = WW_LOCK_SHARED));
    image_call(image, CALL(Rget, 12, 13, .peer = 1, .bytes_in = 4, .request = 5));
    image_call(image, CALL(Wait, 13, 14));
    image_done(image, WW_DONE, (struct ww_done){.request = 5});
    image_call(image, CALL(Win_unlock, 14, 15, .peer = 1));
    image_call(image, CALL(Win_free, 16, 17));
}

static void test_windows(void **state)
{
    (void)state;
    char *dir = run_dir_new();
    struct spool_image a = image_events(0, 2, 0), b = image_events(1, 2, 0);
    add_windows(&a);
    image_world(&b);
    save(&a, dir);
    save(&b, dir);
    struct trace *trace = make_trace(dir);
    static const char *const expected[] = {"0 enter MPI_Win_create frame -1",
                                           "0 coll begin",
                                           "1 end 0",
                                           "0 coll end 19 comm 0 root -1 bytes 0 in 0",
                                           "0 leave MPI_Win_create",
                                           "0 enter MPI_Win_fence frame -1",
                                           "0 rma sync -1 comm 0 window 0 lock 0",
                                           "0 leave MPI_Win_fence",
                                           "0 enter MPI_Put frame -1",
                                           "0 rma 1 comm 0 bytes 8 in 0",
                                           "0 leave MPI_Put",
                                           "0 enter MPI_Win_start frame -1",
                                           "0 rma sync 1 comm 0 window 0 lock 0",
                                           "0 leave MPI_Win_start",
                                           "0 enter MPI_Win_complete frame -1",
                                           "0 rma sync 1 comm 0 window 0 lock 0",
                                           "0 leave MPI_Win_complete",
                                           "0 enter MPI_Win_lock frame -1",
                                           "0 rma sync 1 comm 0 window 0 lock 1",
                                           "0 leave MPI_Win_lock",
                                           "0 enter MPI_Win_lock_all frame -1",
                                           "0 rma sync -1 comm 0 window 1 lock 2",
                                           "0 leave MPI_Win_lock_all",
                                           "0 enter MPI_Rget frame -1",
                                           "0 rma 1 comm 0 bytes 0 in 4",
                                           "0 leave MPI_Rget",
                                           "0 enter MPI_Wait frame -1",
                                           "0 rma done window 0 request 0",
                                           "0 leave MPI_Wait",
                                           "0 enter MPI_Win_unlock frame -1",
                                           "0 rma sync 1 comm 0 window 0 lock 0",
                                           "0 leave MPI_Win_unlock",
                                           "0 enter MPI_Win_free frame -1",
                                           "0 coll begin",
                                           "0 coll end 19 comm 0 root -1 bytes 0 in 0",
                                           "0 leave MPI_Win_free",
                                           "0 end 0",
                                           NULL};
    expect_events(trace, expected);
    trace_close(trace);
    run_dir_remove(dir);
}

/* Counts come back whole, however many records they take. */
static void test_counts(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {3, 0, 32, 33, 1000};
    enum { N_SIZES = sizeof sizes / sizeof *sizes };
    char *dir = run_dir_new();
    struct spool_image a = image_events(0, 1, 0);
    const struct ww_counters counters = {.id = 1, .bias = 0x1000, .n_points = 1000};
    image_world(&a);
    image_module(&a, 1, 0x1000, 0x9000, 0x1000, "/home/user/app");
    image_record(&a, WW_COUNTERS, &counters, sizeof counters, NULL, 0);
    for (uint64_t i = 0; i < N_SIZES; i++) {
        image_bins(&a, WW_BIN_EXECUTIONS, sizes[i]);
        image_call(&a, CALL(Barrier, 10 * i, 10 * i + 1));
    }
    save(&a, dir);
    struct trace *trace = make_trace(dir);
    size_t n = 0;
    for (const struct event *event; (event = trace_next(trace));) {
        if (event->kind != EV_BINS)
            continue;
        assert_int_equal(event->n_bins, sizes[n++]);
        for (uint32_t i = 0; i < event->n_bins; i++) {
            const struct trace_point *point = &trace->points[event->bins[i].point];
            assert_int_equal(point->number, i);
            assert_int_equal(point->module, 0);
            assert_int_equal(event->bins[i].value, 1000 + i);
        }
    }
    assert_int_equal(n, N_SIZES);
    trace_close(trace);
    run_dir_remove(dir);
}

static void check_young_time(bool is_counted)
{
    char *dir = run_dir_new();
    struct spool_image a = image_events(0, 1, 0);
    const struct ww_counters counters = {.id = 1, .bias = 0x1000, .n_points = 1};
    image_world(&a);
    image_module(&a, 1, 0x1000, 0x9000, 0x1000, "/home/user/app");
    if (is_counted)
        image_record(&a, WW_COUNTERS, &counters, sizeof counters, NULL, 0);
    image_bins(&a, WW_BIN_TIME, WW_YOUNG_N);
    if (is_counted)
        image_bins(&a, WW_BIN_EXECUTIONS, 1);
    image_call(&a, CALL(Barrier, 10, 11));
    save(&a, dir);
    struct trace *trace = make_trace(dir);
    unsigned n_young = 0, n_ready = 0, n_counted = 0;
    assert_int_equal(trace->is_counted, is_counted);
    for (const struct event *event; (event = trace_next(trace));)
        for (uint32_t i = 0; event->kind == EV_BINS && i < event->n_bins; i++) {
            const struct trace_point *point = &trace->points[event->bins[i].point];
            bool is_young = point->is_young_time || point->is_young_ready;
            assert_int_equal(event->bins[i].value, point->is_young_ready ? 1001 : 1000);
            assert_int_equal(point->module, is_young ? TRACE_NONE : 0);
            n_young += point->is_young_time;
            n_ready += point->is_young_ready;
            n_counted += !is_young;
        }
    assert_int_equal(n_young, 1);
    assert_int_equal(n_ready, 1);
    assert_int_equal(n_counted, is_counted);
    trace_close(trace);
    run_dir_remove(dir);
}

/* The times of young threads are among the counts, and no module's; a program that counts nothing has them, too. */
static void test_young_time(void **state)
{
    (void)state;
    check_young_time(true);
    check_young_time(false);
}

/* Rank 1 was in MPI_Init for so much less than rank 0, of a run that is shorter than that; the last is not told. */
static void test_late_init(void **state)
{
    (void)state;
    static const struct {
        int64_t less_ns;
        const char *said;
    } cases[] = {{2000000000, "2 s behind the other"}, {37800000, "37.8 ms behind the other"}, {-1, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *dir = run_dir_new();
        for (int rank = 0; rank < 2; rank++) {
            struct spool_image a = image_events(rank, 2, 0);
            uint64_t of_rank_1 = 4500000000;
            image_header(&a)->start_ns = 5000000000;
            image_header(&a)->init_ns = rank == 1       ? of_rank_1
                                        : cases[i].said ? of_rank_1 - (uint64_t)cases[i].less_ns
                                                        : 0;
            image_world(&a);
            image_call(&a, CALL(Barrier, 5000000010, 5000000020));
            save(&a, dir);
        }
        struct trace *trace = make_trace(dir);
        assert_int_equal(trace->n_notes, !!cases[i].said);
        if (cases[i].said) {
            assert_non_null(strstr(trace->notes[0], "Rank 1 came to MPI_Init last, "));
            assert_non_null(strstr(trace->notes[0], cases[i].said));
        }
        trace_close(trace);
        run_dir_remove(dir);
    }
}

static void test_communicators_of_threads(void **state)
{
    (void)state;
    char *dir = run_dir_new();
    for (int rank = 0; rank < 2; rank++) {
        struct spool_image first = image_events(rank, 2, 0), second = image_events(rank, 2, 1);
        image_world(&first);
        image_comm(&second, 3, 1, (const int32_t[]){1, 0}, 2, 0);
        image_call(&second, CALL(Barrier, 10, 20, .comm = 3));
        save(&first, dir);
        save(&second, dir);
    }
    struct trace *trace = make_trace(dir);
    int n_seen = 0;
    for (const struct event *event; (event = trace_next(trace));) {
        if (event->kind != EV_COLL_END)
            continue;
        const struct trace_comm *comm = &trace->comms[event->comm];
        assert_int_equal(comm->n, 2);
        assert_int_equal(comm->ranks[0], 1);
        assert_int_equal(comm->parent, 0);
        n_seen++;
    }
    assert_int_equal(n_seen, 2);
    trace_close(trace);
    run_dir_remove(dir);
}

/* OTF2 does not split the table of a location's ids: it is longer here than a usual chunk of definitions. */
static void test_many_communicators(void **state)
{
    (void)state;
    enum { N_MADE = 150000 };
    char *dir = run_dir_new();
    struct spool_image a = image_events(0, 1, 0);
    image_world(&a);
    for (uint32_t id = 3; id < 3 + N_MADE; id++)
        image_comm(&a, id, 1, (const int32_t[]){0}, 1, 0);
    image_call(&a, CALL(Send, 10, 20, .peer = 0, .comm = 2 + N_MADE));
    save(&a, dir);
    struct trace *trace = make_trace(dir);
    assert_true(trace->n_comms >= 2 + N_MADE);
    bool is_seen = false;
    for (const struct event *event; (event = trace_next(trace));)
        is_seen |= event->kind == EV_SEND && event->comm == 1 + N_MADE;
    assert_true(is_seen);
    trace_close(trace);
    run_dir_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_requests_of_outsiders),
        cmocka_unit_test(test_persistent_collectives),
        cmocka_unit_test(test_communicators),
        cmocka_unit_test(test_stacks),
        cmocka_unit_test(test_a_run_begins_with_its_first_call),
        cmocka_unit_test(test_unfinished),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_probes),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_young_time),
        cmocka_unit_test(test_late_init),
        cmocka_unit_test(test_stack_prediction),
        cmocka_unit_test(test_runs_are_foreseen),
        cmocka_unit_test(test_communicators_of_threads),
        cmocka_unit_test(test_many_communicators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
