/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/files/folder.h"
#include "analyze/files/paths.h"
#include "wrap/base/err.h"
#include "wrap/base/err_names.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct folder none = {.fd = -1, .path = "/proc/self/fd/-1"};

static int hold(struct folder *folder, int fd, const char *name)
{
    struct stat status;
    if (fstat(fd, &status)) {
        close(fd);
        return error("cannot look at %s: %s", name, strerror(errno));
    }
    *folder = (struct folder){.fd = fd, .owner = status.st_uid};
    snprintf(folder->path, sizeof folder->path, "/proc/self/fd/%d", fd);
    err_name(folder->path, name);
    return 0;
}

int folder_open_run(struct folder *folder, const char *run_dir)
{
    *folder = none;
    int fd = open(run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? error("cannot open %s: %s", run_dir, strerror(errno)) : hold(folder, fd, run_dir);
}

int folder_open(struct folder *folder, const struct folder *run, const char *name)
{
    *folder = none;
    char *path = path_format("%s/%s", run->path, name);
    int result = 0, fd = openat(run->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        result = hold(folder, fd, path);
    else if (errno == ENOTDIR || errno == ELOOP)
        result = error("%s should be a directory, but is a link or a file: remove it", path);
    else if (errno != ENOENT)
        result = error("cannot open %s: %s", path, strerror(errno));
    if (!result && folder->fd >= 0 && folder->owner != run->owner)
        result = error("%s belongs to another user than what is around it: remove it", path);
    free(path);
    return result;
}

int folder_make(struct folder *folder, const struct folder *run, const char *name)
{
    *folder = none;
    if (mkdirat(run->fd, name, 0700) && errno != EEXIST)
        return error("cannot make the directory %s/%s: %s", run->path, name, strerror(errno));
    if (folder_open(folder, run, name))
        return -1;
    return folder->fd >= 0 ? 0 : error("%s/%s was removed meanwhile", run->path, name);
}

void folder_close(struct folder *folder)
{
    if (folder->fd < 0)
        return;
    err_name(folder->path, NULL);
    close(folder->fd);
    *folder = none;
}

int run_folders_open(struct run_folders *folders, const char *run_dir)
{
    folders->spool = folders->parts = none;
    return folder_open_run(&folders->run, run_dir) || folder_open(&folders->spool, &folders->run, "spool") ||
                   folder_open(&folders->parts, &folders->run, "parts")
               ? -1
               : 0;
}

void run_folders_close(struct run_folders *folders)
{
    folder_close(&folders->parts);
    folder_close(&folders->spool);
    folder_close(&folders->run);
}

int rights_take(struct rights *before, const struct folder *run)
{
    struct stat status;
    *before = (struct rights){.group = getegid()};
    if (geteuid() != 0 || run->owner == 0)
        return 0;
    before->n_groups = getgroups(sizeof before->groups / sizeof *before->groups, before->groups);
    before->are_taken = true;
    if (before->n_groups >= 0 && fstat(run->fd, &status) == 0 && setgroups(0, NULL) == 0 &&
        setegid(status.st_gid) == 0 && seteuid(run->owner) == 0)
        return 0;
    int why = errno;
    rights_return(before);
    return error("cannot work in %s with the rights of its owner: %s", run->path, strerror(why));
}

void rights_return(const struct rights *before)
{
    if (!before->are_taken)
        return;
    if (seteuid(0) || setegid(before->group) ||
        (before->n_groups >= 0 && setgroups((size_t)before->n_groups, before->groups)))
        die("cannot get back the rights of root: %s", strerror(errno));
}
