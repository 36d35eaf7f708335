/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A directory as one input: for each file its name, a zero byte, its length (32 bits) and its bytes. tests/fuzz/bundle
 * packs and unpacks directories. Any bytes are a bundle: a length too large means all that is left.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bundle_file {
    const char *name;     /* in the bundle; ends in zero */
    const uint8_t *bytes; /* in the bundle */
    size_t n_bytes;
};
enum { BUNDLE_LENGTH_BYTES = 4 };

/* The file at *at, which moves behind it; false at the end. */
bool bundle_next(const uint8_t *data, size_t n_bytes, size_t *at, struct bundle_file *file);
/* Files whose names lead out of `dir`, or that cannot be made, are left out. */
void bundle_unpack(const uint8_t *data, size_t n_bytes, const char *dir);
/* Writes the bundle again with `bytes` in place of the contents of file number `which`; returns its length, 0 when
 * there is no room for it. `to` does not overlap the bundle. */
size_t bundle_replace(const uint8_t *data, size_t n_bytes, unsigned which, const uint8_t *bytes, size_t n_new,
                      uint8_t *to, size_t max_bytes);
