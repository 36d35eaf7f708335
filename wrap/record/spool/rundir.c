/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mkdir either makes a directory that is ours alone or fails: no name is taken over, and no link is followed at the
 * last step. A name that exists gets a number.
 *
 * On the node's disk mkdtemp makes the directory, so that its name cannot be foreseen in a folder that all users share.
 * The node's name in it tells where the links of a run that was killed lead to. A file is copied to the run directory
 * under a temporary name and then renamed over its link: at any moment the name in the run directory leads to the whole
 * file, and none is removed from the node's disk before the copies and their names have reached theirs.
 */
#include "wrap/record/spool/rundir.h"
#include "wrap/format.h"
#include "wrap/record/process/say.h"
#include "wrap/record/process/signals.h"
#include "wrap/record/spool/spool.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

enum { MAX_TRIES = 1000, MAX_NAME = 64 };

/* Program names may hold anything but '/'; directory names should be easy to type. */
static void clean_name(const char *program, char name[MAX_NAME])
{
    const char *slash = strrchr(program, '/');
    const char *base = slash ? slash + 1 : program;
    size_t n = 0;
    for (; *base && n < MAX_NAME - 1; base++) {
        bool plain = (*base >= 'a' && *base <= 'z') || (*base >= 'A' && *base <= 'Z') ||
                     (*base >= '0' && *base <= '9') || *base == '.' || *base == '_' || *base == '+' || *base == '-';
        name[n++] = plain ? *base : '_';
    }
    name[n] = '\0';
    if (n == 0 || name[0] == '.' || name[0] == '-')
        snprintf(name, MAX_NAME, "program");
}

static bool make_spool(const char *path)
{
    char spool[PATH_MAX];
    if (snprintf(spool, sizeof spool, "%s/spool", path) >= (int)sizeof spool) {
        errno = ENAMETOOLONG;
        return false;
    }
    return mkdir(spool, 0700) == 0 || errno == EEXIST;
}

