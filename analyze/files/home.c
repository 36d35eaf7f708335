/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/files/home.h"
#include "analyze/files/durable.h"
#include "analyze/files/paths.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The recorder links PREFIX/whywait-NODE-XXXXXX/R-T.ev, whose folder it made for itself alone. Only such a target is
 * taken: a plain file of this user, in a folder that nobody else may write to. It is copied under a temporary name,
 * which is then renamed over the link.
 */

/* A folder (S_IFDIR) that nobody else may look into, or a file (S_IFREG) with no other name. */
static bool is_own(int fd, mode_t kind)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || (status.st_mode & S_IFMT) != kind || status.st_uid != geteuid())
        return false;
    return kind == S_IFDIR ? !(status.st_mode & 077) : status.st_nlink == 1;
}

/* `folder` and `home` are open; the file has one name in both. */
static bool take_file(int folder, int home, const char *name)
{
    char temporary[NAME_MAX + 8];
    snprintf(temporary, sizeof temporary, "%s.tmp", name);
    int from = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int to = from < 0 || !is_own(from, S_IFREG)
                 ? -1
                 : openat(home, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = to >= 0 && file_copy(from, to) == 0 && durable_bytes(to) == 0 &&
              renameat(home, temporary, home, name) == 0 && durable_bytes(home) == 0;
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
        ok = folder >= 0 && is_own(folder, S_IFDIR) && take_file(folder, home, name);
        if (folder >= 0)
            close(folder);
        if (ok)
            rmdir(target); /* succeeds with the last file */
    }
    if (!ok && errno != ENOENT)
        warn("%s/%s is in %s and stays there: %s", spool_dir, name, target,
             errno ? strerror(errno) : "it is not safely this user's own");
}

void spool_link_node(const char *link, char *node, size_t size_bytes)
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
    int why = 0;
    for (struct dirent *entry; (entry = dir_next(entries, &why)) != NULL;) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && (!strcmp(dot, ".ev") || !strcmp(dot, ".sm")))
            bring_one(dirfd(entries), spool_dir, entry->d_name);
    }
    closedir(entries);
    return why ? error("cannot read all of %s: %s", spool_dir, strerror(why)) : 0;
}
