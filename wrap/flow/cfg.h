/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control-flow graphs, and what is derived from them: depth-first order, dominators, the loop forest. For the compiler
 * plugin (graphs of GIMPLE), for the code model (graphs of machine code) and for the count solver.
 *
 *     struct cfg cfg;
 *     cfg_init(&cfg, n_blocks, root);
 *     cfg_add_edge(&cfg, 0, 1); ...
 *     cfg_finish(&cfg);
 *     struct cfg_loops loops = cfg_find_loops(&cfg);
 *     for (uint32_t l = loops.innermost[block]; l != CFG_NONE; l = loops.at[l].parent) ...
 *     cfg_release(&cfg);
 *
 * Blocks and edges are dense numbers. Parallel edges and self loops are allowed, blocks that the root does not reach
 * too (they belong to no loop). Everything derived lives in the graph's arena until cfg_release. All algorithms are
 * iterative and, for the graphs that programs have, near linear.
 */
#pragma once
#include "wrap/base/containers.h"
#include <stdbool.h>
#include <stdint.h>

enum { CFG_NONE = UINT32_MAX };

struct cfg_edge {
    uint32_t from, to;
};

struct cfg {
    uint32_t n_blocks, root;
    VEC(struct cfg_edge) edges; /* by edge number */
    /* After cfg_finish: the edges out of b are out[out_at[b] .. out_at[b + 1]), in the order they were added. */
    uint32_t *out_at, *out, *in_at, *in;
    struct arena arena;
};

void cfg_init(struct cfg *cfg, uint32_t n_blocks, uint32_t root);
/* Returns the new edge's number. */
uint32_t cfg_add_edge(struct cfg *cfg, uint32_t from, uint32_t to);
/* Builds out and in; edges may not be added afterwards. */
void cfg_finish(struct cfg *cfg);
/* True when an edge leads from one to the other. */
bool cfg_leads_to(const struct cfg *cfg, uint32_t from, uint32_t to);
void cfg_release(struct cfg *cfg);

/* The depth-first search from the root. */
struct cfg_order {
    uint32_t n;                   /* blocks reached */
    uint32_t *preorder;           /* block by its preorder number, 0 .. n - 1 */
    uint32_t *number;             /* preorder number by block; CFG_NONE = not reached */
    uint32_t *last;               /* largest preorder number in the block's subtree, by block */
    uint32_t *topological;        /* blocks in reverse postorder: every edge but the retreating ones goes forwards */
    uint32_t *position;           /* position in `topological`, by block; CFG_NONE = not reached */
    unsigned char *is_retreating; /* by edge: its head is an ancestor of its tail in the search tree, or its tail */
};
struct cfg_order cfg_search(struct cfg *cfg);
/* True when `ancestor` is `block` or above it in the search tree; both reached. */
static inline bool cfg_is_ancestor(const struct cfg_order *order, uint32_t ancestor, uint32_t block)
{
    return order->number[ancestor] <= order->number[block] && order->number[block] <= order->last[ancestor];
}

/*
 * By block, the nearest other one that every way to it from the root leads through; CFG_NONE for the root, and for what
 * is not reached. (Cooper, Harvey, Kennedy: "A simple, fast dominance algorithm", 2001.)
 */
uint32_t *cfg_dominators(struct cfg *cfg, const struct cfg_order *order);

/*
 * The loops, one per head, nested. A loop whose head dominates the tails of its back edges is the natural loop of these
 * edges: {head} and every block from which a tail can be reached without passing the head. A region that can be entered
 * at several blocks is given as one irreducible loop, whose head is the entry that the search met first.
 */
struct cfg_loop {
    uint32_t head;
    uint32_t parent; /* the loop around it; CFG_NONE */
    uint32_t depth;  /* 1 = in no other loop */
    bool is_irreducible;
    uint32_t *blocks; /* all of them, those of inner loops included, by rising block number */
    uint32_t n_blocks;
    uint32_t *exits; /* edges from a block of the loop to one outside */
    uint32_t n_exits;
    uint32_t n_back_edges;
};
struct cfg_loops {
    struct cfg_loop *at; /* a loop comes after the loops around it */
    uint32_t n;
    uint32_t *innermost;    /* loop by block; CFG_NONE = in no loop */
    struct cfg_order order; /* the search they were found with */
};
struct cfg_loops cfg_find_loops(struct cfg *cfg);
/* True when `block` lies in `loop` (or in a loop inside it). Cost: the nesting depth. */
bool cfg_loop_contains(const struct cfg_loops *loops, uint32_t loop, uint32_t block);
