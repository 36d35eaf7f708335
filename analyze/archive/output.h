/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that a command writes for its user. It gets its name when all of it is written: until then, and when that
 * fails, what had the name before stays as it was. Devices, pipes, links and files of others are written in place.
 */
#pragma once
#include <stdbool.h>
#include <stdio.h>

struct output {
    const char *name; /* kept by the caller */
    FILE *file;
    char *temporary; /* NULL: it is written in place */
};

/* NULL and "-" are the standard output. Returns 0, or -1 after error(). */
int output_begin(struct output *output, const char *name);
/* `is_whole` is false where what was to be written could not be made. Returns 0, or -1 after error(), which is said
 * only of what is whole. Fine after a begin that failed. */
int output_end(struct output *output, bool is_whole);
