/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside analyze/counts: a module's table as read from its file. */
#pragma once
#include "analyze/counts/counts.h"
#include "wrap/flow/knuth.h"

/* Where calls return to. */
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

/* Fills in functions and returns from the two sections. */
void table_read(struct counts *counts, const unsigned char *points, size_t points_bytes, const char *strings,
                size_t strings_bytes);

/* The function that a point belongs to, or CFG_NONE. */
uint32_t counts_function_of(const struct counts *counts, uint32_t point);
/* The function's spanning tree, empty when its table is damaged; from then on there is scratch. */
const struct knuth_tree *counts_tree(struct counts *counts, uint32_t function);
void counts_make_scratch(struct counts *counts);
/* From edge_counts: a block is executed as often as it is entered; the root, as often as the function is called. */
int64_t counts_entries(const struct counts *counts, uint32_t function, uint32_t block, int64_t calls);
