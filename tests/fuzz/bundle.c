/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/bundle.h"
#include "tests/fuzz/fuzz.h"
#include <string.h>

bool bundle_next(const uint8_t *data, size_t n_bytes, size_t *at, struct bundle_file *file)
{
    const uint8_t *zero = *at < n_bytes ? memchr(data + *at, 0, n_bytes - *at) : NULL;
    size_t contents = zero ? (size_t)(zero - data) + 1 + BUNDLE_LENGTH_BYTES : n_bytes + 1;
    if (contents > n_bytes)
        return false;
    uint32_t length;
    memcpy(&length, zero + 1, sizeof length);
    size_t left = n_bytes - contents;
    *file = (struct bundle_file){(const char *)data + *at, data + contents, length < left ? length : left};
    *at = contents + file->n_bytes;
    return true;
}

/* Below the directory, whatever the bundle says. */
static bool stays_inside(const char *name)
{
    size_t length = strlen(name);
    return length > 0 && length < 200 && name[0] != '/' && name[length - 1] != '/' && !strstr(name, "..");
}

void bundle_unpack(const uint8_t *data, size_t n_bytes, const char *dir)
{
    struct bundle_file file;
    for (size_t at = 0; bundle_next(data, n_bytes, &at, &file);)
        if (stays_inside(file.name))
            fuzz_file_write(dir, file.name, file.bytes, file.n_bytes);
}

size_t bundle_replace(const uint8_t *data, size_t n_bytes, unsigned which, const uint8_t *bytes, size_t n_new,
                      uint8_t *to, size_t max_bytes)
{
    struct bundle_file file;
    size_t at = 0;
    for (unsigned i = 0; i <= which; i++)
        if (!bundle_next(data, n_bytes, &at, &file))
            return 0;
    size_t before = (size_t)(file.bytes - data), after = n_bytes - at;
    uint32_t length = (uint32_t)n_new;
    if (before + n_new + after > max_bytes)
        return 0;
    memcpy(to, data, before - BUNDLE_LENGTH_BYTES);
    memcpy(to + before - BUNDLE_LENGTH_BYTES, &length, sizeof length);
    memcpy(to + before, bytes, n_new);
    memcpy(to + before + n_new, data + at, after);
    return before + n_new + after;
}
