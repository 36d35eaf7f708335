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
    struct counts_function *functions; /* first those that are shown */
    uint32_t n_functions, n_shown;
    uint32_t *by_point;            /* functions by rising first_point */
    uint32_t *rank;                /* by function: callers before those whose calls they count */
    uint32_t n_points;             /* largest point number + 1 */
    struct counts_return *returns; /* by rising address */
    size_t n_returns;
    struct knuth_tree **trees;  /* by function, built when first needed */
    unsigned char **is_counted; /* by function, by edge */
    /* Scratch of counts_solve; all zero between calls. */
    uint64_t *values;  /* by point */
    bool *is_touched;  /* by function */
    uint32_t *touched; /* functions */
    uint32_t n_touched;
    struct heap pending; /* of these, those that were not looked at, by rank */
    int64_t *edge_counts, *parked, *excess;
    int64_t *calls;   /* by function: those that its callers counted */
    bool *is_unknown; /* by function: these contradict each other */
};

/* Fills in functions and returns from the three sections. */
void table_read(struct counts *counts, const unsigned char *points, size_t points_bytes, const char *strings,
                size_t strings_bytes, struct points_offsets offsets);
/* Finds by_point, ranks and callees. Anew after the functions have moved. */
void table_link(struct counts *counts);
