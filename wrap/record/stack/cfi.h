/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call frame information of one module: from an address to the row of rules that holds there (DWARF 5 section 6.4, and
 * the Linux Standard Base for .eh_frame_hdr). Input is trusted no further than its own segment: every read is checked.
 */
#pragma once
#include "wrap/record/stack/registers.h"
#include "wrap/record/stack/window.h"

/* A module as the loader sees it. */
struct cfi_module {
    const unsigned char *header;     /* .eh_frame_hdr, or NULL */
    const unsigned char *low, *high; /* the loaded segment that holds it and .eh_frame */
};

enum cfi_kind {
    CFI_SAME,
    CFI_UNDEFINED,
    CFI_AT_OFFSET,
    CFI_IS_OFFSET,
    CFI_IN_REGISTER,
    CFI_AT_EXPRESSION,
    CFI_IS_EXPRESSION
};
struct cfi_rule {
    enum cfi_kind kind;
    int64_t value;              /* offset from the CFA, or a register */
    const unsigned char *bytes; /* of the expression */
    size_t n_bytes;
};
struct cfi_row {
    /* CFI_IS_OFFSET: register `cfa_register` + value; CFI_IS_EXPRESSION: the expression */
    struct cfi_rule cfa;
    unsigned cfa_register;
    struct cfi_rule reg[UNWIND_N_REGS];
    bool is_signal_frame;
    uint64_t function; /* where it begins */
};

/* False when the module says nothing about `pc`. */
bool cfi_find(const struct cfi_module *module, uint64_t pc, struct cfi_row *row);
/* Evaluates a DWARF expression; `initial`, when not NULL, is pushed first. False on anything unknown. */
bool cfi_evaluate(const unsigned char *bytes, size_t n_bytes, const struct unwind_frame *frame,
                  const struct unwind_stack *stack, const uint64_t *initial, uint64_t *result);
