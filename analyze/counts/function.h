/* SPDX-License-Identifier: BSD-3-Clause */
/* A counted function, as the table of its module (wrap/points.h) describes it. */
#pragma once
#include "wrap/flow/cfg.h"
#include "wrap/points.h"
#include <stdint.h>

struct counts_line {
    const char *file;
    uint32_t line;
    uint32_t copy; /* 0, or which inlined routine of the function it belongs to */
};

struct counts_block {
    const struct counts_line *lines;
    uint32_t n_lines;
    uint32_t loop; /* innermost, in loops of its function; CFG_NONE */
};

struct counts_alloc {
    uint32_t block;
    struct counts_line at;
    const char *callee; /* points_alloc */
    uint32_t asked;     /* POINTS_ASKED_ */
};

struct counts_function {
    const char *name; /* as in the symbol table */
    const char *source_name;
    const char *file;
    uint32_t line;
    uint64_t address;         /* link-time */
    uint32_t flags, checksum; /* POINTS_F_ */
    uint32_t dispatcher;      /* a block without code; POINTS_NONE */
    uint32_t first_point, n_counters;
    struct counts_block *blocks; /* of BLOCK_ROOT, executions are the calls */
    struct counts_alloc *allocs;
    uint32_t n_blocks, n_allocs;
    struct cfg cfg;
    struct cfg_loops loops;
    const struct points_edge *edges; /* by edge of cfg */
    const struct points_address *addresses;
    uint32_t n_addresses;
    struct points_calls calls;
    const struct points_site *sites;
    const uint32_t *callees; /* by site: function; CFG_NONE = not known */
};
