/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of a source as it was when the program ran: what the run has kept of it, else the file that the debug
 * information names, if it is a source of the program (code/tree.h) or lies in a folder that the reader names, else the
 * one of that name in this folder. One that has been written to after the program was built is told as changed: its
 * lines may have moved.
 */
#pragma once
#include "analyze/result/result.h"
#include <stdio.h>

enum original_state {
    ORIGINAL_SAME,
    ORIGINAL_CHANGED,
    ORIGINAL_UNKNOWN, /* the archive does not say when it was recorded */
    ORIGINAL_MISSING,
    ORIGINAL_N
};
struct original {
    FILE *file;         /* to be closed; NULL = missing */
    const char *reason; /* why */
    bool lacks_kept;    /* what the run has kept could not be read; warn() has said so */
    enum original_state state;
};

/* When the program was built, as far as its file tells, and in any case before the run; 0 = not known. */
uint64_t original_built_ns(const struct analysis *analysis);
/* Only plain files are opened, and none that is larger than a person would read. `directory` may be NULL. */
struct original original_open(const struct analysis *analysis, const char *path, const char *directory,
                              uint64_t built_ns);
/* A sentence about what is shown; NULL = nothing needs to be said. */
const char *original_warning(enum original_state state);