/* With every folder above it that is missing. */
static bool make_folders(const char *path)
{
    char piece[PATH_MAX];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(piece, sizeof piece, "%.*s", (int)(slash - path), path);
        if (mkdir(piece, 0700) != 0 && errno != EEXIST)
            return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

bool rundir_create(const char *parent, const char *program, int n_ranks, char *path, size_t size_bytes)
{
    char absolute[PATH_MAX], name[MAX_NAME], when[32], turn[16] = "";
    time_t now = time(NULL);
    struct tm local;
    if (*parent ? !make_folders(parent) || !realpath(parent, absolute) : !getcwd(absolute, sizeof absolute))
        return false;
    clean_name(program, name);
    if (!localtime_r(&now, &local) || strftime(when, sizeof when, "%Y%m%d-%H%M%S", &local) == 0)
        snprintf(when, sizeof when, "%lld", (long long)now);
    for (int try = 2; try < MAX_TRIES; try++) {
        int n = snprintf(path, size_bytes, "%s/%s-%d-%s%s.whywait", strcmp(absolute, "/") == 0 ? "" : absolute, name,
                         n_ranks, when, turn);
        if (n < 0 || (size_t)n >= size_bytes) {
            errno = ENAMETOOLONG;
            return false;
        }
        if (mkdir(path, 0700) == 0)
            return make_spool(path);
        if (errno != EEXIST)
            return false;
        snprintf(turn, sizeof turn, "-%d", try);
    }
    return false;
}

static bool is_own_directory(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

bool rundir_ensure(const char *path)
{
    if (is_own_directory(path))
        return make_spool(path);
    if (!make_folders(path))
        return false;
    if (!is_own_directory(path)) {
        errno = EPERM;
        return false;
    }
    return make_spool(path);
}

bool rundir_is_first_end(const char *path)
{
    char mark[SPOOL_PATH_BYTES + 16];
    snprintf(mark, sizeof mark, "%s/spool/ended", path);
    int fd = open(mark, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* Room that a run of some length needs: 64 bytes a call. */
enum { PIECE_BYTES = 1 << 20, ENOUGH_BYTES = 256 << 20 };

static bool is_network(const struct statfs *fs)
{
    /* NFS, Lustre, GPFS, CIFS, SMB2, BeeGFS, PanFS, Ceph, OrangeFS, 9P, AFS, and FUSE, behind which most others are */
    static const unsigned long kinds[] = {0x6969,     0x0bd00bd0, 0x47504653, 0xff534d42, 0xfe534d42, 0x19830326,
                                          0xaad7aaea, 0x00c36400, 0x20030528, 0x01021997, 0x5346414f, 0x65735546};
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (((unsigned long)fs->f_type & 0xffffffff) == kinds[i])
            return true;
    return false;
}

static bool make_private(const char *parent, char *dir, size_t size_bytes)
{
    char absolute[PATH_MAX];
    struct utsname here;
    if (!realpath(parent, absolute))
        return false;
    uname(&here);
    if (snprintf(dir, size_bytes, "%s/whywait-%s-XXXXXX", absolute, here.nodename) >= (int)size_bytes) {
        errno = ENAMETOOLONG;
        return false;
    }
    return mkdtemp(dir) != NULL;
}

static bool choose_local(const char *run_dir, char *dir, size_t size_bytes)
{
    const char *const places[] = {getenv("TMPDIR"), "/tmp", "/var/tmp"};
    struct statfs fs;
    if (statfs(run_dir, &fs) != 0 || !is_network(&fs))
        return false;
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
        if (!places[i] || !*places[i] || statfs(places[i], &fs) != 0 || is_network(&fs))
            continue;
        bool has_room = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize >= ENOUGH_BYTES;
        if (has_room && make_private(places[i], dir, size_bytes))
            return true;
    }
    say_note("the spool is on a network file system, which may slow the program: no local directory with room was "
             "found (--spool DIR names one)");
    return false;
}

bool rundir_choose_node_disk(const char *run_dir, const char *wish, char *dir, size_t size_bytes)
{
    if (!*wish) {
        bool is_chosen = choose_local(run_dir, dir, size_bytes);
        errno = 0;
        return is_chosen;
    }
    return (mkdir(wish, 0700) == 0 || errno == EEXIST) && make_private(wish, dir, size_bytes);
}

static bool copy_all(int from, int to)
{
    for (;;) {
        ssize_t n = sendfile(to, from, NULL, PIECE_BYTES);
        if (n == 0)
            return true;
        if (n < 0 && errno != EINTR)
            return false;
    }
}

/* File systems without that promise refuse with EINVAL. */
static bool sync_fd(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL;
}

static bool sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && sync_fd(fd);
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return ok;
}

/* A copy under the name of the link that leads to the file. */
static bool collect_file(const char *file, const char *link)
{
    char temporary[PATH_MAX + 8];
    snprintf(temporary, sizeof temporary, "%s.tmp", link);
    int from = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int to = from < 0 ? -1 : open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int why = to >= 0 && copy_all(from, to) && sync_fd(to) ? 0 : errno;
    if (from >= 0)
        close(from);
    if (to >= 0 && close(to) != 0 && why == 0)
        why = errno;
    if (why == 0 && rename(temporary, link) != 0)
        why = errno;
    if (to >= 0 && why != 0)
        unlink(temporary);
    errno = why;
    return why == 0;
}

struct collection {
    const char *dir, *spool;
};

/* Does something with each file and its name in the run directory; false with errno when that failed with one. */
static bool for_each_file(const struct collection *collection, bool (*act)(const char *file, const char *link))
{
    char file[PATH_MAX], link[PATH_MAX];
    int why = 0;
    DIR *list = opendir(collection->dir);
    if (!list)
        return false;
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        if (snprintf(file, sizeof file, "%s/%s", collection->dir, entry->d_name) >= (int)sizeof file ||
            snprintf(link, sizeof link, "%s/%s", collection->spool, entry->d_name) >= (int)sizeof link)
            why = ENAMETOOLONG;
        else if (!act(file, link))
            why = errno;
    }
    closedir(list);
    errno = why;
    return why == 0;
}

static bool remove_file(const char *file, const char *link)
{
    (void)link;
    return unlink(file) == 0;
}

bool rundir_collect(const char *dir, const char *spool)
{
    const struct collection collection = {dir, spool};
    struct signals_of_size held;
    signals_hold_size(&held);
    bool is_copied = for_each_file(&collection, collect_file) && sync_folder(spool);
    signals_drop_size(&held);
    return is_copied && for_each_file(&collection, remove_file) && rmdir(dir) == 0;
}
