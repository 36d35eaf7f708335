/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads .eh_frame_hdr (a sorted table: start of function -> FDE), the FDE found, its CIE, and runs their instructions
 * up to the wanted address. The hdr table is searched by bisection, so a look-up costs the logarithm of the number of
 * functions plus the length of one FDE. No allocation; rows saved by DW_CFA_remember_state stand on the stack, at most
 * CFI_SAVED of them.
 */
#include "wrap/record/stack/cfi.h"
#include <string.h>

enum { CFI_SAVED = 6, MAX_DEPTH = 16, MAX_STEPS = 64 };

/* A bounded read position; `bad` sticks. */
struct cursor {
    const unsigned char *at, *end;
    bool bad;
};

static uint64_t take(struct cursor *c, size_t bytes)
{
    uint64_t value = 0;
    if (c->bad || (size_t)(c->end - c->at) < bytes) {
        c->bad = true;
        return 0;
    }
    memcpy(&value, c->at, bytes);
    c->at += bytes;
    return value;
}

static int64_t take_signed(struct cursor *c, size_t bytes)
{
    unsigned shift = 64 - 8 * (unsigned)bytes;
    return (int64_t)(take(c, bytes) << shift) >> shift;
}

static uint64_t take_uleb(struct cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint64_t byte = take(c, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    c->bad = true;
    return 0;
}

static int64_t take_sleb(struct cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
        uint64_t byte = take(c, 1);
        value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return (byte & 0x40) && shift < 57 ? (int64_t)(value | ~0ull << (shift + 7)) : (int64_t)value;
    }
    c->bad = true;
    return 0;
}

static struct cursor take_block(struct cursor *c, uint64_t bytes)
{
    struct cursor block = {c->at, c->at, c->bad};
    if (c->bad || (uint64_t)(c->end - c->at) < bytes) {
        c->bad = block.bad = true;
        return block;
    }
    block.end = c->at += bytes;
    return block;
}

enum { PE_OMIT = 0xff, PE_FORMAT = 0x0f, PE_BASE = 0x70, PE_PCREL = 0x10, PE_DATAREL = 0x30, PE_INDIRECT = 0x80 };

static uint64_t take_by_format(struct cursor *c, unsigned format)
{
    switch (format) {
    case 0x0: /* absptr */
    case 0x4: /* udata8 */
    case 0xc: /* sdata8 */
        return take(c, 8);
    case 0x1:
        return take_uleb(c);
    case 0x2:
        return take(c, 2);
    case 0x3:
        return take(c, 4);
    case 0x9:
        return (uint64_t)take_sleb(c);
    case 0xa:
        return (uint64_t)take_signed(c, 2);
    case 0xb:
        return (uint64_t)take_signed(c, 4);
    default:
        c->bad = true;
        return 0;
    }
}

/* A pointer in one of the DW_EH_PE encodings. Indirect ones occur only for personalities, whose value is not used. */
static uint64_t take_encoded(struct cursor *c, unsigned encoding, const unsigned char *data_base)
{
    uint64_t place = (uint64_t)(uintptr_t)c->at;
    if (encoding == PE_OMIT)
        return 0;
    uint64_t value = take_by_format(c, encoding & PE_FORMAT);
    if ((encoding & PE_BASE) == PE_PCREL)
        value += place;
    else if ((encoding & PE_BASE) == PE_DATAREL)
        value += (uint64_t)(uintptr_t)data_base;
    return value;
}

struct cie {
    uint64_t code_factor;
    int64_t data_factor;
    unsigned pointer_encoding;
    bool has_augmentation_data, is_signal_frame;
    struct cursor instructions;
};

/* The content of the entry at `at`, after its length field. */
static struct cursor entry_at(const struct cfi_module *module, const unsigned char *at)
{
    struct cursor c = {at, module->high, at < module->low || at >= module->high};
    uint64_t length = take(&c, 4);
    if (length == 0xffffffffu)
        length = take(&c, 8);
    return take_block(&c, length);
}

