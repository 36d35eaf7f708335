/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs that did not end well, and spools that are not where they should be: nothing that was recorded is lost. */
#include "analyze/archive/convert.h"
#include "analyze/files/in_use.h"
#include "analyze/files/paths.h"
#include "tests/unit/archive/conversion.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

/* Cut at every unit, the archive has every call that was begun before the cut. */
static void test_torn(void **state)
{
    (void)state;
    static const uint64_t stack[] = {0x1100, 0x1200, 0x1300};
    struct spool_image a = image_events(0, 1, 0);
    image_world(&a);
    for (uint64_t i = 0; i < 4; i++) {
        image_stack(&a, (uint32_t)i + 1, stack, 3);
        image_call(&a, CALL(Irecv, 10 * i, 10 * i + 1, .peer = 0, .request = i + 1, .stack = (uint32_t)i + 1));
        image_call(&a, CALL(Wait, 10 * i + 2, 10 * i + 3, .comm = 0));
        image_done(&a, WW_DONE, (struct ww_done){.request = i + 1, .peer = 0, .bytes = 2});
    }
    for (size_t n = WW_HEADER_BYTES; n <= a.bytes.n; n += WW_UNIT / 2) {
        char *dir = run_dir_new();
        unsigned n_calls = 0, n_enters = 0;
        for (size_t from = WW_HEADER_BYTES; from < n;) {
            struct ww_head head;
            memcpy(&head, a.bytes.at + from, sizeof head);
            from += (size_t)head.units * WW_UNIT;
            n_calls += head.type == WW_CALL && from <= n;
        }
        image_save(&a, dir, n);
        struct trace *trace = make_trace(dir);
        for (const struct event *event; (event = trace_next(trace));)
            n_enters += event->kind == EV_ENTER;
        assert_int_equal(n_enters, n_calls);
        trace_close(trace);
        run_dir_remove(dir);
    }
    image_release(&a);
}

static void save_of_run(const char *dir, int rank, int n_ranks, uint64_t run)
{
    struct spool_image image = image_events(rank, n_ranks, 0);
    image_header(&image)->run = run;
    image_world(&image);
    image_call(&image, CALL(Barrier, 0, 5));
    save(&image, dir);
}

static void save_simple(const char *dir, int rank, int n_ranks)
{
    save_of_run(dir, rank, n_ranks, 0);
}

