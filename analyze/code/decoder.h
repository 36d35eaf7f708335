/* SPDX-License-Identifier: BSD-3-Clause */
/* Decodes code of an image, whose file says what machine it is for: x86-64 or aarch64, whatever machine this is. */
#pragma once
#include "analyze/code/image.h"
#include "analyze/code/insn.h"
#include "wrap/flow/spin.h"

struct decoder;
/* NULL when the machine is not supported. */
struct decoder *decoder_open(int machine);
void decoder_close(struct decoder *decoder);
/* Appends the instructions of [lo, hi). Unknown code falls through. */
void decoder_read(struct decoder *decoder, const struct image *image, uint64_t lo, uint64_t hi, insns *list);
/* The instruction as one of a loop that may spin. False if such a loop has no use for it, and of aarch64. */
bool decoder_effect(struct decoder *decoder, const struct image *image, const struct insn *insn,
                    struct spin_insn *effect);
