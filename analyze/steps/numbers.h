/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of steps that are made while a section of the run is read. Whoever reads a section begins with the numbers
 * that all have, so that its sums come out the same whoever reads it, and whatever was read before. What it makes
 * beyond them is given away with its results, and gets numbers that hold for the run, in the order of sections.
 */
#pragma once
#include "analyze/steps/lanes.h"
#include "analyze/steps/pools.h"
#include "wrap/base/packing.h"

struct numbers {
    struct sites *sites;
    struct pools *pools;
    struct lanes *lanes;
    uint32_t n_steps, n_pairs;  /* that all have */
    struct intern steps, pairs; /* beyond them, in the run: number - n_steps, number - n_pairs */
    VEC(uint32_t) of_step;      /* of the section at hand: number - n_steps there -> number in the run */
};

/* All that later readers may ask of frames is known. */
void numbers_begin(struct numbers *numbers, struct sites *sites, struct pools *pools, struct lanes *lanes);
void numbers_release(struct numbers *numbers);
/* A section begins: what was made beyond is forgotten. */
void numbers_reset(struct numbers *numbers);
/* After it: what was made since. */
void numbers_pack(const struct numbers *numbers, struct packing *packing);
/* Numbers of that section can be translated from now on. */
void numbers_unpack(struct numbers *numbers, struct unpacking *unpacking);
/* Likewise those of the section that was read here last; its numbers have been packed and unpacked. */
void numbers_of_last(struct numbers *numbers);
/* After the last section: steps have the numbers of the run. */
void numbers_settle(struct numbers *numbers);

/* The number in the run of a step of that section. */
static inline uint32_t numbers_step(const struct numbers *numbers, uint32_t step)
{
    return step < numbers->n_steps ? step : numbers->of_step.at[step - numbers->n_steps];
}
/* Likewise, in the keys of a vector by atom_key. */
void numbers_translate(const struct numbers *numbers, struct sparse *atoms);
/* After numbers_settle: the steps of pools among these atoms are known. */
void numbers_know(const struct numbers *numbers, const struct sparse *atoms);
