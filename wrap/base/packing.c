/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/base/packing.h"
#include "wrap/base/err.h"

void pack_bytes(struct packing *packing, const void *from, size_t n_bytes)
{
    size_t n = packing->bytes.n;
    if (!n_bytes)
        return;
    if (n + n_bytes > packing->bytes.cap)
        vec_grow((void **)&packing->bytes.at, &packing->bytes.cap, n + n_bytes, 1);
    memcpy(packing->bytes.at + n, from, n_bytes);
    packing->bytes.n = n + n_bytes;
}

void unpack_bytes(struct unpacking *unpacking, void *to, size_t n_bytes)
{
    if ((size_t)(unpacking->end - unpacking->at) < n_bytes)
        bug("a result of another process ends %zu bytes too early", n_bytes - (size_t)(unpacking->end - unpacking->at));
    if (n_bytes)
        memcpy(to, unpacking->at, n_bytes);
    unpacking->at += n_bytes;
}

void pack_sparse(struct packing *packing, struct sparse *vector)
{
    sparse_pack(vector);
    pack_vec(packing, vector);
}

void unpack_sparse(struct unpacking *unpacking, struct sparse *vector)
{
    uint64_t n;
    unpack_value(unpacking, &n);
    struct term *to = sparse_extend(vector, n);
    unpack_bytes(unpacking, to, n * sizeof *to);
}

void pack_intern(struct packing *packing, const struct intern *table, uint32_t first, size_t size_bytes)
{
    uint32_t n = (uint32_t)table->n - first;
    pack_value(packing, n);
    for (uint32_t i = first; i < table->n; i++)
        pack_bytes(packing, table->items[i].bytes, size_bytes);
}