static bool cie_augmentation(struct cursor *c, const unsigned char *text, struct cie *cie)
{
    if (!*text)
        return true;
    if (*text++ != 'z')
        return false;
    cie->has_augmentation_data = true;
    struct cursor data = take_block(c, take_uleb(c));
    for (; *text; text++) {
        if (*text == 'R')
            cie->pointer_encoding = (unsigned)take(&data, 1);
        else if (*text == 'P')
            take_encoded(&data, (unsigned)take(&data, 1) & ~(unsigned)PE_INDIRECT, NULL);
        else if (*text == 'L')
            take(&data, 1);
        else if (*text == 'S')
            cie->is_signal_frame = true;
        else if (*text != 'B')
            break;
    }
    return !data.bad;
}

static bool cie_parse(const struct cfi_module *module, const unsigned char *at, struct cie *cie)
{
    memset(cie, 0, sizeof *cie);
    struct cursor c = entry_at(module, at);
    if (take(&c, 4) != 0 || c.bad)
        return false;
    uint64_t version = take(&c, 1);
    const unsigned char *text = c.at;
    const unsigned char *zero = c.bad ? NULL : memchr(text, 0, (size_t)(c.end - text));
    if (!zero || (version != 1 && version != 3))
        return false;
    c.at = zero + 1;
    cie->code_factor = take_uleb(&c);
    cie->data_factor = take_sleb(&c);
    uint64_t return_register = version == 1 ? take(&c, 1) : take_uleb(&c);
    if (return_register != UNWIND_RA || !cie_augmentation(&c, text, cie))
        return false;
    cie->instructions = c;
    return !c.bad;
}

struct fde {
    uint64_t start, end;
    struct cie cie;
    struct cursor instructions;
};

static bool fde_parse(const struct cfi_module *module, const unsigned char *at, struct fde *fde)
{
    struct cursor c = entry_at(module, at);
    const unsigned char *place = c.at;
    uint64_t back = take(&c, 4);
    if (c.bad || back == 0 || back > (uint64_t)(place - module->low) || !cie_parse(module, place - back, &fde->cie))
        return false;
    fde->start = take_encoded(&c, fde->cie.pointer_encoding, NULL);
    fde->end = fde->start + take_by_format(&c, fde->cie.pointer_encoding & PE_FORMAT);
    if (fde->cie.has_augmentation_data)
        take_block(&c, take_uleb(&c));
    fde->instructions = c;
    return !c.bad;
}

struct table_entry {
    int32_t start, fde; /* relative to the header */
};

/* The last function that starts at or before `pc`. */
static const unsigned char *table_find(const struct cfi_module *module, uint64_t pc)
{
    struct cursor c = {module->header, module->high, module->header < module->low};
    uint64_t version = take(&c, 1), frame_encoding = take(&c, 1), count_encoding = take(&c, 1);
    if (version != 1 || take(&c, 1) != (PE_DATAREL | 0xb) || c.bad)
        return NULL;
    take_encoded(&c, (unsigned)frame_encoding, module->header);
    uint64_t n = take_encoded(&c, (unsigned)count_encoding, module->header);
    if (c.bad || n == 0 || n > (uint64_t)(c.end - c.at) / sizeof(struct table_entry))
        return NULL;
    int64_t wanted = (int64_t)(pc - (uint64_t)(uintptr_t)module->header);
    uint64_t low = 0, high = n;
    struct table_entry entry;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        memcpy(&entry, c.at + middle * sizeof entry, sizeof entry);
        if (entry.start <= wanted)
            low = middle;
        else
            high = middle;
    }
    memcpy(&entry, c.at + low * sizeof entry, sizeof entry);
    return entry.start <= wanted ? module->header + entry.fde : NULL;
}

struct machine {
    struct cfi_row row, initial, saved[CFI_SAVED];
    unsigned n_saved;
    uint64_t location;
    const struct cie *cie;
};

/* The product of a damaged table is a number as well: it wraps. */
static int64_t factored(const struct machine *m, uint64_t value)
{
    return (int64_t)(value * (uint64_t)m->cie->data_factor);
}

static void set_rule(struct machine *m, uint64_t reg, enum cfi_kind kind, int64_t value)
{
    if (reg < UNWIND_N_REGS)
        m->row.reg[reg] = (struct cfi_rule){.kind = kind, .value = value};
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
    m->row.cfa = (struct cfi_rule){.kind = CFI_IS_OFFSET, .value = offset};
    m->row.cfa_register = (unsigned)reg;
}

