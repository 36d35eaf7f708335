/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/original.h"
#include "analyze/archive/archive.h"
#include "analyze/archive/keep.h"
#include "analyze/files/paths.h"
#include "analyze/files/plain.h"
#include "analyze/code/tree.h"
#include "analyze/words/label.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_FILE = 64 << 20 };

static uint64_t written_ns(const struct stat *status)
{
    return (uint64_t)status->st_mtim.tv_sec * 1000000000u + (uint64_t)status->st_mtim.tv_nsec;
}

uint64_t original_built_ns(const struct analysis *analysis)
{
    const struct trace *trace = analysis->trace;
    uint64_t latest_ns = trace->realtime_ns;
    for (uint32_t i = 0; analysis->code && latest_ns && i < trace->n_modules; i++) {
        struct stat status;
        const char *file = code_module_file(analysis->code, i);
        bool is_program = trace->program && !strcmp(label_base_name(trace->modules[i].path), trace->program);
        if (is_program && file && stat(file, &status) == 0 && written_ns(&status) < latest_ns)
            latest_ns = written_ns(&status);
    }
    return latest_ns;
}

/* An empty file has nothing to show, and those of the kernel, on which reading may wait, claim to be empty. */
static FILE *open_plain(const char *path, int flags, struct stat *status)
{
    int fd = plain_open(path, flags);
    if (fd < 0)
        return NULL;
    if (fstat(fd, status) == 0 && status->st_size > 0 && status->st_size <= LARGEST_FILE)
        return fdopen(fd, "r");
    close(fd);
    errno = EFBIG;
    return NULL;
}

/* A run that somebody else made may have links in it, to whatever the reader can read. *is_fault: the system failed,
 * and the reader has been told. */
static FILE *open_kept(const char *run_dir, const char *path, struct stat *status, bool *is_fault)
{
    char *kept = keep_source_path(run_dir, path), *folder = path_format("%s/" ARCHIVE_SOURCES, run_dir);
    errno = 0;
    bool is_folder = lstat(folder, status) == 0 && S_ISDIR(status->st_mode);
    FILE *file = is_folder ? open_plain(kept, O_NOFOLLOW, status) : NULL;
    *is_fault = !file && plain_is_fault(errno);
    if (*is_fault)
        warn("cannot read %s, the text of %s as it was when the program ran: %s", kept, path, strerror(errno));
    free(folder);
    free(kept);
    return file;
}

/* Does the reader name a folder that has it in it? */
static bool is_within(const char *path, const char *directory)
{
    char file[PATH_MAX], folder[PATH_MAX];
    if (!directory || !realpath(path, file) || !realpath(directory, folder))
        return false;
    size_t n = strlen(folder);
    return !strncmp(file, folder, n) && (file[n] == '/' || !strcmp(folder, "/"));
}

static FILE *open_in(const char *directory, const char *path, struct stat *status)
{
    char *there = path_format("%s/%s", directory, label_base_name(path));
    FILE *file = open_plain(there, 0, status);
    free(there);
    return file;
}

/* Why the file at its own path is not shown; NULL = it may be. */
static const char *why_hidden(const struct analysis *analysis, const char *path, const char *directory)
{
    if (access(path, R_OK))
        return strerror(errno);
    bool is_known = is_within(path, directory) || (analysis->code && tree_has_source_of_any(analysis->code, path));
    return is_known ? NULL : "the run says that it is a source, but nothing else does";
}

/* Lines of a script are those of its text when the run began; when its interpreter was built says nothing. */
static bool is_script(const struct analysis *analysis, const char *path)
{
    const struct trace *trace = analysis->trace;
    for (uint32_t i = 0; i < trace->n_modules; i++)
        if (trace->modules[i].is_script && !strcmp(trace->modules[i].path, path))
            return true;
    return false;
}

struct original original_open(const struct analysis *analysis, const char *path, const char *directory,
                              uint64_t built_ns)
{
    struct original original = {.state = ORIGINAL_MISSING};
    struct stat status;
    uint64_t as_of_ns = is_script(analysis, path) ? analysis->trace->realtime_ns : built_ns;
    if (analysis->trace->run_dir)
        original.file = open_kept(analysis->trace->run_dir, path, &status, &original.lacks_kept);
    if (!original.file && !(original.reason = why_hidden(analysis, path, directory)) &&
        !(original.file = open_plain(path, 0, &status)))
        original.reason = strerror(errno);
    if (!original.file && directory)
        original.file = open_in(directory, path, &status);
    if (original.file)
        original.state = !as_of_ns                        ? ORIGINAL_UNKNOWN
                         : written_ns(&status) > as_of_ns ? ORIGINAL_CHANGED
                                                          : ORIGINAL_SAME;
    return original;
}

const char *original_warning(enum original_state state)
{
    static const char *const warnings[ORIGINAL_N] = {
        [ORIGINAL_CHANGED] = "This file was written to after the program was built, or after a script was started: "
                             "lines may have moved since, and the marks may stand beside the wrong ones.",
        [ORIGINAL_UNKNOWN] = "The archive does not tell when it was recorded: whether this file has changed since is "
                             "not known.",
    };
    return warnings[state];
}
