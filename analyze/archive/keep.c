/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/keep.h"
#include "analyze/archive/archive.h"
#include "analyze/files/paths.h"
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

static char *kept_path(const char *folder, const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    return path_format("%s/%016" PRIx64 "-%.200s", folder, hash_bytes(file, strlen(file)), name);
}

char *keep_source_path(const char *run_dir, const char *file)
{
    char *folder = path_format("%s/" ARCHIVE_SOURCES, run_dir), *path = kept_path(folder, file);
    free(folder);
    return path;
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
static off_t keep_sources(const struct join *join, uint32_t module, struct folder *folder, off_t left)
{
    for (uint32_t i = 0; i < join->sources.n; i++) {
        if (join->source_modules.at[i] != module || (folder->fd < 0 && folder_make(folder, join->run, ARCHIVE_SOURCES)))
            continue;
        const char *file = intern_get(&join->sources, i);
        char *kept = kept_path(folder->path, file);
        if (!path_exists(kept))
            left -= copy_file(file, kept, left < LARGEST_SOURCE_BYTES ? left : LARGEST_SOURCE_BYTES);
        free(kept);
    }
    return left;
}

void keep_what_ran(const struct join *join)
{
    struct folder code = {.fd = -1}, sources = {.fd = -1};
    off_t left = MOST_CODE_BYTES, left_sources = MOST_SOURCES_BYTES;
    for (uint32_t i = 0; i < join->module_infos.n; i++) {
        const struct join_module_info *module = &join->module_infos.at[i];
        const struct convert_options *options = join->options;
        if (module->is_script)
            left_sources = keep_sources(join, i, &sources, left_sources);
        if (!(options && options->is_kept && module->build_id_bytes &&
              options->is_kept(options->user, module->path, module->build_id, module->build_id_bytes)))
            continue;
        if (code.fd < 0 && folder_make(&code, join->run, ARCHIVE_CODE))
            break;
        char name[2 * sizeof module->build_id + 1];
        plain_hex(name, module->build_id, module->build_id_bytes);
        char *kept = path_format("%s/%s", code.path, name);
        off_t copied = copy_file(module->path, kept, left < SMALL_CODE_BYTES ? left : SMALL_CODE_BYTES);
        if (!copied && linkat(AT_FDCWD, module->path, AT_FDCWD, kept, AT_SYMLINK_FOLLOW) && errno != EEXIST)
            copied = copy_file(module->path, kept, left);
        left -= copied;
        free(kept);
        left_sources = keep_sources(join, i, &sources, left_sources);
    }
    folder_close(&code);
    folder_close(&sources);
}
