/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which calls work on which files, and how much they read and write: by call, file and process. A cause that is a call
 * of MPI-IO, or one that completes what another has started, is told with its files.
 */
#pragma once
#include "analyze/result/result.h"
#include "analyze/steps/sites.h"

struct file_use {
    struct intern keys;  /* struct file_use_key */
    VEC(uint64_t) bytes; /* by key */
};

void file_use_add(struct file_use *use, uint32_t site, uint32_t file, uint32_t rank, uint64_t bytes);
/* Adds the files to the causes, what was moved to their ranks, and a clause to the explanation. Causes are complete. */
void file_use_explain(const struct file_use *use, struct sites *sites, struct analysis *analysis);
void file_use_release(struct file_use *use);
