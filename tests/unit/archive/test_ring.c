/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings, from the recorder's writer to the tool's reader: the newest records are there, whole and in order, with all
 * definitions, whenever the writer is stopped and however little room there is. What a ring kept is analysed as the
 * same part of a whole recording is.
 */
#include "analyze/archive/spool.h"
#include "analyze/trace/part.h"
#include "tests/unit/archive/conversion.h"
#include "wrap/record/spool/spool.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { SLOT = SPOOL_SMALLEST_SEGMENT, RING_BYTES = 8 * SLOT, CALL_UNITS = 2, DEFINED_EVERY = 700 };

static char dir[] = "/tmp/whywait-ring-XXXXXX", path[64];

static void begin(struct spool *spool, struct spool_budget *budget, int64_t room_bytes)
{
    struct ww_header header = {.magic = WW_MAGIC,
                               .version = WW_FORMAT_VERSION,
                               .header_bytes = WW_HEADER_BYTES,
                               .kind = WW_KIND_EVENTS,
                               .n_ranks = 1};
    *budget = (struct spool_budget){.left_bytes = room_bytes};
    unlink(path);
    assert_true(spool_open_ring(spool, path, &header, RING_BYTES, budget));
}

/* The n-th call, with a definition now and then. */
static struct ww_call *write_call(struct spool *spool, uint64_t n)
{
    if (n % DEFINED_EVERY == 0) {
        struct ww_win *win = spool_take_definition(spool, 1);
        if (win) {
            win->id = (uint32_t)(n / DEFINED_EVERY);
            spool_commit(win, WW_WIN, 1);
        }
    }
    struct ww_call *call = spool_take(spool, CALL_UNITS, true);
    if (call) {
        call->enter_ns = n;
        spool_commit(call, WW_CALL, CALL_UNITS);
    }
    return call;
}

/* Reads the file as a killed process leaves it: the calls from some number to `last`, all definitions before. Returns
 * how many calls there are. */
static uint64_t read_back(uint64_t last)
{
    struct spool_reader reader;
    uint64_t n = 0, n_wins = 0, expected = 0;
    assert_int_equal(spool_reader_open(&reader, path), 0);
    for (const struct ww_head *head; (head = spool_reader_next(&reader));) {
        if (head->type == WW_WIN) {
            assert_int_equal(n, 0);
            assert_int_equal(((const struct ww_win *)(const void *)head)->id, n_wins++);
        }
        if (head->type != WW_CALL)
            continue;
        uint64_t number = ((const struct ww_call *)(const void *)head)->enter_ns;
        assert_true(!n || number == expected);
        expected = number + 1;
        n++;
    }
    assert_int_equal(reader.n_bad, 0);
    assert_false(reader.is_damaged);
    assert_int_equal(expected, last + 1);
    assert_int_equal(n_wins, last / DEFINED_EVERY + 1);
    assert_int_equal(reader.begin_ns > 0, n < last + 1);
    spool_reader_close(&reader);
    return n;
}

static void newest_are_kept(void **state)
{
    (void)state;
    struct spool spool;
    struct spool_budget budget;
    begin(&spool, &budget, INT64_MAX);
    enum { N = 50000 };
    for (uint64_t n = 0; n < N; n++) {
        assert_non_null(write_call(&spool, n));
        if (n % 3 == 0)
            spool_prepare(&spool);
    }
    spool_close(&spool, WW_END_FINALIZE, 0, 1);
    uint64_t n_kept = read_back(N - 1);
    assert_true(n_kept * CALL_UNITS * WW_UNIT > RING_BYTES - 2 * SLOT);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size <= WW_HEADER_BYTES + RING_BYTES + SLOT);
}

/* The process may be killed behind any record, and while the next slot is being prepared. */
static void stopped_anywhere(void **state)
{
    (void)state;
    struct spool spool;
    struct spool_budget budget;
    begin(&spool, &budget, INT64_MAX);
    for (uint64_t n = 0; n < 20000; n++) {
        assert_non_null(write_call(&spool, n));
        if (n % 97 == 0)
            read_back(n);
        if (n % 5 == 0)
            spool_prepare(&spool);
        if (n % 97 == 0)
            read_back(n);
    }
    spool_close(&spool, WW_END_NONE, 0, 0);
}

/* Where the disk has less room than was asked for, the ring is smaller. */
static void less_room(void **state)
{
    (void)state;
    struct spool spool;
    struct spool_budget budget;
    begin(&spool, &budget, 6 * SLOT);
    for (uint64_t n = 0; n < 20000; n++) {
        assert_non_null(write_call(&spool, n));
        spool_prepare(&spool);
    }
    assert_int_equal(spool.header->n_dropped, 0);
    spool_close(&spool, WW_END_FINALIZE, 0, 1);
    assert_true(read_back(19999) > 3 * SLOT / CALL_UNITS / WW_UNIT);
}

