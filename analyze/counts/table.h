/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside analyze/counts: a module's table as read from its file. */
#pragma once
#include "analyze/counts/function.h"
#include "wrap/base/containers.h"
#include "wrap/flow/knuth.h"
#include "wrap/points.h"

/* Addresses that calls return to. */
struct counts_return {
    uint64_t address;
    uint32_t function, block;
    bool has_left;
};

struct counts {
    struct arena arena;
    struct counts_function *functions; /* by rising first_point */
    uint32_t n_functions;
    uint32_t n_points;             /* largest point number + 1 */
    struct counts_return *returns; /* by rising address */
    size_t n_returns;
    struct knuth_tree **trees;  /* by function, built when first needed */
    unsigned char **is_counted; /* by function, by edge */
    /* Scratch of counts_solve; all zero between calls. */
    uint64_t *values;  /* by point */
    bool *is_touched;  /* by function */
    uint32_t *touched; /* functions */
    int64_t *edge_counts, *parked, *excess;
};

/* Fills in functions and returns from the three sections. */
void table_read(struct counts *counts, const unsigned char *points, size_t points_bytes, const char *strings,
                size_t strings_bytes, struct points_offsets offsets);
