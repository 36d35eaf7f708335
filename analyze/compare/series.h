/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs in a row: how each cause grows with the number of ranks or the input, or at which run it changed.
 *
 * y ~ x^k is fitted to the logarithms over all runs by the median of the slopes between any two of them, with an error
 * of k: a run that the machine held up may be far off, and least squares would follow it. x is the number of ranks
 * where that differs, else the number on the command line that does, else the order of the runs, in which nothing
 * grows. POP's computation scaling is the time that all ranks compute, of the first point by that of another; in a weak
 * series, where the work grows with the ranks, by rank. The fit shows which of the two it is: the total stays nearer to
 * the first one's, or that of a rank does.
 *
 * A change is looked for in the order of runs. Each place between two runs divides them in two sides, and the one that
 * tells them apart best is a change when its chance is below the row's level by the number of places (Bonferroni). Then
 * the same is asked of the runs before it, so that the first change is found. Two runs at least must have it: one that
 * is far off may be an accident of the machine. Levels are shared out over the rows as in compare.h. An exact count
 * changed at a run when it was one number in all before, and another from there on.
 */
#pragma once
#include "analyze/compare/compare.h"

enum series_by { SERIES_RANKS, SERIES_INPUT, SERIES_ORDER };
enum { SERIES_NEVER = UINT32_MAX };

struct series_row {
    uint32_t row;           /* of the comparison: a group or a cause */
    double exponent, error; /* NAN where not known */
    uint32_t changed_at;    /* run from which on it is another; SERIES_NEVER */
    bool is_more;
};

struct series_fact {
    const struct fact *before, *after;
    uint32_t changed_at;
};

struct series {
    struct comparison comparison; /* a side is a point */
    enum series_by by;
    double *x;          /* by point */
    bool is_weak;       /* by SERIES_RANKS: the work grows with the ranks */
    double *scaling;    /* by point: computation scaling */
    double *compute_ns; /* by point: of all ranks */
    double *parallel;   /* by point: parallel efficiency: the part of all time that is computing */
    VEC(struct series_row) rows;
    VEC(struct series_fact) facts; /* by the run at which they changed; decisions only, or those that none explains */
};

/* Runs of one point (ranks, command and build) are put together, and points in order of ranks or input, unless
 * `in_order` wants each run by itself, in the order of recording. Returns how many points there are. */
uint32_t series_make(struct series *series, struct run **runs, size_t n_runs, bool in_order);
void series_release(struct series *series);
