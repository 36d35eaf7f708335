/* SPDX-License-Identifier: BSD-3-Clause */
/* Run directories; a spool on a disk of the node comes back whole, in a directory whose name cannot be foreseen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "wrap/record/spool/rundir.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char base[] = "/tmp/whywait-test-XXXXXX";

static void write_file(const char *path, size_t bytes)
{
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    for (size_t i = 0; i < bytes; i++)
        fputc((int)(i * 7 & 255), out);
    fclose(out);
}

static void check_file(const char *path, size_t bytes)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(st.st_size, bytes);
    FILE *in = fopen(path, "rb");
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(fgetc(in), i * 7 & 255);
    fclose(in);
}

static void test_is_collected(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 4096, 3000001};
    char run[PATH_MAX], wish[PATH_MAX], on_node[PATH_MAX], local[PATH_MAX], home[PATH_MAX];
    struct stat st;
    assert_true(rundir_create(base, "/bin/a program", 3, run, sizeof run));
    assert_non_null(strstr(run, "/a_program-3-"));
    snprintf(wish, sizeof wish, "%s/node", base);
    assert_true(rundir_choose_node_disk(run, wish, on_node, sizeof on_node));
    assert_int_equal(stat(on_node, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    for (unsigned i = 0; i < 3; i++) {
        snprintf(local, sizeof local, "%.200s/%u-0.ev", on_node, i);
        snprintf(home, sizeof home, "%.200s/spool/%u-0.ev", run, i);
        write_file(local, sizes[i]);
        assert_int_equal(symlink(local, home), 0);
    }
    snprintf(home, sizeof home, "%.200s/spool", run);
    assert_true(rundir_collect(on_node, home));
    assert_int_equal(access(on_node, F_OK), -1);
    for (unsigned i = 0; i < 3; i++) {
        snprintf(home, sizeof home, "%.200s/spool/%u-0.ev", run, i);
        check_file(home, sizes[i]);
    }
}

/* The reason is told to the user. */
static void test_says_why_it_is_not_collected(void **state)
{
    (void)state;
    char run[PATH_MAX], on_node[PATH_MAX], path[PATH_MAX];
    assert_true(rundir_create(base, "left", 1, run, sizeof run));
    assert_true(rundir_choose_node_disk(run, base, on_node, sizeof on_node));
    snprintf(path, sizeof path, "%.200s/.of_somebody_else", on_node);
    write_file(path, 1);
    snprintf(path, sizeof path, "%.200s/spool", run);
    assert_false(rundir_collect(on_node, path));
    assert_int_equal(errno, ENOTEMPTY);
    /* A folder stands where the file shall be. */
    snprintf(path, sizeof path, "%.200s/0-0.ev", on_node);
    write_file(path, 1);
    snprintf(path, sizeof path, "%.200s/spool/0-0.ev", run);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%.200s/spool", run);
    errno = 0;
    assert_false(rundir_collect(on_node, path));
    assert_int_equal(errno, EISDIR);
}

static void test_stays_without_a_reason(void **state)
{
    (void)state;
    char on_node[PATH_MAX];
    assert_false(rundir_choose_node_disk(base, "", on_node, sizeof on_node)); /* /tmp is local */
    assert_int_equal(errno, 0);
    assert_false(rundir_choose_node_disk(base, "/proc/nowhere", on_node, sizeof on_node));
    assert_int_not_equal(errno, 0);
}

static void test_run_directories_are_never_shared(void **state)
{
    (void)state;
    char first[PATH_MAX], second[PATH_MAX], link[PATH_MAX], deep[PATH_MAX];
    struct stat st;
    snprintf(deep, sizeof deep, "%s/several/levels/down", base);
    assert_true(rundir_create(deep, "prog", 2, first, sizeof first));
    assert_int_equal(stat(first, &st), 0);
    assert_int_equal(strncmp(first, deep, strlen(deep)), 0);
    assert_true(rundir_create(base, "prog", 2, first, sizeof first));
    assert_true(rundir_create(base, "prog", 2, second, sizeof second));
    assert_string_not_equal(first, second);
    assert_int_equal(stat(second, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    /* The directory of rank 0, where this node does not see it; but never through a link that somebody left there. */
    snprintf(link, sizeof link, "%s/elsewhere.whywait", base);
    assert_int_equal(symlink(first, link), 0);
    assert_false(rundir_ensure(link));
    assert_int_equal(unlink(link), 0);
    assert_true(rundir_ensure(link));
    assert_true(rundir_ensure(first));
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(base) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_collected),
        cmocka_unit_test(test_says_why_it_is_not_collected),
        cmocka_unit_test(test_stays_without_a_reason),
        cmocka_unit_test(test_run_directories_are_never_shared),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
