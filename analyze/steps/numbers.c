/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/numbers.h"

void numbers_begin(struct numbers *numbers, struct sites *sites, struct pools *pools, struct lanes *lanes)
{
    for (uint32_t frame = 0; frame < sites->trace->n_frames && sites->code; frame++)
        sites_sample_step(sites, frame);
    *numbers = (struct numbers){.sites = sites, .pools = pools, .lanes = lanes};
    numbers->n_steps = steps_n(sites->steps);
    numbers->n_pairs = (uint32_t)sites->pairs.n;
}

void numbers_release(struct numbers *numbers)
{
    intern_release(&numbers->steps);
    intern_release(&numbers->pairs);
    vec_release(&numbers->of_step);
}

void numbers_reset(struct numbers *numbers)
{
    intern_cut(&numbers->sites->steps->keys, numbers->n_steps);
    sites_cut_pairs(numbers->sites, numbers->n_pairs);
    pools_forget_shares(numbers->pools);
    lanes_forget_steps(numbers->lanes, numbers->n_steps);
}

void numbers_pack(const struct numbers *numbers, struct packing *packing)
{
    pack_intern(packing, &numbers->sites->pairs, numbers->n_pairs, 2 * sizeof(uint32_t));
    pack_intern(packing, &numbers->sites->steps->keys, numbers->n_steps, sizeof(struct step_key));
}

typedef VEC(uint32_t) number_list;

static uint32_t step_of_run(struct numbers *numbers, struct step_key key, const number_list *pair_of)
{
    if (key.what == WHAT_GAP && key.id >= numbers->n_pairs)
        key.id = pair_of->at[key.id - numbers->n_pairs];
    return numbers->n_steps + intern_put(&numbers->steps, &key, sizeof key);
}

static uint32_t pair_of_run(struct numbers *numbers, const uint32_t *pair)
{
    return numbers->n_pairs + intern_put(&numbers->pairs, pair, 2 * sizeof *pair);
}

void numbers_unpack(struct numbers *numbers, struct unpacking *unpacking)
{
    uint32_t n_pairs, n_steps, pair[2];
    number_list pair_of = {0};
    unpack_value(unpacking, &n_pairs);
    for (uint32_t i = 0; i < n_pairs; i++) {
        unpack_bytes(unpacking, pair, sizeof pair);
        *vec_push(&pair_of) = pair_of_run(numbers, pair);
    }
    unpack_value(unpacking, &n_steps);
    numbers->of_step.n = 0;
    for (uint32_t i = 0; i < n_steps; i++) {
        struct step_key key;
        unpack_value(unpacking, &key);
        *vec_push(&numbers->of_step) = step_of_run(numbers, key, &pair_of);
    }
    vec_release(&pair_of);
}

void numbers_of_last(struct numbers *numbers)
{
    struct packing packing = {0};
    numbers_pack(numbers, &packing);
    struct unpacking unpacking = {packing.bytes.at, packing.bytes.at + packing.bytes.n};
    numbers_unpack(numbers, &unpacking);
    vec_release(&packing.bytes);
}

void numbers_settle(struct numbers *numbers)
{
    numbers_reset(numbers);
    for (uint32_t i = 0; i < numbers->pairs.n; i++) {
        const uint32_t *pair = numbers->pairs.items[i].bytes;
        sites_pair(numbers->sites, pair[0], pair[1]);
    }
    for (uint32_t i = 0; i < numbers->steps.n; i++)
        steps_put_key(numbers->sites->steps, numbers->steps.items[i].bytes);
}

void numbers_translate(const struct numbers *numbers, struct sparse *atoms)
{
    for (size_t i = 0; i < atoms->n; i++) {
        uint64_t key = atoms->at[i].key;
        if (!(key_atom(key) & ATOM_IS_POOL))
            atoms->at[i].key = (key & ~(uint64_t)UINT32_MAX) | numbers_step(numbers, key_atom(key));
    }
    atoms->n_packed = 0;
    sparse_pack(atoms);
}

void numbers_know(const struct numbers *numbers, const struct sparse *atoms)
{
    for (size_t i = 0; i < atoms->n; i++)
        if (key_atom(atoms->at[i].key) & ATOM_IS_POOL)
            pools_know(numbers->pools, key_atom(atoms->at[i].key));
}
