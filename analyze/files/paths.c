/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/files/paths.h"
#include "wrap/base/containers.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
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

bool path_of_tool(char path[PATH_MAX])
{
    char link[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", link, sizeof link - 1);
    link[n > 0 ? n : 0] = '\0';
    const char *started = n > 0 ? link : (const char *)getauxval(AT_EXECFN);
    if (started && realpath(started, path))
        return true;
    *path = '\0';
    return false;
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

/* A folder that is being emptied, and what it is called in the one around it. */
struct emptied {
    DIR *entries;
    char name[NAME_MAX + 1];
};

/* True when it is a folder, which is to be emptied first. All else is removed, or *why says what prevents it. */
static bool begin_emptying(struct emptied *folder, int around, const char *name, int *why)
{
    int fd = openat(around, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    folder->entries = fd >= 0 ? fdopendir(fd) : NULL;
    int closed = errno;
    if (!folder->entries && fd >= 0)
        close(fd);
    snprintf(folder->name, sizeof folder->name, "%s", name);
    /* Of what is not there, a file system that cannot be written says EROFS. */
    if (!folder->entries && closed != ENOENT && unlinkat(around, name, 0) && errno != ENOENT)
        *why = errno == EISDIR ? closed : errno;
    return folder->entries != NULL;
}

/* From folder to folder by descriptors: a link that takes the place of one is removed, not followed. */
static int remove_in(int around, const char *name)
{
    VEC(struct emptied) open = {0};
    struct emptied folder;
    int why = 0;
    if (begin_emptying(&folder, around, name, &why))
        *vec_push(&open) = folder;
    while (open.n) {
        struct emptied *last = &open.at[open.n - 1];
        int fd = dirfd(last->entries);
        struct dirent *entry = why ? NULL : dir_next(last->entries, &why);
        if (entry && strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) {
            if (begin_emptying(&folder, fd, entry->d_name, &why))
                *vec_push(&open) = folder;
        } else if (!entry) {
            int outer = open.n > 1 ? dirfd(open.at[open.n - 2].entries) : around;
            if (!why && unlinkat(outer, last->name, AT_REMOVEDIR))
                why = errno;
            closedir(last->entries);
            open.n--;
        }
    }
    vec_release(&open);
    return why;
}

int dir_remove(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    char *whole = path_format("%.*s", (int)n, path), *slash = strrchr(whole, '/');
    const char *name = slash ? slash + 1 : whole;
    char *around = slash ? path_format("%.*s", (int)(slash - whole) + (slash == whole), whole) : path_format(".");
    int fd = open(around, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int why = fd >= 0 ? remove_in(fd, name) : errno == ENOENT ? 0 : errno;
    if (fd >= 0)
        close(fd);
    free(around);
    free(whole);
    return why ? error("cannot remove %s: %s", path, strerror(why)) : 0;
}

struct dirent *dir_next(DIR *entries, int *why)
{
    errno = 0;
    struct dirent *entry = readdir(entries);
    if (!entry && errno)
        *why = errno;
    return entry;
}

int path_rename(const char *from, const char *to)
{
    if (rename(from, to) == 0)
        return 0;
    return error("cannot rename %s to %s: %s", from, to, strerror(errno));
}

int file_copy(int from, int to)
{
    static const char zeros[1 << 16];
    char buffer[sizeof zeros];
    off_t size = 0;
    for (;;) {
        ssize_t n = read(from, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 || ftruncate(to, size) ? -1 : 0;
        bool is_hole = !memcmp(buffer, zeros, (size_t)n);
        for (ssize_t at = 0, done; !is_hole && at < n; at += done)
            if ((done = pwrite(to, buffer + at, (size_t)(n - at), size + at)) < 0 && errno != EINTR)
                return -1;
            else if (done < 0)
                done = 0;
        size += n;
    }
}
