/* SPDX-License-Identifier: BSD-3-Clause */
/* Which package a file is from, by the lists of a package manager made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/code/origin.h"
#include "wrap/base/containers.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_list(const char *dir, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void files_are_found_in_the_list_of_their_package(void **state)
{
    static const char *const names[] = {"solver.list", "libsolver2:amd64.list", "solver.md5sums"};
    char dir[] = "/tmp/whywait-package.XXXXXX", path[256];
    struct arena arena = {0};
    (void)state;
    assert_non_null(mkdtemp(dir));
    write_list(dir, names[0], "/.\n/usr/bin/solver\n/usr/bin/solver.openmpi\n");
    write_list(dir, names[1], "/.\n/lib/x86_64-linux-gnu/libsolver.so.2\n");
    write_list(dir, names[2], "/usr/bin/other\n");
    assert_string_equal(package_of_file(&arena, dir, "/usr/bin/solver.openmpi"), "solver");
    assert_string_equal(package_of_file(&arena, dir, "/usr/lib/x86_64-linux-gnu/libsolver.so.2"), "libsolver2");
    assert_string_equal(package_of_file(&arena, dir, "/lib/x86_64-linux-gnu/libsolver.so.2"), "libsolver2");
    assert_string_equal(package_of_file(&arena, dir, "/bin/solver"), "solver");
    assert_null(package_of_file(&arena, dir, "/usr/bin/solv"));
    assert_null(package_of_file(&arena, dir, "/usr/bin/other"));
    assert_null(package_of_file(&arena, dir, "/home/u/solver"));
    assert_null(package_of_file(&arena, "/tmp/no/such/directory", "/usr/bin/solver"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    rmdir(dir);
    arena_release(&arena);
}

/* Debian and Ubuntu have archives of debug information of their own, which few systems ask. */
static void debug_information_is_offered_where_its_archive_is_asked(void **state)
{
    static const char *const names[] = {"deb.debian.org_debian_dists_bookworm_main_binary-amd64_Packages",
                                        "deb.debian.org_debian-debug_dists_bookworm-debug_InRelease",
                                        "deb.debian.org_debian-debug_dists_bookworm-debug_main_binary-amd64_Packages",
                                        "ddebs.ubuntu.com_dists_noble_main_binary-amd64_Packages.lz4"};
    char dir[] = "/tmp/whywait-lists.XXXXXX", path[256];
    (void)state;
    assert_non_null(mkdtemp(dir));
    assert_false(package_offers_debug("/tmp/no/such/directory"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        write_list(dir, names[i], "");
        assert_int_equal(package_offers_debug(dir), i >= 2);
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        if (i == 2)
            unlink(path);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        unlink(path);
    }
    rmdir(dir);
}

static void files_that_others_built_are_known(void **state)
{
    char path[] = "/tmp/whywait-own.XXXXXX";
    int file = mkstemp(path);
    (void)state;
    assert_true(file >= 0);
    close(file);
    assert_true(file_is_given("/usr/lib/x86_64-linux-gnu/libsolver.so.2"));
    assert_true(file_is_given("/lib64/libsolver.so.2"));
    assert_true(file_is_given("/usr/bin/solver"));
    assert_false(file_is_given("/usr/local/lib/libsolver.so.2"));
    assert_false(file_is_given("/home/u/build/libsolver.so.2"));
    assert_false(file_is_given(path));
    chmod(path, 0444);
    assert_false(file_is_given(path)); /* its own user can change that */
    chmod(path, 0644);
    /* Nobody else may write it. */
    if (geteuid() == 0) {
        assert_int_equal(seteuid(65534), 0);
        assert_true(file_is_given(path));
        assert_int_equal(seteuid(0), 0);
        chmod(path, 0666);
        assert_int_equal(seteuid(65534), 0);
        assert_false(file_is_given(path));
        assert_int_equal(seteuid(0), 0);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_are_found_in_the_list_of_their_package),
                                       cmocka_unit_test(debug_information_is_offered_where_its_archive_is_asked),
                                       cmocka_unit_test(files_that_others_built_are_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
