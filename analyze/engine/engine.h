/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several processes that do one piece of work, forked on this machine or begun by a launcher on any number of nodes.
 * All of them run the same code. Number 0 is the one that prints.
 *
 * They meet in exchanges, and nowhere else. All take part in each exchange, in the same order. Every process gives
 * bytes to every other one, and takes what the others gave to it. To gather is to give something to number 0 alone; to
 * tell all is to give the same bytes to each.
 *
 * A process is lost when it has died, is silent for too long, or cannot do its part. Number 0 says so in one line. All
 * others see the same processes lost after the same exchange, and go on without them. Work that is dealt
 * out in parts (share.h) is done nevertheless. When number 0 is lost, the others end.
 *
 * Forked processes share what was open before, positions in files included: each must open anew what it reads.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes, also more than 2 GB of them. */
struct parcel {
    const void *at;
    size_t n_bytes; /* PARCEL_LOST: the process is lost, and has given nothing */
};
#define PARCEL_LOST SIZE_MAX

struct engine_way; /* how they reach each other (way.h) */

/* Zero-initialised: this process is alone, and all below works. */
struct engine {
    uint32_t n_others, number; /* processes beside this one, lost ones included; the number of this one */
    struct engine_way *way;    /* NULL = there are no others */
    bool *is_lost;             /* by number; NULL = there are no others */
    bool is_lasting;           /* a launcher's: there may be more work for it */
};

static inline uint32_t engine_n(const struct engine *engine)
{
    return engine->n_others + 1;
}

static inline bool engine_is_first(const struct engine *engine)
{
    return !engine->number;
}

/* Makes n processes of this one, which is number 0: returns in each of them. Those that the system does not allow are
 * lost from the beginning. The others' stdout and stderr lead nowhere. Begin no thread before. */
void engine_fork(struct engine *engine, uint32_t n);

/* Gives give[i] to process i, and takes take[i] from it: both have a place for each process, and NULL gives nothing.
 * Places in turn with the same bytes are stored once. Taken bytes stay until the next exchange, or the end. In its
 * own place a process finds what it gave. */
void engine_exchange(struct engine *engine, const struct parcel *give, struct parcel *take);
/* `mine` to number 0 alone, or to each. */
void engine_gather(struct engine *engine, struct parcel mine, struct parcel *take);
void engine_tell_all(struct engine *engine, struct parcel mine, struct parcel *take);

/* This process is at work. Called between exchanges, as often as one likes, and once a minute at least. */
void engine_tick(struct engine *engine);

/* This work is done. In the others it does not return. Number 0: all others have ended when it returns, and the engine
 * is as at the beginning; or it stays, if it is a launcher's. */
void engine_end(struct engine *engine);
/* Another one: cannot do its part, is lost from the next exchange on, and does not return. Number 0: no work follows,
 * or this one cannot be gone on with; all others have ended when it returns. */
void engine_give_up(struct engine *engine);
