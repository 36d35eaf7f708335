/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/live.h"
#include "analyze/archive/run.h"
#include "analyze/files/in_use.h"
#include "analyze/files/paths.h"
#include "analyze/files/plain.h"
#include "analyze/archive/spool.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum live_state live_look(const char *run)
{
    struct spool_list list = {0};
    char *spool = path_format("%s/spool", run);
    enum live_state state = LIVE_NOT_YET;
    if (run_has_archive(run) || (spool_list_read(&list, spool) == 0 && list.files.n))
        state = LIVE_OVER;
    for (size_t i = 0; i < list.files.n && state == LIVE_OVER && !run_has_archive(run); i++) {
        char *path = spool_file_path(spool, &list.files.at[i]);
        struct spool_reader reader;
        if (spool_reader_open_quietly(&reader, path) == 0 && spool_is_mapped(path, reader.header.pid))
            state = LIVE_GOING;
        spool_reader_close(&reader);
        free(path);
    }
    spool_list_release(&list);
    free(spool);
    return state;
}

/* Files on the disks of other nodes are not there: their ranks are missing from the copy. */
static int copy_spool(const char *from, const char *to)
{
    struct spool_list list = {0};
    int status = spool_list_read(&list, from);
    for (size_t i = 0; i < list.files.n && status == 0; i++) {
        char *source = spool_file_path(from, &list.files.at[i]), *target = spool_file_path(to, &list.files.at[i]);
        int in = plain_open(source, 0), out = -1;
        if (in >= 0) {
            out = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
            if (out < 0 || file_copy(in, out))
                status = error("cannot copy %s to %s: %s", source, target, strerror(errno));
        }
        if (in >= 0)
            close(in);
        if (out >= 0)
            close(out);
        free(source);
        free(target);
    }
    spool_list_release(&list);
    return status;
}

char *live_copy(const char *run)
{
    const char *base = getenv("TMPDIR"), *slash = strrchr(run, '/');
    char *folder = path_format("%s/whywait-watch.XXXXXX", base && *base ? base : "/tmp");
    char *copy = NULL, *from = path_format("%s/spool", run), *to = NULL;
    int status = -1;
    if (!mkdtemp(folder)) {
        error("cannot make a directory %s: %s", folder, strerror(errno));
    } else {
        copy = path_format("%s/%s", folder, slash && slash[1] ? slash + 1 : run);
        to = path_format("%s/spool", copy);
        status = dir_make(copy) || dir_make(to) ? -1 : copy_spool(from, to);
        if (status)
            dir_remove(folder);
    }
    free(from);
    free(to);
    free(folder);
    if (status == 0)
        return copy;
    free(copy);
    return NULL;
}

void live_drop(char *copy)
{
    if (!copy)
        return;
    *strrchr(copy, '/') = '\0'; /* the directory around it */
    dir_remove(copy);
    free(copy);
}
