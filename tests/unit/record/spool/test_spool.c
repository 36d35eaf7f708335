/* SPDX-License-Identifier: BSD-3-Clause */
/* What is appended can be read back: across segments, torn at any place, at the bound, and on a file-size limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "tests/unit/record/spool_reader.h"
#include "wrap/record/spool/spool.h"
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[64];

static int make_path(void **state)
{
    (void)state;
    char dir[] = "/tmp/whywait-test-XXXXXX";
    if (!mkdtemp(dir))
        return -1;
    snprintf(path, sizeof path, "%s/0-0.ev", dir);
    return 0;
}

static int remove_path(void **state)
{
    (void)state;
    unlink(path);
    *strrchr(path, '/') = '\0';
    return rmdir(path);
}

static struct spool *open_spool(struct spool_budget *budget, int64_t bound_bytes)
{
    struct spool *spool = calloc(1, sizeof *spool);
    struct ww_header header = {.magic = WW_MAGIC, .version = WW_FORMAT_VERSION};
    budget->left_bytes = bound_bytes;
    assert_true(spool_open(spool, path, &header, SPOOL_SMALLEST_SEGMENT, 4 * SPOOL_SMALLEST_SEGMENT, budget));
    return spool;
}

static bool append_call(struct spool *spool, uint64_t value)
{
    struct ww_call *call = spool_take(spool, 2, true);
    if (!call)
        return false;
    call->enter_ns = value;
    spool_commit(call, WW_CALL, 2);
    return true;
}

/* Records of odd sizes between the calls, so that segments end with a filler. */
static void append_note(struct spool *spool, unsigned units)
{
    struct ww_note *note = spool_take(spool, units, false);
    assert_non_null(note);
    note->bytes = units;
    spool_commit(note, WW_NOTE, (uint16_t)units);
}

static void check_calls(const struct spool_file *file, uint64_t n)
{
    uint64_t next = 0;
    for (const struct ww_head *r = spool_file_next(file, NULL); r; r = spool_file_next(file, r))
        if (r->type == WW_CALL)
            assert_int_equal(((const struct ww_call *)r)->enter_ns, next++);
    assert_int_equal(next, n);
}

static void test_reads_back_across_segments(void **state)
{
    (void)state;
    struct spool_budget budget = {0};
    struct spool *spool = open_spool(&budget, INT64_MAX);
    for (uint64_t i = 0; i < 50000; i++) {
        assert_true(append_call(spool, i));
        if (i % 7 == 0)
            append_note(spool, 1 + i % 900);
        if (i % 100 == 0)
            spool_prepare(spool);
    }
    spool_close(spool, WW_END_FINALIZE, 3, 77);
    struct spool_file file = spool_file_load(path);
    check_calls(&file, 50000);
    assert_int_equal(spool_file_count(&file, WW_NOTE), (50000 + 6) / 7);
    assert_int_equal(file.header->end_how, WW_END_FINALIZE);
    assert_int_equal(file.header->end_ns, 77);
    assert_int_equal(file.header->n_dropped, 0);
    free(file.bytes);
    free(spool);
}

/* A call completed after its segment was left. */
static void test_an_open_call_stays_writable(void **state)
{
    (void)state;
    struct spool_budget budget = {0};
    struct spool *spool = open_spool(&budget, INT64_MAX);
    struct ww_call *call = spool_take(spool, 2, true);
    spool_commit(call, WW_CALL, 2);
    for (unsigned i = 0; i < 20; i++)
        append_note(spool, 1999);
    call->leave_ns = 4711;
    spool_close(spool, WW_END_FINALIZE, 0, 1);
    struct spool_file file = spool_file_load(path);
    assert_int_equal(((const struct ww_call *)spool_file_next(&file, NULL))->leave_ns, 4711);
    assert_int_equal(spool_file_count(&file, WW_NOTE), 20);
    free(file.bytes);
    free(spool);
}

static void test_killed_writer_loses_nothing(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        struct spool_budget budget = {0};
        struct spool *spool = open_spool(&budget, INT64_MAX);
        for (uint64_t i = 0; i < 12345; i++)
            append_call(spool, i);
        spool_take(spool, 2, true); /* taken, never committed */
        kill(getpid(), SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    struct spool_file file = spool_file_load(path);
    check_calls(&file, 12345);
    assert_int_equal(file.header->end_how, WW_END_NONE);
    free(file.bytes);
}

static void test_the_bound_is_kept_and_counted(void **state)
{
    (void)state;
    struct spool_budget budget = {0};
    struct spool *spool = open_spool(&budget, 300 << 10);
    uint64_t kept = 0, n = 10000;
    for (uint64_t i = 0; i < n; i++)
        kept += append_call(spool, i);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size <= (300 << 10) + WW_HEADER_BYTES);
    assert_true(kept > 4000 && kept < n);
    assert_int_equal(spool->header->n_dropped, n - kept);
    spool_close(spool, WW_END_FINALIZE, 0, 1);
    struct spool_file file = spool_file_load(path);
    check_calls(&file, kept);
    free(file.bytes);
    free(spool);
}

/* No SIGXFSZ, no SIGBUS: the spool is full, that is all. */
static void test_file_size_limit(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        struct spool_budget budget = {0};
        struct rlimit limit = {200 << 10, 200 << 10};
        setrlimit(RLIMIT_FSIZE, &limit);
        struct spool *spool = open_spool(&budget, INT64_MAX);
        uint64_t kept = 0;
        for (uint64_t i = 0; i < 10000; i++)
            kept += append_call(spool, i);
        _exit(kept > 2000 && kept < 10000 && spool->header->n_dropped == 10000 - kept ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void test_survives_closed_descriptors(void **state)
{
    (void)state;
    struct spool_budget budget = {0};
    struct spool *spool = open_spool(&budget, INT64_MAX);
    /* What a program does that closes everything and opens files of its own. */
    int fd = spool->fd;
    close(fd);
    char other[] = "/tmp/whywait-test-other-XXXXXX";
    int theirs = mkstemp(other);
    assert_int_equal(dup2(theirs, fd), fd);
    for (uint64_t i = 0; i < 20000; i++)
        assert_true(append_call(spool, i));
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, 0);
    spool_close(spool, WW_END_FINALIZE, 0, 1);
    assert_int_equal(fstat(fd, &st), 0);
    struct spool_file file = spool_file_load(path);
    check_calls(&file, 20000);
    close(theirs);
    close(fd);
    unlink(other);
    free(file.bytes);
    free(spool);
}

static void test_takes_over_no_file(void **state)
{
    (void)state;
    struct spool_budget budget = {.left_bytes = INT64_MAX};
    struct ww_header header = {.version = 1};
    struct spool *spool = calloc(1, sizeof *spool);
    assert_int_equal(symlink("/tmp/whywait-test-elsewhere", path), 0);
    assert_false(spool_open(spool, path, &header, SPOOL_SMALLEST_SEGMENT, SPOOL_SMALLEST_SEGMENT, &budget));
    assert_int_equal(errno, EEXIST);
    assert_int_equal(access("/tmp/whywait-test-elsewhere", F_OK), -1);
    free(spool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reads_back_across_segments, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_an_open_call_stays_writable, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_killed_writer_loses_nothing, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_the_bound_is_kept_and_counted, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_file_size_limit, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_survives_closed_descriptors, make_path, remove_path),
        cmocka_unit_test_setup_teardown(test_takes_over_no_file, make_path, remove_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
