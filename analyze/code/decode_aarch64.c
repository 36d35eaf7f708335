/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decodes aarch64. All instructions have four bytes, and those that matter a few fixed forms (Arm Architecture
 * Reference Manual, C4.1), among them branches with pointer authentication, which Capstone 4 does not know.
 *
 * An address takes two instructions (adrp, then add or ldr), which the compiler may move apart. So it is remembered on
 * the way, in order of address, what each register holds: a page, an address, or the content of a slot. A register that
 * any other instruction may write, and those that a call may change, hold nothing any more.
 */
#include "analyze/code/decode.h"
#include <string.h>

enum { WORD = 4, N_REGISTERS = 32, NO_REGISTER = 31, SAVED_FROM = 19 };

struct held {
    enum { HOLDS_NOTHING, HOLDS_ADDRESS, HOLDS_SLOT } what;
    uint64_t address; /* of the slot, if it is one */
};

struct state {
    struct held held[N_REGISTERS];
};

static bool is_like(uint32_t code, uint32_t mask, uint32_t value)
{
    return (code & mask) == value;
}

static uint32_t bits(uint32_t code, unsigned first, unsigned n)
{
    return code >> first & ((1u << n) - 1);
}

/* A signed number of n bits, in units. */
static uint64_t distance(uint32_t code, unsigned first, unsigned n, uint64_t unit)
{
    int32_t value = (int32_t)(code << (32 - first - n)) >> (32 - n);
    return (uint64_t)(int64_t)value * unit;
}

/* Registers of insn are numbered from 1. */
static uint8_t name(uint32_t reg)
{
    return (uint8_t)(reg == NO_REGISTER ? 0 : reg + 1);
}

static void hold(struct state *state, uint32_t reg, struct held held)
{
    if (reg != NO_REGISTER)
        state->held[reg] = held;
}

static void forget(struct state *state, uint32_t end)
{
    for (uint32_t reg = 0; reg < end; reg++)
        state->held[reg].what = HOLDS_NOTHING;
}

static void jump(struct insn *out, enum insn_flow flow, uint64_t target)
{
    out->flow = (uint8_t)flow;
    out->target = target;
}

/* br, blr, ret, eret, drps, and the same with authentication. */
static void branch_to_register(const struct state *state, uint32_t code, struct insn *out)
{
    uint32_t reg = bits(code, 5, 5);
    const struct held *held = &state->held[reg];
    switch (bits(code, 21, 3)) {
    case 0:
    case 1:
        jump(out, bits(code, 21, 3) ? FLOW_INDIRECT_CALL : FLOW_INDIRECT_JUMP,
             held->what == HOLDS_SLOT ? held->address : 0);
        out->reg = name(reg);
        break;
    default:
        out->flow = FLOW_END;
        break;
    }
}

/* False when control goes on behind it in any case. */
static bool reduce_flow(const struct state *state, uint32_t code, struct insn *out)
{
    const uint64_t at = out->address;
    if (is_like(code, 0x7c000000u, 0x14000000u)) /* b, bl */
        jump(out, code >> 31 ? FLOW_CALL : FLOW_JUMP, at + distance(code, 0, 26, WORD));
    else if (is_like(code, 0xff000000u, 0x54000000u)) /* b.cond, bc.cond */
        jump(out, bits(code, 1, 3) == 7 ? FLOW_JUMP : FLOW_BRANCH, at + distance(code, 5, 19, WORD));
    else if (is_like(code, 0x7e000000u, 0x34000000u)) /* cbz, cbnz */
        jump(out, FLOW_BRANCH, at + distance(code, 5, 19, WORD));
    else if (is_like(code, 0x7e000000u, 0x36000000u)) /* tbz, tbnz */
        jump(out, FLOW_BRANCH, at + distance(code, 5, 14, WORD));
    else if (is_like(code, 0xfe000000u, 0xd6000000u))
        branch_to_register(state, code, out);
    else if (is_like(code, 0xffe0001fu, 0xd4200000u) || is_like(code, 0xffe0001fu, 0xd4400000u) ||
             is_like(code, 0xffff0000u, 0)) /* brk, hlt, udf */
        out->flow = FLOW_END;
    else if (code == 0xd503201fu)
        out->flow = FLOW_NOP;
    else
        return false;
    return true;
}

static void set_address(struct state *state, uint32_t code, uint64_t address, struct insn *out)
{
    uint32_t reg = bits(code, 0, 5);
    out->data = DATA_ADDRESS;
    out->reg = name(reg);
    out->value = (int64_t)address;
    hold(state, reg, (struct held){HOLDS_ADDRESS, address});
}

