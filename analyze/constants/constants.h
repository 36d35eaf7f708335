/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the analysis takes for enough or for alike, where the data themselves cannot tell: all such numbers, each with
 * its reason. Those of a reader's time and eye are in readers.h. Before you add one, look for a principle that does
 * without.
 *
 * Not here: what bounds memory or time (queues, depths, rounds), what protects from damaged files, and the layout of a
 * page. These change no answer on ordinary data and stand where they are used.
 */
#pragma once
#include "analyze/constants/readers.h"

/* Standard deviations by which two estimates may differ and still be the same: one time in twenty they are farther.
 * Where many are looked at, so many: chance does it in 3 of a thousand. */
static const double SAME_DEVIATIONS = 2, FAR_DEVIATIONS = 3;

/*
 * Code (analyze/code): which lines a loop of the machine's code has in the source. Counted in the project's own
 * sources, where indentation tells, compiled at -O0, -O2 and -O3: 98 % of loops begin and end on the right lines with
 * these.
 */
enum {
    LOOP_HOME_PERCENT = 75, /* of the instructions in one routine make it the loop's home */
    LOOP_FIRM_PERCENT = 20, /* of the instructions on one line make it a line of the loop */
    LOOP_STRAY_PERCENT = 4, /* so few, beyond a gap, were moved there by the compiler */
    LOOP_NEAR_LINES = 40,   /* lines of that gap below: loops are long, and lambdas stand so near below their call */
    LOOP_STRAY_ABOVE = 3,   /* ... and above, where constants stand that were set again */
};

/* Clocks (trace). */
enum {
    CLOCK_NOISE_NS = 2000,                  /* two readings of one timer, with an interrupt in between */
    CLOCK_LARGEST_DRIFT_PER_MILLION = 1000, /* quartz has 100; a steeper line between two measurements is their error */
};

/*
 * Samples and costs (steps). POOL_SAMPLES_OWN: the shares of so many samples are known to a fifth, as well as lengths
 * alike in kind agree. Below POOL_SAMPLES_MIN two samples that agree by chance would name a step or a library. PRIOR:
 * as little as keeps a step that was seen elsewhere from having nothing.
 */
enum {
    POOL_SAMPLES_OWN = 20,
    POOL_SAMPLES_MIN = 3,
    POOL_SAMPLES_PRIOR = 2,
    FIT_SAMPLES = 100,      /* exact counts with fitted costs are off by a tenth, as so many samples are */
    OFF_FOR_LONG = 20,      /* times as long as on a CPU: whoever lives so long does next to nothing there */
    USUAL_KNOWN = 4,        /* so many show what is usual, and it counts as much until a run shows more */
    COST_PLACES_ONCE = 16,  /* of code that runs once have costs of their own in a long stretch: most has fewer */
    COST_OUTLIER = 8,       /* times the usual length: something else lies in it that nothing recorded */
    COST_SHORTEST_NS = 100, /* a few readings of the clock, which lies in every stretch */
    COST_FASTEST = 64       /* instructions a nanosecond: no core does more, some ran elsewhere */
};
/* Of a length, relatively: what it is usually taken for before anything is fitted, and at best: frequency and cache
 * change by a hundredth from one turn to the next. */
static const double LENGTH_ERROR = 0.2, LENGTH_ERROR_LEAST = 0.01;
/* Of a place's cost on a process, from what the others say: what core and cache alone usually do (the same work on 132
 * processes was 1 % off that of the others in the median, 2 % in the root mean square). Of samples: what the interrupt
 * adds. */
static const double COST_ACROSS_RANKS = 0.02, SAMPLING_BIAS = 0.03;
/* A routine with one call of MPI is a wrapper when so many places call it; named after the call, when several do. */
enum { WRAPPER_CALLERS = 4 };

/*
 * Waits: what is inferred from times. A call that another process enters by chance ends later than that evidence allows
 * as often as not, so it weighs three times. Only a clock that misleads can show by mistake that the other one was not
 * needed.
 */
enum {
    CALL_ITSELF_NS = 20000, /* a call may take by itself, or because its process is not scheduled at once */
    EVIDENCE_LATER_WEIGHT = 3,
    EVIDENCE_ALONE_WEIGHT = 8,
    RENDEZVOUS_NS = 2000,  /* a send that returns sooner was buffered */
    FETCHES_IN_A_ROW = 64, /* fewer fetches of the same bytes are a program's ordinary reading */
};

/* Classes and causes (blame). The threshold is half of what two paths without any common step are apart, halved again:
 * three quarters of the time in the same steps. */
static const double CLASSES_THRESHOLD = 0.25;
/* The shape of a class by so many samples errs by a tenth of that. */
static const double SHAPE_SAMPLES = 400;
/* Of the logarithms of two factors: what core and cache alone make of the same work (a half more). */
static const double SAME_FACTOR = 0.405;
/* An instance at each n-th call: so many of them, whose gaps scatter by less than this about at least so much. */
enum { EVERY_INSTANCES = 4 };
static const double EVERY_SCATTER = 0.15, EVERY_LEAST = 1.5;
/* Calls come together, one right after another, where before the last of n less than this part of an n-th of the work
 * between them was done, or more than this part of all of it. */
static const double TOGETHER_LEAST = 0.1, TOGETHER_MOST = 0.75;
/* A cause is regular if so much of what is felt at its first call comes with one class. */
static const double REGULAR_SHARE = 0.6;

/* Comparison. That anything at all is called less or more although nothing has changed, as is usual; and of the chances
 * within a group: what all causes have alike, the rest goes by their waiting. */
static const double COMPARE_CHANCE = 0.05, COMPARE_EACH_PART = 0.2;
/* Of that chance, what each of the two groups has that the user's code makes; the other groups share the rest. */
static const double COMPARE_OF_CODE = 0.35;
/* Standard deviations: a change is to be found four times out of five by as many runs as are advised. */
static const double COMPARE_POWER = 0.84;
/* Runs on either side of a change in a series: one that is far off is no change yet. */
enum { SERIES_SIDE_RUNS = 2 };

/* Verdicts. People take numbers of threads for the same within a third, and ratios of executions, which are exact,
 * within a fiftieth. */
static const double MORE_THREADS = 1.3, AS_OFTEN = 0.02;
/* A second kind, or a second reason, is one from this part of a cause's waiting on. */
static const double WORTH_SAYING = 0.2;
/* Beyond this no ratio of costs is told. */
static const double VAGUE_DOUBT = 0.5;
/* When a cause acts: so many times as much at one end as at the other (a busy machine makes less of nothing); left out
 * at both ends together. */
static const double TREND_GROWN = 2, TREND_LEFT_OUT = 0.02;
