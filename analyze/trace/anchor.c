/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/anchor.h"
#include "analyze/trace/files.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Fixed fields end here; three strings follow, then a 32-bit number of properties, each of two strings. */
enum { STRINGS_AT = 46, N_STRINGS = 3, SMALLEST_PROPERTY = 2, LARGEST_ANCHOR = 1 << 16 };

bool anchor_is_sound(const char *path)
{
    static const char magic[] = "BOTF2";
    FILE *file = fopen(path, "rb");
    if (!file)
        return true;
    uint8_t bytes[LARGEST_ANCHOR];
    size_t n = fread(bytes, 1, sizeof bytes, file), at = STRINGS_AT;
    fclose(file);
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

/* Every record takes more than a byte. */
uint64_t anchor_record_limit(const char *anchor, bool is_compressed, const char *file)
{
    static const char suffix[] = ".otf2";
    size_t length = strlen(anchor), n = strlen(suffix);
    if (is_compressed || length < n || strcmp(anchor + length - n, suffix))
        return UINT64_MAX;
    char *path = path_format("%.*s%s", (int)(length - n), anchor, file);
    struct stat status;
    uint64_t limit = stat(path, &status) ? UINT64_MAX : (uint64_t)status.st_size + 1;
    free(path);
    return limit;
}
