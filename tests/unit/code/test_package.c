/* SPDX-License-Identifier: BSD-3-Clause */
/* Which package a file is from, by the lists of a package manager made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/code/code.h"
#include "wrap/base/containers.h"
#include <stdio.h>
#include <stdlib.h>
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

static void debug_information_is_found_for_the_distribution(void **state)
{
    static const char *const releases[][2] = {
        {"NAME=\"Debian GNU/Linux\"\nVERSION_CODENAME=bookworm\nID=debian\n",
         "deb http://deb.debian.org/debian-debug bookworm-debug main"},
        {"ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=\"noble\"\n", "deb http://ddebs.ubuntu.com noble main universe"},
        {"ID=linuxmint\nVERSION_CODENAME=vera\n", NULL},
        {"ID=debian\n", NULL},
    };
    char dir[] = "/tmp/whywait-release.XXXXXX", path[256];
    struct arena arena = {0};
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/os-release", dir);
    assert_null(package_debug_source(&arena, path));
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        write_list(dir, "os-release", releases[i][0]);
        const char *line = package_debug_source(&arena, path);
        assert_int_equal(line == NULL, releases[i][1] == NULL);
        if (line)
            assert_string_equal(line, releases[i][1]);
    }
    unlink(path);
    rmdir(dir);
    arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(files_are_found_in_the_list_of_their_package),
                                       cmocka_unit_test(debug_information_is_found_for_the_distribution)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
