/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the DWARF expression language that frame information uses: registers plus offsets, loads from the stack,
 * and the arithmetic of the procedure linkage table's one expression. Anything else ends the walk.
 */
#include "wrap/record/stack/cfi.h"
#include <string.h>

enum { MAX_DEPTH = 16, MAX_STEPS = 64 };

struct evaluation {
    const unsigned char *at, *end;
    const struct unwind_frame *frame;
    const struct unwind_stack *stack;
    uint64_t value[MAX_DEPTH];
    unsigned depth;
};

bool cfi_read_stack(const struct unwind_stack *stack, uint64_t address, uint64_t *value)
{
    if (address < stack->low || address >= stack->high || stack->high - address < sizeof *value)
        return false;
    memcpy(value, stack->bytes + (address - stack->low), sizeof *value);
    return true;
}

static bool push(struct evaluation *e, uint64_t value)
{
    if (e->depth == MAX_DEPTH)
        return false;
    e->value[e->depth++] = value;
    return true;
}

static bool leb(struct evaluation *e, bool is_signed, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 63 && e->at < e->end; shift += 7) {
        uint64_t byte = *e->at++;
        *value |= (byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        if (is_signed && (byte & 0x40) && shift < 57)
            *value |= ~0ull << (shift + 7);
        return true;
    }
    return false;
}

static bool push_register(struct evaluation *e, uint64_t reg)
{
    uint64_t offset;
    if (!leb(e, true, &offset) || reg >= UNWIND_N_REGS || !(e->frame->valid & 1u << reg))
        return false;
    return push(e, e->frame->reg[reg] + offset);
}

static bool push_constant(struct evaluation *e, size_t bytes, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 64 - 8 * (unsigned)bytes;
    if ((size_t)(e->end - e->at) < bytes)
        return false;
    memcpy(&value, e->at, bytes);
    e->at += bytes;
    return push(e, is_signed ? (uint64_t)((int64_t)(value << shift) >> shift) : value);
}

static bool binary(struct evaluation *e, unsigned op)
{
    if (e->depth < 2)
        return false;
    uint64_t right = e->value[--e->depth], *left = &e->value[e->depth - 1];
    switch (op) {
    case 0x1a:
        *left &= right;
        return true;
    case 0x1c:
        *left -= right;
        return true;
    case 0x1e:
        *left *= right;
        return true;
    case 0x21:
        *left |= right;
        return true;
    case 0x22:
        *left += right;
        return true;
    case 0x24:
        *left = right < 64 ? *left << right : 0;
        return true;
    case 0x25:
        *left = right < 64 ? *left >> right : 0;
        return true;
    case 0x2a:
        *left = (int64_t)*left >= (int64_t)right;
        return true;
    default:
        return false;
    }
}

static bool step(struct evaluation *e)
{
    unsigned op = *e->at++;
    uint64_t value;
    if (op >= 0x30 && op <= 0x4f) /* lit */
        return push(e, op - 0x30);
    if (op >= 0x70 && op <= 0x8f) /* breg */
        return push_register(e, op - 0x70);
    switch (op) {
    case 0x06: /* deref */
        return e->depth > 0 && cfi_read_stack(e->stack, e->value[e->depth - 1], &e->value[e->depth - 1]);
    case 0x08: /* const1u to const8s */
    case 0x09:
    case 0x0a:
    case 0x0b:
    case 0x0c:
    case 0x0d:
    case 0x0e:
    case 0x0f:
        return push_constant(e, (size_t)1 << ((op - 8) / 2), op & 1);
    case 0x10:
    case 0x11:
        return leb(e, op == 0x11, &value) && push(e, value);
    case 0x12: /* dup */
        return e->depth > 0 && push(e, e->value[e->depth - 1]);
    case 0x23: /* plus_uconst */
        return e->depth > 0 && leb(e, false, &value) && (e->value[e->depth - 1] += value, true);
    default:
        return binary(e, op);
    }
}

bool cfi_evaluate(const unsigned char *bytes, size_t n_bytes, const struct unwind_frame *frame,
                  const struct unwind_stack *stack, const uint64_t *initial, uint64_t *result)
{
    struct evaluation e = {.at = bytes, .end = bytes + n_bytes, .frame = frame, .stack = stack};
    if (initial)
        push(&e, *initial);
    for (unsigned steps = 0; e.at < e.end; steps++)
        if (steps == MAX_STEPS || !step(&e))
            return false;
    if (e.depth == 0)
        return false;
    *result = e.value[e.depth - 1];
    return true;
}
