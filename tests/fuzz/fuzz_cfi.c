/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recorder's own unwinder over frame information that nobody compiled: the input is a segment with .eh_frame_hdr
 * and .eh_frame, as it would be loaded. All reads must stay inside it; expressions of the rows are evaluated on a small
 * stack.
 */
#include "tests/fuzz/fuzz.h"
#include "wrap/record/stack/cfi.h"
#include <stdlib.h>
#include <string.h>

enum { STACK_WORDS = 64, STEPS = 64 };

static void evaluate(const struct cfi_rule *rule)
{
    uint64_t words[STACK_WORDS], result = 0, initial = 0x7000;
    struct unwind_frame frame = {.valid = (1u << UNWIND_N_REGS) - 1, .interrupted = true};
    const struct unwind_stack stack = {
        .low = 0x7000, .high = 0x7000 + sizeof words, .bytes = (const unsigned char *)words};
    for (unsigned i = 0; i < STACK_WORDS; i++)
        words[i] = 0x7000 + 8 * i;
    for (unsigned i = 0; i < UNWIND_N_REGS; i++)
        frame.reg[i] = 0x7000 + 8 * i;
    if (rule->kind == CFI_AT_EXPRESSION || rule->kind == CFI_IS_EXPRESSION) {
        cfi_evaluate(rule->bytes, rule->n_bytes, &frame, &stack, NULL, &result);
        cfi_evaluate(rule->bytes, rule->n_bytes, &frame, &stack, &initial, &result);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    /* Of its own, so that a read behind the end is seen. */
    unsigned char *segment = malloc(n_bytes ? n_bytes : 1);
    struct cfi_row row;
    fuzz_must(segment != NULL);
    memcpy(segment, data, n_bytes);
    const struct cfi_module module = {.header = segment, .low = segment, .high = segment + n_bytes};
    for (uint64_t i = 0; i < STEPS && n_bytes > 0; i++) {
        if (!cfi_find(&module, (uint64_t)(uintptr_t)segment + i * n_bytes / STEPS * 4, &row))
            continue;
        evaluate(&row.cfa);
        for (unsigned r = 0; r < UNWIND_N_REGS; r++)
            evaluate(&row.reg[r]);
    }
    free(segment);
    return 0;
}