/* Too little for a ring: the first records are kept, the rest is counted. */
static void no_room(void **state)
{
    (void)state;
    struct spool spool;
    struct spool_budget budget;
    begin(&spool, &budget, 3 * SLOT);
    uint64_t n = 0;
    while (write_call(&spool, n))
        n++;
    assert_true(spool_is_full(&spool));
    assert_null(write_call(&spool, n + 1));
    assert_int_equal(spool.header->n_dropped, 2);
    spool_close(&spool, WW_END_FINALIZE, 0, 1);
    assert_int_equal(read_back(n - 1), n);
}

/* A call with more completions than the ring holds is completed in place all the same. */
static void one_call_fills_the_ring(void **state)
{
    (void)state;
    struct spool spool;
    struct spool_budget budget;
    begin(&spool, &budget, INT64_MAX);
    for (uint64_t n = 0; n < 10000; n++)
        write_call(&spool, n);
    struct ww_call *call = write_call(&spool, 10000);
    uint64_t n_done = 0;
    for (unsigned i = 0; i < 3 * RING_BYTES / WW_UNIT; i++) {
        struct ww_done *done = spool_take(&spool, 1, false);
        if (!done)
            continue;
        n_done++;
        spool_commit(done, WW_DONE, 1);
        spool_prepare(&spool);
    }
    assert_true(n_done < RING_BYTES / WW_UNIT && n_done > RING_BYTES / WW_UNIT / 2);
    assert_false(spool_is_full(&spool));
    call->leave_ns = 77;
    assert_non_null(write_call(&spool, 10001));
    assert_true(spool.header->n_dropped > 0);
    spool_close(&spool, WW_END_FINALIZE, 0, 1);
    read_back(10001);
}

/* Two ranks that exchange messages, persistent and not, with a collective now and then: rank 1 makes more calls, so
 * that its ring begins later. */

enum { N_TURNS = 6000, TURN_NS = 1000 };

static void put(struct spool *spool, struct ww_call call)
{
    struct ww_call *record = spool_take(spool, CALL_UNITS, true);
    assert_non_null(record);
    call.head = record->head;
    *record = call;
    spool_commit(record, WW_CALL, CALL_UNITS);
}

static void put_done(struct spool *spool, uint16_t type, struct ww_done done)
{
    struct ww_done *record = spool_take(spool, 1, false);
    assert_non_null(record);
    done.head = record->head;
    *record = done;
    spool_commit(record, type, 1);
}

static void put_comm(struct spool *spool, int rank)
{
    struct ww_comm *comm = spool_take_definition(spool, 2);
    assert_non_null(comm);
    comm->id = 1;
    comm->rank = rank;
    comm->size = 2;
    comm->world_rank[1] = 1;
    spool_commit(comm, WW_COMM, 2);
}

static void put_template(struct spool *spool, int peer, bool is_ring)
{
    struct ww_call call = CALL(Recv_init, 1, 2, .peer = peer, .tag = 5, .request = 99, .bytes_in = 8);
    put(spool, call);
    if (!is_ring)
        return;
    struct ww_call *kept = spool_take_definition(spool, CALL_UNITS);
    call.head = kept->head;
    *kept = call;
    spool_commit(kept, WW_KEPT, CALL_UNITS);
}

static void put_turn(struct spool *spool, int rank, uint64_t t, int n_barriers)
{
    int peer = 1 - rank;
    put(spool, CALL(Irecv, t, t + 1, .peer = peer, .tag = 3, .request = 7, .bytes_in = 8));
    put(spool, CALL(Start, t + 2, t + 3, .request = 99));
    put_done(spool, WW_STARTED, (struct ww_done){.request = 99, .peer = WW_NO_PEER});
    put(spool, CALL(Send, t + 4, t + 5, .peer = peer, .tag = 3, .bytes_out = 8));
    put(spool, CALL(Send, t + 6, t + 7, .peer = peer, .tag = 5, .bytes_out = 8));
    put(spool, CALL(Waitall, t + 8, t + 20 + 100 * (uint64_t)rank));
    put_done(spool, WW_DONE, (struct ww_done){.request = 7, .peer = peer, .tag = 3, .bytes = 8});
    put_done(spool, WW_DONE, (struct ww_done){.request = 99, .peer = peer, .tag = 5, .bytes = 8});
    for (int i = 0; rank == 1 && i < 5; i++)
        put(spool, CALL(Comm_rank, t + 150 + 2 * (uint64_t)i, t + 151 + 2 * (uint64_t)i));
    if (n_barriers)
        put(spool, CALL(Barrier, t + 200 + 100 * (uint64_t)rank, t + 320, .tag = n_barriers));
}

/* Slots are begun at the time of the clock, of which these records know nothing: at that of their first call instead.
 */
