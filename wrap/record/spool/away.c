/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mkdtemp makes the directory, so that its name cannot be foreseen in a folder that all users share; the node's name in
 * it tells where the links of a run that was killed lead to. A file comes home under a temporary name and is then
 * renamed over its link: at any moment the name in the run directory leads to the whole file.
 */
#include "wrap/record/spool/away.h"
#include "wrap/record/process/say.h"
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
#include <unistd.h>

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

static bool is_on_network(const char *path)
{
    struct statfs fs;
    return statfs(path, &fs) == 0 && is_network(&fs);
}

static bool is_local_with_room(const char *path)
{
    struct statfs fs;
    return statfs(path, &fs) == 0 && !is_network(&fs) && (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize >= ENOUGH_BYTES;
}

/* In a folder that all users share, a name that cannot be foreseen. */
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
    if (!is_on_network(run_dir))
        return false;
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i] && *places[i] && is_local_with_room(places[i]) && make_private(places[i], dir, size_bytes))
            return true;
    say_note("the spool is on a network file system, which may slow the program: no local directory with room was "
             "found (--spool DIR names one)");
    return false;
}

bool away_choose(const char *run_dir, const char *wish, char *dir, size_t size_bytes)
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

static bool bring_file(const char *local, const char *home)
{
    char temporary[PATH_MAX + 8];
    snprintf(temporary, sizeof temporary, "%s.tmp", home);
    int from = open(local, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int to = from < 0 ? -1 : open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = to >= 0 && copy_all(from, to);
    int why = errno;
    if (from >= 0)
        close(from);
    if (to >= 0)
        ok = close(to) == 0 && ok;
    if (ok && rename(temporary, home) == 0)
        return unlink(local) == 0;
    if (to >= 0)
        unlink(temporary);
    errno = why;
    return false;
}

bool away_bring_home(const char *dir, const char *home)
{
    char local[PATH_MAX], there[PATH_MAX];
    int why = 0;
    DIR *list = opendir(dir);
    if (!list)
        return false;
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        if (snprintf(local, sizeof local, "%s/%s", dir, entry->d_name) >= (int)sizeof local ||
            snprintf(there, sizeof there, "%s/%s", home, entry->d_name) >= (int)sizeof there)
            why = ENAMETOOLONG;
        else if (!bring_file(local, there))
            why = errno;
    }
    closedir(list);
    if (why == 0 && rmdir(dir) == 0)
        return true;
    errno = why;
    return false;
}
