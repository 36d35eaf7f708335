/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fit of costs (costs.h): equations of lengths, samples, and the word of the other processes, each as far as it is
 * known.
 *
 * First each process is fitted by itself. Then each takes the word of all others, and is fitted beside that. Places
 * that cost something else there are found from the worst on, and their word does not count.
 */
#pragma once
#include "analyze/counts/nnls.h"
#include "wrap/base/sparse.h"

/* Work and sampled time by column. */
struct cost_column {
    double work, sampled_ns;
};

/* Evidence of one process, or of several together, on costs. */
struct cost_evidence {
    struct nnls lengths;
    struct cost_column *columns;
    double work;
    double counted_ns; /* on the CPU in counted stretches */
    double sampled_ns; /* weights of all samples */
    double n_samples;
};

struct rank_costs {
    struct cost_evidence own;
    struct sparse work;       /* by place, over the run */
    struct sparse steps;      /* sampled weights by (place, step) */
    struct sparse counts;     /* over the run */
    double length_variance;   /* in units of what equations are weighed by */
    struct nnls_cost *fitted; /* by column */
    struct nnls_cost *others; /* what the other processes say */
    double *differs;          /* by column: how far it is off what they say; 0 = within what processes differ by */
};

struct cost_fit {
    struct rank_costs
        *ranks; /* with all that was taken in; fitted, others, differs and length_variance are filled in */
    uint32_t n_ranks, n_columns;
    double across_ranks; /* standard deviation of a place's cost from what the others say, relatively; filled in */
};

/* One without counts keeps zeros. */
void cost_fit_ranks(struct cost_fit *fit);
