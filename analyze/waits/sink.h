/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The output of the replay. Every wait, with what it takes to explain it, handed to whoever wants them. Waits at one
 * occurrence of a collective come one by one and are closed together, when nobody is left who could add to them.
 *
 * And, for whoever asks, what each location did when: its time in order, with waits in their places.
 */
#pragma once
#include "analyze/result/result.h"
#include "wrap/base/sparse.h"

/* One process waited once. */
struct wait {
    uint32_t rank, site;
    enum wait_kind kind;
    uint32_t number;   /* it is the rank's n-th call there, waited or not; polls until something is found are one */
    uint32_t round;    /* so often the innermost loop around the call had been left, for other calls */
    uint64_t since_ns; /* that call was entered so long after the one before there; 0. It is the first */
    /* The rank's doing outside MPI, with a CPU: until it entered that call, and of it since the one before there. */
    double did_ns, did_since_ns;
    bool is_inferred; /* no record says what released it, only times do */
    bool is_rest;     /* the end of a wait that began with another late rank */
    uint64_t begin_ns, dur_ns;
    uint32_t late_rank, late_lane; /* that it was released by */
};

struct occurrence;
struct chain_node; /* history.h */
struct wait_sink {
    void *context;
    /* `occurrence` is the sink's own, NULL at first; without one the wait stands for itself. The nodes: where the
     * waiting process was when its wait began, and the other one when it released it. */
    void (*add)(void *context, struct occurrence **occurrence, const struct wait *wait, struct chain_node *begin,
                struct chain_node *late);
    void (*close)(void *context, struct occurrence **occurrence);
};

/* Optional: with `context` NULL nobody is told. Intervals of a location come in the order of time, without gaps; what
 * goes back behind what had been told, when polls turn out to have been waiting, or never to end, stands instead of it.
 */
struct time_sink {
    void *context;
    /* The location's own time: terms by atom_key, which sum to its length. */
    void (*spent)(void *context, uint32_t lane, uint64_t begin_ns, uint64_t end_ns, const struct term *terms, size_t n);
    void (*waited)(void *context, uint32_t lane, const struct wait *wait);
};
