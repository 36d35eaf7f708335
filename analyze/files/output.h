/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that a command writes for its user. It gets its name when all of it is written: until then, and when that
 * fails, what had the name before stays as it was. Devices, pipes, links and files of others are written in place when
 * the user has named them; a name that the tool has chosen may be a trap, and only a file of the user's own gives way.
 */
#pragma once
#include <stdbool.h>
#include <stdio.h>

struct output {
    const char *name; /* kept by the caller */
    FILE *file;
    char *temporary; /* NULL: it is written in place */
};

/* OUTPUT_PRIVATE: a new file is for its user's eyes only, whatever the umask. OUTPUT_CHOSEN: by the tool. */
enum { OUTPUT_PRIVATE = 1, OUTPUT_CHOSEN = 2 };
/* NULL and "-" are the standard output. Returns 0, or -1 after error(). */
int output_begin(struct output *output, const char *name, unsigned flags);
/* `is_whole` is false where what was to be written could not be made. Returns 0, or -1 after error(), which is said
 * only of what is whole. Fine after a begin that failed. */
int output_end(struct output *output, bool is_whole);
