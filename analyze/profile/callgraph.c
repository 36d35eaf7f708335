/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tarjan's algorithm numbers the strongly connected components so that callees come before callers; time is then handed
 * up component by component, each when it is complete. The search keeps its own stack: call chains are as deep as the
 * program likes.
 */
#include "analyze/profile/callgraph.h"
#include "wrap/base/containers.h"
#include <math.h>
#include <string.h>

enum { UNSEEN = 0 };

struct search {
    const struct callgraph *graph;
    uint32_t *first_arc, *arc; /* arcs by caller: arc[first_arc[i]] .. arc[first_arc[i + 1] - 1] */
    uint32_t *order, *low;     /* by node: when it was met, from 1. The earliest it leads back to */
    uint32_t *next;            /* by node: the arc to be looked at next */
    uint32_t *component;       /* by node; UINT32_MAX while it is open */
    uint32_t *open, n_open;    /* nodes whose component is not complete */
    uint32_t *path, n_path;    /* from the root of the search to where it is */
    uint32_t *members, n_members, n_components, n_met; /* nodes by component */
};

static void sort_arcs(struct search *search)
{
    const struct callgraph *graph = search->graph;
    for (uint32_t i = 0; i < graph->n_arcs; i++)
        search->first_arc[graph->arcs[i].from + 1]++;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        search->first_arc[i + 1] += search->first_arc[i];
        search->next[i] = search->first_arc[i];
    }
    for (uint32_t i = 0; i < graph->n_arcs; i++)
        search->arc[search->next[graph->arcs[i].from]++] = i;
    memcpy(search->next, search->first_arc, graph->n_nodes * sizeof *search->next);
}

static void meet(struct search *search, uint32_t node)
{
    search->order[node] = search->low[node] = ++search->n_met;
    search->open[search->n_open++] = node;
    search->path[search->n_path++] = node;
}

static void leave(struct search *search, uint32_t node)
{
    search->n_path--;
    if (search->low[node] == search->order[node]) {
        /* All nodes that were opened since then form one component. */
        uint32_t member;
        do {
            member = search->open[--search->n_open];
            search->component[member] = search->n_components;
            search->members[search->n_members++] = member;
        } while (member != node);
        search->n_components++;
    }
    if (search->n_path) {
        uint32_t caller = search->path[search->n_path - 1];
        if (search->component[node] == UINT32_MAX && search->low[node] < search->low[caller])
            search->low[caller] = search->low[node];
    }
}

static void search_from(struct search *search, uint32_t root)
{
    meet(search, root);
    while (search->n_path) {
        uint32_t node = search->path[search->n_path - 1];
        if (search->next[node] == search->first_arc[node + 1]) {
            leave(search, node);
            continue;
        }
        uint32_t callee = search->graph->arcs[search->arc[search->next[node]++]].to;
        if (search->order[callee] == UNSEEN)
            meet(search, callee);
        else if (search->component[callee] == UINT32_MAX && search->order[callee] < search->low[node])
            search->low[node] = search->order[callee];
    }
}

static struct search search_components(const struct callgraph *graph, struct arena *arena)
{
    uint32_t n = graph->n_nodes;
    struct search search = {.graph = graph,
                            .first_arc = arena_array(arena, uint32_t, n + 1),
                            .arc = arena_array(arena, uint32_t, graph->n_arcs),
                            .order = arena_array(arena, uint32_t, n),
                            .low = arena_array(arena, uint32_t, n),
                            .next = arena_array(arena, uint32_t, n),
                            .component = arena_array(arena, uint32_t, n),
                            .open = arena_array(arena, uint32_t, n),
                            .path = arena_array(arena, uint32_t, n),
                            .members = arena_array(arena, uint32_t, n)};
    memset(search.component, 0xff, n * sizeof *search.component);
    sort_arcs(&search);
    for (uint32_t node = 0; node < n; node++)
        if (search.order[node] == UNSEEN)
            search_from(&search, node);
    return search;
}

/* Sums that components hand up to each other. */
struct handing {
    struct callgraph *graph;
    const struct search *search;
    uint32_t *first_in, *in;             /* arcs by component of the callee, those from outside */
    double *self_ns, *total_ns, *called; /* by component; called: all of C from outside of it */
};

static bool is_inner(const struct handing *handing, const struct callgraph_arc *arc)
{
    return handing->search->component[arc->from] == handing->search->component[arc->to];
}

