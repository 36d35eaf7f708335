/* SPDX-License-Identifier: BSD-3-Clause */
/* gprof's recurrence: shares by calls, cycles, callers nobody knows; and time is conserved on any graph. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "analyze/profile/callgraph.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void near(double value, double expected)
{
    if (fabs(value - expected) > 1e-9 * (fabs(expected) + 1))
        fail_msg("%.12g instead of %.12g", value, expected);
}

/* The figure of gprof's paper: EXAMPLE is called 4 times by CALLER1 and 6 times by CALLER2, calls SUB1 (whole cycle)
 * and SUB2; shares of the callees follow the numbers of calls. */
static void test_example(void **state)
{
    (void)state;
    enum { MAIN, CALLER1, CALLER2, EXAMPLE, SUB1, SUB1B, SUB2, OTHER, N };
    struct callgraph_node nodes[N] = {
        [EXAMPLE] = {.self_ns = 500}, [SUB1] = {.self_ns = 1000}, [SUB1B] = {.self_ns = 2000},
        [SUB2] = {.self_ns = 300},    [OTHER] = {.self_ns = 40},  [MAIN] = {.unknown_callers = 1}};
    struct callgraph_arc arcs[] = {
        {.from = MAIN, .to = CALLER1, .calls = 1},    {.from = MAIN, .to = CALLER2, .calls = 1},
        {.from = CALLER1, .to = EXAMPLE, .calls = 4}, {.from = CALLER2, .to = EXAMPLE, .calls = 6},
        {.from = EXAMPLE, .to = SUB1, .calls = 20},   {.from = OTHER, .to = SUB1, .calls = 20},
        {.from = SUB1, .to = SUB1B, .calls = 7},      {.from = SUB1B, .to = SUB1, .calls = 7},
        {.from = EXAMPLE, .to = SUB2, .calls = 1},    {.from = OTHER, .to = SUB2, .calls = 4},
        {.from = MAIN, .to = OTHER, .calls = 1},      {.from = SUB1B, .to = SUB1B, .calls = 100}};
    struct callgraph graph = {.nodes = nodes, .arcs = arcs, .n_nodes = N, .n_arcs = sizeof arcs / sizeof *arcs};
    callgraph_solve(&graph);
    near(nodes[EXAMPLE].total_ns, 500 + 3000 * 0.5 + 300 * 0.2);
    near(nodes[CALLER1].total_ns, 0.4 * nodes[EXAMPLE].total_ns);
    near(arcs[2].self_ns, 200);
    near(arcs[2].below_ns, 0.4 * (1500 + 60));
    near(arcs[4].self_ns + arcs[4].below_ns, 1500);
    near(nodes[MAIN].total_ns, 500 + 3000 + 300 + 40);
    assert_int_equal(graph.n_cycles, 1);
    assert_int_equal(nodes[SUB1].cycle, 1);
    assert_int_equal(nodes[SUB1B].cycle, 1);
    assert_int_equal(nodes[EXAMPLE].cycle, CALLGRAPH_NO_CYCLE);
    near(graph.cycle_total_ns[1], 3000);
    near(graph.cycle_self_ns[1], 3000);
    near(nodes[SUB1].total_ns, 1000);
    near(arcs[6].self_ns + arcs[7].self_ns + arcs[11].self_ns, 0);
    callgraph_release(&graph);
}

/* What calls through pointers ran is left with nobody, and no known caller is charged for it. */
static void test_unknown_callers(void **state)
{
    (void)state;
    struct callgraph_node nodes[2] = {{.self_ns = 10}, {.self_ns = 100, .unknown_callers = 3}};
    struct callgraph_arc arc = {.from = 0, .to = 1, .calls = 1};
    struct callgraph graph = {.nodes = nodes, .arcs = &arc, .n_nodes = 2, .n_arcs = 1};
    callgraph_solve(&graph);
    near(nodes[0].total_ns, 35);
    near(nodes[1].total_ns, 100);
    callgraph_release(&graph);
}

/* A chain as long as nobody calls: the search must not recurse. */
static void test_deep(void **state)
{
    (void)state;
    enum { N = 1000000 };
    struct callgraph_node *nodes = calloc(N, sizeof *nodes);
    struct callgraph_arc *arcs = calloc(N, sizeof *arcs);
    for (uint32_t i = 0; i < N; i++) {
        nodes[i].self_ns = 1;
        arcs[i] = (struct callgraph_arc){.from = i, .to = i + 1, .calls = 1};
    }
    struct callgraph graph = {.nodes = nodes, .arcs = arcs, .n_nodes = N, .n_arcs = N - 1};
    callgraph_solve(&graph);
    near(nodes[0].total_ns, N);
    callgraph_release(&graph);
    free(nodes);
    free(arcs);
}

static uint64_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % n);
}

