/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What comes out of a record is not taken on trust: a path may name a pipe, on which opening waits for ever, or a
 * device that never ends; a name may hold what a terminal obeys.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Opens a plain file for reading; `flags` are added (O_NOFOLLOW). Returns the descriptor, or -1 with errno set: EINVAL
 * for what is no plain file. */
int plain_open(const char *path, int flags);

/* Copies `text` to `to`, which has room for 4 * strlen(text) + 1 bytes: printable ASCII and well-formed UTF-8 as it is,
 * every other byte as \xNN. Returns the length. */
size_t plain_text(char *to, const char *text);

/* `n` bytes in hexadecimal; `to` has room for 2 * n + 1. */
void plain_hex(char *to, const uint8_t *bytes, size_t n);