/* A file that lacks some of the calls that its header counts, or a rank of which there are samples only: it is said. */
static void test_incomplete(void **state)
{
    (void)state;
    static const struct {
        unsigned n_counted;
        const char *note;
    } cases[] = {{2, NULL}, {3, "Records of rank 0 are damaged or cut off"}, {0, "1 of 1 ranks are missing"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *dir = run_dir_new();
        struct spool_image calls = image_events(0, 1, 0), samples = image_samples(0, 1, 0);
        image_header(&calls)->n_calls = cases[i].n_counted;
        image_header(&calls)->end_ns = at(20);
        image_world(&calls);
        image_call(&calls, CALL(Barrier, 0, 5));
        image_call(&calls, CALL(Barrier, 6, 9));
        if (cases[i].n_counted)
            image_save(&calls, dir, calls.bytes.n);
        image_sample(&samples, (struct ww_sample){.time_ns = at(3)});
        save(&samples, dir);
        struct trace *trace = make_trace(dir);
        assert_int_equal(trace->n_notes, cases[i].note != NULL);
        assert_int_equal(trace->lacks_records, cases[i].note != NULL);
        assert_true(!cases[i].note || strstr(trace->notes[0], cases[i].note));
        trace_close(trace);
        image_release(&calls);
        run_dir_remove(dir);
    }
}

static bool is_there(const char *dir, const char *name)
{
    char *path = path_format("%s/%s", dir, name);
    bool exists = path_exists(path);
    free(path);
    return exists;
}

static void test_missing_rank(void **state)
{
    (void)state;
    char *dir = run_dir_new();
    save_simple(dir, 0, 4);
    save_simple(dir, 2, 4);
    struct trace *trace = make_trace(dir);
    assert_int_equal(trace->n_ranks, 4);
    assert_int_equal(trace->n_locations, 4);
    assert_int_equal(trace->n_notes, 1);
    assert_non_null(strstr(trace->notes[0], "2 of 4 ranks"));
    assert_true(trace->lacks_records);
    unsigned n = 0;
    while (trace_next(trace))
        n++;
    assert_int_equal(n, 2 * 4 + 4);
    trace_close(trace);
    run_dir_remove(dir);
}

/* Whatever was left undone, doing it again gives the archive; the spool goes last. */
static void test_interrupted(void **state)
{
    (void)state;
    char *dir = run_dir_new(), *events, *leftover;
    save_simple(dir, 0, 2);
    save_simple(dir, 1, 2);
    assert_int_equal(convert_rank(dir, 0), 0);
    assert_int_equal(convert_rank(dir, 0), 0);
    assert_true(is_there(dir, "parts/0"));
    leftover = path_format("%s/parts/1.tmp", dir);
    assert_int_equal(dir_make(leftover), 0); /* killed while it converted */
    events = path_format("%s/parts/0/traces/0.evt", dir);
    assert_int_equal(unlink(events), 0); /* killed while it joined, without links */
    struct trace *trace = make_trace(dir);
    unsigned n = 0;
    while (trace_next(trace))
        n++;
    assert_int_equal(n, 2 * 5);
    trace_close(trace);
    assert_false(is_there(dir, "spool"));
    assert_false(is_there(dir, "parts"));
    assert_int_equal(convert_salvage(dir, NULL), 0); /* nothing left to do */
    free(events);
    free(leftover);
    run_dir_remove(dir);
}

/* A spool that its program still maps is left alone. */
static void *end_soon(void *mapped)
{
    usleep(30 * 1000);
    munmap(mapped, WW_HEADER_BYTES);
    return NULL;
}

/* A process that goes on recording keeps its spool; one that is about to end is waited for. */
static void test_in_use(void **state)
{
    (void)state;
    char *dir = run_dir_new(), *path = path_format("%s/spool/0-0.ev", dir);
    struct spool_image image = image_events(0, 1, 0);
    image_world(&image);
    image_call(&image, CALL(Barrier, 0, 5));
    image_header(&image)->pid = getpid();
    gethostname(image_header(&image)->host, sizeof image_header(&image)->host);
    save(&image, dir);
    int fd = open(path, O_RDWR);
    void *mapped = mmap(NULL, WW_HEADER_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(mapped, MAP_FAILED);
    assert_int_equal(convert_salvage(dir, NULL), -1);
    assert_true(is_there(dir, "spool/0-0.ev"));
    pthread_t ending;
    assert_int_equal(pthread_create(&ending, NULL, end_soon, mapped), 0);
    assert_int_equal(convert_salvage(dir, NULL), 0);
    pthread_join(ending, NULL);
    assert_false(is_there(dir, "spool"));
    assert_false(is_there(dir, "join.lock"));
    close(fd);
    free(path);
    run_dir_remove(dir);
}

/* A spool on a disk of its node: followed where it is there, waited for where it is not. */
static void test_away(void **state)
{
    (void)state;
    char *dir = run_dir_new(), *elsewhere = run_dir_new();
    char *here = path_format("%s/spool/0-0.ev", dir), *there = path_format("%s/0-0.ev", elsewhere);
    char *lost = path_format("%s/spool/1-0.ev", dir);
    save_simple(dir, 0, 2);
    assert_int_equal(rename(here, there), 0);
    assert_int_equal(symlink(there, here), 0);
    assert_int_equal(symlink("/nowhere/1-0.ev", lost), 0);
    assert_int_equal(convert_salvage(dir, NULL), -1);
    assert_true(is_there(dir, "parts/0"));
    assert_int_equal(unlink(lost), 0);
    struct trace *trace = make_trace(dir);
    assert_int_equal(trace->n_ranks, 2);
    assert_false(path_exists(there));
    trace_close(trace);
    free(here);
    free(there);
    free(lost);
    run_dir_remove(elsewhere);
    run_dir_remove(dir);
}

static void test_keep_spool(void **state)
{
    (void)state;
    char *dir = run_dir_new();
    struct convert_options options = {.keep_spool = true};
    save_simple(dir, 0, 1);
    assert_int_equal(convert_salvage(dir, &options), 0);
    assert_true(is_there(dir, "spool/0-0.ev"));
    assert_false(is_there(dir, "parts"));
    run_dir_remove(dir);
}

static void *wait_for_lock(void *path)
{
    return (void *)(intptr_t)lock_take(path);
}

/* Whoever waits for a lock whose file is removed meanwhile has it as the next one sees it: in the file of that name. */
static void test_lock(void **state)
{
    (void)state;
    const struct timespec a_while = {.tv_nsec = 50 * 1000 * 1000};
    char *dir = run_dir_new(), *path = path_format("%s/a.lock", dir);
    struct stat taken, named;
    pthread_t waiter;
    void *lock;
    int first = lock_take(path);
    assert_true(first >= 0);
    assert_int_equal(pthread_create(&waiter, NULL, wait_for_lock, path), 0);
    nanosleep(&a_while, NULL); /* it waits by then, or finds no file, which is easier */
    unlink(path);
    lock_release(first);
    pthread_join(waiter, &lock);
    assert_int_equal(fstat((int)(intptr_t)lock, &taken), 0);
    assert_int_equal(stat(path, &named), 0);
    assert_int_equal(taken.st_ino, named.st_ino);
    lock_release((int)(intptr_t)lock);
    run_dir_remove(dir);
    free(path);
}

static void test_nothing(void **state)
{
    (void)state;
    char *dir = run_dir_new();
    assert_int_equal(convert_salvage(dir, NULL), -1);
    assert_int_equal(convert_rank(dir, 0), -1);
    run_dir_remove(dir);
}

/* No file may grow beyond that. */
static void limit_files(rlim_t most_bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = most_bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* The disk is full when OTF2 writes the last of its events, or of its definitions, and it does not say so. */
static void test_no_room_at_the_end(void **state)
{
    (void)state;
    enum { N_CALLS = 20000, N_STACKS = 300, EVENTS_BYTES = 256 << 10, DEFINITIONS_BYTES = 4096 };
    char *dir = run_dir_new();
    struct spool_image image = image_events(0, 1, 0);
    image_world(&image);
    image_module(&image, 1, 0x1000, 0x9000, 0, "/a");
    for (uint32_t i = 0; i < N_STACKS; i++)
        image_stack(&image, i + 1, &(uint64_t){0x1000 + 16 * i}, 1);
    for (uint32_t i = 0; i < N_CALLS; i++)
        image_call(&image, CALL(Barrier, 10 * i, 10 * i + 5, .stack = 1 + i % N_STACKS));
    save(&image, dir);
    signal(SIGXFSZ, SIG_IGN);
    limit_files(EVENTS_BYTES);
    int converted = convert_rank(dir, 0);
    limit_files(RLIM_INFINITY);
    assert_int_equal(converted, CONVERT_UNDONE);
    assert_int_equal(convert_rank(dir, 0), 0);
    limit_files(DEFINITIONS_BYTES);
    int joined = convert_salvage(dir, NULL);
    limit_files(RLIM_INFINITY);
    assert_int_equal(joined, -1);
    assert_true(is_there(dir, "spool"));
    assert_int_equal(convert_salvage(dir, NULL), 0);
    run_dir_remove(dir);
}

/* Ranks of two runs are no run, be they files or parts. A file that does not tell its run is of any. */
static void test_two_runs(void **state)
{
    (void)state;
    static const struct {
        uint64_t run;
        bool is_joined;
    } others[] = {{7, true}, {8, false}, {0, true}};
    for (size_t i = 0; i < 2 * sizeof others / sizeof *others; i++) {
        bool has_part = i % 2, is_joined = others[i / 2].is_joined;
        char *dir = run_dir_new();
        save_of_run(dir, 0, 2, 7);
        save_of_run(dir, 1, 2, others[i / 2].run);
        if (has_part)
            assert_int_equal(convert_rank(dir, 0), 0);
        assert_int_equal(convert_salvage(dir, NULL), is_joined ? 0 : -1);
        assert_int_equal(is_there(dir, "spool/0-0.ev") && is_there(dir, "spool/1-0.ev"), !is_joined);
        assert_false(is_there(dir, "parts/1"));
        if (!is_joined) {
            assert_int_equal(convert_rank(dir, 0) || convert_rank(dir, 1), 0);
            assert_int_equal(convert_join(dir, NULL), -1);
            assert_true(is_there(dir, "spool/0-0.ev") && is_there(dir, "spool/1-0.ev"));
        }
        run_dir_remove(dir);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_room_at_the_end),
        cmocka_unit_test(test_torn),
        cmocka_unit_test(test_missing_rank),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_keep_spool),
        cmocka_unit_test(test_in_use),
        cmocka_unit_test(test_away),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_incomplete),
        cmocka_unit_test(test_lock),
        cmocka_unit_test(test_two_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
