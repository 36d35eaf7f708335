/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums by keys of one size, the same number of them for each key. Keys stay in the order in which they came. */
#pragma once
#include "wrap/base/packing.h"

/* Zero-initialised is empty. */
struct keyed_sums {
    struct intern keys;
    VEC(uint64_t) at; /* n_each of the first key, and so on */
};

/* Those of a key, which are 0 when it is new. Valid until the next call. */
uint64_t *keyed_sums_of(struct keyed_sums *sums, const void *key, size_t key_bytes, size_t n_each);
void keyed_sums_release(struct keyed_sums *sums);
/* Gives those of a section away; adds them to those of the run. */
void keyed_sums_pack(const struct keyed_sums *sums, struct packing *packing);
void keyed_sums_unpack(struct keyed_sums *sums, struct unpacking *unpacking);
