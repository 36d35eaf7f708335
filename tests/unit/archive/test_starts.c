/* SPDX-License-Identifier: BSD-3-Clause */
/* A later part of a run is the same whether or not what comes before it is read; and with starts little of that is. */
#include "analyze/archive/archive.h"
#include "analyze/archive/starts.h"
#include "analyze/files/paths.h"
#include "analyze/trace/part.h"
#include "analyze/trace/source.h"
#include "tests/unit/archive/conversion.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    N_RANKS = 2,
    N_CALLS = 12000,
    N_POINTS = 40,
    CALL_NS = 100,
    N_STACKS = 9,
    MOST_PENDING = 6,
    RUN_NS = N_CALLS * CALL_NS
};

static uint32_t seed;

static uint32_t any_of(uint32_t n)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) % n;
}

/* What the first thread of a rank has posted and not completed, as handles; receives are odd, collectives even. */
struct posted {
    uint64_t requests[MOST_PENDING], n_ever;
    uint32_t n;
};

static uint64_t post(struct posted *posted, bool is_receive)
{
    uint64_t request = 2 * ++posted->n_ever + is_receive;
    return posted->requests[posted->n++] = request;
}

static void put_wait(struct spool_image *image, struct posted *posted, struct ww_call call)
{
    call.call = WW_ID_Wait;
    call.comm = 0;
    image_call(image, call);
    uint32_t which = any_of(posted->n);
    uint64_t request = posted->requests[which];
    posted->requests[which] = posted->requests[--posted->n];
    bool is_cancelled = request & 1 && !any_of(16);
    image_done(image, WW_DONE,
               (struct ww_done){.request = request, .peer = 0, .tag = 3, .flags = is_cancelled ? WW_F_NULL : 0});
}

/* Calls of the first thread, of all kinds that a part has to know of. */
static void put_call(struct spool_image *image, struct posted *posted, uint64_t begin_ns)
{
    struct ww_call call = CALL(Barrier, begin_ns, begin_ns + 60, .stack = any_of(8) ? 1 + any_of(2) : any_of(N_STACKS));
    uint32_t what = any_of(8);
    if (what > 3 && posted->n == MOST_PENDING)
        what = 2;
    if (what < 3 && posted->n) {
        put_wait(image, posted, call);
        return;
    }
    if (what == 3) {
        call.call = WW_ID_Allreduce;
        call.comm = 3;
    } else if (what == 4) {
        call.call = WW_ID_Ibarrier;
        call.request = post(posted, false);
    } else if (what > 4) {
        call.call = WW_ID_Irecv;
        call.peer = 0;
        call.request = post(posted, true);
    }
    image_call(image, call);
}

/* A receive that is pending for half of the time; the last one is for ever. */
static bool put_long(struct spool_image *image, uint64_t i, uint64_t begin_ns)
{
    enum { REQUEST = 1 << 20 };
    if (i % 3000 == 100)
        image_call(image, CALL(Irecv, begin_ns, begin_ns + 60, .peer = 0, .request = REQUEST));
    else if (i % 3000 == 1600 && i < N_CALLS - 3000) {
        image_call(image, CALL(Wait, begin_ns, begin_ns + 60, .comm = 0));
        image_done(image, WW_DONE, (struct ww_done){.request = REQUEST, .peer = 0, .tag = 4});
    } else
        return false;
    return true;
}

static void save_rank(const char *dir, int rank)
{
    struct spool_image main = image_events(rank, N_RANKS, 0), other = image_events(rank, N_RANKS, 1),
                       worker = image_samples(rank, N_RANKS, 2);
    const struct ww_counters counters = {.id = 1, .bias = 0x1000, .n_points = N_POINTS};
    struct posted posted = {.n = 0};
    image_world(&main);
    image_comm(&main, 3, 1, (const int32_t[]){0, 1}, N_RANKS, 0);
    image_module(&main, 1, 0x1000, 0x9000, 0x1000, "/a");
    image_record(&main, WW_COUNTERS, &counters, sizeof counters, NULL, 0);
    for (uint32_t id = 1; id <= N_STACKS; id++)
        image_stack(&main, id, &(uint64_t){0x1000 + 16 * id}, 1);
    image_stack(&worker, 1, &(uint64_t){0x2000}, 1);
    for (uint64_t i = 0; i < N_CALLS; i++) {
        uint64_t begin_ns = i * CALL_NS + any_of(30);
        if (i % 5 == 0)
            image_bins(&main, WW_BIN_EXECUTIONS, N_POINTS);
        if (!put_long(&main, i, begin_ns))
            put_call(&main, &posted, begin_ns);
        if (i % 7 == 0) /* of rank 1 nearly always, and yet there is a time between */
            image_call(&other, CALL(Allreduce, begin_ns + 65, begin_ns + (rank ? 600 : 69), .comm = 3));
        /* Asleep for a while, and for most of the last third of the run. */
        if (i % 400 == 5 && i < 2 * N_CALLS / 3)
            image_switch(&worker, (struct ww_switch){.time_ns = at(begin_ns), .flags = WW_SW_OUT});
        if (i % 400 == 200)
            image_switch(&worker, (struct ww_switch){.time_ns = at(begin_ns)});
        if (i % 400 == 300)
            image_sample(&worker, (struct ww_sample){.time_ns = at(begin_ns), .weight_ns = 1000000, .stack = 1});
    }
    save(&main, dir);
    save(&other, dir);
    save(&worker, dir);
}