/* The rule of the CFA. */
static void run_cfa(struct machine *m, struct cursor *c, unsigned op)
{
    uint64_t reg;
    struct cursor block;
    switch (op) {
    case 0x0c: /* def_cfa */
        reg = take_uleb(c);
        set_cfa(m, reg, (int64_t)take_uleb(c));
        break;
    case 0x0d: /* def_cfa_register */
        m->row.cfa_register = (unsigned)take_uleb(c);
        break;
    case 0x0e: /* def_cfa_offset */
        m->row.cfa.value = (int64_t)take_uleb(c);
        break;
    case 0x0f: /* def_cfa_expression */
        block = take_block(c, take_uleb(c));
        m->row.cfa = (struct cfi_rule){CFI_IS_EXPRESSION, 0, block.at, (size_t)(block.end - block.at)};
        break;
    case 0x12: /* def_cfa_sf */
        reg = take_uleb(c);
        set_cfa(m, reg, factored(m, (uint64_t)take_sleb(c)));
        break;
    default: /* 0x13: def_cfa_offset_sf */
        m->row.cfa.value = factored(m, (uint64_t)take_sleb(c));
        break;
    }
}

/* The rule of one register. */
static bool run_register(struct machine *m, struct cursor *c, unsigned op)
{
    uint64_t reg = take_uleb(c);
    struct cursor block;
    switch (op) {
    case 0x05: /* offset_extended */
        set_rule(m, reg, CFI_AT_OFFSET, factored(m, take_uleb(c)));
        return true;
    case 0x06: /* restore_extended */
        if (reg < UNWIND_N_REGS)
            m->row.reg[reg] = m->initial.reg[reg];
        return true;
    case 0x07:
        set_rule(m, reg, CFI_UNDEFINED, 0);
        return true;
    case 0x08:
        set_rule(m, reg, CFI_SAME, 0);
        return true;
    case 0x09: /* register */
        set_rule(m, reg, CFI_IN_REGISTER, (int64_t)take_uleb(c));
        return true;
    case 0x10: /* expression, val_expression */
    case 0x16:
        block = take_block(c, take_uleb(c));
        if (reg < UNWIND_N_REGS)
            m->row.reg[reg] = (struct cfi_rule){op == 0x10 ? CFI_AT_EXPRESSION : CFI_IS_EXPRESSION, 0, block.at,
                                                (size_t)(block.end - block.at)};
        return true;
    case 0x11: /* offset_extended_sf */
        set_rule(m, reg, CFI_AT_OFFSET, factored(m, (uint64_t)take_sleb(c)));
        return true;
    case 0x14: /* val_offset */
        set_rule(m, reg, CFI_IS_OFFSET, factored(m, take_uleb(c)));
        return true;
    case 0x15: /* val_offset_sf */
        set_rule(m, reg, CFI_IS_OFFSET, factored(m, (uint64_t)take_sleb(c)));
        return true;
    default:
        return false;
    }
}

static bool run_extended(struct machine *m, struct cursor *c, unsigned op)
{
    switch (op) {
    case 0x00: /* nop */
    case 0x2c: /* AARCH64_negate_ra_state_with_pc, AARCH64_negate_ra_state: signatures are taken off in any case */
    case 0x2d:
        return true;
    case 0x01: /* set_loc */
        m->location = take_encoded(c, m->cie->pointer_encoding, NULL);
        return true;
    case 0x02: /* advance_loc1, 2, 4 */
    case 0x03:
    case 0x04:
        m->location += take(c, (size_t)1 << (op - 2)) * m->cie->code_factor;
        return true;
    case 0x0a: /* remember_state */
        if (m->n_saved == CFI_SAVED)
            return false;
        m->saved[m->n_saved++] = m->row;
        return true;
    case 0x0b: /* restore_state */
        if (m->n_saved == 0)
            return false;
        m->row = m->saved[--m->n_saved];
        return true;
    case 0x0c:
    case 0x0d:
    case 0x0e:
    case 0x0f:
    case 0x12:
    case 0x13:
        run_cfa(m, c, op);
        return true;
    case 0x2e: /* GNU_args_size */
        take_uleb(c);
        return true;
    default:
        return run_register(m, c, op);
    }
}

