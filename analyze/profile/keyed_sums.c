/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/profile/keyed_sums.h"

uint64_t *keyed_sums_of(struct keyed_sums *sums, const void *key, size_t key_bytes, size_t n_each)
{
    size_t first = n_each * intern_put(&sums->keys, key, key_bytes);
    if (first == sums->at.n)
        vec_resize(&sums->at, first + n_each);
    return &sums->at.at[first];
}

void keyed_sums_release(struct keyed_sums *sums)
{
    intern_release(&sums->keys);
    vec_release(&sums->at);
}

void keyed_sums_pack(const struct keyed_sums *sums, struct packing *packing)
{
    size_t n = sums->keys.n, n_each = n ? sums->at.n / n : 0;
    pack_value(packing, n);
    pack_value(packing, n_each);
    for (size_t i = 0; i < n; i++) {
        const struct intern_item *key = &sums->keys.items[i];
        pack_value(packing, key->size);
        pack_bytes(packing, key->bytes, key->size);
        pack_bytes(packing, sums->at.at + i * n_each, n_each * sizeof *sums->at.at);
    }
}

void keyed_sums_unpack(struct keyed_sums *sums, struct unpacking *unpacking)
{
    size_t n, n_each, key_bytes;
    unpack_value(unpacking, &n);
    unpack_value(unpacking, &n_each);
    for (; n > 0; n--) {
        unpack_value(unpacking, &key_bytes);
        uint64_t *to = keyed_sums_of(sums, unpacking->at, key_bytes, n_each), more;
        unpacking->at += key_bytes;
        for (size_t i = 0; i < n_each; i++) {
            unpack_value(unpacking, &more);
            to[i] += more;
        }
    }
}
