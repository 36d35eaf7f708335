/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/process/descriptors.h"
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static const char *const own_table = "/proc/thread-self/fd", *const first_table = "/proc/self/fd";

static _Atomic bool helper_has_left;
static __thread bool is_helper;

bool descriptors_may_stay(void)
{
    return is_helper || !atomic_load_explicit(&helper_has_left, memory_order_relaxed);
}

/* Memory (null, zero, random numbers) and terminals have no state of a process. */
static bool is_harmless(const struct stat *about)
{
    enum { MEMORY = 1, CONSOLE = 4, TERMINAL = 5, PSEUDO_TERMINAL = 136, LAST_PSEUDO_TERMINAL = 143 };
    unsigned driver = major(about->st_rdev);
    return !S_ISCHR(about->st_mode) || driver == MEMORY || driver == CONSOLE || driver == TERMINAL ||
           (driver >= PSEUDO_TERMINAL && driver <= LAST_PSEUDO_TERMINAL);
}

/* The next descriptor of a table but the list's own; -1: there is none. */
static int next_of(DIR *list)
{
    for (struct dirent *entry; (entry = readdir(list)) != NULL;)
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' && atoi(entry->d_name) != dirfd(list))
            return atoi(entry->d_name);
    return -1;
}

/* False also where the table cannot be read. */
static bool is_without_device(void)
{
    struct stat about;
    DIR *list = opendir(first_table);
    bool is_without = list != NULL;
    for (int fd; is_without && (fd = next_of(list)) >= 0;)
        is_without = fstat(fd, &about) != 0 || is_harmless(&about);
    if (list)
        closedir(list);
    return is_without;
}

static bool is_among(int fd, const int *kept, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (kept[i] == fd)
            return true;
    return false;
}

static void close_all_but(const int *kept, unsigned n)
{
    DIR *list = opendir(own_table);
    for (int fd; list && (fd = next_of(list)) >= 0;)
        if (!is_among(fd, kept, n))
            close(fd);
    if (list)
        closedir(list);
}

/* A sandbox may say that it has done what it has not: what this thread opens must not be the program's. */
static bool is_apart(void)
{
    char path[64], link[64], target[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/status", (int)getpid(), (int)syscall(SYS_gettid));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    snprintf(link, sizeof link, "%s/%d", first_table, fd);
    ssize_t n = readlink(link, target, sizeof target - 1);
    close(fd);
    return n < 0 || (size_t)n != strlen(path) || memcmp(target, path, (size_t)n) != 0;
}

/* Whatever else speaks to standard error from this thread must not write into a file of ours. */
static void fill_first_three(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

bool descriptors_leave(const int *kept, unsigned n)
{
    enum { UNSHARE = 2 }; /* CLOSE_RANGE_UNSHARE, and nothing to close: some containers allow no unshare */
    if (!is_without_device() || access(own_table, R_OK) != 0)
        return false;
    if (unshare(CLONE_FILES) != 0 && syscall(SYS_close_range, ~0u, ~0u, UNSHARE) != 0)
        return false;
    if (!is_apart())
        return false;
    close_all_but(kept, n);
    fill_first_three();
    is_helper = true;
    atomic_store(&helper_has_left, true);
    return true;
}
