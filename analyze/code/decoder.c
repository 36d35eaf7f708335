/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/code/decoder.h"
#include "analyze/code/decode.h"
#include <elf.h>
#include <stdlib.h>

enum { MAX_ROUTINE_BYTES = 1 << 26 };

struct decoder {
    int machine;
    struct x86_decoder *x86; /* of x86-64 alone */
};

struct decoder *decoder_open(int machine)
{
    if (machine != EM_X86_64 && machine != EM_AARCH64)
        return NULL;
    struct decoder *decoder = calloc(1, sizeof *decoder);
    if (decoder == NULL)
        return NULL;
    decoder->machine = machine;
    decoder->x86 = machine == EM_X86_64 ? decode_x86_open() : NULL;
    if (machine == EM_X86_64 && decoder->x86 == NULL) {
        decoder_close(decoder);
        return NULL;
    }
    return decoder;
}

void decoder_close(struct decoder *decoder)
{
    if (decoder == NULL)
        return;
    decode_x86_close(decoder->x86);
    free(decoder);
}

void decoder_read(struct decoder *decoder, const struct image *image, uint64_t lo, uint64_t hi, insns *list)
{
    const uint8_t *at = hi > lo && hi - lo <= MAX_ROUTINE_BYTES ? image_bytes(image, lo, hi - lo) : NULL;
    if (at == NULL)
        return;
    if (decoder->machine == EM_X86_64)
        decode_x86(decoder->x86, at, hi - lo, lo, list);
    else
        decode_aarch64(at, hi - lo, lo, list);
}

bool decoder_effect(struct decoder *decoder, const struct image *image, const struct insn *insn,
                    struct spin_insn *effect)
{
    const uint8_t *at = image_bytes(image, insn->address, insn->size);
    return at && decoder->x86 && decode_x86_effect(decoder->x86, at, insn->size, insn->address, effect);
}
