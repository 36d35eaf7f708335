/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is to blame for the waiting of a class, and which of its steps are redundant.
 *
 * The cumulative characterisation is signed: what the late side did minus what the waiting side did. Steps of equal
 * code are netted first, whatever process ran them: what the waiting process did as well is not to blame. The waiting
 * is shared out over the positive remainders in proportion (Boehme et al. 2016, after Meira et al. 1996); a step's part
 * goes to the late processes in proportion to their time in it. The parts of a class sum to its waiting. Waiting for
 * shared memory to change, or in a wait of which it is not known what ends it, may be waiting for the waiting process:
 * it is blamed for what the others leave over.
 *
 * Redundant (Meira et al.): pairs of equal code are removed from the smallest difference up while what remains still
 * accounts for 95 % of the waiting. This is for presentation; blame is shared out before.
 */
#pragma once
#include "analyze/blame/classes.h"
#include "analyze/steps/sites.h"

/* Parts of the waiting by atom_key (with KEY_LONG_TERM), packed. Returns the sum of the positive remainders, which
 * the waiting falls short of as far as the waiting side did something else meanwhile. */
double blame_share(const struct path_class *class, const struct sites *sites, struct sparse *blame);
/* Remainders by step, packed. */
void blame_net(const struct path_class *class, struct sparse *net);
/* Steps that need not be shown, as keys of a packed vector. */
void blame_prune(const struct path_class *class, struct sparse *redundant);
