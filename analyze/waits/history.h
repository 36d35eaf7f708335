/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What led each location to where it is: its open segment, the tree of chains behind it, and what it spent its time on
 * over the run.
 *
 * Who finds the waits (replay.h) decides by times alone and asks for nothing of this. So it only tells what happened,
 * in order, and history takes it from there: by a thread of its own where there is one (stage.h), which also hands the
 * waits to whoever wants them explained. The replay knows a node of the tree by its mark: a number and a time.
 */
#pragma once
#include "analyze/trace/stage.h"
#include "analyze/waits/chain.h"
#include "analyze/waits/sink.h"

/* A node as the replay knows it. */
struct mark {
    uint32_t number, holds;
    uint64_t time_ns;
    struct mark *spare; /* the next one that nobody holds */
};

/* What of a location terms are added to. */
enum {
    TO_SEGMENT = 1, /* what it did since its last node */
    TO_SUMS = 2,    /* what it did over the run */
    TO_COUNTS = 4,  /* of both, the bins instead of the time (executions.h) */
};

/* Of one location. */
struct past {
    struct chain_node *tip;
    struct sparse open, open_counts; /* since the tip */
    double open_noise_ns2;
    struct sums atoms, counts; /* over the run, waiting left out */
};

struct history {
    /* The replay's: */
    struct stage stage;
    struct arena arena; /* of the marks */
    struct mark *spare;
    uint32_t n_marks;
    VEC(uint32_t) spare_occurrences;
    uint32_t n_occurrences;
    /* The stage's: */
    uint32_t n_lanes;
    struct chain chain;
    VEC(struct chain_node *) nodes;      /* by the mark's number */
    VEC(struct occurrence *) occurrence; /* by number */
    struct past *pasts;                  /* by location; one more that is none's */
    struct wait_sink sink;
};

void history_begin(struct history *history, uint32_t n_lanes);
void history_release(struct history *history);
/* All locations begin at one node, the origin of time; with one hold. */
struct mark *history_origin(struct history *history, uint64_t time_ns);
/* What is told from now on is taken in by another thread, as far as one can be had. */
void history_start_thread(struct history *history);
/* Everything that was told has been taken in. After it, pasts may be looked at. */
void history_finish(struct history *history);

struct mark *mark_hold(struct mark *mark);
/* Gives one hold back; NULL is allowed. */
void mark_drop(struct history *history, struct mark *mark);

/* What `lane` did. Terms of 0 are left out. */
void history_add_term(struct history *history, int to, uint32_t lane, uint64_t key, double ns);
void history_add(struct history *history, int to, uint32_t lane, const struct sparse *terms, double factor);
/* Variance that its segment's durations have because they were sampled. */
void history_add_noise(struct history *history, uint32_t lane, double noise_ns2);
/* Its segment ends: a new node, with one hold. */
struct mark *history_node(struct history *history, uint32_t lane, uint64_t time_ns);
/* It goes on from there; what its segment held is forgotten. */
void history_go_on_from(struct history *history, uint32_t lane, const struct mark *mark);
/* A location that is none, to make nodes beside all others. */
uint32_t history_aside(const struct history *history);
/* For the sink. An occurrence (0 = there is none yet, which makes one) is known by a number; NULL for a wait by itself.
 */
void history_wait(struct history *history, uint32_t *occurrence, const struct wait *wait, const struct mark *begin,
                  const struct mark *late);
void history_close(struct history *history, uint32_t *occurrence);
