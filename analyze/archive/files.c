/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/files.h"
#include "wrap/base/err.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

char *path_format(const char *format, ...)
{
    char *path;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&path, format, args);
    va_end(args);
    if (length < 0)
        err_out_of_memory(0);
    return path;
}

bool path_exists(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0;
}

int dir_make(const char *path)
{
    struct stat status;
    if (mkdir(path, 0700) == 0)
        return 0;
    if (errno != EEXIST)
        return error("cannot make the directory %s: %s", path, strerror(errno));
    if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return 0;
    return error("%s should be a directory, but is a link or a file: remove it", path);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

int dir_remove(const char *path)
{
    if (!path_exists(path) || nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0)
        return 0;
    return error("cannot remove %s: %s", path, strerror(errno));
}

int path_rename(const char *from, const char *to)
{
    if (rename(from, to) == 0)
        return 0;
    return error("cannot rename %s to %s: %s", from, to, strerror(errno));
}

/* A number of a process may have been given out again: only one that maps this very file counts. */
static bool is_mapped(const char *path, int32_t pid)
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
    bool is_in_use = is_mapped(path, pid);
    for (int i = 0; is_in_use && i < N_LOOKS; i++) {
        nanosleep(&pause, NULL);
        is_in_use = is_mapped(path, pid);
    }
    return is_in_use;
}

int lock_take(const char *path)
{
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (lock >= 0 && flock(lock, LOCK_EX)) {
        close(lock);
        lock = -1;
    }
    return lock;
}

void lock_release(int lock)
{
    if (lock >= 0)
        close(lock);
}

/*
 * The recorder links PREFIX/whywait-NODE-XXXXXX/R-T.ev, whose folder it made for itself alone. Only such a target is
 * taken: a plain file of this user, in a folder that nobody else may write to. It is copied under a temporary name,
 * which is then renamed over the link.
 */

enum { PIECE_BYTES = 1 << 20 };

static bool is_private_folder(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() && !(status.st_mode & 077);
}

static bool is_own_file(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() && status.st_nlink == 1;
}

/* `folder` and `home` are open; the file has one name in both. */
static bool take_file(int folder, int home, const char *name)
{
    char temporary[NAME_MAX + 8];
    snprintf(temporary, sizeof temporary, "%s.tmp", name);
    int from = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int to = from < 0 || !is_own_file(from)
                 ? -1
                 : openat(home, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    ssize_t n = to < 0 ? -1 : 1;
    while (n > 0 || (to >= 0 && n < 0 && errno == EINTR))
        n = sendfile(to, from, NULL, PIECE_BYTES);
    bool ok = n == 0 && fsync(to) == 0 && renameat(home, temporary, home, name) == 0;
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    if (to >= 0 && !ok)
        unlinkat(home, temporary, 0);
    return ok && unlinkat(folder, name, 0) == 0;
}

static void bring_one(int home, const char *spool_dir, const char *name)
{
    char target[PATH_MAX];
    ssize_t n = readlinkat(home, name, target, sizeof target - 1);
    if (n <= 0)
        return; /* no link: it is at home */
    target[n] = '\0';
    char *slash = strrchr(target, '/');
    bool ok = false;
    errno = 0;
    if (slash && slash != target && !strcmp(slash + 1, name)) {
        *slash = '\0';
        int folder = open(target, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        ok = folder >= 0 && is_private_folder(folder) && take_file(folder, home, name);
        if (folder >= 0)
            close(folder);
        if (ok)
            rmdir(target); /* succeeds with the last file */
    }
    if (!ok && errno != ENOENT)
        warn("%s/%s is in %s and stays there: %s", spool_dir, name, target,
             errno ? strerror(errno) : "it is not safely this user's own");
}

void spool_away_node(const char *link, char *node, size_t size_bytes)
{
    static const char prefix[] = "/whywait-";
    char target[PATH_MAX];
    ssize_t n = readlink(link, target, sizeof target - 1);
    target[n > 0 ? n : 0] = '\0';
    char *file = strrchr(target, '/');
    if (file)
        *file = '\0';
    char *folder = strrchr(target, '/'), *end = strrchr(target, '-');
    bool is_named = folder && !strncmp(folder, prefix, strlen(prefix)) && end >= folder + strlen(prefix);
    if (is_named)
        *end = '\0';
    snprintf(node, size_bytes, "%s", is_named ? folder + strlen(prefix) : "another node");
}

int spool_bring_home(const char *spool_dir)
{
    DIR *entries = opendir(spool_dir);
    if (!entries)
        return errno == ENOENT ? 0 : error("cannot read %s: %s", spool_dir, strerror(errno));
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && (!strcmp(dot, ".ev") || !strcmp(dot, ".sm")))
            bring_one(dirfd(entries), spool_dir, entry->d_name);
    }
    closedir(entries);
    return 0;
}
