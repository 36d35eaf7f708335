/* SPDX-License-Identifier: BSD-3-Clause */
/* What decoder.c needs of each architecture: append the instructions in `left` bytes at `at`, the first of which has
 * this address. */
#pragma once
#include "analyze/code/insn.h"
#include <stddef.h>

struct x86_decoder;
struct x86_decoder *decode_x86_open(void);
void decode_x86_close(struct x86_decoder *decoder);
void decode_x86(struct x86_decoder *decoder, const uint8_t *at, size_t left, uint64_t address, insns *list);

void decode_aarch64(const uint8_t *at, size_t left, uint64_t address, insns *list);
