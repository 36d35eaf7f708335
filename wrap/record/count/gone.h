/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames that a longjmp removed: calls that will never return, by return address. Counts follow from the flow through a
 * routine, and there such a frame stays for ever in the block of its call. (Exceptions need none of this: the routines
 * they pass have edges for them.)
 *
 * One thread adds to a table, another one may take from it at the same time.
 */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { GONE_PLACES = 256 };

struct gone {
    struct gone_place {
        _Atomic uint64_t return_address; /* 0 = unused, like all places behind it */
        _Atomic uint64_t n;
        uint64_t n_taken; /* the taker's */
    } places[GONE_PLACES];
    unsigned last;
};

/* Adds n frames. They are left out when the table is full of other places. */
void gone_add(struct gone *gone, uint64_t return_address, uint64_t n);

/* How many were added to the place since the last time. */
static inline uint64_t gone_take(struct gone_place *place)
{
    uint64_t n = atomic_load_explicit(&place->n, memory_order_relaxed), n_new = n - place->n_taken;
    place->n_taken = n;
    return n_new;
}

/* Adds what was not taken yet to `rest` and leaves nothing. */
void gone_move(struct gone *gone, struct gone *rest);
