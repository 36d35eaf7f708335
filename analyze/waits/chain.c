/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/chain.h"

static struct chain_node *node_make(struct chain *chain)
{
    struct chain_node *node = chain->spare;
    if (node)
        chain->spare = node->parent;
    else {
        node = arena_new(&chain->arena, struct chain_node);
        node->made_before = chain->made;
        chain->made = node;
    }
    /* A spare node keeps the room of its vector. */
    *node = (struct chain_node){.holds = 1,
                                .order = ++chain->n_made,
                                .terms = node->terms,
                                .counts = node->counts,
                                .made_before = node->made_before};
    chain->n_live++;
    return node;
}

static void node_spare(struct chain *chain, struct chain_node *node)
{
    enum { ROOM_KEPT = 64 };
    sparse_clear(&node->terms);
    sparse_clear(&node->counts);
    if (node->terms.cap > ROOM_KEPT)
        sparse_release(&node->terms);
    if (node->counts.cap > ROOM_KEPT)
        sparse_release(&node->counts);
    node->parent = chain->spare;
    chain->spare = node;
    chain->n_live--;
}

static void node_link(struct chain_node *node, struct chain_node *parent)
{
    node->parent = parent;
    node->next = parent->child;
    node->previous = NULL;
    if (parent->child)
        parent->child->previous = node;
    parent->child = node;
}

static void node_unlink(struct chain_node *node)
{
    if (node->previous)
        node->previous->next = node->next;
    else
        node->parent->child = node->next;
    if (node->next)
        node->next->previous = node->previous;
}

struct chain_node *chain_begin(struct chain *chain, uint64_t time_ns)
{
    struct chain_node *node = node_make(chain);
    node->time_ns = time_ns;
    return node;
}

struct chain_node *chain_extend(struct chain *chain, struct chain_node *parent, uint64_t time_ns, struct sparse *terms,
                                double noise_ns2)
{
    struct chain_node *node = node_make(chain);
    struct sparse empty = node->terms;
    node->terms = *terms;
    *terms = empty;
    node->time_ns = time_ns;
    node->noise_ns2 = noise_ns2;
    node_link(node, parent);
    return node;
}

struct chain_node *chain_hold(struct chain_node *node)
{
    node->holds++;
    return node;
}

/* The node's only child takes over its terms and its place. The origin stays: it is where all times begin. */
static void node_merge(struct chain *chain, struct chain_node *node)
{
    struct chain_node *child = node->child;
    sparse_absorb(&child->terms, &node->terms);
    sparse_absorb(&child->counts, &node->counts);
    child->noise_ns2 += node->noise_ns2;
    node_unlink(node);
    node_link(child, node->parent);
    node_spare(chain, node);
}

void chain_drop(struct chain *chain, struct chain_node *node)
{
    if (!node)
        return;
    node->holds--;
    while (node->parent && !node->holds && !node->child) {
        struct chain_node *parent = node->parent;
        node_unlink(node);
        node_spare(chain, node);
        node = parent;
    }
    if (node->parent && !node->holds && !node->child->next)
        node_merge(chain, node);
}

struct chain_node *chain_common(struct chain_node *a, struct chain_node *b)
{
    while (a != b) {
        if (a->order > b->order)
            a = a->parent;
        else
            b = b->parent;
    }
    return a;
}

void chain_release(struct chain *chain)
{
    for (struct chain_node *node = chain->made; node; node = node->made_before) {
        sparse_release(&node->terms);
        sparse_release(&node->counts);
    }
    arena_release(&chain->arena);
    *chain = (struct chain){0};
}
