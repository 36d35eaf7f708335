/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How often an earlier run took the edges of each routine, to place its counters by (whywait cc --from). The analysis
 * writes a text file, the plugins read it. A line for each routine that was called:
 *
 *     NAME CHECKSUM N_EDGES COUNT...
 *
 * NAME is the assembler's, COUNT goes by edge number. Lines of one name and checksum add up (static functions of one
 * header, libraries that share it).
 */
#pragma once
#include "wrap/flow/cfg.h"
#include <stdio.h>

/* A routine whose checksum differs was changed, or is built otherwise: what was measured says nothing of it. */
uint32_t measured_checksum(const struct cfg *cfg);

/* Writes one line. `count` by edge; where the routine was not called, nothing is written. */
void measured_write(FILE *out, const char *name, const struct cfg *cfg, const int64_t *count);

struct measured;
/* NULL with errno. Lines that are damaged are left out. */
struct measured *measured_read(const char *path);
void measured_free(struct measured *measured);
/* Puts executions per call in place of expected ones (knuth_weights). Among edges that were never taken, the expected
 * ones still decide. False, and nothing is changed, where the routine is not among those measured. */
bool measured_weigh(const struct measured *measured, const char *name, const struct cfg *cfg, double *weights);
