/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A location that polls. Whether its time is waiting is not known before a poll, or the receive after it, has found
 * something: until then the time counts as the location's own, and what it was made of is kept in parts, in the order
 * of time. Then what lies before the release becomes waiting, and the rest stays what it was: a nap that the message
 * had not been worth, or work between finding a message and receiving it, is nobody else's doing.
 *
 * Memory: a few parts; of a longer wait the oldest are joined, as if evenly mixed. Of the points, those that somebody
 * may still ask for.
 */
#pragma once
#include "analyze/steps/pools.h"
#include "analyze/waits/chain.h"

struct polling_part {
    uint64_t from_ns, to_ns;
    struct sparse atoms, counts;
    bool is_stretch;               /* one, between two calls, and nothing else */
    struct spent spent;            /* of a stretch between two calls */
    double transfer_ns, absent_ns; /* inside a call: on a CPU, and off it */
};

enum { POLLING_PARTS = 8 };

struct polling {
    struct chain_node *node; /* held: at the first poll; NULL = it does not poll */
    uint64_t since_ns, until_ns;
    uint32_t site;
    struct polling_part parts[POLLING_PARTS];
    uint32_t n_parts;
    /* Held: moments since the first poll that others may have waited for, in the order of time. What led there is not
     * known before it is known what this location waited for. */
    VEC(struct point *) points;
    size_t n_wanted; /* of the points, when those that nobody wants were last forgotten */
};

/* Takes over the node. */
void polling_begin(struct polling *polling, struct chain_node *node, uint32_t site);
/* What the points still lack is settled as it stood. */
void polling_end(struct polling *polling, struct links *links);
void polling_release(struct polling *polling);
/* A new part, empty, that follows the last one. Valid until the next. */
struct polling_part *polling_add(struct polling *polling, uint64_t to_ns);
/* A point of this location, which leads on from `node` unless it turns out to have waited. */
void polling_add_point(struct polling *polling, struct links *links, struct point *point, struct chain_node *node);
/* How much of a part lies between two times, in [0,1]. */
double polling_part_between(const struct polling_part *part, uint64_t from_ns, uint64_t to_ns);
/* The stretch between two calls that ends at this time; NULL: none is kept apart. */
const struct polling_part *polling_stretch_before(const struct polling *polling, uint64_t at_ns);
