/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of contexts, sites and steps that are made while a section of the run is read. The reader of a section begins
 * with the numbers that all have, so that its sums come out the same whoever reads it, and whatever was read before.
 * New ones are given away with its results, and get numbers that hold for the run, in the order of sections.
 */
#pragma once
#include "analyze/steps/sites.h"
#include "wrap/base/packing.h"

typedef VEC(uint32_t) number_list;

struct numbers {
    struct sites *sites;
    uint32_t n_contexts, n_sites, n_pairs, n_steps;    /* that all have */
    struct intern contexts, at, pairs, steps;          /* beyond them, in the run */
    number_list of_context, of_site, of_pair, of_step; /* of the section at hand: beyond them -> number in the run */
};

/* All that any reader will ask of frames is known from then on. */
void numbers_begin(struct numbers *numbers, struct sites *sites);
void numbers_release(struct numbers *numbers);
/* A section begins: what was made beyond is forgotten. */
void numbers_reset(struct numbers *numbers);
/* After it: what was made since. */
void numbers_pack(const struct numbers *numbers, struct packing *packing);
/* Numbers of that section can be translated from now on. */
void numbers_unpack(struct numbers *numbers, struct unpacking *unpacking);
/* Likewise those of the section that was read here last; its numbers have been packed and unpacked. */
void numbers_of_last(struct numbers *numbers);
/* After the last section: the numbers are those of the run. */
void numbers_settle(struct numbers *numbers);

/* The number in the run of one of that section; TRACE_NONE is that. */
static inline uint32_t numbers_context(const struct numbers *numbers, uint32_t context)
{
    bool is_common = context < numbers->n_contexts || context == TRACE_NONE;
    return is_common ? context : numbers->of_context.at[context - numbers->n_contexts];
}
static inline uint32_t numbers_site(const struct numbers *numbers, uint32_t site)
{
    return site < numbers->n_sites || site == TRACE_NONE ? site : numbers->of_site.at[site - numbers->n_sites];
}
static inline uint32_t numbers_step(const struct numbers *numbers, uint32_t step)
{
    return step < numbers->n_steps ? step : numbers->of_step.at[step - numbers->n_steps];
}
