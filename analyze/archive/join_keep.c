/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run is read when its program has been built anew: that is what comparing runs is for. So the builds that ran are
 * kept in the run directory, each under its build id. A hard link does that for nothing, since linkers make a new file;
 * where there can be none, as on another file system, it is a copy, if all are not too large. What cannot be kept is no
 * error: its names are lost only when the file has changed.
 */
#include "analyze/archive/files.h"
#include "analyze/archive/join.h"
#include "wrap/base/plain.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_COPIED_BYTES = 64 << 20 };

static bool copy_bytes(int to, int from, off_t n)
{
    while (n > 0) {
        ssize_t done = sendfile(to, from, NULL, (size_t)n);
        if (done <= 0)
            return false;
        n -= done;
    }
    return true;
}

/* Under its name only when it is whole. Returns what it took. */
static off_t copy_file(const char *path, const char *kept, off_t most)
{
    char *unfinished = path_format("%s.tmp", kept);
    struct stat status;
    int to = -1, from = plain_open(path, 0);
    bool is_whole = from >= 0 && fstat(from, &status) == 0 && status.st_size <= most;
    if (is_whole) {
        unlink(unfinished);
        to = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        is_whole = to >= 0 && copy_bytes(to, from, status.st_size);
    }
    if (to >= 0)
        is_whole = close(to) == 0 && is_whole && rename(unfinished, kept) == 0;
    if (to >= 0 && !is_whole)
        unlink(unfinished);
    if (from >= 0)
        close(from);
    free(unfinished);
    return is_whole ? status.st_size : 0;
}

static bool is_worth_keeping(const struct join *join, const struct join_module_info *module)
{
    const struct convert_options *options = join->options;
    return options && options->is_kept && module->build_id_bytes &&
           options->is_kept(options->user, module->path, module->build_id, module->build_id_bytes);
}

void join_keep_code(struct join *join)
{
    char *dir = path_format("%s/" ARCHIVE_CODE, join->run_dir);
    off_t left = MOST_COPIED_BYTES;
    for (size_t i = 0; i < join->module_infos.n; i++) {
        const struct join_module_info *module = &join->module_infos.at[i];
        if (!is_worth_keeping(join, module))
            continue;
        if (dir_make(dir))
            break;
        char name[2 * sizeof module->build_id + 1];
        plain_hex(name, module->build_id, module->build_id_bytes);
        char *kept = path_format("%s/%s", dir, name);
        if (linkat(AT_FDCWD, module->path, AT_FDCWD, kept, AT_SYMLINK_FOLLOW) && errno != EEXIST)
            left -= copy_file(module->path, kept, left);
        free(kept);
    }
    free(dir);
}