enum { MOST_NODES = 24, MOST_ARCS = 80 };

static uint32_t random_arcs(struct callgraph_arc *arcs, uint32_t n_nodes)
{
    uint32_t n = 0;
    bool is_there[MOST_NODES][MOST_NODES] = {{false}};
    for (uint32_t tries = below(MOST_ARCS); tries > 0; tries--) {
        uint32_t from = below(n_nodes), to = below(n_nodes);
        if (!is_there[from][to])
            arcs[n++] = (struct callgraph_arc){.from = from, .to = to, .calls = below(3) ? 1 + below(50) : 0};
        is_there[from][to] = true;
    }
    return n;
}

/* By definition, for the test alone: is there a way from one to the other? */
static void closure(bool reach[MOST_NODES][MOST_NODES], const struct callgraph *graph)
{
    memset(reach, 0, sizeof(bool[MOST_NODES][MOST_NODES]));
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        reach[i][i] = true;
    for (uint32_t i = 0; i < graph->n_arcs; i++)
        reach[graph->arcs[i].from][graph->arcs[i].to] = true;
    for (uint32_t k = 0; k < graph->n_nodes; k++)
        for (uint32_t i = 0; i < graph->n_nodes; i++)
            for (uint32_t j = 0; j < graph->n_nodes; j++)
                reach[i][j] |= reach[i][k] && reach[k][j];
}

/* Time that is not handed on to any caller, of a routine or a cycle as a whole. */
static double kept_ns(const struct callgraph *graph, bool reach[MOST_NODES][MOST_NODES], uint32_t node)
{
    double total_ns =
        graph->nodes[node].cycle ? graph->cycle_total_ns[graph->nodes[node].cycle] : graph->nodes[node].total_ns;
    for (uint32_t other = 0; other < node; other++)
        if (reach[node][other] && reach[other][node])
            return 0; /* the cycle has been looked at */
    for (uint32_t i = 0; i < graph->n_arcs; i++) {
        uint32_t to = graph->arcs[i].to;
        if (reach[node][to] && reach[to][node])
            total_ns -= graph->arcs[i].self_ns + graph->arcs[i].below_ns;
    }
    return total_ns;
}

static void check_random(uint32_t round)
{
    struct callgraph_node nodes[MOST_NODES] = {{0}};
    struct callgraph_arc arcs[MOST_ARCS];
    bool reach[MOST_NODES][MOST_NODES];
    seed = round;
    struct callgraph graph = {.nodes = nodes, .arcs = arcs, .n_nodes = 1 + below(MOST_NODES)};
    double self_ns = 0, kept = 0;
    for (uint32_t i = 0; i < graph.n_nodes; i++) {
        nodes[i].self_ns = below(1000);
        nodes[i].unknown_callers = below(4) ? 0 : below(10);
        self_ns += nodes[i].self_ns;
    }
    graph.n_arcs = random_arcs(arcs, graph.n_nodes);
    callgraph_solve(&graph);
    closure(reach, &graph);
    for (uint32_t i = 0; i < graph.n_nodes; i++) {
        kept += kept_ns(&graph, reach, i);
        for (uint32_t j = 0; j < graph.n_nodes; j++)
            if (i != j && (nodes[i].cycle && nodes[i].cycle == nodes[j].cycle) != (reach[i][j] && reach[j][i]))
                fail_msg("round %u: %u and %u", round, i, j);
    }
    near(kept, self_ns);
    callgraph_release(&graph);
}

static void test_conservation(void **state)
{
    (void)state;
    for (uint32_t round = 1; round <= 3000; round++)
        check_random(round);
}

/* Two callers call equally often, but the calls of one cost three times as much: without samples they have equal
 * parts, with many the right ones, and on the way no sample more turns the proportion round. */
static void test_blend(void **state)
{
    (void)state;
    double last = 0.5;
    for (int n = 0; n <= 4096; n = n ? 2 * n : 4) {
        double cost = n ? n / 200. : 1;
        double dear = callgraph_weight(0.75 * n, 1, 100, cost), cheap = callgraph_weight(0.25 * n, 1, 100, cost);
        double part = dear / (dear + cheap);
        assert_true(n ? part > last && part < 0.75 : part == 0.5);
        last = part;
    }
    near(callgraph_weight(0, 1, 10, 0.5) / callgraph_weight(0, 1, 30, 0.5), (10. / 6) / (30. / 16));
    assert_true(last > 0.749);
    /* Who is not known to call has what samples say. */
    near(callgraph_weight(7, 1, 0, 1), 7);
    near(callgraph_weight(7, 0, 3, 1), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blend), cmocka_unit_test(test_example),      cmocka_unit_test(test_unknown_callers),
        cmocka_unit_test(test_deep),  cmocka_unit_test(test_conservation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
