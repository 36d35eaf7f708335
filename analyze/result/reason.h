/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why the late ranks of a cause are late: a statement of one kind, and its figures. verdict/reason.c decides,
 * words/explain.c has the words.
 */
#pragma once
#include <stdbool.h>

#define REASON_LIST(X)                                                                                                 \
    X(UNRECORDED, "unrecorded")                 /* recording was off when others waited */                             \
    X(UNEXPLAINED, "unexplained")               /* they wait as well, and no record tells for whom */                  \
    X(NO_CPU, "no-cpu")                         /* they were ready to run, and computed next to nothing there */       \
    X(IN_TURN, "in-turn")                       /* each runs it as often, one after the other */                       \
    X(ANOTHER_EACH_TIME, "another-each-time")   /* each runs it as often; in each step another one is longer in it */  \
    X(MOVES, "moves")                           /* ... first one is longer in it, and from some time on another */     \
    X(ONLY, "only")                             /* they alone run it: the others never, or next to never */            \
    X(LESS_BUT_LATER, "less-later")             /* they execute less than the others, but later */                     \
    X(WORK, "work")                             /* `often` as many executions, at `cost` each */                       \
    X(STEPS_VARY_COUNTED, "counted-steps-vary") /* as often, at the same cost: single steps vary */                    \
    X(STEPS_VARY, "steps-vary")                 /* as long over the run: single steps vary */                          \
    X(TIME_VARIES, "time-varies")               /* nobody is there to be compared with */                              \
    X(BY_TURNS, "by-turns")                     /* likewise, of code: all are late, in different steps */              \
    X(TIME_ALONE, "time-alone")                 /* the others spend next to nothing in it */                           \
    X(TIME_AT_MOST, "time-at-most")             /* or so it seems: of some of their time nothing is known */           \
    X(AS_LONG, "as-long")                       /* they spend as long in it as the others, but later */                \
    X(NO_LONGER, "no-longer")                   /* ... or less */                                                      \
    X(LONGER, "longer")                         /* `times` as long */                                                  \
    X(LONGER_AT_LEAST, "longer-at-least")       /* the least of `times` is all that is known */

#define REASON_ENUM(name, text) REASON_##name,
enum reason_kind { REASON_LIST(REASON_ENUM) };
#undef REASON_ENUM

/* How many times as much of something the late ranks have as the others on average. */
struct factor {
    bool is_known;            /* of both sides; otherwise all factors are 1 */
    double unit;              /* so much of it is 1 x */
    double least, mean, most; /* of single late ranks, and of all on average; NAN: a rank has nothing of it */
    double at_least, at_most; /* the mean is between them, within its error */
    double doubt;             /* logarithm of the factor by which the mean may be off */
    bool is_vague;            /* by so much that it is not told */
};

enum cost_told {
    COST_TOLD_SAME,     /* nothing speaks for another cost */
    COST_TOLD_FACTOR,   /* `cost` */
    COST_TOLD_AT_LEAST, /* no more is known of it than what it is at least */
    COST_TOLD_UNKNOWN   /* it is not known well enough to be compared */
};

/* Factors are set where the kind speaks of them. */
struct reason {
    enum reason_kind kind;
    struct factor times; /* time in it */
    struct factor often; /* executions */
    struct factor code;  /* instructions of an execution */
    struct factor back;  /* executions of what libraries call back there */
    struct factor cost;  /* time of an execution; where instructions differ, beside what they make of it */
    enum cost_told cost_told;
    bool has_same_code;     /* executions have as many instructions, as far as machine code tells */
    bool is_as_often;       /* as many executions */
    bool is_average;        /* the others differ, and are compared on average */
    double most_ns;         /* the most that others spend in it on average, where next to nothing is seen of it */
    double about_ns;        /* likewise, as long as samples of other processes suggest; 0 = none do */
    bool is_alone;          /* hardly any of it is the others' */
    bool is_few;            /* few samples tell it */
    bool is_itself;         /* times are of the code itself: what it enters besides has other causes */
    bool is_at_other_times; /* as much in all, but others wait meanwhile */
    bool is_slower_then;    /* ... at times, and not in all */
    bool is_over_run;       /* factors hold over the run, where it acts at times only */
    bool lacks_cpu;         /* besides, its ranks had no CPU */
};

const char *reason_name(enum reason_kind kind);
