/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of collectives that each process has begun so far, by communicator; those that block are counted apart. */
#pragma once
#include "analyze/trace/trace.h"
#include "wrap/base/keys.h"

/* Zero-initialised is empty. */
struct collectives {
    struct map n, most; /* of each key; the most of any rank, by its higher half */
    VEC(uint64_t) keys; /* of n */
};

/* Of a process's EV_COLL_END or EV_ICOLL. */
static inline uint64_t collectives_key(const struct event *event, uint32_t rank)
{
    return key_pair(2 * event->comm + (event->kind == EV_ICOLL), rank);
}
void collectives_add(struct collectives *collectives, uint64_t key, uint64_t n);
void collectives_add_all(struct collectives *collectives, const struct collectives *more);
void collectives_add_known(struct collectives *collectives, const struct trace_before *before, size_t n);
uint64_t collectives_n(const struct collectives *collectives, uint64_t key);
/* The most of any process on that communicator. */
uint64_t collectives_most(const struct collectives *collectives, uint64_t key);
void collectives_release(struct collectives *collectives);
