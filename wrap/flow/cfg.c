/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The graph itself, and its depth-first search with an explicit stack: generated code and machine code have chains of
 * hundreds of thousands of blocks, which a recursive search would not survive.
 *
 * The loop forest (Havlak: "Nesting of reducible and irreducible loops", with natural loops as its reducible case).
 *
 * Heads are taken innermost first, that is by falling preorder number. From the tails of the back edges into a head the
 * edges are followed backwards up to the head. A loop found before is one vertex, its head (union-find), so that every
 * block is entered once however deep the nesting. A predecessor outside the head's subtree of the search tree means a
 * second entry. The loop is irreducible, and that predecessor is handed to the loops further out. Near linear.
 */
#include "wrap/flow/cfg.h"
#include <string.h>

void cfg_init(struct cfg *cfg, uint32_t n_blocks, uint32_t root)
{
    *cfg = (struct cfg){.n_blocks = n_blocks, .root = root};
}

uint32_t cfg_add_edge(struct cfg *cfg, uint32_t from, uint32_t to)
{
    *vec_push(&cfg->edges) = (struct cfg_edge){from, to};
    return (uint32_t)(cfg->edges.n - 1);
}

bool cfg_leads_to(const struct cfg *cfg, uint32_t from, uint32_t to)
{
    for (uint32_t i = cfg->out_at[from]; i < cfg->out_at[from + 1]; i++)
        if (cfg->edges.at[cfg->out[i]].to == to)
            return true;
    return false;
}

void cfg_release(struct cfg *cfg)
{
    vec_release(&cfg->edges);
    arena_release(&cfg->arena);
}

/* Counting sort of the edges by one of their ends. */
static void index_edges(struct cfg *cfg, bool by_head, uint32_t **at, uint32_t **list)
{
    uint32_t *start = arena_array(&cfg->arena, uint32_t, cfg->n_blocks + 2);
    uint32_t *sorted = arena_array(&cfg->arena, uint32_t, cfg->edges.n);
    for (size_t e = 0; e < cfg->edges.n; e++)
        start[(by_head ? cfg->edges.at[e].to : cfg->edges.at[e].from) + 2]++;
    for (uint32_t b = 2; b < cfg->n_blocks + 2; b++)
        start[b] += start[b - 1];
    for (uint32_t e = 0; e < cfg->edges.n; e++)
        sorted[start[(by_head ? cfg->edges.at[e].to : cfg->edges.at[e].from) + 1]++] = e;
    *at = start;
    *list = sorted;
}

void cfg_finish(struct cfg *cfg)
{
    index_edges(cfg, false, &cfg->out_at, &cfg->out);
    index_edges(cfg, true, &cfg->in_at, &cfg->in);
}

static void fill_none(uint32_t *values, uint32_t n)
{
    memset(values, 0xff, n * sizeof *values);
}

static struct cfg_order order_new(struct cfg *cfg)
{
    struct cfg_order order = {
        .preorder = arena_array(&cfg->arena, uint32_t, cfg->n_blocks),
        .number = arena_array(&cfg->arena, uint32_t, cfg->n_blocks),
        .last = arena_array(&cfg->arena, uint32_t, cfg->n_blocks),
        .topological = arena_array(&cfg->arena, uint32_t, cfg->n_blocks),
        .position = arena_array(&cfg->arena, uint32_t, cfg->n_blocks),
        .is_retreating = arena_array(&cfg->arena, unsigned char, cfg->edges.n),
    };
    fill_none(order.number, cfg->n_blocks);
    fill_none(order.position, cfg->n_blocks);
    return order;
}

static void order_reach(struct cfg_order *order, uint32_t block)
{
    order->number[block] = order->n;
    order->preorder[order->n++] = block;
}

struct cfg_order cfg_search(struct cfg *cfg)
{
    struct cfg_order order = order_new(cfg);
    if (!cfg->n_blocks)
        return order;
    uint32_t *stack = arena_array(&cfg->arena, uint32_t, cfg->n_blocks);
    uint32_t *next = arena_array(&cfg->arena, uint32_t, cfg->n_blocks);
    uint32_t depth = 0, n_left = 0;
    order_reach(&order, stack[depth++] = cfg->root);
    while (depth) {
        uint32_t block = stack[depth - 1];
        uint32_t at = cfg->out_at[block] + next[block]++;
        if (at < cfg->out_at[block + 1]) {
            uint32_t to = cfg->edges.at[cfg->out[at]].to;
            if (order.number[to] == CFG_NONE)
                order_reach(&order, stack[depth++] = to);
        } else {
            order.last[block] = order.n - 1;
            order.position[block] = n_left++;
            depth--;
        }
    }
    for (uint32_t i = 0; i < order.n; i++) {
        uint32_t block = order.preorder[i];
        order.position[block] = order.n - 1 - order.position[block];
        order.topological[order.position[block]] = block;
    }
    /* An edge retreats when its head is on the search's stack: reached, but not left yet. */
    for (size_t e = 0; e < cfg->edges.n; e++) {
        const struct cfg_edge *edge = &cfg->edges.at[e];
        if (order.number[edge->from] != CFG_NONE)
            order.is_retreating[e] = cfg_is_ancestor(&order, edge->to, edge->from);
    }
    return order;
}

