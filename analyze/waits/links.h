/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What processes depend on in each other: a point is a moment of one process (it posted a send or a receive, it entered
 * a collective) that others may have waited for, with the chain that led there.
 *
 * A process whose next call depends on a point that has not been replayed yet sleeps in that point's list, and is
 * woken when it is (replay.h).
 */
#pragma once
#include "analyze/waits/chain.h"
#include "wrap/base/slab.h"
#include "wrap/base/vec.h"
#include <stdbool.h>

/* Lanes asleep: the first one plus 1, the others linked by links.next; 0 = none. */
struct sleepers {
    uint32_t first;
};

struct links {
    struct chain chain;
    struct slab points;
    uint32_t *next; /* by lane, for struct sleepers */
    VEC(uint32_t) awake;
};

struct point {
    uint64_t time_ns;
    uint32_t lane, rank;
    uint32_t holds;
    bool is_set;             /* replayed: node is final */
    struct chain_node *node; /* held; before it is set: NULL, or what it is as long as a wait around it goes on */
    struct sleepers sleepers;
};

/* A process enters MPI after it has been outside for a while. */
struct comeback {
    struct point *point; /* held; NULL = none yet */
    uint64_t left_ns;    /* when it had left MPI before that */
};

void links_begin(struct links *links, uint32_t n_lanes);
void links_release(struct links *links);
void links_sleep(struct links *links, struct sleepers *sleepers, uint32_t lane);
void links_wake(struct links *links, struct sleepers *sleepers);
void links_unsleep(struct links *links, struct sleepers *sleepers, uint32_t lane);

/* With one hold. */
struct point *point_make(struct links *links, uint32_t lane, uint32_t rank, uint64_t time_ns);
struct point *point_hold(struct point *point);
void point_drop(struct links *links, struct point *point);
/* Both hold the node. What was only for now is settled by a set. */
void point_set(struct links *links, struct point *point, struct chain_node *node);
void point_set_for_now(struct point *point, struct chain_node *node);
/* Keeps the comeback, with a hold, instead of the one before. */
void comeback_set(struct links *links, struct comeback *at, struct comeback comeback);
