/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A preloaded library that notes in which order files are written, brought to the disk, named and removed.
 *
 * ORDER_LOG gets a line for each: what was done, the file's number, its path, and the other path of a renaming or a
 * link. power.py says which orders survive a loss of power.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define NEXT(result, name, ...) ((result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))

/* "/proc/self/fd/6/traces" and "traces" in an open folder become the path that everybody has. */
static const char *plain(int folder, const char *path, char to[PATH_MAX])
{
    static const char descriptors[] = "/proc/self/fd/";
    char link[64], *end = NULL;
    const char *rest = path;
    if (!strncmp(path, descriptors, sizeof descriptors - 1)) {
        folder = (int)strtol(path + sizeof descriptors - 1, &end, 10);
        rest = end + (*end == '/');
    }
    if (folder < 0 || (*path == '/' && !end))
        return path;
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t n = readlink(link, to, PATH_MAX - 1);
    if (n <= 0)
        return path;
    snprintf(to + n, PATH_MAX - (size_t)n, "%s%s", *rest ? "/" : "", rest);
    return to;
}

static void note_in(const char *what, ino_t number, int folder, const char *path, int other_folder, const char *other)
{
    char line[2 * PATH_MAX + 64], from[PATH_MAX], to[PATH_MAX];
    const char *log = getenv("ORDER_LOG");
    path = plain(folder, path, from);
    other = plain(other_folder, other, to);
    int n = snprintf(line, sizeof line, "%s\t%lu\t%s\t%s\n", what, (unsigned long)number, path, other);
    long fd = log ? syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (fd < 0)
        return;
    syscall(SYS_write, fd, line, (size_t)n);
    syscall(SYS_close, fd);
}

static void note(const char *what, ino_t number, const char *path, const char *other)
{
    note_in(what, number, AT_FDCWD, path, AT_FDCWD, other);
}

static void note_file(const char *what, int fd)
{
    char link[64], path[PATH_MAX];
    struct stat status;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0 || fstat(fd, &status) || (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)))
        return;
    path[n] = '\0';
    note(what, status.st_ino, path, "");
}

EXPORT ssize_t write(int fd, const void *bytes, size_t n)
{
    note_file("write", fd);
    return NEXT(ssize_t, write, int, const void *, size_t)(fd, bytes, n);
}

EXPORT ssize_t writev(int fd, const struct iovec *pieces, int n)
{
    note_file("write", fd);
    return NEXT(ssize_t, writev, int, const struct iovec *, int)(fd, pieces, n);
}

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    note_file("write", fd);
    return NEXT(ssize_t, pwrite, int, const void *, size_t, off_t)(fd, bytes, n, at);
}

EXPORT int fclose(FILE *file)
{
    note_file("write", fileno(file));
    return NEXT(int, fclose, FILE *)(file);
}

EXPORT int fsync(int fd)
{
    int result = NEXT(int, fsync, int)(fd);
    note_file("sync", fd);
    return result;
}

EXPORT int fallocate(int fd, int mode, off_t at, off_t n)
{
    if (mode & FALLOC_FL_PUNCH_HOLE)
        note_file("punch", fd);
    return NEXT(int, fallocate, int, int, off_t, off_t)(fd, mode, at, n);
}

EXPORT int mkdir(const char *path, mode_t mode)
{
    int result = NEXT(int, mkdir, const char *, mode_t)(path, mode);
    if (result == 0)
        note("mkdir", 0, path, "");
    return result;
}

EXPORT int rename(const char *from, const char *to)
{
    note("rename", 0, from, to);
    return NEXT(int, rename, const char *, const char *)(from, to);
}

EXPORT int link(const char *from, const char *to)
{
    note("link", 0, from, to);
    return NEXT(int, link, const char *, const char *)(from, to);
}

EXPORT int unlink(const char *path)
{
    note("remove", 0, path, "");
    return NEXT(int, unlink, const char *)(path);
}

EXPORT int remove(const char *path)
{
    note("remove", 0, path, "");
    return NEXT(int, remove, const char *)(path);
}

EXPORT int mkdirat(int folder, const char *path, mode_t mode)
{
    int result = NEXT(int, mkdirat, int, const char *, mode_t)(folder, path, mode);
    if (result == 0)
        note_in("mkdir", 0, folder, path, AT_FDCWD, "");
    return result;
}

EXPORT int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    note_in("rename", 0, from_folder, from, to_folder, to);
    return NEXT(int, renameat, int, const char *, int, const char *)(from_folder, from, to_folder, to);
}

EXPORT int unlinkat(int folder, const char *path, int flags)
{
    if (!(flags & AT_REMOVEDIR))
        note_in("remove", 0, folder, path, AT_FDCWD, "");
    return NEXT(int, unlinkat, int, const char *, int)(folder, path, flags);
}
