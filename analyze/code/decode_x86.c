/* SPDX-License-Identifier: BSD-3-Clause */
/* Decodes x86-64 through Capstone, the only user of which this file is. */
#include "analyze/code/decode.h"
#include <capstone/capstone.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct x86_decoder {
    csh handle;
    cs_insn *scratch;
};

struct x86_decoder *decode_x86_open(void)
{
    struct x86_decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL)
        return NULL;
    cs_err status = cs_open(CS_ARCH_X86, CS_MODE_64, &decoder->handle);
    if (status == CS_ERR_OK) {
        cs_option(decoder->handle, CS_OPT_DETAIL, CS_OPT_ON);
        decoder->scratch = cs_malloc(decoder->handle);
    }
    if (decoder->scratch == NULL) {
        decode_x86_close(decoder);
        return NULL;
    }
    return decoder;
}

void decode_x86_close(struct x86_decoder *decoder)
{
    if (decoder == NULL)
        return;
    if (decoder->scratch != NULL)
        cs_free(decoder->scratch, 1);
    if (decoder->handle != 0)
        cs_close(&decoder->handle);
    free(decoder);
}

/* One number for all widths of a register. */
static uint8_t x86_register(unsigned reg)
{
    static const uint16_t names[][4] = {
        {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL},
        {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL},
        {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL},
        {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL},
        {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
        {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
        {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
        {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
        {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
        {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
        {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
        {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
        {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
        {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
        {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
        {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B},
    };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        for (unsigned width = 0; width < 4; width++)
            if (names[i][width] == reg)
                return (uint8_t)(i + 1);
    return 0;
}

/* ud0, ud1, ud2: Capstone 4 and 5 have other numbers for them. */
static bool is_undefined(const cs_insn *in)
{
    return !strncmp(in->mnemonic, "ud", 2) && isdigit((unsigned char)in->mnemonic[2]);
}

static enum insn_flow x86_flow(const cs_insn *in)
{
    bool is_direct = in->detail->x86.op_count > 0 && in->detail->x86.operands[0].type == X86_OP_IMM;
    switch (in->id) {
    case X86_INS_NOP:
        return FLOW_NOP;
    case X86_INS_JMP:
        return is_direct ? FLOW_JUMP : FLOW_INDIRECT_JUMP;
    case X86_INS_CALL:
        return is_direct ? FLOW_CALL : FLOW_INDIRECT_CALL;
    case X86_INS_RET:
    case X86_INS_RETF:
    case X86_INS_IRET:
    case X86_INS_IRETD:
    case X86_INS_IRETQ:
    case X86_INS_HLT:
    case X86_INS_INT3:
        return FLOW_END;
    case X86_INS_LOOP:
    case X86_INS_LOOPE:
    case X86_INS_LOOPNE:
    case X86_INS_XBEGIN:
        return FLOW_BRANCH;
    default:
        if (is_undefined(in))
            return FLOW_END;
        return in->mnemonic[0] == 'j' && in->id != X86_INS_LJMP ? FLOW_BRANCH : FLOW_NEXT;
    }
}

static void x86_memory(const cs_insn *in, const cs_x86_op *op, struct insn *out)
{
    bool is_relative = op->mem.base == X86_REG_RIP;
    out->base = is_relative ? 0 : x86_register(op->mem.base);
    out->index = op->mem.index == X86_REG_INVALID ? 0 : x86_register(op->mem.index);
    out->scale = (uint8_t)op->mem.scale;
    out->value = (int64_t)((uint64_t)op->mem.disp + (is_relative ? in->address + in->size : 0));
    out->width = op->size;
}

static void x86_data(const cs_insn *in, struct insn *out)
{
    const cs_x86 *x86 = &in->detail->x86;
    if (x86->op_count != 2 || x86->operands[0].type != X86_OP_REG) {
        if (in->id == X86_INS_CMP && x86->op_count == 2 && x86->operands[1].type == X86_OP_IMM) {
            out->data = DATA_COMPARE;
            out->value = x86->operands[1].imm;
        }
        return;
    }
    const cs_x86_op *source = &x86->operands[1];
    out->reg = x86_register(x86->operands[0].reg);
    if (in->id == X86_INS_CMP && source->type == X86_OP_IMM) {
        out->data = DATA_COMPARE;
        out->value = source->imm;
    } else if (in->id == X86_INS_AND && source->type == X86_OP_IMM) {
        out->data = DATA_MASK;
        out->value = source->imm;
    } else if (in->id == X86_INS_LEA && source->mem.base == X86_REG_RIP && source->mem.index == X86_REG_INVALID) {
        out->data = DATA_ADDRESS;
        out->value = (int64_t)(in->address + in->size + (uint64_t)source->mem.disp);
    } else if ((in->id == X86_INS_MOV || in->id == X86_INS_MOVABS) && source->type == X86_OP_IMM) {
        out->data = DATA_ADDRESS;
        out->value = source->imm;
    } else if ((in->id == X86_INS_MOV || in->id == X86_INS_MOVSXD) && source->type == X86_OP_MEM) {
        out->data = DATA_LOAD;
        out->is_signed = in->id == X86_INS_MOVSXD;
        x86_memory(in, source, out);
    } else if (in->id == X86_INS_ADD && source->type == X86_OP_REG) {
        out->data = DATA_ADD;
        out->base = out->reg;
        out->index = x86_register(source->reg);
        out->scale = 1;
    }
}

static void reduce(const cs_insn *in, struct insn *out)
{
    const cs_x86_op *op = &in->detail->x86.operands[0];
    out->flow = x86_flow(in);
    switch (out->flow) {
    case FLOW_BRANCH:
    case FLOW_JUMP:
    case FLOW_CALL:
        out->target = (uint64_t)op->imm;
        break;
    case FLOW_INDIRECT_JUMP:
    case FLOW_INDIRECT_CALL:
        out->data = op->type == X86_OP_MEM ? DATA_LOAD : DATA_OTHER;
        if (op->type == X86_OP_MEM)
            x86_memory(in, op, out);
        else if (op->type == X86_OP_REG)
            out->reg = x86_register(op->reg);
        if (out->data == DATA_LOAD && out->base == 0 && out->index == 0)
            out->target = (uint64_t)out->value;
        break;
    default:
        x86_data(in, out);
    }
}

/* As a register of spin.h, vector registers behind the others; 0 = it has no number there. */
static unsigned spin_register(unsigned reg)
{
    return reg >= X86_REG_XMM0 && reg <= X86_REG_XMM15 ? 17 + reg - X86_REG_XMM0 : x86_register(reg);
}

/* Adds the operand's registers to *set, or what it is in memory to `out`. False if it is neither, nor a constant. */
static bool spin_operand(const cs_insn *in, const cs_x86_op *op, uint64_t *set, struct spin_insn *out)
{
    if (op->type == X86_OP_IMM)
        return true;
    if (op->type == X86_OP_REG) {
        *set |= 1ull << spin_register(op->reg);
        return spin_register(op->reg) != 0;
    }
    struct insn memory = {0};
    bool is_first = !out->where,
         is_known = op->mem.base == X86_REG_INVALID || op->mem.base == X86_REG_RIP || spin_register(op->mem.base);
    x86_memory(in, op, &memory);
    out->address = (memory.base ? 1ull << memory.base : 0) | (memory.index ? 1ull << memory.index : 0);
    out->where = ((((uint64_t)op->mem.segment * 64 + memory.base) * 64 + memory.index) * 16 + memory.scale) *
                     0x9e3779b97f4a7c15ull +
                 (uint64_t)memory.value + 1;
    return op->type == X86_OP_MEM && is_known && is_first;
}

/* Forms of instructions that loops which only look at memory are made of. */
enum spin_form {
    FORM_OTHER,
    FORM_NOTHING,
    FORM_COPY,
    FORM_ADDRESS,
    FORM_COMPARE,
    FORM_CHANGE,
    FORM_EXCHANGE,
    FORM_JUMP,
    FORM_CALL
};

static bool asks_flags(const cs_insn *in)
{
    return !strncmp(in->mnemonic, "set", 3) || !strncmp(in->mnemonic, "cmov", 4);
}

static enum spin_form spin_form(const cs_insn *in)
{
    switch (in->id) {
    case X86_INS_NOP:
    case X86_INS_PAUSE:
    case X86_INS_LFENCE:
    case X86_INS_MFENCE:
        return FORM_NOTHING;
    case X86_INS_MOV:
    case X86_INS_MOVABS:
    case X86_INS_MOVZX:
    case X86_INS_MOVSX:
    case X86_INS_MOVSXD:
    case X86_INS_MOVSD:
    case X86_INS_MOVSS:
        return FORM_COPY;
    case X86_INS_LEA:
        return FORM_ADDRESS;
    case X86_INS_CMP:
    case X86_INS_TEST:
    case X86_INS_COMISD:
    case X86_INS_COMISS:
    case X86_INS_UCOMISD:
    case X86_INS_UCOMISS:
        return FORM_COMPARE;
    case X86_INS_ADD:
    case X86_INS_AND:
    case X86_INS_DEC:
    case X86_INS_INC:
    case X86_INS_NEG:
    case X86_INS_NOT:
    case X86_INS_OR:
    case X86_INS_SAR:
    case X86_INS_SHL:
    case X86_INS_SHR:
    case X86_INS_SUB:
    case X86_INS_XOR:
        return FORM_CHANGE;
    case X86_INS_CMPXCHG:
    case X86_INS_XCHG:
        return FORM_EXCHANGE;
    case X86_INS_JMP:
        return FORM_JUMP;
    case X86_INS_CALL:
        return FORM_CALL;
    case X86_INS_JCXZ:
    case X86_INS_JECXZ:
    case X86_INS_JRCXZ:
        return FORM_OTHER;
    default:
        return in->mnemonic[0] == 'j' ? FORM_JUMP : asks_flags(in) ? FORM_COPY : FORM_OTHER;
    }
}

/* Always the same value: `xor eax, eax`. */
static bool is_zeroing(const cs_insn *in)
{
    const cs_x86 *x86 = &in->detail->x86;
    return (in->id == X86_INS_XOR || in->id == X86_INS_SUB) && x86->operands[0].type == X86_OP_REG &&
           x86->operands[1].type == X86_OP_REG && x86->operands[0].reg == x86->operands[1].reg;
}

/* The first operand is written but by comparisons, the others are read. An exchange that waits for a lock is a look. */
static bool spin_operands(const cs_insn *in, enum spin_form form, struct spin_insn *out)
{
    const cs_x86 *x86 = &in->detail->x86;
    bool is_known = true;
    for (uint8_t i = 0; i < x86->op_count && is_known; i++) {
        bool is_written = (i == 0 && form != FORM_COMPARE) || form == FORM_EXCHANGE;
        bool is_read = i > 0 || form == FORM_COMPARE || form == FORM_CHANGE || form == FORM_EXCHANGE;
        uint64_t registers = 0;
        is_known = spin_operand(in, &x86->operands[i], &registers, out);
        out->writes |= is_written ? registers : 0;
        out->reads |= is_read && form != FORM_EXCHANGE ? registers : 0;
        out->loads |= is_read && x86->operands[i].type == X86_OP_MEM;
        out->stores |= is_written && form != FORM_EXCHANGE && x86->operands[i].type == X86_OP_MEM;
    }
    return is_known;
}

static bool spin_effect(const cs_insn *in, struct spin_insn *out)
{
    /* Calls may change all registers but rbx, rbp, rsp and r12 to r15. */
    const uint64_t flags = 1ull << SPIN_FLAGS, changed_by_calls = 0x1fffe1e7bull;
    enum spin_form form = spin_form(in);
    if (form == FORM_OTHER || form == FORM_NOTHING) {
        out->is_pause = in->id == X86_INS_PAUSE;
        return form == FORM_NOTHING;
    }
    if (form == FORM_JUMP || form == FORM_CALL) {
        out->is_branch = form == FORM_JUMP && in->id != X86_INS_JMP;
        out->reads = out->is_branch ? flags : 0;
        out->writes = form == FORM_CALL ? changed_by_calls : 0;
        return true;
    }
    bool is_known = spin_operands(in, form, out);
    if (form == FORM_ADDRESS) {
        out->reads = out->address;
        out->address = 0;
        out->loads = false;
    } else if (form == FORM_EXCHANGE) {
        out->writes |= in->id == X86_INS_CMPXCHG ? 1ull << x86_register(X86_REG_RAX) : 0;
        is_known &= out->loads;
    }
    out->reads |= asks_flags(in) ? flags : 0;
    out->reads = is_zeroing(in) ? 0 : out->reads;
    out->writes |= form == FORM_COMPARE || form == FORM_CHANGE || form == FORM_EXCHANGE ? flags : 0;
    out->may_keep = !strncmp(in->mnemonic, "cmov", 4) || in->id == X86_INS_INC || in->id == X86_INS_DEC;
    return is_known;
}

bool decode_x86_effect(struct x86_decoder *decoder, const uint8_t *at, size_t left, uint64_t address,
                       struct spin_insn *effect)
{
    *effect = (struct spin_insn){0};
    return cs_disasm_iter(decoder->handle, &at, &left, &address, decoder->scratch) &&
           spin_effect(decoder->scratch, effect);
}

/* Bytes of a ModRM operand: the byte itself, SIB and displacement. */
static size_t modrm_length(const uint8_t *at, size_t n)
{
    if (n == 0)
        return 0;
    unsigned mod = at[0] >> 6, rm = at[0] & 7;
    bool has_sib = mod != 3 && rm == 4;
    bool is_absolute = mod == 0 && (rm == 5 || (has_sib && n > 1 && (at[1] & 7) == 5));
    return 1 + has_sib + (mod == 1 ? 1 : mod == 2 || is_absolute ? 4 : 0);
}

/*
 * Length of a vector instruction that Capstone does not know: new ones appear with every generation of processors, but
 * their form is fixed (VEX and EVEX prefixes), and none of them jumps. 0 = not one.
 */
static size_t vector_length(const uint8_t *at, size_t n)
{
    size_t prefix = n < 6 ? 0 : at[0] == 0x62 ? 4 : at[0] == 0xc4 ? 3 : at[0] == 0xc5 ? 2 : 0;
    if (prefix == 0)
        return 0;
    unsigned map = prefix == 2 ? 1 : at[1] & (prefix == 4 ? 7 : 31);
    uint8_t opcode = at[prefix];
    if (map == 1 && opcode == 0x77) /* vzeroupper: no operand */
        return prefix + 1;
    bool has_immediate =
        map == 3 ||
        (map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6)));
    size_t length = prefix + 1 + modrm_length(at + prefix + 1, n - prefix - 1) + has_immediate;
    return length <= n ? length : 0;
}

void decode_x86(struct x86_decoder *decoder, const uint8_t *at, size_t left, uint64_t address, insns *list)
{
    while (left > 0) {
        struct insn *out = vec_push(list);
        out->address = address;
        if (cs_disasm_iter(decoder->handle, &at, &left, &address, decoder->scratch)) {
            out->size = decoder->scratch->size;
            reduce(decoder->scratch, out);
        } else {
            size_t length = vector_length(at, left);
            out->size = (uint16_t)(length > 0 ? length : 1);
            at += out->size;
            left -= out->size;
            address += out->size;
        }
    }
}