static bool run_one(struct machine *m, struct cursor *c)
{
    unsigned op = (unsigned)take(c, 1), low = op & 0x3f;
    switch (op >> 6) {
    case 1: /* advance_loc */
        m->location += low * m->cie->code_factor;
        return true;
    case 2: /* offset */
        set_rule(m, low, CFI_AT_OFFSET, factored(m, take_uleb(c)));
        return true;
    case 3: /* restore */
        if (low < UNWIND_N_REGS)
            m->row.reg[low] = m->initial.reg[low];
        return true;
    default:
        return run_extended(m, c, low);
    }
}

/* Runs until the row for `pc` is complete. */
static bool run(struct machine *m, struct cursor c, uint64_t pc)
{
    while (c.at < c.end && !c.bad) {
        if (!run_one(m, &c))
            return false;
        if (m->location > pc) /* moving on changes no rule: the row is that of `pc` */
            return true;
    }
    return !c.bad;
}

bool cfi_find(const struct cfi_module *module, uint64_t pc, struct cfi_row *row)
{
    const unsigned char *at = module->header ? table_find(module, pc) : NULL;
    struct fde fde;
    if (!at || !fde_parse(module, at, &fde) || pc < fde.start || pc >= fde.end)
        return false;
    struct machine m;
    memset(&m.row, 0, sizeof m.row);
    m.n_saved = 0;
    m.cie = &fde.cie;
    m.location = fde.start;
    m.initial = m.row;
    if (!run(&m, fde.cie.instructions, UINT64_MAX))
        return false;
    m.initial = m.row;
    m.location = fde.start;
    if (!run(&m, fde.instructions, pc))
        return false;
    *row = m.row;
    row->is_signal_frame = fde.cie.is_signal_frame;
    row->function = fde.start;
    return true;
}

/* Expressions of PLT stubs and of signal frames, which need no more than these operations. */
struct evaluation {
    struct cursor in;
    const struct unwind_frame *frame;
    const struct unwind_stack *stack;
    uint64_t value[MAX_DEPTH];
    unsigned depth;
};

static bool push(struct evaluation *e, uint64_t value)
{
    if (e->depth == MAX_DEPTH)
        return false;
    e->value[e->depth++] = value;
    return true;
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
    unsigned op = (unsigned)take(&e->in, 1);
    uint64_t value;
    if (op >= 0x30 && op <= 0x4f) /* lit */
        return push(e, op - 0x30);
    if (op >= 0x70 && op <= 0x8f) { /* breg */
        unsigned reg = op - 0x70;
        value = (uint64_t)take_sleb(&e->in);
        return reg < UNWIND_N_REGS && unwind_is_valid(e->frame, reg) && push(e, e->frame->reg[reg] + value);
    }
    switch (op) {
    case 0x06: /* deref */
        return e->depth > 0 && window_read(e->stack, e->value[e->depth - 1], &e->value[e->depth - 1]);
    case 0x08: /* const1u to const8s */
    case 0x09:
    case 0x0a:
    case 0x0b:
    case 0x0c:
    case 0x0d:
    case 0x0e:
    case 0x0f:
        value = (size_t)1 << ((op - 8) / 2);
        return push(e, op & 1 ? (uint64_t)take_signed(&e->in, value) : take(&e->in, value));
    case 0x10: /* constu, consts */
        return push(e, take_uleb(&e->in));
    case 0x11:
        return push(e, (uint64_t)take_sleb(&e->in));
    case 0x12: /* dup */
        return e->depth > 0 && push(e, e->value[e->depth - 1]);
    case 0x23: /* plus_uconst */
        return e->depth > 0 && (e->value[e->depth - 1] += take_uleb(&e->in), true);
    default:
        return binary(e, op);
    }
}

bool cfi_evaluate(const unsigned char *bytes, size_t n_bytes, const struct unwind_frame *frame,
                  const struct unwind_stack *stack, const uint64_t *initial, uint64_t *result)
{
    struct evaluation e = {.in = {bytes, bytes + n_bytes, false}, .frame = frame, .stack = stack};
    if (initial)
        push(&e, *initial);
    for (unsigned steps = 0; e.in.at < e.in.end; steps++)
        if (steps == MAX_STEPS || !step(&e) || e.in.bad)
            return false;
    if (e.depth == 0)
        return false;
    *result = e.value[e.depth - 1];
    return true;
}
