/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds who is to blame for the waiting of a class, and which of its steps are redundant.
 *
 * The cumulative characterisation is signed: what the late side did minus what the waiting side did. Steps of equal
 * code are netted first, whatever process ran them: what the waiting process did as well is not to blame. They are
 * netted by the call at which they are entered, then with all that is entered by that call, and what is left at one
 * call with what is left at others. Time without a CPU is the machine's wherever it was lost, so all of it is netted
 * together; and so is transfer, since a message takes as long on both its ends, in different calls. The waiting is
 * shared out over the positive remainders in proportion (Boehme et al. 2016, after Meira et al. 1996).
 *
 * A step's part goes to the processes on the late side. If lateness is passed on, round a ring or over a grid, they are
 * the late one and all between it and the waiting one, and these do what the waiting process does as well. A late
 * process is in the step for longer over the run than they are: of a process that is in it for T in the whole run and
 * for t on the late side, t (1 - ordinary / T) is too much, if that is positive, where `ordinary` is what makes this
 * add up to the remainder. All those with equal T are blamed by t. Sampled T are first drawn together as far as
 * sampling alone would part them.
 *
 * Nobody is blamed directly for more than others have waited for it directly. A class has instances in which now one
 * process is late and now another, and who is late by little at the end of a long path has much of a step on the late
 * side. Excess goes to the others who are blamed for the same step.
 *
 * The parts of a class sum to its waiting. Waiting for shared memory to change, or in a wait of which it is not known
 * what ends it, may be waiting for the waiting process. It is blamed for what the others leave over.
 *
 * Redundant (after Meira et al.): pairs of equal code are removed from the smallest difference up while what remains
 * still accounts for 95 %: of what the late side did longer, and of what the waiting side did. One account for both
 * would let a step go that explains half of the waiting, where the waiting side has as much of another. This is for
 * presentation; blame is shared out before.
 */
#pragma once
#include "analyze/blame/classes.h"
#include "analyze/steps/costs.h"
#include "analyze/steps/sites.h"
#include "analyze/waits/replay.h"

/* Parts of the waiting by atom_key (with KEY_LONG_TERM), packed; `times` are those of the run, as in measures, and err
 * with sample_ns as in measure_input. Returns the sum of the positive remainders, which the waiting falls short of as
 * far as the waiting side did something else meanwhile. */
double blame_share(const struct path_class *class, const struct sites *sites, const struct sparse *times,
                   double sample_ns, struct sparse *blame);
/* Steps that need to be shown, as keys of a packed vector; what both sides did alike to the nanosecond is none. */
void blame_prune(const struct sparse *terms, struct sparse *kept);

/*
 * The sums of the classes, once the trace has been read: the blame of each, the executions and the work on both its
 * sides, the same of the whole run; and the sites with their classes as the result gives them out.
 */

struct measure_input {
    struct classes *classes; /* expanded */
    struct sites *sites;
    struct executions *executions;
    struct costs *costs;
    const struct rank_time *ranks;
    uint32_t n_ranks;
    struct arena *kept; /* the result's */
    double sample_ns;   /* times T err by sampling with variance T x this; 0 = they are exact */
};

/* Vectors by class stand by index in classes->sites, then class; executions and work are empty where nothing was
 * counted. */
struct measures {
    const struct classes *classes;
    uint32_t *site_order;    /* by falling waiting: the result's sites[i] is classes->sites.at[site_order[i]] */
    struct sparse times;     /* of the whole run, by (rank; step), packed */
    struct sparse **blames;  /* parts of the waiting by (directness, rank; step) */
    struct sparse **counted; /* executions by (side, directness, rank; place) */
    struct sparse **worked;  /* work (executions.h), with that of helpers; likewise */
    struct sparse bins;      /* of the whole run, packed, by (rank; counter) */
    struct sparse ran;       /* executions over the run by (rank; place) */
    struct sparse work_done, work_counted; /* likewise, work with and without what calls weigh that are not counted */
    struct arena arena;                    /* blames and counted are in that of the result */
};

void measures_make(const struct measure_input *input, struct measures *measures);
void measures_release(struct measures *measures);
/* The blame of a step's code in all classes, whatever its state and caller, by (rank; step). The machine's blame there
 * stands apart, in the same code's state without a CPU. Packed, to be released. */
struct sparse measures_blame(const struct measures *measures, struct steps *steps);
/* Fills in sites, classes and waiting of the result. */
void sites_write(const struct measure_input *input, const struct measures *measures, struct analysis *analysis);
