/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/files.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
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
