/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One imbalance, one cause. Blame is exact for each innermost loop, and one imbalance may run through hundreds of them;
 * what a programmer looks for is the loop or routine around them that runs longer on one process.
 *
 * Given is the tree of loops and calls (a node is a routine entered from a call site, or a loop entered in its
 * routine), with the blame and the time of what each node executes itself. A node is free if no call below it can wait:
 * the time-step loop contains the very call at which the wait is felt and explains nothing. B(n) is the blame of
 * everything below n, n included.
 *
 * From the outermost free nodes down: if the nodes below n that carry 90 % of B(n) are like n, or n itself carries as
 * much, n is one cause. Else each child is asked, and what n executes itself is a cause of its own. (Leaves are
 * compared, not children: a single child is always like its parent.) Then it is named more narrowly: while a single
 * child has 90 % of B(n), the cause is named by that. A name that tells nothing is passed over: neither is a cause
 * chosen there, with all that is below it. A remainder below 1 % of all blame joins the largest cause that is like it
 * in the nearest free node around it. So does what may be chance, by whatever factor that cause is late: nobody is
 * known to take longer in it, and the error of its samples may be all that is blamed on it. Causes that are named by
 * the same code, entered on several ways, are one if they are alike, or if one call in the source leads to both: which
 * of its threads and routines a library enters it by is no matter of the program's. They are also where one is named by
 * what lies around the name of the other on its way, which then names both, unless the other has 90 % of both. A way
 * that late processes run as others do, as far as samples show, joins as chance does, and the cause says nothing of it.
 * Code that other processes enter on ways of their own, with hardly any blame, joins the cause that is named by the
 * same code. So do causes that hold up others on the same processes where one decision in the program leads these to
 * both (calltree.h): it may stand in a node that can wait. Every ns of blame of a node is in exactly one cause.
 *
 * Causes that are left and alike may still have one reason: a process that owns three quarters of a matrix is late
 * wherever its rows are worked through. They stay apart, since nothing tells, but each knows the largest it is like.
 *
 * Alike are two nodes that
 *  - hold up others on the same processes: the shares of their blame by process differ by no more in sum than two
 *    instances of one class do (classes.h), the error of sampling allowed for in the same way, and
 *  - take longer there by the same factor, (time of the late processes) / (mean time of the others): one is not half
 *    as much again as the other, beyond two standard errors. Two imbalances of one process, 4 x and 1.5 x, are
 *    two.
 *
 * Cost: every node is compared with those around it until one is chosen, so nodes x depth x processes at worst. No
 * recursion.
 */
#pragma once
#include "wrap/base/sparse.h"
#include "wrap/base/containers.h"
#include <stdbool.h>

enum { ROLLUP_NONE = UINT32_MAX };

struct rollup_node {
    uint32_t parent;    /* stands before it; ROLLUP_NONE */
    uint32_t code;      /* number of the routine or loop: the same however it is entered */
    uint32_t call_line; /* in the parent's code; 0 = not known, or it is a loop of the parent's */
    bool is_free;
    bool tells_nothing;         /* its name: a system header's, or a loop on the same lines as the one around it */
    struct sparse blame, times; /* of what it executes itself, ns by rank */
};

struct rollup_cause {
    uint32_t node; /* that names it: it, or what is around it, has the parts */
    uint32_t chosen;
    double blame_ns;
    bool has_others; /* beside `chosen`: nodes to which the same decision leads */
    uint32_t like;   /* the largest cause that it is like, for a reason that nothing tells; ROLLUP_NONE */
};

struct rollup {
    VEC(struct rollup_node) nodes;
    uint32_t n_ranks;
    double sample_ns; /* times T err by sampling with variance T x this; 0 = they are exact */
    /* Whether one decision leads the late processes, by shares, to both nodes; NULL = that is never known. */
    bool (*has_one_reason)(void *context, uint32_t a, uint32_t b, const struct sparse *late);
    void *context;
    /* Found: */
    VEC(struct rollup_cause) causes; /* by their chosen node in the order of the tree */
    VEC(uint32_t) order;             /* nodes, each before what is below it, and that right behind it */
    VEC(uint32_t) position, end;     /* by node: where it stands there, and where what is below it ends */
    VEC(uint32_t) cause_of;          /* by node, for what it executes itself; ROLLUP_NONE: nothing to blame on */
    VEC(bool) may_be_even;           /* by node: late processes are longer in it by less than in its cause, if at all */
};

/* Vectors of the nodes need not be packed before; afterwards they are. */
void rollup_find(struct rollup *rollup);
void rollup_release(struct rollup *rollup);
