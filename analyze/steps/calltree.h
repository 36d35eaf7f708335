/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree of loops and calls, from the stacks that the first reading of the trace came by, and where in it what a
 * process did belongs.
 *
 * The tree: the activations that the stacks of samples and of MPI calls pass through. A node is a routine entered from
 * a call site, inlined ones like others, or a natural loop entered in its routine; in archives of other recorders it is
 * a region entered. A routine that is entered again below itself is the node that it was: a cycle of recursion is one.
 * Stacks of worker threads begin in the run-time library that started them. They go on where the same routine is
 * entered by the thread that started the team.
 *
 * Memory follows the stacks of the trace, which follow the code.
 */
#pragma once
#include "analyze/counts/executions.h"
#include "analyze/steps/lanes.h"
#include "analyze/steps/sites.h"
#include "wrap/base/containers.h"
#include "wrap/base/keys.h"
#include "wrap/base/packing.h"

/* The first reading of the trace gathers this for costs, for the routine profile and for the tree of loops and calls:
 * time by process and call stack. */

/* One call stack of one process, threads added up. */
struct survey_entry {
    uint32_t rank, frame;
    uint32_t region; /* the MPI function that is called there; TRACE_NONE */
    uint64_t n_calls;
    uint64_t in_mpi_ns;  /* how long those calls took */
    uint64_t sampled_ns; /* weights of samples there, outside MPI and on a CPU */
    uint64_t blocked_ns; /* likewise, asleep */
    uint64_t pipe_ns;    /* of them, until another process writes to a pipe, */
    uint64_t network_ns; /* until data comes over the network, */
    uint64_t timed_ns;   /* until a time has passed, */
    uint64_t sync_ns;    /* and until another thread wakes it */
    uint64_t kernel_ns;  /* of them, in the kernel: system calls and page faults */
    uint64_t n_samples;  /* how many they are */
    bool is_workers;     /* threads that do not call MPI were there as well */
};

/* Of samples outside MPI and on a CPU. */
struct survey_weights {
    double ns, ns2; /* sum, and that of their squares */
};

struct survey {
    struct map index; /* key_pair(rank, frame) -> entry */
    VEC(struct survey_entry) entries;
    struct survey_weights all;
    VEC(struct survey_weights) ranks; /* by rank, as far as there are samples */
};

/* A call that has ended, or a sample. */
void survey_take(struct survey *survey, const struct lane *lane, enum lane_news news, const struct event *event);
/* `lane` is that of the event's location and has been fed the event, with this news. */
static inline void survey_feed(struct survey *survey, const struct lane *lane, enum lane_news news,
                               const struct event *event)
{
    if (news == LANE_LEFT || event->kind == EV_SAMPLE)
        survey_take(survey, lane, news, event);
}
/* Gives that of a section away; adds it to that of the run. */
void survey_pack(const struct survey *survey, struct packing *packing);
void survey_unpack(struct survey *survey, struct unpacking *unpacking);
/* After the last event: entries stand by rank, then frame. */
void survey_finish(struct survey *survey);
/* If the counts of threads that never call MPI may be missing, places where such threads were seen are not counted at
 * all. */
void survey_leave_out_workers(const struct survey *survey, struct sites *sites, struct executions *executions);
/* s, where times T that samples add up to have the variance s T: by their weights, of which the largest err most. 0 =
 * there are no samples. */
double survey_sample_ns(const struct survey *survey);
/* Likewise of one process: one that leaves the CPU often has fewer and heavier ones than the others. */
double survey_rank_sample_ns(const struct survey *survey, uint32_t rank);
void survey_release(struct survey *survey);

struct calltree_node {
    uint32_t parent; /* stands before it; TRACE_NONE */
    uint32_t step;   /* what it is named by, computing: the same for all activations of one code place */
    bool waits;      /* a call that may wait is made below it */
    uint32_t frame;  /* the first that led into it: a call in its caller, or inside it in its own routine; TRACE_NONE */
};

/* The way of a stack so far, inwards. */
struct calltree_way {
    uint32_t node; /* TRACE_NONE */
    uint32_t line; /* of the next call, */
    uint32_t call; /* and its frame; TRACE_NONE */
    bool is_team;  /* only a threading run-time so far */
    bool is_own;   /* in code of the program */
    bool is_known;
};

struct calltree {
    struct sites *sites;
    struct intern keys;
    VEC(struct calltree_node) nodes;
    VEC(struct calltree_way) of_frame; /* by frame, that included */
    struct map of_place;               /* code place -> first node of it + 1 */
    VEC(uint32_t) path;                /* scratch */
};

/* The line, in the code of its parent, by which a routine is entered; 0 = not known. */
uint32_t calltree_call_line(const struct calltree *tree, uint32_t node);

/* The node whose own code a sample with this stack has run, as sites_sample_step names it; TRACE_NONE. Straight-line
 * code that a loop calls is the loop's own. Nodes may be added to the tree. */
uint32_t calltree_of_sample(struct calltree *tree, uint32_t frame);

/*
 * The place of a process's doing in the tree of loops and calls. A step names a place and the loop around its call;
 * which activations of it ran is known from the stacks of the samples in it: its time on a process is shared out over
 * them as the samples were, on that process or, where it has none, on all. Its blame falls to those in which the
 * process spends more than the others do, by how much more, as far as samples tell. Of calls of MPI, of the start of
 * the process and of code between two calls of which nothing is known there are no stacks: each is a node by itself.
 */

struct placed {
    uint32_t node;
    double ns;           /* of samples there */
    double share, blame; /* those of one process and step sum to 1 */
};

struct placings {
    const struct placed *at;
    size_t n;
};

struct placing {
    struct sites *sites;
    struct calltree tree;
    VEC(struct sampled_node) sampled; /* while it is made */
    VEC(struct placed) placed;
    struct map of_step; /* atom_key(rank, step) -> key_pair(where in `placed` they begin, how many) */
};

void placing_begin(struct placing *placing, struct sites *sites, const struct survey *survey);
void placing_release(struct placing *placing);
/* Valid until the next call. Nodes may be added to the tree. */
struct placings placing_of(struct placing *placing, uint32_t rank, uint32_t step);

/*
 * The point where ranks part on their way to two nodes of the tree.
 *
 * A way to an address in a routine leads through every basic block that all ways to it lead through. The last such
 * block of two addresses is taken. If some ranks are seen in the routine, but never behind that block, they have gone
 * another way before it: one decision keeps them from both, whichever it is. So what other ranks do there, they do for
 * one reason. Machine code, the stacks of samples and those of MPI calls tell it, without counts.
 *
 * Cost: one pass over the recorded frames and the survey for each such block.
 */

/* Ranks seen in a routine, and behind a block of it. */
struct passing {
    struct sparse inside, behind;
};

struct ways {
    const struct calltree *tree; /* both borrowed */
    const struct survey *survey;
    struct map known; /* block -> 1 + passing */
    VEC(struct passing) passings;
};

/* False where nothing is known. `late`: the ranks that make others wait in both nodes. */
bool ways_have_one_reason(struct ways *ways, uint32_t a, uint32_t b, const struct sparse *late);
void ways_release(struct ways *ways);
