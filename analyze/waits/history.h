/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The history of each location: its open segment, the chain of segments behind it, and what it spent its time on over
 * the run (waiting-time analysis by adopted chains: Meira, LeBlanc, Poulos, SPDT 1996, in the formulation of
 * docs/algorithm.md).
 *
 * Every location ends in a node of one tree. A node holds the durations of what happened between its parent and itself;
 * whoever waited for a location goes on from that location's node. The explanation of a wait of p for q is the path
 * from their lowest common ancestor to q minus the path to p, and everything below the ancestor cancels.
 *
 * The part that finds the waits (replay.h) decides by times alone and asks for nothing of this. So it only tells what
 * happened, in order, in a block of records, which history takes when it is full: then it hands the waits to whoever
 * wants them explained. The replay knows a node of the tree by its mark: a number and a time. Most marks are let go
 * before anything has led on from them, and before the block in which they are told is taken: they are taken back, and
 * never become a node.
 */
#pragma once
#include "analyze/waits/sink.h"
#include "wrap/base/containers.h"
#include "wrap/base/sparse.h"

/*
 * Nodes are counted: a node that nobody holds and that has no child is freed, one with a single child is merged into
 * it. The tree therefore never has more than twice as many nodes as there are processes and messages under way.
 * Invariant: the terms of a node sum to its time minus its parent's.
 */
struct chain_node {
    /* The data that paths are summed up from is a line of the cache. */
    _Alignas(CACHE_LINE) struct chain_node *parent;
    uint64_t order;   /* of creation: larger than the parent's */
    double noise_ns2; /* variance of the sampled durations: sum of length^2 / samples */
    struct sparse terms;
    uint64_t longest_ns; /* of the segments that were merged into it, from one mark to the next */
    struct chain_node *child, *next, *previous; /* first child; siblings */
    uint64_t time_ns;
    uint32_t holds;
    struct sparse counts;           /* bins of programs built to count (executions.h) */
    struct chain_node *made_before; /* of all nodes ever allocated */
};

struct chain {
    struct arena arena;       /* nodes; their vectors are their own */
    struct chain_node *spare; /* linked by `parent` */
    struct chain_node *made;
    uint64_t n_made, n_live;
};

/* Frees all nodes, held or not. */
void chain_release(struct chain *chain);
/* The origin of time; returned with one hold. */
struct chain_node *chain_begin(struct chain *chain, uint64_t time_ns);
/* A new child of `parent` with one hold; takes the terms, leaving the vector empty. */
struct chain_node *chain_extend(struct chain *chain, struct chain_node *parent, uint64_t time_ns, struct sparse *terms,
                                double noise_ns2);
/* Gives one hold back; NULL is allowed. */
void chain_drop(struct chain *chain, struct chain_node *node);
/* Both must belong to one tree. Cost: the length of the two paths. */
struct chain_node *chain_common(struct chain_node *a, struct chain_node *b);

struct record_node;

/* A node as the replay knows it. */
struct mark {
    uint32_t number, holds;
    uint64_t time_ns;
    bool is_used;               /* a wait or a location's way leads to it */
    uint64_t block;             /* number of the one, */
    struct record_node *record; /* in which it is told here */
    struct mark *spare;         /* the next one that nobody holds */
};

/* The sums of a location to which terms are added. */
enum {
    TO_SEGMENT = 1, /* what it did since its last node */
    TO_SUMS = 2,    /* what it did over the run */
    TO_COUNTS = 4,  /* of both, the bins instead of the time (executions.h) */
};

/* Of one location. */
struct past {
    _Alignas(CACHE_LINE) struct chain_node *tip; /* held */
    uint64_t since_ns, longest_ns; /* the last mark, taken back or not; of the segments between marks since the tip */
    double open_noise_ns2;
    struct sparse open, open_counts; /* since the tip */
    struct sums atoms, counts;       /* over the run, waiting left out */
};

struct history {
    /* The replay's: */
    char *block; /* of records */
    size_t block_bytes, n_used;
    uint64_t n_blocks;  /* before it */
    struct arena arena; /* of the marks */
    struct mark *spare;
    uint32_t n_marks;
    VEC(uint32_t) spare_occurrences;
    uint32_t n_occurrences;
    /* Of what the records tell: */
    uint32_t n_lanes;
    struct chain chain;
    VEC(struct chain_node *) nodes;      /* by the mark's number */
    VEC(struct occurrence *) occurrence; /* by number */
    struct past *pasts;                  /* by location; one more that is none's */
    struct wait_sink sink;
};

void history_begin(struct history *history, uint32_t n_lanes);
void history_release(struct history *history);
/* All locations begin at one node, the origin of time; with one hold. */
struct mark *history_origin(struct history *history, uint64_t time_ns);
/* Everything that was told has been taken in. After it, pasts may be looked at. */
void history_finish(struct history *history);

struct mark *mark_hold(struct mark *mark);
/* Gives one hold back; NULL is allowed. */
void mark_drop(struct history *history, struct mark *mark);

/* What `lane` did. Terms of 0 are left out. */
void history_add_term(struct history *history, int to, uint32_t lane, uint64_t key, double ns);
void history_add(struct history *history, int to, uint32_t lane, const struct sparse *terms, double factor);
/* Variance that its segment's durations have because they were sampled. */
void history_add_noise(struct history *history, uint32_t lane, double noise_ns2);
/* Its segment ends: a new node, with one hold. */
struct mark *history_node(struct history *history, uint32_t lane, uint64_t time_ns);
/* It goes on from there; what its segment held is forgotten. */
void history_go_on_from(struct history *history, uint32_t lane, struct mark *mark);
/* A location that is none, to make nodes beside all others. */
uint32_t history_aside(const struct history *history);
/* For the sink. An occurrence (0 = there is none yet, which makes one) is known by a number; NULL for a wait by itself.
 */
void history_wait(struct history *history, uint32_t *occurrence, const struct wait *wait, struct mark *begin,
                  struct mark *late);
void history_close(struct history *history, uint32_t *occurrence);
