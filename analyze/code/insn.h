/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Machine instructions reduced to what finds loops: where control goes, and the few forms of data flow that compilers
 * use to index a jump table.
 */
#pragma once
#include "wrap/base/containers.h"
#include <stdbool.h>
#include <stdint.h>

enum insn_flow {
    FLOW_NEXT,          /* falls through */
    FLOW_NOP,           /* falls through, padding */
    FLOW_JUMP,          /* to target */
    FLOW_BRANCH,        /* to target or through */
    FLOW_INDIRECT_JUMP, /* where a table or a pointer says */
    FLOW_CALL,          /* target, returns */
    FLOW_INDIRECT_CALL,
    FLOW_END, /* return, trap: no way on */
};

enum insn_data {
    DATA_OTHER,
    DATA_COMPARE, /* reg with the constant value */
    DATA_MASK,    /* reg &= value */
    DATA_ADDRESS, /* reg = address value */
    DATA_LOAD,    /* reg = [base + index * scale + value], width bytes, or the jump itself reads it */
    DATA_ADD,     /* reg = base + index * scale */
};

struct insn {
    uint64_t address;
    uint64_t target; /* of direct jumps and calls; of indirect ones the slot they go through when that is constant */
    int64_t value;
    uint16_t size;
    uint8_t flow, data;
    uint8_t reg, base, index; /* registers as numbers from 1, of whatever width; 0 = none */
    uint8_t scale, width;
    bool is_signed; /* load extends the sign, or the addition that of index */
};
typedef VEC(struct insn) insns;

/* Does control go from this instruction to the next one? */
static inline bool insn_falls_through(const struct insn *in)
{
    return in->flow == FLOW_NEXT || in->flow == FLOW_NOP || in->flow == FLOW_BRANCH || in->flow == FLOW_CALL ||
           in->flow == FLOW_INDIRECT_CALL;
}
