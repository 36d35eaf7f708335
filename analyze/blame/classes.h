/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits by the call at which they occur, and their classes of equal behaviour.
 *
 * An instance is one occurrence of a collective (all its waiting members at one call site together) or of one waiting
 * completion. Its characterisation is the sum over its waits: durations of the late side's steps and of the waiting
 * side's, from their common ancestor on. A class keeps the sum over its instances, and the mean of their shapes as its
 * representative R, by their samples. (One of a few samples alone would be near to everything: a wait that ends a
 * history of its own might join, and its long path would outweigh those of all others.) R of SHAPE_SAMPLES is known
 * well enough and stays as it is.
 *
 * Distance of an instance P from R. Of the processes of an instance (the late one and those that waited), the one whose
 * code took longest stands on one side, the mean of the others on the other. The distance is the sum over all (side,
 * step) of |share in P - share in R|, a missing step having share 0; it lies in [0, 2]. Shares are of the time of both
 * sides together in computing and blocked steps, in MPI calls that need no partner, and before the first call. So
 *  - ranks are left out: "63 ranks wait for rank 1" is one behaviour, and so is the same delay on another rank;
 *  - time off the CPU and in the network is left out: it is what the machine did, not which path the program took, and
 *    it varies from one repetition to the next;
 *  - an instance in which the machine held up a process with less to do is still the same behaviour of the program.
 *
 * P joins the nearest class when its distance is at most
 *     CLASSES_THRESHOLD + E + 2 sqrt(V),   E = sqrt(2/pi) sum s_i,   V = (1 - 2/pi) sum s_i^2,   s_i^2 = p_i (1 - p_i)
 * (1/n + 1/m). Shares sampled n and m times from the same p_i differ by normal variates of variance s_i^2 each, the
 * absolute value of which has mean s_i sqrt(2/pi) and variance s_i^2 (1 - 2/pi): E is the distance that sampling alone
 * is expected to make, and two standard deviations more are allowed. A path's n is (sum of lengths)^2 / sum(length^2 /
 * samples) over its stretches. Durations that are clocked have no error: s_i = 0.
 *
 * Instances below what clocks may err by, or below 1 % of their site's largest, that are like no class are one class,
 * however unlike each other they are. (Were they of the nearest, a wait that came once would be told as coming each
 * time.) Once a site has 64 classes, which bounds memory, everything joins the nearest.
 */
#pragma once
#include "analyze/result/result.h"
#include "analyze/constants/constants.h"
#include "analyze/waits/sink.h"
#include "analyze/steps/cpu_use.h"
#include "analyze/steps/atoms.h"

/* Late ranks of a class of which it is kept when they were late: a class has few as a rule. Lengths of gaps between its
 * instances. */
enum { WHEN_RANKS = 4, GAPS_KEPT = 8 };

/* Waiting in the parts of the run, of each wait what lies in the part. Most classes act in few of them, so that the
 * others take no room. */
struct when_parts {
    uint32_t parts; /* bit i: there is some in part i */
    uint32_t cap;
    double *ns; /* in the order of these bits */
};
_Static_assert(WHEN_PARTS <= 32, "a mask of 32 bits has room for all parts");

/* Instances that overlap the first of them in time. */
struct together {
    uint64_t begin_ns, end_ns; /* of the first */
    double waiting_ns;
    double in_one_go_ns; /* of it, where one stretch of code, between two calls, lasted as long as the wait */
    uint32_t n_waits;
};

/* One occurrence of a collective at one call site, with all who waited there; or one waiting completion. */
struct instance {
    uint32_t site;
    enum wait_kind kind;
    uint64_t first_ns;
    double waiting_ns, inferred_ns, self_ns, left_idle_ns, noise_ns2;
    double in_one_go_ns; /* as of those together */
    uint32_t n_waits;
    bool is_rest;                /* one of its waits began in another instance, which counts as their call */
    uint32_t rank;               /* the first of those who waited */
    uint32_t number;             /* of the call, as that one counts its own there */
    uint32_t round;              /* likewise, as the loop around it is counted (sink.h) */
    double did_ns, did_since_ns; /* by it, up to that call (sink.h) */
    uint64_t lead_ns;    /* of the longest wait: how long before it both sides last met, or the call was last made */
    struct sparse terms; /* of all paths but the heaviest */
    struct sparse counts;
    struct sparse waits; /* by waiting rank */
    struct sparse lates; /* by the rank that was waited for directly */
    struct when_parts when_parts;
    uint32_t late_rank; /* that the longest of them waited for */
    double longest_ns;
    double late_code_ns;     /* summed over the waits */
    double waiting_code_ns;  /* likewise, of the other side */
    double heaviest_code_ns; /* of the waiting process whose code took longest; its path is kept apart */
    struct sparse heaviest;
};

struct late_rank {
    uint32_t rank;
    struct when_parts when;
};

/* Of numbers in the order in which they came: the first and the last, the sum of the squares of the gaps between, and
 * the most frequent gaps; their n may be too small where there are more. */
struct pace {
    uint32_t first, last;
    double gaps_square;
    struct gap {
        uint32_t length, n;
    } gaps[GAPS_KEPT];
};

