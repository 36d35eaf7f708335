/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/bookmark.h"
#include "wrap/base/containers.h"
#include "wrap/base/err.h"
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* The position of a process in its open files. Copies move it, since they share them. */
struct place {
    int file;
    off_t at;
};
typedef VEC(struct place) place_list;

static void note_places(place_list *places)
{
    DIR *files = opendir("/proc/self/fd");
    for (const struct dirent *entry; files && (entry = readdir(files));) {
        int file = atoi(entry->d_name);
        off_t at = file > STDERR_FILENO && file != dirfd(files) ? lseek(file, 0, SEEK_CUR) : -1;
        if (at >= 0)
            *vec_push(places) = (struct place){file, at};
    }
    if (files)
        closedir(files);
}

/* Ends as the copy did, unless that ended well. */
static void wait_for(pid_t copy)
{
    int status = 0;
    while (waitpid(copy, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    if (status != 0)
        _exit(1);
}

void bookmark(bool (*again)(void *context), void *context)
{
    place_list places = {0};
    note_places(&places);
    do {
        for (size_t i = 0; i < places.n; i++)
            lseek(places.at[i].file, places.at[i].at, SEEK_SET);
        pid_t copy = fork();
        if (copy == 0) {
            vec_release(&places);
            return;
        }
        if (copy < 0)
            error("a process that reads cannot be started: %s", strerror(errno));
        if (copy < 0)
            _exit(1);
        wait_for(copy);
    } while (again(context));
    _exit(0);
}
