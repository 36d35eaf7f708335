/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A preloaded library that puts a pipe in the place of the file EXCHANGED, before it is opened for the time that
 * EXCHANGED_TURN says: when whoever opens it has looked at it, perhaps. With EXCHANGED_ERRNO the file cannot be opened,
 * from then on.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* True, with errno, when the file cannot be opened. */
static bool fails(int folder, const char *path)
{
    static atomic_int n_opened;
    const char *file = getenv("EXCHANGED"), *turn = getenv("EXCHANGED_TURN"), *why = getenv("EXCHANGED_ERRNO");
    struct stat opened, meant;
    if (!file || !turn || fstatat(folder, path, &opened, 0) != 0 || stat(file, &meant) != 0 ||
        opened.st_dev != meant.st_dev || opened.st_ino != meant.st_ino)
        return false;
    int n = atomic_fetch_add(&n_opened, 1) + 1;
    if (!why && n == atoi(turn) && unlink(file) == 0)
        mkfifo(file, 0600);
    if (!why || n < atoi(turn))
        return false;
    errno = atoi(why);
    return true;
}

#define OPEN(name)                                                                                                     \
    EXPORT int name(const char *path, int flags, ...);                                                                 \
    EXPORT int name(const char *path, int flags, ...)                                                                  \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t rights = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                      \
        va_end(rest);                                                                                                  \
        if (fails(AT_FDCWD, path))                                                                                     \
            return -1;                                                                                                 \
        return ((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name))(path, flags, rights);                        \
    }
#define OPEN_AT(name)                                                                                                  \
    EXPORT int name(int folder, const char *path, int flags, ...);                                                     \
    EXPORT int name(int folder, const char *path, int flags, ...)                                                      \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        mode_t rights = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                      \
        va_end(rest);                                                                                                  \
        if (fails(folder, path))                                                                                       \
            return -1;                                                                                                 \
        return ((int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, #name))(folder, path, flags, rights);           \
    }
#define FOPEN(name)                                                                                                    \
    EXPORT FILE *name(const char *path, const char *mode);                                                             \
    EXPORT FILE *name(const char *path, const char *mode)                                                              \
    {                                                                                                                  \
        if (fails(AT_FDCWD, path))                                                                                     \
            return NULL;                                                                                               \
        return ((FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, #name))(path, mode);                         \
    }
OPEN(open)
OPEN(open64)
OPEN(__open_2)
OPEN(__open64_2)
OPEN_AT(openat)
OPEN_AT(openat64)
OPEN_AT(__openat_2)
OPEN_AT(__openat64_2)
FOPEN(fopen)
FOPEN(fopen64)
