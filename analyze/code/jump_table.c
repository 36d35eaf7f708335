/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a switch jumps to. Two forms are known, searched backwards from the jump in address order:
 *     jmp *table(,%index,8)                          or the same through a load: 8-byte addresses
 *     lea table(%rip), %base; movslq (%base,%index,4), %r; add %base, %r; jmp *%r
 *                                                    4-byte offsets from the table
 * The comparison (or mask) before it bounds the table; every entry must lead to an instruction of the routine or, when
 * the bound is known, of its out-of-line part, so that a wrong guess ends the table and nothing else.
 */
#include "analyze/code/graph.h"

#include <string.h>

enum { SEARCH_BACK = 48, SEARCH_ADDRESS = 20000, MAX_ENTRIES = 4096, MAX_UNBOUNDED = 512 };

struct table {
    uint64_t address;
    uint8_t width;
    bool is_relative;
    uint32_t user; /* instruction that reads it */
};

static uint32_t window_start(uint32_t from)
{
    return from > SEARCH_BACK ? from - SEARCH_BACK : 0;
}

/* The constant that `reg` holds at `before`: the nearest setting, or (when the compiler moved it away) any one. */
static bool find_address(const struct graph *graph, uint32_t before, uint8_t reg, uint64_t *address)
{
    for (uint32_t i = before; i-- > 0 && before - i < SEARCH_ADDRESS;) {
        const struct insn *in = &graph->insns.at[i];
        if (in->data == DATA_ADDRESS && in->reg == reg) {
            *address = (uint64_t)in->value;
            return true;
        }
    }
    for (uint32_t i = before; i < graph->insns.n && i - before < SEARCH_ADDRESS; i++) {
        const struct insn *in = &graph->insns.at[i];
        if (in->data == DATA_ADDRESS && in->reg == reg) {
            *address = (uint64_t)in->value;
            return true;
        }
    }
    return false;
}

/* load: reg = [base + index * scale + value]. */
static bool table_of_load(const struct graph *graph, uint32_t load, struct table *table)
{
    const struct insn *in = &graph->insns.at[load];
    table->user = load;
    table->width = in->width;
    table->is_relative = in->is_signed && in->width == 4;
    if ((in->width != 8 && !table->is_relative) || (in->index == 0 && in->base == 0))
        return false;
    if (in->base == 0 || in->index == 0) {
        table->address = (uint64_t)in->value;
        return in->value > 4096;
    }
    if (in->scale != in->width && in->scale != 1)
        return false;
    return find_address(graph, load, in->base, &table->address) ||
           (in->scale == 1 && find_address(graph, load, in->index, &table->address));
}

static bool find_table(const struct graph *graph, uint32_t jump, struct table *table)
{
    const struct insn *at = graph->insns.at;
    if (at[jump].data == DATA_LOAD)
        return table_of_load(graph, jump, table);
    uint8_t reg = at[jump].reg, other = 0;
    for (uint32_t i = jump; i-- > window_start(jump);) {
        if (at[i].flow == FLOW_END || at[i].flow == FLOW_JUMP || at[i].flow == FLOW_INDIRECT_JUMP)
            return false;
        if (at[i].data == DATA_ADD && at[i].reg == reg && other == 0)
            other = at[i].base;
        else if (at[i].data == DATA_LOAD && (at[i].reg == reg || (other != 0 && at[i].reg == other)))
            return table_of_load(graph, i, table);
    }
    return false;
}

/* Number of entries that the nearest comparison with a constant, or mask, allows; 0 = none found. */
static uint32_t find_bound(const struct graph *graph, uint32_t before)
{
    for (uint32_t i = before; i-- > window_start(before);) {
        const struct insn *in = &graph->insns.at[i];
        if (in->data == DATA_COMPARE && in->value > 0 && in->value < MAX_ENTRIES && i + 1 < graph->insns.n)
            return (uint32_t)in->value + 1;
        if (in->data == DATA_MASK && in->value > 0 && in->value < MAX_ENTRIES && (in->value & (in->value + 1)) == 0)
            return (uint32_t)in->value + 1;
    }
    return 0;
}

/* An entry of a table of known length may lead to an out-of-line part; the others end where they leave the routine. */
static bool is_target(const struct image *image, const struct graph *graph, uint64_t target, bool is_bounded)
{
    if (graph_insn_at(graph, target) != CFG_NONE)
        return true;
    const struct image_section *section = image_section_at(image, target);
    return is_bounded && section != NULL && section->is_code;
}

static bool read_entry(const struct image *image, const struct table *table, uint32_t n, uint64_t *target)
{
    const uint8_t *bytes = image_bytes(image, table->address + (uint64_t)n * table->width, table->width);
    if (bytes == NULL)
        return false;
    if (table->is_relative) {
        int32_t offset;
        memcpy(&offset, bytes, 4);
        *target = table->address + (uint64_t)(int64_t)offset;
    } else
        memcpy(target, bytes, 8);
    return true;
}

void jump_table_read(const struct image *image, const struct graph *graph, uint32_t jump, jump_targets *targets)
{
    struct table table = {0};
    if (!find_table(graph, jump, &table))
        return;
    uint32_t bound = find_bound(graph, table.user);
    uint32_t n = bound > 0 ? bound : MAX_UNBOUNDED;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t target;
        if (!read_entry(image, &table, i, &target) || !is_target(image, graph, target, bound > 0))
            return;
        *vec_push(targets) = target;
    }
}
