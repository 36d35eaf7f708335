/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/count/gone.h"
#include <string.h>

/* The place of this address, or the first unused one. */
static struct gone_place *find_place(struct gone *gone, uint64_t return_address)
{
    for (unsigned i = 0; i < GONE_PLACES; i++) {
        struct gone_place *place = &gone->places[(gone->last + i) % GONE_PLACES];
        uint64_t there = atomic_load_explicit(&place->return_address, memory_order_relaxed);
        if (there == return_address) {
            gone->last = (unsigned)(place - gone->places);
            return place;
        }
    }
    for (unsigned i = 0; i < GONE_PLACES; i++)
        if (!atomic_load_explicit(&gone->places[i].return_address, memory_order_relaxed))
            return &gone->places[i];
    return NULL;
}

void gone_add(struct gone *gone, uint64_t return_address, uint64_t n)
{
    struct gone_place *place = n ? find_place(gone, return_address) : NULL;
    if (!place)
        return;
    uint64_t before = atomic_load_explicit(&place->n, memory_order_relaxed);
    atomic_store_explicit(&place->n, before + n, memory_order_relaxed);
    atomic_store_explicit(&place->return_address, return_address, memory_order_release);
}

void gone_move(struct gone *gone, struct gone *rest)
{
    for (unsigned i = 0; i < GONE_PLACES && gone->places[i].return_address; i++)
        gone_add(rest, gone->places[i].return_address, gone_take(&gone->places[i]));
    memset(gone, 0, sizeof *gone);
}
