/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/keep.h"
#include "analyze/archive/archive.h"
#include "analyze/archive/run.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_CODE_BYTES = 64 << 20,
    SMALL_CODE_BYTES = 1 << 20,
    MOST_SOURCES_BYTES = 8 << 20,
    LARGEST_SOURCE_BYTES = 1 << 20
};

char *keep_source_path(const char *run_dir, const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    return path_format("%s/" ARCHIVE_SOURCES "/%016" PRIx64 "-%.200s", run_dir, hash_bytes(file, strlen(file)), name);
}

/* Under its name only when it is whole, and with its date. Returns what it took. */
static off_t copy_file(const char *path, const char *kept, off_t most)
{
    char *unfinished = path_format("%s.tmp", kept);
    struct stat status;
    int to = -1, from = plain_open(path, 0);
    bool is_whole = from >= 0 && fstat(from, &status) == 0 && status.st_size <= most;
    if (is_whole) {
        unlink(unfinished);
        to = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        is_whole = to >= 0;
        for (off_t left = status.st_size; is_whole && left > 0;) {
            ssize_t done = sendfile(to, from, NULL, (size_t)left);
            is_whole = done > 0;
            left -= done;
        }
    }
    if (is_whole)
        futimens(to, (const struct timespec[]){status.st_atim, status.st_mtim});
    if (to >= 0)
        is_whole = close(to) == 0 && is_whole && rename(unfinished, kept) == 0;
    if (to >= 0 && !is_whole)
        unlink(unfinished);
    if (from >= 0)
        close(from);
    free(unfinished);
    return is_whole ? status.st_size : 0;
}

/* The sources that stacks lead through in a module. An editor may write into the file that it has read, so that they
 * are always copies. */
static off_t keep_sources(const struct join *join, uint32_t module, off_t left)
{
    char *dir = path_format("%s/" ARCHIVE_SOURCES, join->run_dir);
    for (uint32_t i = 0; i < join->sources.n; i++) {
        if (join->source_modules.at[i] != module || dir_make(dir))
            continue;
        const char *file = intern_get(&join->sources, i);
        char *kept = keep_source_path(join->run_dir, file);
        if (!path_exists(kept))
            left -= copy_file(file, kept, left < LARGEST_SOURCE_BYTES ? left : LARGEST_SOURCE_BYTES);
        free(kept);
    }
    free(dir);
    return left;
}

void keep_what_ran(const struct join *join)
{
    char *dir = path_format("%s/" ARCHIVE_CODE, join->run_dir);
    off_t left = MOST_CODE_BYTES, left_sources = MOST_SOURCES_BYTES;
    for (uint32_t i = 0; i < join->module_infos.n; i++) {
        const struct join_module_info *module = &join->module_infos.at[i];
        const struct convert_options *options = join->options;
        if (!(options && options->is_kept && module->build_id_bytes &&
              options->is_kept(options->user, module->path, module->build_id, module->build_id_bytes)))
            continue;
        if (dir_make(dir))
            break;
        char name[2 * sizeof module->build_id + 1];
        plain_hex(name, module->build_id, module->build_id_bytes);
        char *kept = path_format("%s/%s", dir, name);
        off_t copied = copy_file(module->path, kept, left < SMALL_CODE_BYTES ? left : SMALL_CODE_BYTES);
        if (!copied && linkat(AT_FDCWD, module->path, AT_FDCWD, kept, AT_SYMLINK_FOLLOW) && errno != EEXIST)
            copied = copy_file(module->path, kept, left);
        left -= copied;
        free(kept);
        left_sources = keep_sources(join, i, left_sources);
    }
    free(dir);
}
