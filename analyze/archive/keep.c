/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/keep.h"
#include "analyze/archive/archive.h"
#include "analyze/files/paths.h"
#include "wrap/base/containers.h"
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

struct keeping keep_begin(const struct folder *run)
{
    return (struct keeping){run, {.fd = -1}, {.fd = -1}, MOST_CODE_BYTES, MOST_SOURCES_BYTES};
}

bool keep_build(struct keeping *keeping, const char *path, const uint8_t *build_id, uint32_t n_bytes)
{
    off_t left = keeping->code_left;
    if (keeping->code.fd < 0 && folder_make(&keeping->code, keeping->run, ARCHIVE_CODE))
        return false;
    struct arena arena = {0};
    char *name = arena_alloc(&arena, 2 * (size_t)n_bytes + 1);
    plain_hex(name, build_id, n_bytes);
    char *kept = path_format("%s/%s", keeping->code.path, name);
    arena_release(&arena);
    off_t copied = copy_file(path, kept, left < SMALL_CODE_BYTES ? left : SMALL_CODE_BYTES);
    if (!copied && linkat(AT_FDCWD, path, AT_FDCWD, kept, AT_SYMLINK_FOLLOW) && errno != EEXIST)
        copied = copy_file(path, kept, left);
    keeping->code_left -= copied;
    free(kept);
    return true;
}

void keep_source(struct keeping *keeping, const char *file)
{
    off_t left = keeping->sources_left;
    if (keeping->sources.fd < 0 && folder_make(&keeping->sources, keeping->run, ARCHIVE_SOURCES))
        return;
    char *kept = kept_path(keeping->sources.path, file);
    if (!path_exists(kept))
        keeping->sources_left -= copy_file(file, kept, left < LARGEST_SOURCE_BYTES ? left : LARGEST_SOURCE_BYTES);
    free(kept);
}

void keep_end(struct keeping *keeping)
{
    folder_close(&keeping->code);
    folder_close(&keeping->sources);
}
