/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which calls work on which files, and how much they read and write: by call, file and process. A cause that is a call
 * of MPI-IO, or one that completes what another has started, is told with its files.
 */
#pragma once
#include "analyze/result/result.h"
#include "analyze/steps/lanes.h"

struct file_use {
    struct intern keys;  /* struct file_use_key */
    VEC(uint64_t) bytes; /* by key */
};

/* Every event of the trace; `lane` is that of its location. Others than file accesses are passed over. */
void file_use_feed(struct file_use *use, const struct lane *lane, const struct event *event);
/* Adds the files to the causes and what was moved to their ranks. Causes are complete. */
void file_use_add_to_causes(const struct file_use *use, struct sites *sites, struct analysis *analysis);
void file_use_release(struct file_use *use);
