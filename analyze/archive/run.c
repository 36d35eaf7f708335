/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/run.h"
#include "analyze/archive/archive.h"
#include "analyze/archive/convert.h"
#include "analyze/archive/resolver.h"
#include "analyze/files/folder.h"
#include "analyze/files/paths.h"
#include "wrap/base/containers.h"
#include "wrap/base/err.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_archive(const char *directory, int (*make)(const char *, const struct convert_options *))
{
    struct rights before;
    struct folder run;
    if (folder_open_run(&run, directory))
        return -1;
    int result = rights_take(&before, &run);
    if (!result) {
        struct resolver *resolver = resolver_new();
        struct convert_options options = resolver_options(resolver);
        result = make(run.path, &options);
        resolver_free(resolver);
        rights_return(&before);
    }
    folder_close(&run);
    return result;
}

int run_join(const char *directory)
{
    return make_archive(directory, convert_join);
}

int run_salvage(const char *directory)
{
    return make_archive(directory, convert_salvage);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && !strcmp(text + length - end_length, end);
}

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

bool run_is_run(const char *path)
{
    static const char *const parts[] = {"traces.otf2", "spool", "parts"};
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    char *plain = path_format("%.*s", (int)length, path);
    bool is_run = ends_with(plain, ".whywait") && is_directory(plain), has_part = false;
    for (size_t i = 0; is_run && i < sizeof parts / sizeof *parts; i++) {
        char *part = path_format("%s/%s", plain, parts[i]);
        has_part |= path_exists(part);
        free(part);
    }
    free(plain);
    return is_run && has_part;
}

bool run_has_archive(const char *path)
{
    char *anchor = path_format("%s/%s", path, "traces.otf2");
    bool has_archive = is_file(anchor);
    free(anchor);
    return has_archive;
}

int run_names(const char *directory, char ***names, size_t *n)
{
    DIR *entries = opendir(directory);
    size_t cap = 0;
    int why = 0;
    if (!entries)
        return error("cannot read %s: %s", directory, strerror(errno));
    for (struct dirent *entry; (entry = dir_next(entries, &why));) {
        char *path = path_format("%s/%s", directory, entry->d_name);
        if (run_is_run(path)) {
            vec_grow((void **)names, &cap, *n + 1, sizeof **names);
            (*names)[(*n)++] = path_format("%s", entry->d_name);
        }
        free(path);
    }
    closedir(entries);
    while (why && *n)
        free((*names)[--*n]);
    return why ? error("cannot read all of %s: %s", directory, strerror(why)) : 0;
}

static char *newest_run(void)
{
    char **names = NULL, *newest = NULL;
    size_t n = 0;
    int64_t newest_ns = INT64_MIN;
    if (run_names(".", &names, &n)) {
        vec_free(names);
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        /* When it was made; its last change where the file system does not keep that. */
        struct statx status;
        int64_t ns = INT64_MIN;
        if (statx(AT_FDCWD, names[i], 0, STATX_BTIME | STATX_MTIME, &status) == 0) {
            bool is_known = status.stx_mask & STATX_BTIME;
            const struct statx_timestamp *time = is_known ? &status.stx_btime : &status.stx_mtime;
            ns = time->tv_sec * 1000000000 + time->tv_nsec;
        }
        if (!newest || ns > newest_ns || (ns == newest_ns && strcmp(names[i], newest) > 0)) {
            newest = names[i];
            newest_ns = ns;
        }
    }
    newest = newest ? path_format("%s", newest) : NULL;
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    vec_free(names);
    if (!newest)
        error("no run here: record one with `mpirun -n 4 whywait record ./app`, or name a run directory or an .otf2 "
              "file");
    return newest;
}

/* The only *.otf2 file in a directory. */
static char *only_anchor(const char *directory)
{
    DIR *entries = opendir(directory);
    if (!entries) {
        error("cannot read %s: %s", directory, strerror(errno));
        return NULL;
    }
    char *anchor = NULL;
    unsigned n = 0;
    int why = 0;
    for (struct dirent *entry; (entry = dir_next(entries, &why));) {
        if (!ends_with(entry->d_name, ".otf2"))
            continue;
        free(anchor);
        anchor = path_format("%s/%s", directory, entry->d_name);
        n++;
    }
    closedir(entries);
    if (n == 1 && !why)
        return anchor;
    free(anchor);
    if (why)
        error("cannot read all of %s: %s", directory, strerror(why));
    else if (n)
        error("%s holds %u archives: name one of its .otf2 files", directory, n);
    else
        error("%s is no run: it holds neither a spool nor an archive (.otf2)", directory);
    return NULL;
}

/* The only run in a directory, or NULL; *n: how many there are. Returns 0, or -1 after error(). */
static int only_run(const char *directory, char **run, size_t *n)
{
    char **names = NULL;
    *n = 0;
    int result = run_names(directory, &names, n);
    *run = *n == 1 ? path_format("%s/%s", directory, names[0]) : NULL;
    for (size_t i = 0; i < *n; i++)
        free(names[i]);
    vec_free(names);
    return result;
}

/* A join that was killed when its archive was there has left files that nobody needs. True: the archive is there. */
static bool finish_join(const char *directory)
{
    static const char *const left[] = {"parts", "join.lock"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        char *path = path_format("%s/%s", directory, left[i]);
        bool is_left = path_exists(path) && access(directory, W_OK) == 0;
        free(path);
        if (is_left) {
            run_join(directory);
            break;
        }
    }
    return true;
}

static char *archive_in(const char *directory)
{
    size_t n_runs = 0;
    char *run = NULL;
    if (!run_is_run(directory) && only_run(directory, &run, &n_runs))
        return NULL;
    if (run) {
        char *in_run = archive_in(run);
        free(run);
        return in_run;
    }
    if (n_runs > 1) {
        error("%s holds %zu runs: name one of them", directory, n_runs);
        return NULL;
    }
    char *anchor = path_format("%s/%s", directory, "traces.otf2"), *spool = path_format("%s/%s", directory, "spool");
    bool has_archive = is_file(anchor), has_spool = is_directory(spool);
    free(spool);
    if (has_archive && has_spool && anchor_check(anchor)) {
        free(anchor);
        return NULL;
    }
    if (has_archive ? finish_join(directory) : has_spool && run_salvage(directory) == 0)
        return anchor;
    free(anchor);
    return has_spool ? NULL : only_anchor(directory);
}

char *run_find_archive(const char *path)
{
    if (!path) {
        char *newest = newest_run(), *anchor = newest ? archive_in(newest) : NULL;
        free(newest);
        return anchor;
    }
    if (is_directory(path))
        return archive_in(path);
    if (!is_file(path)) {
        struct stat status;
        error("%s: %s", path, stat(path, &status) ? strerror(errno) : "neither a directory nor a file");
        return NULL;
    }
    if (!ends_with(path, ".otf2")) {
        error("%s is neither a run directory nor the anchor file (.otf2) of an archive", path);
        return NULL;
    }
    return strdup(path);
}

char *run_find_directory(const char *path)
{
    size_t n = 0;
    char *run = NULL;
    if (!path)
        return newest_run();
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (run_is_run(path))
        return path_format("%.*s", (int)length, path);
    if (only_run(path, &run, &n))
        return NULL;
    if (!run)
        error("%s holds %zu runs: name one", path, n);
    return run;
}
