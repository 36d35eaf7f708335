/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounds: in the first, parts are dealt out to all who are there; in each further one, those of who was lost in the one
 * before are dealt out to who is left. All know who is lost, so all know who has which part, and nobody need say so.
 */
#include "analyze/engine/share.h"
#include "wrap/base/containers.h"
#include "wrap/base/err.h"
#include <stdlib.h>

struct living {
    VEC(uint32_t) at; /* numbers of processes, ascending */
};

struct deal {
    struct engine *engine;
    const struct share *share;
    VEC(struct living) rounds; /* who was there at the begin of each; the last one is now */
    VEC(unsigned char) results;
};

/* Before each result. */
struct result_head {
    uint64_t part, n_bytes;
};
enum { ALIGNED = sizeof(struct result_head) };

static bool is_among(const struct living *living, uint32_t number)
{
    for (size_t i = 0; i < living->at.n; i++)
        if (living->at.at[i] == number)
            return true;
    return false;
}

/* In the first round. */
static uint32_t first_owner(const struct deal *deal, uint32_t part)
{
    const struct living *living = &deal->rounds.at[0];
    uint32_t n_parts = deal->share->n_parts, owner = 0;
    if (deal->share->firsts) {
        while (part < deal->share->firsts[owner])
            owner = owner ? owner - 1 : deal->engine->n_others;
        return owner;
    }
    return living->at.at[n_parts ? (uint64_t)part * living->at.n / n_parts : part % living->at.n];
}

bool deal_has(const struct deal *deal, uint32_t part)
{
    uint32_t owner = first_owner(deal, part);
    bool is_new = true; /* in the present round */
    for (size_t i = 0; i < deal->rounds.n; i++) {
        const struct living *living = &deal->rounds.at[i];
        bool is_lost = !is_among(living, owner);
        is_new = is_lost || !i;
        if (is_lost)
            owner = living->at.at[part % living->at.n];
    }
    return is_new && owner == deal->engine->number;
}

bool deal_is_as_planned(const struct deal *deal)
{
    return deal->rounds.n == 1 && deal->rounds.at[0].at.n == engine_n(deal->engine);
}

static void append(struct deal *deal, const void *what, size_t n_bytes)
{
    size_t n = deal->results.n;
    vec_resize(&deal->results, n + n_bytes);
    if (n_bytes)
        memcpy(deal->results.at + n, what, n_bytes);
}

void deal_give(struct deal *deal, uint32_t part, struct parcel result)
{
    static const unsigned char nothing[ALIGNED];
    if (!deal->engine->n_others) {
        deal->share->take(deal->share->context, part, result);
        return;
    }
    const struct result_head head = {part, result.n_bytes};
    append(deal, &head, sizeof head);
    append(deal, result.at, result.n_bytes);
    append(deal, nothing, (ALIGNED - result.n_bytes % ALIGNED) % ALIGNED);
    engine_tick(deal->engine);
}

static void begin_round(struct deal *deal)
{
    struct living *living = vec_push(&deal->rounds);
    const struct engine *engine = deal->engine;
    for (uint32_t i = 0; i < engine_n(engine); i++)
        if (!engine->is_lost || !engine->is_lost[i])
            *vec_push(&living->at) = i;
}

static bool has_lost(const struct deal *deal)
{
    const struct living *living = &deal->rounds.at[deal->rounds.n - 1];
    for (size_t i = 0; i < living->at.n; i++)
        if (deal->engine->is_lost && deal->engine->is_lost[living->at.at[i]])
            return true;
    return false;
}

struct taken {
    VEC(struct parcel) parts; /* by number */
    VEC(void *) kept;         /* of rounds before the last */
};

/* `*parcel` stays after the next exchange. */
static void keep(struct taken *taken, struct parcel *parcel)
{
    void *copy = malloc(parcel->n_bytes);
    if (!copy)
        err_out_of_memory(parcel->n_bytes);
    *vec_push(&taken->kept) = copy;
    parcel->at = memcpy(copy, parcel->at, parcel->n_bytes);
}

static void put_results(struct taken *taken, struct parcel parcel)
{
    const char *at = parcel.at;
    for (size_t done = 0; done < parcel.n_bytes;) {
        struct result_head head;
        memcpy(&head, at + done, sizeof head);
        done += sizeof head;
        if (head.part >= taken->parts.n)
            vec_resize(&taken->parts, head.part + 1);
        taken->parts.at[head.part] = (struct parcel){at + done, head.n_bytes};
        done += (head.n_bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
    }
}

/* Exchanges what this round has come to; true when another one must follow. */
static bool end_round(struct deal *deal, struct taken *taken)
{
    struct engine *engine = deal->engine;
    struct parcel mine = {deal->results.at, deal->results.n};
    struct parcel *all = memory_new(engine_n(engine), sizeof *all);
    if (deal->share->is_for_all)
        engine_tell_all(engine, mine, all);
    else
        engine_gather(engine, mine, all);
    bool goes_on = has_lost(deal);
    for (uint32_t i = 0; i < engine_n(engine); i++) {
        if (all[i].n_bytes == PARCEL_LOST || !all[i].n_bytes || (!deal->share->is_for_all && !engine_is_first(engine)))
            continue;
        if (goes_on)
            keep(taken, &all[i]);
        put_results(taken, all[i]);
    }
    free(all);
    return goes_on;
}

static void take_all(const struct share *share, const struct taken *taken)
{
    for (size_t i = 0; i < taken->parts.n; i++)
        if (taken->parts.at[i].at)
            share->take(share->context, (uint32_t)i, taken->parts.at[i]);
}

bool share_perform(struct engine *engine, const struct share *share)
{
    struct deal deal = {.engine = engine, .share = share};
    struct taken taken = {0};
    bool is_done, goes_on;
    do {
        begin_round(&deal);
        is_done = share->perform(share->context, &deal);
        goes_on = is_done && engine->n_others && end_round(&deal, &taken);
        if (goes_on)
            deal.results.n = 0;
    } while (goes_on);
    if (is_done)
        take_all(share, &taken);
    for (size_t i = 0; i < taken.kept.n; i++)
        free(taken.kept.at[i]);
    vec_release(&taken.kept);
    vec_release(&taken.parts);
    for (size_t i = 0; i < deal.rounds.n; i++)
        vec_release(&deal.rounds.at[i].at);
    vec_release(&deal.rounds);
    vec_release(&deal.results);
    return is_done;
}