static uint32_t *new_none(struct cfg *cfg)
{
    uint32_t *values = arena_array(&cfg->arena, uint32_t, cfg->n_blocks);
    fill_none(values, cfg->n_blocks);
    return values;
}

/* Each block's is where the ways to all its predecessors part, as far as these are known: round after round, until
 * nothing changes. Without retreating edges one round does. */
uint32_t *cfg_dominators(struct cfg *cfg, const struct cfg_order *order)
{
    uint32_t *dominator = new_none(cfg);
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (uint32_t i = 1; i < order->n; i++) {
            uint32_t block = order->topological[i], common = CFG_NONE;
            for (uint32_t k = cfg->in_at[block]; k < cfg->in_at[block + 1]; k++) {
                uint32_t from = cfg->edges.at[cfg->in[k]].from;
                if (order->number[from] == CFG_NONE || (from != cfg->root && dominator[from] == CFG_NONE))
                    continue;
                for (common = common == CFG_NONE ? from : common; common != from;) {
                    bool is_deeper = order->position[common] > order->position[from];
                    *(is_deeper ? &common : &from) = dominator[is_deeper ? common : from];
                }
            }
            is_changed |= dominator[block] != common;
            dominator[block] = common;
        }
    }
    return dominator;
}

struct finder {
    struct cfg *cfg;
    const struct cfg_order *order;
    uint32_t *leader;             /* union-find: a block or the head of the outermost loop around it so far */
    uint32_t *around;             /* by block: the head of the innermost loop that contains it (for a head: of the loop
                                     around its own); CFG_NONE */
    unsigned char *is_head;       /* by block: 0, 1 = reducible, 2 = irreducible */
    uint32_t *queued;             /* by block: last head for which it was put on the list */
    VEC(uint32_t) list;           /* members of the loop being found, as leaders */
    VEC(struct cfg_edge) entries; /* second entries: {outside predecessor, head}, seen from the head found so far */
    uint32_t *first_entry, *next_entry; /* chains into entries by head */
    size_t next_cap;
};

static uint32_t find(struct finder *f, uint32_t block)
{
    while (f->leader[block] != block)
        block = f->leader[block] = f->leader[f->leader[block]];
    return block;
}

static void add_member(struct finder *f, uint32_t head, uint32_t leader)
{
    if (leader == head || f->queued[leader] == head)
        return;
    f->queued[leader] = head;
    *vec_push(&f->list) = leader;
}

/* One step backwards from a member over an edge that begins at `from`. */
static void step_back(struct finder *f, uint32_t head, uint32_t from)
{
    uint32_t leader = find(f, from);
    if (cfg_is_ancestor(f->order, head, leader)) {
        add_member(f, head, leader);
    } else {
        f->is_head[head] = 2;
        size_t entry = f->entries.n;
        *vec_push(&f->entries) = (struct cfg_edge){leader, head};
        vec_grow((void **)&f->next_entry, &f->next_cap, f->entries.n, sizeof *f->next_entry);
        f->next_entry[entry] = f->first_entry[head];
        f->first_entry[head] = (uint32_t)entry;
    }
}

static void find_loop_at(struct finder *f, uint32_t head)
{
    const struct cfg *cfg = f->cfg;
    f->list.n = 0;
    for (uint32_t k = cfg->in_at[head]; k < cfg->in_at[head + 1]; k++) {
        uint32_t edge = cfg->in[k];
        if (!f->order->is_retreating[edge])
            continue;
        f->is_head[head] = 1;
        add_member(f, head, find(f, cfg->edges.at[edge].from));
    }
    for (size_t i = 0; i < f->list.n; i++) {
        uint32_t member = f->list.at[i];
        for (uint32_t m = cfg->in_at[member]; m < cfg->in_at[member + 1]; m++) {
            uint32_t edge = cfg->in[m], from = cfg->edges.at[edge].from;
            if (f->order->number[from] != CFG_NONE && !f->order->is_retreating[edge])
                step_back(f, head, from);
        }
        for (uint32_t m = f->first_entry[member]; m != CFG_NONE; m = f->next_entry[m])
            step_back(f, head, f->entries.at[m].from);
    }
    for (size_t i = 0; i < f->list.n; i++)
        f->leader[f->list.at[i]] = f->around[f->list.at[i]] = head;
}

