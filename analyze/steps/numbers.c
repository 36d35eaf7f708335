/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/numbers.h"

void numbers_begin(struct numbers *numbers, struct sites *sites)
{
    for (uint32_t frame = 0; frame < sites->trace->n_frames; frame++) {
        sites_context(sites, frame);
        if (sites->code)
            sites_sample_step(sites, frame);
    }
    *numbers = (struct numbers){.sites = sites,
                                .n_contexts = (uint32_t)sites->contexts.n,
                                .n_sites = (uint32_t)sites->sites.n,
                                .n_pairs = (uint32_t)sites->pairs.n,
                                .n_steps = steps_n(sites->steps)};
}

void numbers_release(struct numbers *numbers)
{
    struct intern *tables[] = {&numbers->contexts, &numbers->at, &numbers->pairs, &numbers->steps};
    number_list *lists[] = {&numbers->of_context, &numbers->of_site, &numbers->of_pair, &numbers->of_step};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        intern_release(tables[i]);
        vec_release(lists[i]);
    }
}

void numbers_reset(struct numbers *numbers)
{
    sites_cut(numbers->sites, numbers->n_contexts, numbers->n_sites, numbers->n_pairs, numbers->n_steps);
    intern_cut(&numbers->sites->steps->keys, numbers->n_steps);
}

void numbers_pack(const struct numbers *numbers, struct packing *packing)
{
    const struct sites *sites = numbers->sites;
    pack_intern(packing, &sites->contexts, numbers->n_contexts, sizeof(struct context));
    pack_intern(packing, &sites->sites, numbers->n_sites, sizeof(struct site));
    pack_intern(packing, &sites->pairs, numbers->n_pairs, 2 * sizeof(uint32_t));
    pack_intern(packing, &sites->steps->keys, numbers->n_steps, sizeof(struct step_key));
}

static void unpack_contexts(struct numbers *numbers, struct unpacking *unpacking)
{
    uint32_t n;
    unpack_value(unpacking, &n);
    for (numbers->of_context.n = 0; n > 0; n--) {
        struct context context;
        unpack_value(unpacking, &context);
        context.parent = numbers_context(numbers, context.parent);
        *vec_push(&numbers->of_context) =
            numbers->n_contexts + intern_put(&numbers->contexts, &context, sizeof context);
    }
}

static void unpack_sites(struct numbers *numbers, struct unpacking *unpacking)
{
    uint32_t n;
    unpack_value(unpacking, &n);
    for (numbers->of_site.n = 0; n > 0; n--) {
        struct site site;
        unpack_value(unpacking, &site);
        site.context = numbers_context(numbers, site.context);
        *vec_push(&numbers->of_site) = numbers->n_sites + intern_put(&numbers->at, &site, sizeof site);
    }
}

static void unpack_pairs(struct numbers *numbers, struct unpacking *unpacking)
{
    uint32_t n, pair[2];
    unpack_value(unpacking, &n);
    for (numbers->of_pair.n = 0; n > 0; n--) {
        unpack_bytes(unpacking, pair, sizeof pair);
        for (int i = 0; i < 2; i++)
            pair[i] = numbers_site(numbers, pair[i]);
        *vec_push(&numbers->of_pair) = numbers->n_pairs + intern_put(&numbers->pairs, pair, sizeof pair);
    }
}

/* The number that a step is named by. */
static uint32_t id_of_step(const struct numbers *numbers, const struct step_key *key)
{
    switch ((enum step_what)key->what) {
    case WHAT_PATH:
        return numbers_context(numbers, key->id);
    case WHAT_SITE:
    case WHAT_WAIT:
        return numbers_site(numbers, key->id);
    case WHAT_GAP:
        return key->id < numbers->n_pairs ? key->id : numbers->of_pair.at[key->id - numbers->n_pairs];
    default:
        return key->id;
    }
}

void numbers_unpack(struct numbers *numbers, struct unpacking *unpacking)
{
    uint32_t n_steps;
    unpack_contexts(numbers, unpacking);
    unpack_sites(numbers, unpacking);
    unpack_pairs(numbers, unpacking);
    unpack_value(unpacking, &n_steps);
    for (numbers->of_step.n = 0; n_steps > 0; n_steps--) {
        struct step_key key;
        unpack_value(unpacking, &key);
        key.id = id_of_step(numbers, &key);
        *vec_push(&numbers->of_step) = numbers->n_steps + intern_put(&numbers->steps, &key, sizeof key);
    }
}

void numbers_of_last(struct numbers *numbers)
{
    struct packing packing = {0};
    numbers_pack(numbers, &packing);
    struct unpacking unpacking = {packing.bytes.at, packing.bytes.at + packing.bytes.n};
    numbers_unpack(numbers, &unpacking);
    vec_release(&packing.bytes);
}

static void put_all(struct intern *table, const struct intern *more)
{
    for (uint32_t i = 0; i < more->n; i++)
        intern_put(table, more->items[i].bytes, more->items[i].size);
}

void numbers_settle(struct numbers *numbers)
{
    numbers_reset(numbers);
    put_all(&numbers->sites->contexts, &numbers->contexts);
    put_all(&numbers->sites->sites, &numbers->at);
    put_all(&numbers->sites->pairs, &numbers->pairs);
    for (uint32_t i = 0; i < numbers->steps.n; i++)
        steps_put_key(numbers->sites->steps, numbers->steps.items[i].bytes);
}
