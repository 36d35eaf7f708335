/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data on its way from one process to another of the same program, on machines of one kind: values as they lie in
 * memory, one after the other. The reader knows what was written.
 */
#pragma once
#include "wrap/base/containers.h"
#include "wrap/base/sparse.h"

struct packing {
    VEC(unsigned char) bytes;
};
struct unpacking {
    const unsigned char *at, *end;
};

void pack_bytes(struct packing *packing, const void *from, size_t n_bytes);
/* Ends the tool where there are fewer: nobody else writes. */
void unpack_bytes(struct unpacking *unpacking, void *to, size_t n_bytes);

#define pack_value(packing, value) pack_bytes((packing), &(value), sizeof(value))
#define unpack_value(unpacking, value) unpack_bytes((unpacking), (value), sizeof *(value))

/* A number, and as many elements of a VEC. */
#define pack_vec(packing, vec)                                                                                         \
    do {                                                                                                               \
        uint64_t vec_n_ = (vec)->n;                                                                                    \
        pack_value((packing), vec_n_);                                                                                 \
        pack_bytes((packing), (vec)->at, (vec)->n * sizeof *(vec)->at);                                                \
    } while (0)
/* Replaces what is in it. */
#define unpack_vec(unpacking, vec)                                                                                     \
    do {                                                                                                               \
        uint64_t vec_read_;                                                                                            \
        unpack_value((unpacking), &vec_read_);                                                                         \
        vec_resize((vec), vec_read_);                                                                                  \
        unpack_bytes((unpacking), (vec)->at, vec_read_ * sizeof *(vec)->at);                                           \
    } while (0)

/* Packs it first. */
void pack_sparse(struct packing *packing, struct sparse *vector);
/* Adds to it. */
void unpack_sparse(struct unpacking *unpacking, struct sparse *vector);
/* Of a table whose keys are of one size: those from the number `first` on. */
void pack_intern(struct packing *packing, const struct intern *table, uint32_t first, size_t size_bytes);
