/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds durations up by (side, step) and reads them in order, without sorting: a table with a bit for what is in it. */
#pragma once
#include "wrap/base/sparse.h"
#include "wrap/base/vec.h"

struct tally {
    VEC(double) ns;
    VEC(uint64_t) bits;
};

/* Keys must be dense, from 0. */
void tally_add(struct tally *tally, uint32_t key, double ns);
/* Moves everything into an empty vector, which is packed then. */
void tally_take(struct tally *tally, struct sparse *out);
void tally_release(struct tally *tally);
