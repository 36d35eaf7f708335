/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/keep.h"
#include "analyze/archive/archive.h"
#include "analyze/files/paths.h"
#include "analyze/files/plain.h"
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

static bool send_all(int to, int from, off_t left)
{
    while (left > 0) {
        ssize_t done = sendfile(to, from, NULL, (size_t)left);
        if (done == 0)
            errno = ENODATA; /* it has become shorter */
        if (done == 0 || (done < 0 && errno != EINTR))
            return false;
        left -= done > 0 ? done : 0;
    }
    return true;
}

/* Under its name only when it is whole, and with its date. False with errno. */
static bool copy_open(int from, const struct stat *status, const char *kept)
{
    char *unfinished = path_format("%s.tmp", kept);
    unlink(unfinished);
    int to = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool is_whole = to >= 0 && send_all(to, from, status->st_size);
    if (is_whole)
        futimens(to, (const struct timespec[]){status->st_atim, status->st_mtim});
    int why = errno;
    if (to >= 0 && close(to) && is_whole) {
        why = errno;
        is_whole = false;
    }
    if (is_whole && rename(unfinished, kept)) {
        why = errno;
        is_whole = false;
    }
    if (to >= 0 && !is_whole)
        unlink(unfinished);
    free(unfinished);
    errno = why;
    return is_whole;
}

/* Returns the bytes that it took; 0 also of what is not there, not for this user or too large; -1 with errno. */
static off_t copy_file(const char *path, const char *kept, off_t most)
{
    struct stat status = {0};
    int from = plain_open(path, 0);
    bool is_there = from >= 0 || plain_may_pass(errno);
    bool is_known = from >= 0 && fstat(from, &status) == 0;
    bool is_wanted = is_there && (!is_known || status.st_size <= most);
    bool is_kept = is_known && is_wanted && copy_open(from, &status, kept);
    int why = errno;
    if (from >= 0)
        close(from);
    errno = why;
    return is_kept ? status.st_size : is_wanted ? -1 : 0;
}

static off_t taken(const char *path, off_t copied)
{
    if (copied < 0)
        warn("cannot keep %s with the run: %s", path, strerror(errno));
    return copied < 0 ? 0 : copied;
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
    if (copied <= 0) {
        bool is_linked = linkat(AT_FDCWD, path, AT_FDCWD, kept, AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST;
        copied = is_linked ? 0 : copy_file(path, kept, left);
    }
    keeping->code_left -= taken(path, copied);
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
        keeping->sources_left -=
            taken(file, copy_file(file, kept, left < LARGEST_SOURCE_BYTES ? left : LARGEST_SOURCE_BYTES));
    free(kept);
}

void keep_end(struct keeping *keeping)
{
    folder_close(&keeping->code);
    folder_close(&keeping->sources);
}
