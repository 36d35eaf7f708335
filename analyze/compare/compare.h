/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs before and after a change, cause by cause, with what is noise told from what is not. What a cause is rolled up
 * to may differ from run to run: compared are the places in it, each with the waiting that is blamed on itself, and the
 * machine's row.
 *
 * A cause is the same in two runs of a side when its state, file, routine and lines are. What of one side belongs to
 * what of the other is found in counterparts.h, for which loops that make nobody wait count as well.
 *
 * A difference of means is held against Student's interval, with one variance for both sides: what is asked is whether
 * the runs could be of one kind. The whole comparison is wrong with a chance of 5 %, not every row: that is shared out,
 * a tenth each to the run time and to all waiting, the rest to the causes, mostly by their waiting (Bonferroni, with
 * weights). So a large cause needs little more than it would alone, and a hundred small ones do not make up a change by
 * their number. One run on a side tells nothing of noise.
 */
#pragma once
#include "analyze/result/result.h"
#include "wrap/base/containers.h"

enum compare_verdict { COMPARE_NOISE, COMPARE_LESS, COMPARE_MORE, COMPARE_UNKNOWN };

struct compare_row {
    const char *name; /* as the report names it; of the later side where it has one */
    const char *file, *routine;
    enum step_state state;
    bool is_loop;
    uint64_t build; /* of its module; 0 = unknown */
    uint32_t line_first, line_last;
    VEC(double) ns; /* by run in the order of addition; runs behind the last one have 0 */
    bool is_in[2];  /* before, after: the code was seen there, whether or not it made anybody wait */
    double mean_ns[2];
    double noise_ns; /* what scatter alone explains of the difference; INFINITY when a side has one run */
    enum compare_verdict verdict;
};

struct comparison {
    struct arena arena;
    VEC(struct compare_row) rows; /* after compare_finish: run time, all waiting, then causes by falling change */
    VEC(bool) is_after;           /* by run */
    VEC(const char *) notes;      /* what else differs between the runs, in whole sentences; in `arena` */
    struct intern keys;           /* side and place -> row, behind the first ones */
};
enum { COMPARE_RUN_TIME, COMPARE_WAITING, COMPARE_FIRST_CAUSE };

/* Adds a run; `names` has the text of each step that is a part of a cause. The analysis is not needed afterwards. */
void compare_add(struct comparison *comparison, const struct analysis *analysis, bool is_after,
                 const char *const *names);
/* At least one run of each side has been added. */
void compare_finish(struct comparison *comparison);
void compare_release(struct comparison *comparison);
