/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/files/durable.h"
#include "analyze/files/paths.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int durable_bytes(int fd)
{
    int result;
    do
        result = fsync(fd);
    while (result && errno == EINTR);
    return result && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP ? -1 : 0;
}

static int sync_path(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == EACCES) /* a folder that others own, with names that may not be read */
        return 0;
    int result = fd < 0 || durable_bytes(fd) ? error("cannot bring %s to the disk: %s", path, strerror(errno)) : 0;
    if (fd >= 0)
        close(fd);
    return result;
}

int durable_names(const char *folder)
{
    return sync_path(folder);
}

int durable_folder(const char *folder)
{
    char *around = path_format("%s/..", folder);
    int result = durable_names(around);
    free(around);
    return result;
}

enum { FAILED_AND_SAID = 1 }; /* where nftw itself fails, it gives -1 and the reason */

/* Folders come behind what stands in them. */
static int sync_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)walk;
    return (kind == FTW_F || kind == FTW_DP) && sync_path(path) ? FAILED_AND_SAID : 0;
}

/* All are on their way before the first is waited for: then one commit of the file system's journal serves them all. */
static int start_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)walk;
    int fd = kind == FTW_F ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
    if (fd >= 0) {
        sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
        close(fd);
    }
    return 0;
}

int durable_tree(const char *folder)
{
    char *inside = path_format("%s/.", folder); /* which may be a link to it */
    nftw(inside, start_entry, 16, FTW_PHYS);
    int result = nftw(inside, sync_entry, 16, FTW_DEPTH | FTW_PHYS);
    if (result < 0)
        error("cannot bring %s to the disk: %s", folder, strerror(errno));
    free(inside);
    return result ? -1 : 0;
}
