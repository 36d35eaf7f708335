/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long each step of a stretch took.
 *
 * The length of a stretch and its time off the CPU are measured; samples, counts and pools of like stretches only share
 * it out, so that steps always sum to the measured length.
 */
#pragma once
#include "analyze/steps/atoms.h"

/* What a stretch came to. */
struct spent {
    double on_ns, off_ns[OFF_N];
    double asleep_ns;     /* of the time blocked: until another thread of the process woke it */
    double unrecorded_ns; /* all of it, while recording was switched off */
    double noise_ns2;
    uint32_t led_by; /* 1 + location of the thread that it slept for and that was inside MPI until then; 0 = none */
    uint64_t led_until_ns;
};

/* Second pass: adds the stretch's atoms to `out`, keys made by atom_key; they sum to its length. Sets `spent`. Adds
 * to `lent` what the way that led here has beside these atoms, which sums to 0 (other threads' doings instead of a
 * sleep for them); NULL = not wanted. */
void spread_stretch(struct pools *pools, uint32_t rank, struct stretch *stretch, struct sparse *out,
                    struct sparse *lent, struct spent *spent);