struct path_class {
    bool is_rest; /* of its instances */
    uint64_t n_instances;
    struct when when; /* deviation_ns: while instances are added, the sum of their squares */
    struct when_parts when_parts;
    /* Of it, what the program's code explains: without the machine and what passes in MPI. */
    struct when_parts code_parts;
    struct when_parts n_parts; /* instances, those that lie in several parts by their waiting there */
    /* Of instances that do not overlap in time: how many, and how far apart, in calls and in rounds of the loop around
     * them. What the waiting rank did outside MPI in the gaps, where it is the same rank at both ends, and what it
     * would have, had all calls in them been as far apart as the last two. In so many gaps that loop was left. */
    uint64_t n_apart;
    struct pace calls, rounds;
    double gaps_ns, even_gaps_ns;
    double did_ns; /* up to the last of them, */
    uint32_t rank; /* by this rank; and the same of the first, from the call before on as well */
    uint32_t first_rank;
    double first_did_ns, first_did_since_ns;
    uint32_t n_left;
    struct together latest, longest; /* by waiting_ns */
    struct late_rank *late;          /* up to WHEN_RANKS that were met most; one that comes anew replaces the least */
    uint32_t n_late;
    double waiting_ns;
    double lead_ns;       /* sum of its instances' leads times what was waited for */
    double inferred_ns;   /* of it, where only times tell what was waited for */
    double self_ns;       /* of it, what a rank waited for one of its own threads */
    double left_idle_ns;  /* of it, what counts as leaving CPUs idle (cpu_use.h) */
    double longer_ns;     /* what is blamed took longer on the late side by so much; >= waiting_ns (blame.h) */
    struct sparse shape;  /* of R: shares by (side, step) */
    double shape_samples; /* 0 = exact */
    struct sums terms_so_far, waits_so_far, lates_so_far; /* while instances are added: what becomes the next three */
    struct sparse terms;                                  /* cumulative characterisation */
    struct sparse waits;                                  /* by waiting rank; packed, sums to waiting_ns */
    struct sparse lates;                                  /* the same by the rank that was waited for directly */
    struct sparse counts;                                 /* as terms, bins (executions.h) */
};

struct site_classes {
    uint32_t site;
    enum wait_kind kind;
    uint64_t n_instances, n_calls;
    int tiny[2]; /* number + 1 of the class of those that are below notice and like no other, by is_rest; 0 = none */
    double waiting_ns, largest_ns;
    double *rank_waiting_ns;
    VEC(struct path_class *) classes;
};

struct classes {
    const struct pools *pools;
    const struct cpu_use *cpu_use;
    uint32_t n_ranks;
    double threshold;   /* CLASSES_THRESHOLD unless the user wants another */
    struct intern keys; /* (site, kind) -> index into sites */
    VEC(struct site_classes) sites;
    double waiting_ns;
    struct arena arena;     /* of the classes */
    struct tally tally;     /* scratch: the shape of the instance at hand */
    struct sparse shape;    /* likewise */
    VEC(struct term) timed; /* likewise: of that shape */
};

void classes_begin(struct classes *classes, const struct pools *pools, const struct cpu_use *cpu_use, uint32_t n_ranks);
void classes_release(struct classes *classes);
/* A wait, in each part of the run as much of it as lies there. */
void when_parts_add_wait(struct when_parts *when, const struct trace *trace, const struct wait *wait);
/* Waiting in one part of the run, and in all. */
double when_parts_get(const struct when_parts *when, uint32_t part);
double when_parts_sum(const struct when_parts *when);
/* It joins a class, or founds one. */
void classes_add(struct classes *classes, const struct instance *instance);
/* Gives the classes of a section away: they are gone then. */
void classes_pack(struct classes *classes, struct packing *packing);
/* Takes them into classes that are empty, with the numbers of the run. */
void classes_unpack(struct classes *classes, struct unpacking *unpacking, const struct numbers *numbers);
/* The doing of a rank before a section of the run: calls at a site, rounds of the loop around it, time outside MPI. */
struct done_before {
    uint32_t n_calls, n_rounds;
    double did_ns;
};
typedef struct done_before done_before_of(const void *context, uint32_t rank, uint32_t site);
/* Adds the classes of the next section as if its instances came now. A class joins another one by the rule by which an
 * instance does. `before` tells what was done until then. `later` may be left empty. */
void classes_join(struct classes *classes, struct classes *later, done_before_of *before, const void *context);
/* Numbers of steps are those of the run now: what was joined knows the steps of pools again. */
void classes_know(struct classes *classes, struct pools *pools);
/* The end: characterisations in steps, which go into the arena. */
void classes_expand(struct classes *classes, struct arena *arena);
/* In the key of a share whose time is clocked: sampling adds no error to it. */
#define SHAPE_TIMED (1ull << 40)
/* How far two shapes are apart. Both are packed; keys are 2 * step + 1 on the waiting side, 2 * step on the late one.
 */
double classes_distance(const struct sparse *shape, double n_samples, const struct sparse *other, double n_other,
                        double *allowance);
