/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs before and after a change, cause by cause, with what is noise told from what is not.
 *
 * A cause is the same in two runs when its state, file, routine and lines are. The change moves lines: what then stands
 * on one side only is put together with its like (same state, file and routine) on the other, in the order of lines.
 * Differences of means are held against Welch's 95 % interval; one run on a side tells nothing of noise.
 */
#pragma once
#include "analyze/pass/analysis.h"
#include "wrap/base/vec.h"

enum compare_verdict { COMPARE_NOISE, COMPARE_LESS, COMPARE_MORE, COMPARE_UNKNOWN };

struct compare_row {
    const char *name; /* as the report names it; of the later side where it has one */
    const char *file, *routine;
    enum step_state state;
    bool is_loop;
    uint32_t line_first, line_last;
    VEC(double) ns; /* by run in the order of addition; runs behind the last one have 0 */
    bool is_in[2];  /* before, after */
    double mean_ns[2];
    double noise_ns; /* half of the interval around the difference; INFINITY when a side has one run */
    enum compare_verdict verdict;
};

struct comparison {
    struct arena arena;
    VEC(struct compare_row) rows; /* after compare_finish: run time, all waiting, then causes by falling change */
    VEC(bool) is_after;           /* by run */
};
enum { COMPARE_RUN_TIME, COMPARE_WAITING, COMPARE_FIRST_CAUSE };

/* Adds a run; `names` has one text a cause. The analysis is not needed afterwards. */
void compare_add(struct comparison *comparison, const struct analysis *analysis, bool is_after,
                 const char *const *names);
/* At least one run of each side has been added. */
void compare_finish(struct comparison *comparison);
void compare_release(struct comparison *comparison);
/* Half of the 95 % interval of the difference of two means, from the values of both sides; INFINITY below two each. */
double compare_noise(const double *before, size_t n_before, const double *after, size_t n_after);
