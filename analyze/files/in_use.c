/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/files/in_use.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A number of a process may have been given out again: only one that maps this very file counts. */
bool spool_is_mapped(const char *path, int32_t pid)
{
    char maps[64], line[8192];
    const char *name = strrchr(path, '/');
    struct stat status;
    bool found = false;
    snprintf(maps, sizeof maps, "/proc/%d/maps", pid);
    FILE *file = pid > 0 && name && !stat(path, &status) ? fopen(maps, "re") : NULL;
    while (file && !found && fgets(line, sizeof line, file)) {
        unsigned long long inode = 0;
        found = strstr(line, name) && sscanf(line, "%*s %*s %*s %*s %llu", &inode) == 1 && inode == status.st_ino;
    }
    if (file)
        fclose(file);
    return found;
}

/* Launchers may return while the processes they have ended still take themselves down. */
bool spool_in_use(const char *path, int32_t pid)
{
    enum { N_LOOKS = 50 };
    const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    bool is_in_use = spool_is_mapped(path, pid);
    for (int i = 0; is_in_use && i < N_LOOKS; i++) {
        nanosleep(&pause, NULL);
        is_in_use = spool_is_mapped(path, pid);
    }
    return is_in_use;
}

/* Whoever had the lock may have removed its file while this one waited for it: the next one would make another, and
 * lock that. */
int lock_take(const char *path)
{
    for (;;) {
        struct stat taken, named;
        int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (lock < 0)
            return -1;
        bool is_locked = flock(lock, LOCK_EX) == 0 && fstat(lock, &taken) == 0;
        bool is_there = is_locked && lstat(path, &named) == 0, is_gone = is_locked && !is_there && errno == ENOENT;
        if (is_there && taken.st_dev == named.st_dev && taken.st_ino == named.st_ino)
            return lock;
        close(lock);
        if (!is_there && !is_gone)
            return -1;
    }
}

void lock_release(int lock)
{
    if (lock >= 0)
        close(lock);
}
