/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/archive/anchor.h"
#include "analyze/archive/files.h"
#include "wrap/base/plain.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fixed fields end here; three strings follow, then a 32-bit number of properties, each of two strings. */
enum { STRINGS_AT = 46, N_STRINGS = 3, SMALLEST_PROPERTY = 2, LARGEST_ANCHOR = 1 << 16 };

bool anchor_is_sound(const char *path)
{
    static const char magic[] = "BOTF2";
    int fd = plain_open(path, 0);
    if (fd < 0)
        return false;
    uint8_t bytes[LARGEST_ANCHOR];
    ssize_t n_read = read(fd, bytes, sizeof bytes);
    size_t n = n_read > 0 ? (size_t)n_read : 0, at = STRINGS_AT;
    close(fd);
    if (n < at || memcmp(bytes + 1, magic, strlen(magic)))
        return true;
    for (int i = 0; i < N_STRINGS && at < n; i++) {
        const uint8_t *end = memchr(bytes + at, 0, n - at);
        at = end ? (size_t)(end - bytes) + 1 : n;
    }
    uint32_t n_properties;
    if (n == sizeof bytes || n - at < sizeof n_properties)
        return n == sizeof bytes;
    memcpy(&n_properties, bytes + at, sizeof n_properties);
    return n_properties <= (n - at) / SMALLEST_PROPERTY;
}

/* Path of an archive's file from that of its anchor, or NULL when the anchor is named otherwise. To be freed. */
static char *path_beside(const char *anchor, const char *file)
{
    static const char suffix[] = ".otf2";
    size_t length = strlen(anchor), n = strlen(suffix);
    bool is_named = length >= n && !strcmp(anchor + length - n, suffix);
    return is_named ? path_format("%.*s%s", (int)(length - n), anchor, file) : NULL;
}

/* Also when it is not there. */
static bool is_plain(int folder, const char *name)
{
    struct stat status;
    return fstatat(folder, name, &status, 0) != 0 || S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
}

bool anchor_files_are_plain(const char *anchor)
{
    char *definitions = path_beside(anchor, ".def"), *folder = path_beside(anchor, "");
    bool are_plain = !definitions || is_plain(AT_FDCWD, definitions);
    DIR *entries = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; entries && are_plain && (entry = readdir(entries));)
        are_plain = is_plain(dirfd(entries), entry->d_name);
    if (entries)
        closedir(entries);
    free(definitions);
    free(folder);
    return are_plain;
}

/* Every record takes more than a byte. */
uint64_t anchor_record_limit(const char *anchor, bool is_compressed, const char *file)
{
    char *path = is_compressed ? NULL : path_beside(anchor, file);
    struct stat status;
    uint64_t limit = !path || stat(path, &status) ? UINT64_MAX : (uint64_t)status.st_size + 1;
    free(path);
    return limit;
}
