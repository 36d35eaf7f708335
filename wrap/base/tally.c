/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/base/tally.h"

enum { WORD_BITS = 64 };

void tally_add(struct tally *tally, uint32_t key, double ns)
{
    if (key >= tally->ns.n) {
        size_t n_words = 2 * (size_t)key / WORD_BITS + 1;
        vec_resize(&tally->bits, n_words);
        vec_resize(&tally->ns, n_words * WORD_BITS);
    }
    tally->ns.at[key] += ns;
    tally->bits.at[key / WORD_BITS] |= 1ull << key % WORD_BITS;
}

void tally_take(struct tally *tally, struct sparse *out)
{
    for (size_t word = 0; word < tally->bits.n; word++)
        for (uint64_t bits = tally->bits.at[word]; bits; bits &= bits - 1) {
            size_t key = word * WORD_BITS + (size_t)__builtin_ctzll(bits);
            if (tally->ns.at[key] != 0)
                *vec_push(out) = (struct term){.key = key, .ns = tally->ns.at[key]};
            tally->ns.at[key] = 0;
        }
    for (size_t word = 0; word < tally->bits.n; word++)
        tally->bits.at[word] = 0;
    out->n_packed = out->n;
}

void tally_release(struct tally *tally)
{
    vec_release(&tally->ns);
    vec_release(&tally->bits);
}
