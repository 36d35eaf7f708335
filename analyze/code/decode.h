/* SPDX-License-Identifier: BSD-3-Clause */
/* What decoder.c needs of each architecture: append the instructions in `left` bytes at `at`, the first of which has
 * this address. */
#pragma once
#include "analyze/code/insn.h"
#include "wrap/flow/spin.h"
#include <stddef.h>

struct x86_decoder;
struct x86_decoder *decode_x86_open(void);
void decode_x86_close(struct x86_decoder *decoder);
void decode_x86(struct x86_decoder *decoder, const uint8_t *at, size_t left, uint64_t address, insns *list);

/* The instruction here as one of a loop that may spin. False if such a loop has no use for it. */
bool decode_x86_effect(struct x86_decoder *decoder, const uint8_t *at, size_t left, uint64_t address,
                       struct spin_insn *effect);

void decode_aarch64(const uint8_t *at, size_t left, uint64_t address, insns *list);