static void gather(struct handing *handing)
{
    struct callgraph *graph = handing->graph;
    const uint32_t *component = handing->search->component;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        struct callgraph_node *node = &graph->nodes[i];
        node->total_ns = node->self_ns;
        handing->self_ns[component[i]] += node->self_ns;
        handing->total_ns[component[i]] += node->self_ns;
        handing->called[component[i]] += node->unknown_callers;
    }
    for (uint32_t i = 0; i < graph->n_arcs; i++) {
        struct callgraph_arc *arc = &graph->arcs[i];
        arc->self_ns = arc->below_ns = 0;
        if (is_inner(handing, arc))
            continue;
        handing->called[component[arc->to]] += arc->calls;
        handing->first_in[component[arc->to] + 1]++;
    }
}

/* Components are numbered callees first, so this one is complete. */
static void hand_up(struct handing *handing, uint32_t component)
{
    for (uint32_t i = handing->first_in[component]; i < handing->first_in[component + 1]; i++) {
        struct callgraph_arc *arc = &handing->graph->arcs[handing->in[i]];
        double part = handing->called[component] > 0 ? arc->calls / handing->called[component] : 0;
        double total_ns = handing->total_ns[component] * part;
        arc->self_ns = handing->self_ns[component] * part;
        arc->below_ns = total_ns - arc->self_ns;
        handing->graph->nodes[arc->from].total_ns += total_ns;
        handing->total_ns[handing->search->component[arc->from]] += total_ns;
    }
}

static void number_cycles(struct handing *handing)
{
    const struct search *search = handing->search;
    struct callgraph *graph = handing->graph;
    VEC(double) self = {0}, total = {0};
    (void)vec_push(&self), (void)vec_push(&total); /* CALLGRAPH_NO_CYCLE */
    for (uint32_t i = 0, end; i < graph->n_nodes; i = end) {
        uint32_t component = search->component[search->members[i]];
        for (end = i + 1; end < graph->n_nodes && search->component[search->members[end]] == component;)
            end++;
        for (uint32_t j = i; j < end; j++)
            graph->nodes[search->members[j]].cycle = end - i > 1 ? (uint32_t)self.n : CALLGRAPH_NO_CYCLE;
        if (end - i > 1) {
            *vec_push(&self) = handing->self_ns[component];
            *vec_push(&total) = handing->total_ns[component];
        }
    }
    graph->cycle_self_ns = self.at;
    graph->cycle_total_ns = total.at;
    graph->n_cycles = (uint32_t)self.n - 1;
}

void callgraph_solve(struct callgraph *graph)
{
    struct arena arena = {0};
    struct search search = search_components(graph, &arena);
    struct handing handing = {.graph = graph,
                              .search = &search,
                              .first_in = arena_array(&arena, uint32_t, search.n_components + 1),
                              .in = arena_array(&arena, uint32_t, graph->n_arcs),
                              .self_ns = arena_array(&arena, double, search.n_components),
                              .total_ns = arena_array(&arena, double, search.n_components),
                              .called = arena_array(&arena, double, search.n_components)};
    gather(&handing);
    uint32_t n = handing.search->n_components;
    uint32_t *next = arena_array(&arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        handing.first_in[i + 1] += handing.first_in[i];
        next[i] = handing.first_in[i];
    }
    for (uint32_t i = 0; i < handing.graph->n_arcs; i++)
        if (!is_inner(&handing, &handing.graph->arcs[i]))
            handing.in[next[handing.search->component[handing.graph->arcs[i].to]]++] = i;
    for (uint32_t component = 0; component < search.n_components; component++)
        hand_up(&handing, component);
    number_cycles(&handing);
    arena_release(&arena);
}

void callgraph_release(struct callgraph *graph)
{
    vec_free(graph->cycle_self_ns);
    vec_free(graph->cycle_total_ns);
    graph->cycle_self_ns = graph->cycle_total_ns = NULL;
    graph->n_cycles = 0;
}

double callgraph_weight(double through_ns, double sample_ns, double calls, double cost_ns)
{
    double expected = calls * cost_ns / sample_ns;
    if (!(expected > 0) || !isfinite(expected))
        return through_ns;
    return calls * cost_ns * (1 + through_ns / sample_ns) / (1 + expected);
}
