/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where each sleep of a stretch was.
 *
 * Switches tell how long a thread slept; a look that finds it asleep tells where. One stretch may sleep in several
 * places, and looks find long sleeps more often than short ones. So sleeps are not shared out as one sum: a sleep that
 * was looked at is known as a whole, and every other one is taken to be where looks found sleeps of its kind: as long,
 * and the same of as many in its stretch (pools.h).
 */
#pragma once
#include "wrap/base/keys.h"
#include "wrap/base/sparse.h"
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* In half octaves: times of one are taken to be as long. */
static inline uint32_t length_kind(double ns)
{
    int octave;
    bool is_upper = frexp(ns + 1, &octave) >= M_SQRT1_2;
    return 2 * (uint32_t)(octave - 1) + is_upper;
}

/* What sleeps have in common that are taken to be in one place: kind of length, and place among those of a stretch. */
enum { SLEEP_LENGTHS = 256, SLEEP_ORDER_MOST = 15 /* those that come later are of one kind */ };

struct sleeps {
    struct sparse seen;   /* lengths; keys: kind, then the step in which a look found them */
    struct sparse unseen; /* lengths by kind */
    uint32_t n;
    uint64_t last_ns;   /* of the last one, until no look at it can come any more; 0 = there is none */
    uint32_t last_step; /* plus 1: in which a look has found it; 0 = none has */
    bool last_is_sync;  /* until another thread wakes it */
};

#define SLEEP_IS_SYNC (1u << 31) /* of a step in a key of `seen` */

static inline void sleeps_clear(struct sleeps *sleeps)
{
    sparse_clear(&sleeps->seen);
    sparse_clear(&sleeps->unseen);
    sleeps->n = sleeps->last_step = 0;
    sleeps->last_ns = 0;
}

static inline void sleeps_release(struct sleeps *sleeps)
{
    sparse_release(&sleeps->seen);
    sparse_release(&sleeps->unseen);
}

/* All its sleeps together. */
static inline double sleeps_sum(const struct sleeps *sleeps)
{
    return sparse_sum(&sleeps->seen) + sparse_sum(&sleeps->unseen);
}

/* It has slept for so long. */
static inline void sleeps_add(struct sleeps *sleeps, uint64_t ns)
{
    sleeps->last_ns += ns;
}

/* A look found it in a step: during the last sleep, or right behind it. */
static inline void sleeps_look(struct sleeps *sleeps, uint32_t step, bool is_sync)
{
    sleeps->last_step = step + 1;
    sleeps->last_is_sync = is_sync;
}

/* The next sleep begins, or the stretch ends: no look at the last one can come any more. */
static inline void sleeps_close(struct sleeps *sleeps)
{
    uint32_t step = (sleeps->last_step - 1) | (sleeps->last_is_sync ? SLEEP_IS_SYNC : 0);
    bool is_seen = sleeps->last_step;
    double ns = (double)sleeps->last_ns;
    sleeps->last_step = 0;
    sleeps->last_ns = 0;
    if (ns == 0)
        return;
    uint32_t order = ++sleeps->n < SLEEP_ORDER_MOST ? sleeps->n : SLEEP_ORDER_MOST;
    uint32_t kind = order * SLEEP_LENGTHS + length_kind(ns);
    sparse_add(is_seen ? &sleeps->seen : &sleeps->unseen, is_seen ? key_pair(kind, step) : kind, ns);
}

/* Kinds of a sleep among those of all stretches: the same of as many; all that are as long, of about as many; all that
 * are as long. */
static inline uint32_t sleep_kind_of_order(uint32_t kind, uint32_t n)
{
    return kind + SLEEP_LENGTHS * (SLEEP_ORDER_MOST + 1) * (n < SLEEP_ORDER_MOST ? n : SLEEP_ORDER_MOST);
}
static inline uint32_t sleep_kind_of_number(uint32_t kind, uint32_t n)
{
    uint32_t number = SLEEP_ORDER_MOST + 1 + length_kind(n);
    return kind % SLEEP_LENGTHS + SLEEP_LENGTHS * (SLEEP_ORDER_MOST + 1) * number;
}
static inline uint32_t sleep_kind_of_length(uint32_t kind)
{
    return kind % SLEEP_LENGTHS;
}
