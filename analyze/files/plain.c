/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/files/plain.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is opened is of one of these kinds. */
static int open_as(int folder, const char *name, int flags, mode_t rights, mode_t kind, mode_t other_kind)
{
    int fd = openat(folder, name, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, rights);
    struct stat status;
    if (fd < 0)
        return -1;
    int why = fstat(fd, &status) ? errno : 0;
    mode_t found = status.st_mode & S_IFMT;
    if (!why && (found == kind || found == other_kind))
        return fd;
    close(fd);
    errno = why ? why : EINVAL;
    return -1;
}

int plain_open_at(int folder, const char *name, int flags)
{
    return open_as(folder, name, flags, 0600, S_IFREG, S_IFREG);
}

int plain_open(const char *path, int flags)
{
    return plain_open_at(AT_FDCWD, path, flags);
}

bool plain_may_pass(int why)
{
    return why == EMFILE || why == ENFILE || why == ENOMEM || why == EIO;
}

bool plain_is_fault(int why)
{
    return plain_may_pass(why) || why == EACCES;
}

/* Like errno: libraries keep no reason for whoever called them. */
static _Thread_local struct {
    int why;
    char path[PATH_MAX];
} fault;

void plain_forget_fault(void)
{
    fault.why = 0;
}

/* To look takes no descriptor. */
void plain_note_fault(const char *path, int why)
{
    if (fault.why || !plain_is_fault(why) || faccessat(AT_FDCWD, path, F_OK, 0))
        return;
    fault.why = why;
    snprintf(fault.path, sizeof fault.path, "%s", path);
}

int plain_fault(const char **path)
{
    *path = fault.path;
    return fault.why;
}

/* As the C library's, which libraries call: OTF2 fopen, libdw open. The names are given apart, since the C library's
 * headers may have inline versions. */
#define LIBRARY(name) __asm__(#name) __attribute__((visibility("default")))
FILE *library_fopen(const char *path, const char *mode) LIBRARY(fopen);
FILE *library_fopen64(const char *path, const char *mode) LIBRARY(fopen64);
int library_open(const char *path, int flags, ...) LIBRARY(open);
int library_open64(const char *path, int flags, ...) LIBRARY(open64);

static int flags_of(const char *mode)
{
    int access = strchr(mode, '+') ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
    int create = *mode == 'r' ? 0 : O_CREAT | (*mode == 'a' ? O_APPEND : O_TRUNC);
    return access | create | (strchr(mode, 'x') ? O_EXCL : 0) | (strchr(mode, 'e') ? O_CLOEXEC : 0);
}

/* Folders and paths do not wait. Who writes, or says that it does not wait, knows the kind. */
static int open_for_library(const char *path, int flags, mode_t rights)
{
    bool knows_kind = (flags & O_ACCMODE) != O_RDONLY || flags & (O_DIRECTORY | O_PATH | O_NONBLOCK);
    int fd =
        knows_kind ? openat(AT_FDCWD, path, flags, rights) : open_as(AT_FDCWD, path, flags, rights, S_IFREG, S_IFDIR);
    int why = errno;
    if (fd < 0 && (flags & O_ACCMODE) == O_RDONLY && plain_is_fault(why) && faccessat(AT_FDCWD, path, F_OK, 0))
        why = ENOENT; /* and the library looks elsewhere */
    else if (fd < 0)
        plain_note_fault(path, why);
    errno = why;
    return fd;
}

static FILE *fopen_for_library(const char *path, const char *mode)
{
    int fd = open_for_library(path, flags_of(mode), 0666);
    FILE *file = fd < 0 ? NULL : fdopen(fd, mode);
    if (fd >= 0 && !file) {
        int why = errno;
        close(fd);
        errno = why;
    }
    return file;
}

FILE *library_fopen(const char *path, const char *mode)
{
    return fopen_for_library(path, mode);
}

FILE *library_fopen64(const char *path, const char *mode)
{
    return fopen_for_library(path, mode);
}

static mode_t rights_of(int flags, va_list rest)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

int library_open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t rights = rights_of(flags, rest);
    va_end(rest);
    return open_for_library(path, flags, rights);
}

int library_open64(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    mode_t rights = rights_of(flags, rest);
    va_end(rest);
    return open_for_library(path, flags, rights);
}
