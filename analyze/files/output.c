/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/files/output.h"
#include "analyze/files/durable.h"
#include "analyze/files/paths.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new file beside it, with the rights that it has or would have; NULL where none can or should take its place. */
static FILE *open_beside(struct output *output, unsigned flags)
{
    struct stat before;
    mode_t mask = umask(0), rights = flags & OUTPUT_PRIVATE ? 0600 : 0666 & ~mask;
    umask(mask);
    bool is_there = lstat(output->name, &before) == 0;
    if (is_there && (!S_ISREG(before.st_mode) || before.st_uid != geteuid() || before.st_nlink > 1))
        return NULL;
    output->temporary = path_format("%s.XXXXXX", output->name);
    int fd = mkstemp(output->temporary);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (file && fchmod(fd, is_there ? before.st_mode & 07777 : rights) == 0)
        return file;
    if (fd >= 0)
        unlink(output->temporary);
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    free(output->temporary);
    output->temporary = NULL;
    return NULL;
}

int output_begin(struct output *output, const char *name, unsigned flags)
{
    bool is_standard = !name || !strcmp(name, "-");
    *output = (struct output){.name = is_standard ? "the standard output" : name};
    output->file = is_standard ? stdout : open_beside(output, flags);
    if (!output->file && (flags & OUTPUT_CHOSEN) && path_exists(name))
        return error("%s is there already and no plain file of yours: remove it, or name a file with -o", name);
    if (!output->file && !(output->file = fopen(name, "w")))
        return error("cannot write %s: %s", name, strerror(errno));
    return 0;
}

int output_end(struct output *output, bool is_whole)
{
    if (!output->file)
        return -1;
    bool failed = fflush(output->file) || ferror(output->file);
    if (output->temporary && is_whole && !failed) /* it may replace the only copy of an older one */
        failed = durable_bytes(fileno(output->file)) != 0;
    if (output->file != stdout)
        failed |= fclose(output->file) != 0;
    if (output->temporary && is_whole && !failed)
        failed = rename(output->temporary, output->name) != 0;
    int result = failed && is_whole ? error("cannot write %s: %s", output->name, strerror(errno ? errno : EIO)) : 0;
    if (output->temporary && (failed || !is_whole))
        unlink(output->temporary);
    free(output->temporary);
    *output = (struct output){0};
    return result;
}