enum how { AS_USUAL, BY_TIME }; /* BY_TIME: places in its records cannot be marked */

/* The meter counts the records that are decoded. */
static struct trace *open_part(const char *anchor, uint64_t from_ns, uint64_t until_ns, enum how how)
{
    struct trace *trace = trace_open(anchor);
    assert_non_null(trace);
    trace->meter.is_silent = true;
    meter_stage(&trace->meter, "reading", "events", 0, 0);
    if (how == BY_TIME)
        trace->source->archive = NULL;
    assert_int_equal(trace_set_part(trace, from_ns, until_ns), 0);
    assert_int_equal(trace_rewind(trace), 0);
    return trace;
}

/* Of each event the line, to be freed. */
static char *read_part(const char *anchor, uint64_t from_ns, uint64_t until_ns, enum how how, uint64_t *n_read)
{
    struct trace *trace = open_part(anchor, from_ns, until_ns, how);
    char *text = NULL;
    size_t size = 0;
    FILE *lines = open_memstream(&text, &size);
    for (const struct event *event; (event = trace_next(trace));) {
        char line[256];
        show_event(line, sizeof line, trace, event);
        fprintf(lines, "%llu %d %s %u\n", (unsigned long long)event->time_ns, event->kind, line, event_n_bins(event));
    }
    fclose(lines);
    assert_false(trace->is_damaged);
    *n_read = trace->meter.n_done;
    trace_close(trace);
    assert_true(size > 1000);
    return text;
}

static char *dir, *anchor, *starts, *aside;

static void same_part(uint64_t from_ns, uint64_t until_ns, uint64_t *n_with, uint64_t *n_without)
{
    uint64_t n_by_time;
    char *with = read_part(anchor, from_ns, until_ns, AS_USUAL, n_with);
    assert_int_equal(rename(starts, aside), 0);
    char *without = read_part(anchor, from_ns, until_ns, AS_USUAL, n_without);
    char *by_time = read_part(anchor, from_ns, until_ns, BY_TIME, &n_by_time);
    assert_int_equal(rename(aside, starts), 0);
    assert_string_equal(with, without);
    assert_string_equal(without, by_time);
    assert_true(*n_without < n_by_time); /* what comes before is read once */
    free(with);
    free(without);
    free(by_time);
}

static void test_same_parts(void **state)
{
    (void)state;
    uint64_t n_with, n_without, n_all_with = 0, n_all_without = 0;
    for (uint32_t i = 1; i < 60; i++) {
        uint64_t from_ns = RUN_NS / 60 * i + any_of(RUN_NS / 60);
        same_part(from_ns, i % 2 ? UINT64_MAX : from_ns + RUN_NS / 100, &n_with, &n_without);
        assert_true(n_with <= n_without);
        if (i % 2 == 0) {
            n_all_with += n_with;
            n_all_without += n_without;
        }
    }
    assert_true(n_all_with < n_all_without / 4);
}

/* A file that does not belong to the archive, or not all of it: then all is read. */
static void test_unsound(void **state)
{
    (void)state;
    uint64_t from_ns = RUN_NS / 10 * 9, n_with, n_without;
    struct stat status;
    assert_int_equal(stat(starts, &status), 0);
    same_part(from_ns, UINT64_MAX, &n_with, &n_without);
    assert_true(n_with < n_without / 2);
    static const long places[] = {0, offsetof(struct starts_header, n_events),
                                  sizeof(struct starts_header) + offsetof(struct starts_record, rank),
                                  sizeof(struct starts_header) + offsetof(struct starts_record, n_positions) + 3,
                                  sizeof(struct starts_header) + offsetof(struct starts_record, n_counts) + 3};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        FILE *file = fopen(starts, "r+b");
        assert_non_null(file);
        fseek(file, places[i], SEEK_SET);
        int was = fgetc(file);
        fseek(file, places[i], SEEK_SET);
        fputc(was ^ 0x55, file);
        fclose(file);
        same_part(from_ns, UINT64_MAX, &n_with, &n_without);
        assert_int_equal(n_with, n_without);
        file = fopen(starts, "r+b");
        fseek(file, places[i], SEEK_SET);
        fputc(was, file);
        fclose(file);
    }
    assert_int_equal(truncate(starts, status.st_size - 1), 0);
    same_part(from_ns, UINT64_MAX, &n_with, &n_without);
    assert_int_equal(n_with, n_without);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_parts), cmocka_unit_test(test_unsound)};
    dir = run_dir_new();
    anchor = path_format("%s/" ARCHIVE_NAME ".otf2", dir);
    starts = path_format("%s/" ARCHIVE_NAME ARCHIVE_STARTS, dir);
    aside = path_format("%s/aside", dir);
    for (int rank = 0; rank < N_RANKS; rank++)
        save_rank(dir, rank);
    trace_close(make_trace(dir));
    int result = cmocka_run_group_tests(tests, NULL, NULL);
    free(anchor);
    free(starts);
    free(aside);
    run_dir_remove(dir);
    return result;
}
