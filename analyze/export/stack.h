/* SPDX-License-Identifier: BSD-3-Clause */
/* Call stacks as the source has them: routines, inlined ones too, and the line that each of them was at. */
#pragma once
#include "analyze/result/result.h"
#include "wrap/base/containers.h"

struct stack_level {
    const char *name; /* of the routine; never NULL */
    const char *file; /* NULL = unknown */
    uint32_t head;    /* line of its declaration; 0 = unknown */
    const char *at_file;
    uint32_t at_line; /* where it was, in at_file; 0 = unknown */
};

struct stack_levels {
    VEC(struct stack_level) levels; /* the innermost first */
    struct arena arena;             /* owns names that were made up */
};

/* Replaces what is in *levels. Without a frame, of a step of an archive in which regions were entered, these. */
void stack_read(struct stack_levels *levels, const struct analysis *analysis, const struct profile *profile,
                const struct profile_stack *stack);
void stack_release(struct stack_levels *levels);