static void reduce_load(struct state *state, uint32_t code, bool has_index, struct insn *out)
{
    uint32_t size = code >> 30, base = bits(code, 5, 5), reg = bits(code, 0, 5);
    const struct held held = state->held[base];
    out->data = DATA_LOAD;
    out->reg = name(reg);
    out->base = name(base);
    out->width = (uint8_t)(1u << size);
    out->is_signed = bits(code, 23, 1);
    if (has_index) {
        out->index = name(bits(code, 16, 5));
        out->scale = (uint8_t)(bits(code, 12, 1) ? 1u << size : 1);
    } else
        out->value = (int64_t)((uint64_t)bits(code, 10, 12) << size);
    hold(state, reg, (struct held){HOLDS_NOTHING, 0});
    if (!has_index && size == 3 && held.what == HOLDS_ADDRESS)
        hold(state, reg, (struct held){HOLDS_SLOT, held.address + (uint64_t)out->value});
}

/* add Xd, Xn, Xm, shifted or extended */
static void reduce_add(struct state *state, uint32_t code, bool is_extended, struct insn *out)
{
    unsigned shift = is_extended ? bits(code, 10, 3) : bits(code, 10, 6);
    out->data = DATA_ADD;
    out->reg = name(bits(code, 0, 5));
    out->base = name(bits(code, 5, 5));
    out->index = name(bits(code, 16, 5));
    out->scale = (uint8_t)(shift < 5 ? 1u << shift : 0);
    out->is_signed = is_extended && bits(code, 15, 1);
    hold(state, bits(code, 0, 5), (struct held){HOLDS_NOTHING, 0});
}

/* Ones in the lowest bits alone: the mask of an and, or the width that a ubfm leaves. 0 = neither. */
static int64_t low_ones(uint32_t code)
{
    uint32_t rotated = bits(code, 16, 6), last = bits(code, 10, 6);
    bool is_field = is_like(code, 0x7f800000u, 0x53000000u);
    bool is_mask = is_like(code, 0x7f800000u, 0x12000000u) && rotated == 0 && (bits(code, 22, 1) || last < 32);
    uint32_t n = is_mask ? last + 1 : is_field && last >= rotated ? last - rotated + 1 : 0;
    return n > 0 && n < 32 ? (int64_t)(1ull << n) - 1 : 0;
}

static void reduce_data(struct state *state, uint32_t code, struct insn *out)
{
    const uint32_t reg = bits(code, 0, 5), from = bits(code, 5, 5);
    const uint64_t immediate = (uint64_t)bits(code, 10, 12) << (bits(code, 22, 1) ? 12 : 0);
    const uint64_t pages = distance(code, 5, 19, 4) | bits(code, 29, 2);
    if (is_like(code, 0x9f000000u, 0x10000000u)) /* adr */
        set_address(state, code, out->address + pages, out);
    else if (is_like(code, 0x9f000000u, 0x90000000u)) /* adrp */
        hold(state, reg, (struct held){HOLDS_ADDRESS, (out->address & ~0xfffull) + (pages << 12)});
    else if (is_like(code, 0xff800000u, 0x91000000u) && state->held[from].what == HOLDS_ADDRESS)
        set_address(state, code, state->held[from].address + immediate, out);
    else if (is_like(code, 0x3f000000u, 0x39000000u) && bits(code, 22, 2) != 0)
        reduce_load(state, code, false, out);
    else if (is_like(code, 0x3f200c00u, 0x38200800u) && bits(code, 22, 2) != 0)
        reduce_load(state, code, true, out);
    else if (is_like(code, 0xffe00000u, 0x8b200000u) || is_like(code, 0xffe00000u, 0x8b000000u))
        reduce_add(state, code, bits(code, 21, 1), out);
    else if (is_like(code, 0x7f80001fu, 0x7100001fu)) { /* cmp */
        out->data = DATA_COMPARE;
        out->reg = name(from);
        out->value = (int64_t)immediate;
    } else {
        out->value = low_ones(code);
        out->data = out->value != 0 ? DATA_MASK : DATA_OTHER;
        out->reg = name(reg);
        hold(state, reg, (struct held){HOLDS_NOTHING, 0});
        if (is_like(code, 0x3e400000u, 0x28400000u)) /* ldp */
            hold(state, bits(code, 10, 5), (struct held){HOLDS_NOTHING, 0});
    }
}

void decode_aarch64(const uint8_t *at, size_t left, uint64_t address, insns *list)
{
    struct state state = {0};
    for (; left >= WORD; at += WORD, address += WORD, left -= WORD) {
        struct insn *out = vec_push(list);
        uint32_t code;
        memcpy(&code, at, sizeof code);
        out->address = address;
        out->size = WORD;
        if (!reduce_flow(&state, code, out))
            reduce_data(&state, code, out);
        else if (out->flow == FLOW_CALL || out->flow == FLOW_INDIRECT_CALL)
            forget(&state, SAVED_FROM);
        else if (out->flow == FLOW_END)
            forget(&state, N_REGISTERS);
    }
}
