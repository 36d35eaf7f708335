/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/original.h"
#include "analyze/archive/keep.h"
#include "analyze/archive/run.h"
#include "analyze/out/label.h"
#include "wrap/base/err.h"
#include <errno.h>
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

/* An empty file has nothing to show, and those of the kernel, on which reading may wait, claim to be empty. Takes
 * `path`. */
static FILE *open_plain(char *path, struct stat *status)
{
    int fd = plain_open(path, 0);
    free(path);
    if (fd < 0)
        return NULL;
    if (fstat(fd, status) == 0 && status->st_size > 0 && status->st_size <= LARGEST_FILE)
        return fdopen(fd, "r");
    close(fd);
    errno = EFBIG;
    return NULL;
}

struct original original_open(const struct analysis *analysis, const char *path, const char *directory,
                              uint64_t built_ns)
{
    struct original original = {.state = ORIGINAL_MISSING};
    struct stat status;
    if (analysis->trace->run_dir)
        original.file = open_plain(keep_source_path(analysis->trace->run_dir, path), &status);
    if (!original.file) {
        original.file = open_plain(path_format("%s", path), &status);
        original.reason = errno;
    }
    if (!original.file && directory)
        original.file = open_plain(path_format("%s/%s", directory, label_base_name(path)), &status);
    if (original.file)
        original.state = !built_ns                        ? ORIGINAL_UNKNOWN
                         : written_ns(&status) > built_ns ? ORIGINAL_CHANGED
                                                          : ORIGINAL_SAME;
    return original;
}

const char *original_warning(enum original_state state)
{
    static const char *const warnings[ORIGINAL_N] = {
        [ORIGINAL_CHANGED] = "This file was written to after the program was built: lines may have moved since, and "
                             "the marks may stand beside the wrong ones.",
        [ORIGINAL_UNKNOWN] = "The archive does not tell when it was recorded: whether this file has changed since is "
                             "not known.",
    };
    return warnings[state];
}
