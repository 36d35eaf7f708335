/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stack of a running thread at present, read a page at a time as a walk comes by. Pages that were read are kept, so
 * that a walk sees one state of each.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { PAGES_MAX = 16, PAGES_BYTES = 4096 };
struct stack_pages {
    unsigned n;
    uint64_t at[PAGES_MAX];
    unsigned char bytes[PAGES_MAX][PAGES_BYTES];
};
/* False when there is nothing at `address`, or too many pages were read. Any address may be asked for. */
bool pages_read(struct stack_pages *pages, uint64_t address, uint64_t *value);