/* Numbers the loops outermost first: a head comes after the heads around it in preorder. */
static void number_loops(struct finder *f, struct cfg_loops *loops, uint32_t *loop_of_head)
{
    for (uint32_t i = 0; i < f->order->n; i++)
        loops->n += f->is_head[f->order->preorder[i]] != 0;
    loops->at = arena_array(&f->cfg->arena, struct cfg_loop, loops->n);
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->order->n; i++) {
        uint32_t block = f->order->preorder[i], head = f->around[block];
        uint32_t loop = head == CFG_NONE ? (uint32_t)CFG_NONE : loop_of_head[head];
        if (f->is_head[block]) {
            loops->at[n] = (struct cfg_loop){.head = block,
                                             .parent = loop,
                                             .depth = loop == CFG_NONE ? 1 : loops->at[loop].depth + 1,
                                             .is_irreducible = f->is_head[block] == 2};
            loop = loop_of_head[block] = n++;
        }
        loops->innermost[block] = loop;
    }
}

bool cfg_loop_contains(const struct cfg_loops *loops, uint32_t loop, uint32_t block)
{
    uint32_t l = loops->innermost[block];
    while (l != CFG_NONE && loops->at[l].depth > loops->at[loop].depth)
        l = loops->at[l].parent;
    return l == loop;
}

/* First counted, then stored. An edge leaves the loops around its tail that are not around its head. */
static void list_exits(struct cfg *cfg, struct cfg_loops *loops)
{
    for (int is_stored = 0; is_stored < 2; is_stored++) {
        for (uint32_t l = 0; is_stored && l < loops->n; l++) {
            loops->at[l].exits = arena_array(&cfg->arena, uint32_t, loops->at[l].n_exits);
            loops->at[l].n_exits = 0;
        }
        for (uint32_t e = 0; e < cfg->edges.n; e++) {
            struct cfg_edge edge = cfg->edges.at[e];
            for (uint32_t l = loops->innermost[edge.from]; l != CFG_NONE; l = loops->at[l].parent) {
                if (cfg_loop_contains(loops, l, edge.to))
                    break;
                if (is_stored)
                    loops->at[l].exits[loops->at[l].n_exits] = e;
                loops->at[l].n_exits++;
            }
        }
    }
}

struct cfg_loops cfg_find_loops(struct cfg *cfg)
{
    struct cfg_loops loops = {.order = cfg_search(cfg), .innermost = new_none(cfg)};
    struct finder f = {
        .cfg = cfg,
        .order = &loops.order,
        .leader = new_none(cfg),
        .around = new_none(cfg),
        .is_head = arena_array(&cfg->arena, unsigned char, cfg->n_blocks),
        .queued = new_none(cfg),
        .first_entry = new_none(cfg),
    };
    for (uint32_t b = 0; b < cfg->n_blocks; b++)
        f.leader[b] = b;
    for (uint32_t i = loops.order.n; i-- > 0;)
        find_loop_at(&f, loops.order.preorder[i]);
    vec_release(&f.list);
    vec_release(&f.entries);
    vec_free(f.next_entry);
    uint32_t *loop_of_head = new_none(cfg);
    number_loops(&f, &loops, loop_of_head);
    for (uint32_t b = 0; b < cfg->n_blocks; b++)
        for (uint32_t l = loops.innermost[b]; l != CFG_NONE; l = loops.at[l].parent)
            loops.at[l].n_blocks++;
    for (uint32_t l = 0; l < loops.n; l++) {
        loops.at[l].blocks = arena_array(&cfg->arena, uint32_t, loops.at[l].n_blocks);
        loops.at[l].n_blocks = 0;
    }
    for (uint32_t b = 0; b < cfg->n_blocks; b++)
        for (uint32_t l = loops.innermost[b]; l != CFG_NONE; l = loops.at[l].parent)
            loops.at[l].blocks[loops.at[l].n_blocks++] = b;
    list_exits(cfg, &loops);
    for (uint32_t e = 0; e < cfg->edges.n; e++)
        if (loops.order.is_retreating[e])
            loops.at[loop_of_head[cfg->edges.at[e].to]].n_back_edges++;
    return loops;
}
