/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mkdir either makes a directory that is ours alone or fails: no name is taken over, and no link is followed at the
 * last step. A name that exists gets a number.
 */
#include "wrap/record/spool/rundir.h"
#include "wrap/format.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_TRIES = 1000, MAX_NAME = 64 };

/* Program names may hold anything but '/'; directory names should be easy to type. */
static void clean_name(const char *program, char name[MAX_NAME])
{
    const char *slash = strrchr(program, '/');
    const char *base = slash ? slash + 1 : program;
    size_t n = 0;
    for (; *base && n < MAX_NAME - 1; base++) {
        bool plain = (*base >= 'a' && *base <= 'z') || (*base >= 'A' && *base <= 'Z') ||
                     (*base >= '0' && *base <= '9') || *base == '.' || *base == '_' || *base == '+' || *base == '-';
        name[n++] = plain ? *base : '_';
    }
    name[n] = '\0';
    if (n == 0 || name[0] == '.' || name[0] == '-')
        snprintf(name, MAX_NAME, "program");
}

static bool make_spool(const char *path)
{
    char spool[PATH_MAX];
    if (snprintf(spool, sizeof spool, "%s/spool", path) >= (int)sizeof spool) {
        errno = ENAMETOOLONG;
        return false;
    }
    return mkdir(spool, 0700) == 0 || errno == EEXIST;
}

static bool absolute_parent(const char *parent, char absolute[PATH_MAX])
{
    if (!*parent)
        return getcwd(absolute, PATH_MAX) != NULL;
    if (mkdir(parent, 0700) != 0 && errno != EEXIST)
        return false;
    return realpath(parent, absolute) != NULL;
}

bool rundir_create(const char *parent, const char *program, int n_ranks, char *path, size_t size_bytes)
{
    char absolute[PATH_MAX], name[MAX_NAME], when[32], turn[16] = "";
    time_t now = time(NULL);
    struct tm local;
    if (!absolute_parent(parent, absolute))
        return false;
    clean_name(program, name);
    if (!localtime_r(&now, &local) || strftime(when, sizeof when, "%Y%m%d-%H%M%S", &local) == 0)
        snprintf(when, sizeof when, "%lld", (long long)now);
    for (int try = 2; try < MAX_TRIES; try++) {
        int n = snprintf(path, size_bytes, "%s/%s-%d-%s%s.whywait", strcmp(absolute, "/") == 0 ? "" : absolute, name,
                         n_ranks, when, turn);
        if (n < 0 || (size_t)n >= size_bytes) {
            errno = ENAMETOOLONG;
            return false;
        }
        if (mkdir(path, 0700) == 0)
            return make_spool(path);
        if (errno != EEXIST)
            return false;
        snprintf(turn, sizeof turn, "-%d", try);
    }
    return false;
}

static bool is_own_directory(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

bool rundir_ensure(const char *path)
{
    char piece[PATH_MAX];
    if (is_own_directory(path))
        return make_spool(path);
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(piece, sizeof piece, "%.*s", (int)(slash - path), path);
        if (mkdir(piece, 0700) != 0 && errno != EEXIST)
            return false;
    }
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return false;
    if (!is_own_directory(path)) {
        errno = EPERM;
        return false;
    }
    return make_spool(path);
}
