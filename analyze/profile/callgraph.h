/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gprof's recurrence (Graham, Kessler, McKusick 1982): the time of a routine with all that it calls,
 *     T_i = S_i + sum over callees j of T_j C_ij / C_j,
 * where C_ij is how often i called j and C_j how often j was called at all, also from where nobody knows. Routines that
 * call each other in a circle are one cycle, which has one total. Calls within it, and of a routine to itself, pass
 * nothing on. Time is conserved: what nobody known called, and what is left over for callers that are not known, sums
 * to all self time.
 *
 * Pure graph code: whatever says in which proportions a routine's callers share its time will do for C, in units that
 * may differ from callee to callee.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CALLGRAPH_NO_CYCLE = 0 };

struct callgraph_node {
    double self_ns;         /* given */
    double unknown_callers; /* given: the part of C_j that no arc stands for */
    /* Found: with its callees, in a cycle only those outside of the cycle. */
    double total_ns;
    uint32_t cycle; /* number from 1, or CALLGRAPH_NO_CYCLE */
};

struct callgraph_arc {
    uint32_t from, to;
    double calls; /* given: C_ij >= 0 */
    /* Found: what of the callee's (or its cycle's) self time and of its callees' time the caller answers for. 0 within
     * a cycle. */
    double self_ns, below_ns;
};

struct callgraph {
    struct callgraph_node *nodes; /* borrowed */
    struct callgraph_arc *arcs;   /* borrowed; at most one for a pair of nodes */
    uint32_t n_nodes, n_arcs;
    double *cycle_self_ns, *cycle_total_ns; /* by cycle number; callgraph_release frees them */
    uint32_t n_cycles;
};

void callgraph_solve(struct callgraph *graph);
void callgraph_release(struct callgraph *graph);

/*
 * In which proportion a caller has a part in a routine's time, where samples have been seen of `through_ns` on the way
 * through its calls, each standing for `sample_ns`, and where it is known to call `calls` times. A call costs on
 * average `cost_ns`; before a sample is seen, that of one caller may be anything around it (an exponential
 * distribution). So with no samples it is the calls that count, with many the samples, and between them a blend.
 */
double callgraph_weight(double through_ns, double sample_ns, double calls, double cost_ns);
