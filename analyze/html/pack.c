/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/html/pack.h"
#include "wrap/base/err.h"
#include <stdint.h>
#define ZLIB_CONST
#include <zlib.h>

/* Three bytes become four characters; what is left over waits for the next bytes. */
struct base64 {
    FILE *out;
    uint32_t bits;
    unsigned n_bits;
    size_t n_written;
};

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void base64_put(struct base64 *base64, const unsigned char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        base64->bits = base64->bits << 8 | bytes[i];
        for (base64->n_bits += 8; base64->n_bits >= 6; base64->n_written++) {
            base64->n_bits -= 6;
            putc_unlocked(digits[base64->bits >> base64->n_bits & 63], base64->out);
        }
    }
}

int pack_write(FILE *out, const void *bytes, size_t n)
{
    enum { STEP = 1 << 16, LARGEST_INPUT = 1 << 30 };
    unsigned char buffer[STEP];
    struct base64 base64 = {.out = out};
    z_stream stream = {0};
    if (deflateInit(&stream, Z_DEFAULT_COMPRESSION) != Z_OK)
        err_out_of_memory(sizeof stream);
    const unsigned char *at = bytes;
    int state = Z_OK;
    while (state != Z_STREAM_END) {
        if (!stream.avail_in && n) {
            stream.avail_in = n < LARGEST_INPUT ? (uInt)n : (uInt)LARGEST_INPUT;
            stream.next_in = at;
            at += stream.avail_in;
            n -= stream.avail_in;
        }
        stream.next_out = buffer;
        stream.avail_out = STEP;
        state = deflate(&stream, n ? Z_NO_FLUSH : Z_FINISH);
        base64_put(&base64, buffer, STEP - stream.avail_out);
    }
    deflateEnd(&stream);
    if (base64.n_bits) {
        putc_unlocked(digits[base64.bits << (6 - base64.n_bits) & 63], base64.out);
        base64.n_written++;
    }
    for (; base64.n_written % 4; base64.n_written++)
        putc_unlocked('=', base64.out);
    return ferror(out) ? -1 : 0;
}
