/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/slices.h"
#include "wrap/base/keys.h"
#include <math.h>

void slices_add(struct slices *slices, double part, uint32_t step, double weight_ns)
{
    double slice = fmin(fmax(floor(part * SLICES), 0), SLICES - 1);
    sparse_add(&slices->weights, key_pair((uint32_t)slice, step), weight_ns);
}

/* The end of the terms of one slice. */
static size_t slice_end(const struct sparse *weights, size_t begin)
{
    size_t end = begin;
    while (end < weights->n && key_high(weights->at[end].key) == key_high(weights->at[begin].key))
        end++;
    return end;
}

void slices_even_out(struct slices *slices, struct sparse *on)
{
    struct sparse *weights = &slices->weights, even = {0};
    double all_ns = sparse_sum(weights), from = 0;
    if (!weights->n || fabs(all_ns - sparse_sum(on)) > all_ns * 1e-6)
        return;
    sparse_pack(weights);
    for (size_t begin = 0, end; begin < weights->n; begin = end) {
        double slice_ns = 0, until = SLICES; /* up to half-way to the next slice with samples */
        end = slice_end(weights, begin);
        if (end < weights->n)
            until = (key_high(weights->at[begin].key) + key_high(weights->at[end].key) + 1) / 2.;
        for (size_t i = begin; i < end; i++)
            slice_ns += weights->at[i].ns;
        for (size_t i = begin; i < end; i++)
            sparse_add(&even, key_low(weights->at[i].key),
                       all_ns * (until - from) / SLICES * (weights->at[i].ns / slice_ns));
        from = until;
    }
    sparse_pack(&even);
    sparse_release(on);
    *on = even;
}
