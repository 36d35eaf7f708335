/* SPDX-License-Identifier: BSD-3-Clause */
/* The run directory: its name, and its creation without ever meeting somebody else's files. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Makes `parent`/PROGRAM-RANKS-DATE-TIME.whywait with its spool folder, both 0700, and stores its absolute path. False
 * with errno. */
bool rundir_create(const char *parent, const char *program, int n_ranks, char *path, size_t size_bytes);
/* On a node that does not see the directory of rank 0: makes it there too. */
bool rundir_ensure(const char *path);
