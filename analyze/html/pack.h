/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes for a page: deflated (zlib's format) and in base64. */
#pragma once
#include <stddef.h>
#include <stdio.h>

/* Returns 0, or -1 when `out` cannot be written (errno). */
int pack_write(FILE *out, const void *bytes, size_t n);
