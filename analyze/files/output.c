/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/files/output.h"
#include "analyze/files/durable.h"
#include "analyze/files/paths.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "FOLDER/NAME.XXXXXX", with as much of the name as there is room for. */
static char *name_beside(const char *name)
{
    static const char ending[] = ".XXXXXX";
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    ptrdiff_t folder = base - name, most = NAME_MAX, left = PATH_MAX - 1 - folder, length = (ptrdiff_t)strlen(base);
    most = (left < most ? left : most) - (ptrdiff_t)(sizeof ending - 1);
    length = length < most ? length : most < 0 ? 0 : most;
    return path_format("%.*s%s", (int)(folder + length), name, ending);
}

/* What die() and exit() must not leave behind. Processes that were forked meanwhile have no part in it. */
static struct {
    const char *temporary; /* NULL = nothing */
    pid_t owner;
} unfinished;

static void remove_unfinished(void)
{
    if (unfinished.temporary && unfinished.owner == getpid())
        unlink(unfinished.temporary);
}

static void note_unfinished(const char *temporary)
{
    static bool is_begun;
    if (!is_begun)
        is_begun = atexit(remove_unfinished) == 0;
    unfinished.temporary = temporary;
    unfinished.owner = getpid();
}

/* A new file beside it, with the rights that it has or would have. NULL with errno; 0 where none should take its
 * place. */
static FILE *open_beside(struct output *output, unsigned flags)
{
    struct stat before;
    mode_t mask = umask(0), rights = flags & OUTPUT_PRIVATE ? 0600 : 0666 & ~mask;
    umask(mask);
    bool is_there = lstat(output->name, &before) == 0;
    errno = 0;
    if (is_there && (!S_ISREG(before.st_mode) || before.st_uid != geteuid() || before.st_nlink > 1))
        return NULL;
    output->temporary = name_beside(output->name);
    int fd = mkostemp(output->temporary, O_CLOEXEC);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (file && fchmod(fd, is_there ? before.st_mode & 07777 : rights) == 0) {
        note_unfinished(output->temporary);
        return file;
    }
    int why = errno;
    if (fd >= 0)
        unlink(output->temporary);
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    free(output->temporary);
    output->temporary = NULL;
    errno = why;
    return NULL;
}

/* A folder may forbid a new file and yet hold one that may be written; all else would lose that one on a disk that is
 * full. */
static bool may_write_in_place(void)
{
    return !errno || errno == EACCES || errno == EPERM || errno == EROFS;
}

/* By a slip of the hand a run stands where the file should: the only copy of what was recorded. */
static bool is_archive(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && !strcmp(dot, ".otf2") && path_exists(name);
}

int output_begin(struct output *output, const char *name, unsigned flags)
{
    bool is_standard = !name || !strcmp(name, "-");
    *output = (struct output){.name = is_standard ? "the standard output" : name};
    if (!is_standard && is_archive(name))
        return error("%s is there already and an archive: name another file", name);
    output->file = is_standard ? stdout : open_beside(output, flags);
    if (!output->file && (flags & OUTPUT_CHOSEN) && path_exists(name))
        return error("%s is there already and no plain file of yours: remove it, or name a file with -o", name);
    if (!output->file && may_write_in_place())
        output->file = fopen(name, "we");
    if (!output->file)
        return error("cannot write %s: %s", name, strerror(errno));
    return 0;
}

/* The reason of the first failure. One that was met while the file was written is known no more. */
static const char *first_reason(const char *before, bool has_failed)
{
    return before || !has_failed ? before : strerror(errno);
}

int output_end(struct output *output, bool is_whole)
{
    if (!output->file)
        return -1;
    const char *why = first_reason(NULL, fflush(output->file) != 0);
    if (!why && ferror(output->file))
        why = "is the disk full?";
    if (output->temporary && is_whole && !why) /* it may replace the only copy of an older one */
        why = first_reason(why, durable_bytes(fileno(output->file)) != 0);
    if (output->file != stdout)
        why = first_reason(why, fclose(output->file) != 0);
    if (output->temporary && is_whole && !why)
        why = first_reason(why, rename(output->temporary, output->name) != 0);
    int result = why && is_whole ? error("cannot write %s: %s", output->name, why) : 0;
    if (output->temporary && (why || !is_whole))
        unlink(output->temporary);
    note_unfinished(NULL);
    free(output->temporary);
    *output = (struct output){0};
    return result;
}
