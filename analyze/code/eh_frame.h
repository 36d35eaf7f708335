/* SPDX-License-Identifier: BSD-3-Clause */
/* What .eh_frame and .gcc_except_table say: the bounds of every routine, also in stripped files, and its landing pads.
 */
#pragma once
#include "analyze/code/image.h"

struct eh_routine {
    uint64_t lo, hi;
    uint64_t lsda; /* 0 = none */
};
typedef VEC(struct eh_routine) eh_routines;
void eh_read_routines(const struct image *image, eh_routines *routines);

/* Calls in [lo, hi) may continue at `pad`. */
struct eh_pad {
    uint64_t lo, hi, pad;
};
typedef VEC(struct eh_pad) eh_pads;
void eh_read_pads(const struct image *image, const struct eh_routine *routine, eh_pads *pads);