static void date_slots(const char *file)
{
    static char bytes[SLOT];
    FILE *spool = fopen(file, "r+b");
    assert_non_null(spool);
    for (long at = WW_HEADER_BYTES; fseek(spool, at, SEEK_SET) == 0 && fread(bytes, sizeof bytes, 1, spool) == 1;
         at += SLOT) {
        struct ww_slot *slot = (struct ww_slot *)(void *)bytes;
        slot->begin_ns = 0;
        for (const char *record = bytes;
             record < bytes + SLOT && !slot->begin_ns && ((const struct ww_head *)record)->units;
             record += (size_t)((const struct ww_head *)record)->units * WW_UNIT)
            if (((const struct ww_head *)record)->type == WW_CALL)
                slot->begin_ns = ((const struct ww_call *)(const void *)record)->enter_ns;
        fseek(spool, at, SEEK_SET);
        fwrite(bytes, sizeof *slot, 1, spool);
    }
    fclose(spool);
}

static struct trace *record(const char *run, bool is_ring)
{
    char spool_dir[128];
    mkdir(run, 0700);
    snprintf(spool_dir, sizeof spool_dir, "%s/spool", run);
    mkdir(spool_dir, 0700);
    for (int rank = 0; rank < 2; rank++) {
        struct spool spool;
        struct spool_budget budget = {.left_bytes = INT64_MAX};
        struct ww_header header = {.magic = WW_MAGIC,
                                   .version = WW_FORMAT_VERSION,
                                   .header_bytes = WW_HEADER_BYTES,
                                   .kind = WW_KIND_EVENTS,
                                   .rank = rank,
                                   .n_ranks = 2,
                                   .start_ns = START_NS};
        char file[160];
        snprintf(file, sizeof file, "%s/%d-0.ev", spool_dir, rank);
        assert_true(is_ring ? spool_open_ring(&spool, file, &header, RING_BYTES, &budget)
                            : spool_open(&spool, file, &header, SLOT, SLOT, &budget));
        put_comm(&spool, rank);
        put_template(&spool, 1 - rank, is_ring);
        for (int turn = 0; turn < N_TURNS; turn++)
            put_turn(&spool, rank, 10 + (uint64_t)turn * TURN_NS, turn % 7 == 3 ? turn / 7 + 1 : 0);
        uint64_t end_ns = at((uint64_t)N_TURNS * TURN_NS);
        spool.header->n_calls = 1;
        spool_close(&spool, WW_END_FINALIZE, 0, end_ns);
        if (is_ring)
            date_slots(file);
    }
    return make_trace(run);
}

static void same_as_the_whole(void **state)
{
    (void)state;
    char whole_dir[80], ring_dir[80], expected[256], found[256];
    snprintf(whole_dir, sizeof whole_dir, "%s/whole.whywait", dir);
    snprintf(ring_dir, sizeof ring_dir, "%s/ring.whywait", dir);
    struct trace *whole = record(whole_dir, false), *ring = record(ring_dir, true);
    /* Rank 1 writes more, so that its ring begins later; times count from the first event that is there. */
    assert_true(ring->locations[1].begin_ns > ring->locations[0].begin_ns && ring->locations[0].begin_ns > 0);
    assert_int_equal(ring->start_ns, ring->locations[1].begin_ns);
    assert_int_equal(ring->n_before, 2);
    uint64_t shift_ns = whole->end_ns - ring->end_ns;
    assert_int_equal(trace_set_part(whole, ring->start_ns + shift_ns, UINT64_MAX), 0);
    assert_int_equal(trace_rewind(whole), 0);
    assert_int_equal(trace_rewind(ring), 0);
    uint64_t n = 0, n_collectives = 0, n_receives = 0;
    for (const struct event *event; (event = trace_next(whole));) {
        const struct event *other = trace_next(ring);
        assert_non_null(other);
        struct event plain = *event, other_plain = *other;
        plain.request = other_plain.request = 0; /* numbers are given out anew */
        show_event(expected, sizeof expected, whole, &plain);
        show_event(found, sizeof found, ring, &other_plain);
        assert_string_equal(found, expected);
        assert_int_equal(event->time_ns, other->time_ns + shift_ns);
        n_collectives += event->kind == EV_COLL_END;
        n_receives += event->kind == EV_IRECV_DONE;
        n++;
    }
    assert_null(trace_next(ring));
    assert_true(n > 5000 && n_collectives > 40 && n_receives > 800);
    trace_close(whole);
    trace_close(ring);
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof path, "%s/0-0.ev", dir);
    const struct CMUnitTest tests[] = {cmocka_unit_test(newest_are_kept),
                                       cmocka_unit_test(stopped_anywhere),
                                       cmocka_unit_test(less_room),
                                       cmocka_unit_test(no_room),
                                       cmocka_unit_test(one_call_fills_the_ring),
                                       cmocka_unit_test(same_as_the_whole)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", dir);
    return system(command) || failed;
}
