/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread leaves the table of descriptors of its process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "wrap/record/process/descriptors.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static struct thread {
    int kept, opened;
    bool has_left, may_keep, has_kept, has_pipe;
    int pipe[2];
} seen;

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static bool is_folder(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 && S_ISDIR(about.st_mode);
}

static void *leave(void *unused)
{
    (void)unused;
    seen.has_left = descriptors_leave((int[]){seen.kept, -1}, 2);
    seen.may_keep = descriptors_may_stay();
    seen.has_kept = is_open(seen.kept);
    seen.has_pipe = is_open(seen.pipe[0]) || is_open(seen.pipe[1]);
    seen.opened = open("/", O_RDONLY | O_DIRECTORY);
    return NULL;
}

static void in_thread(void)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, leave, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Drivers may take a copy's end for that of the process. */
static void stays_where_there_is_a_device(void **unused)
{
    static const char *const devices[] = {"/dev/autofs", "/dev/fuse", "/dev/loop-control", "/dev/hwrng"};
    int fd = -1;
    (void)unused;
    for (unsigned i = 0; i < sizeof devices / sizeof *devices && fd < 0; i++)
        fd = open(devices[i], O_RDONLY);
    if (fd < 0)
        skip();
    seen = (struct thread){.kept = fd, .pipe = {-1, -1}};
    in_thread();
    assert_false(seen.has_left);
    assert_true(descriptors_may_stay());
    assert_true(is_folder(seen.opened));
    close(seen.opened);
    close(fd);
}

static void opens_what_nobody_else_has(void **unused)
{
    char byte;
    (void)unused;
    seen = (struct thread){.kept = open("/dev/null", O_RDONLY)};
    assert_int_equal(pipe(seen.pipe), 0);
    in_thread();
    if (!seen.has_left) /* not allowed here */
        skip();
    assert_true(seen.may_keep && seen.has_kept);
    assert_false(seen.has_pipe);
    assert_true(seen.opened > STDERR_FILENO);
    assert_false(is_folder(seen.opened));
    assert_true(is_open(seen.kept) && is_open(seen.pipe[0]) && is_open(seen.pipe[1]));
    assert_false(descriptors_may_stay());
    /* Nobody else has a copy of the end that is written to. */
    close(seen.pipe[1]);
    assert_int_equal(read(seen.pipe[0], &byte, 1), 0);
    close(seen.pipe[0]);
    close(seen.kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stays_where_there_is_a_device),
        cmocka_unit_test(opens_what_nobody_else_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
