/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a run between two events: open regions, posted receives, time off the CPU. It is given as events, which
 * stand before the rest of the run: that can then be read as a run of its own.
 *
 * A run may be cut right before the first process leaves a collective operation of all in which each waits for the
 * last. Then all are inside it, and nothing that follows is explained by what came before. A cut is not possible as
 * long as anything is under way that no event can bring back: a message, a non-blocking collective, an RMA epoch or
 * lock, an operation that some members of a communicator have done more often than others. None is once a thread beside
 * the main one calls MPI, a process ends or is not recorded, a request is cancelled, or in runs with windows.
 *
 * Each location has its state by itself, from its own events, so that who reads one location can follow it. Messages
 * and operations of several are told by one number: each side adds to its own what it did, and the sum over all
 * locations is 0 where nothing is under way (but for one case in 2^64).
 *
 * O(1) an event. Memory follows locations, regions and requests that are open.
 */
#pragma once
#include "analyze/trace/receives.h"
#include "wrap/base/containers.h"

typedef VEC(struct event) event_list;

/* A location between two events: what has no memory of its own, */
struct place_now {
    uint64_t n_events, n_at_enter; /* so far; before the last region was entered */
    uint64_t n_of_all;             /* collective operations of all that have ended, as state_is_candidate says */
    uint64_t under_way;            /* the sum of what it did for which others do the opposite */
    struct event off;              /* the last time that it left the CPU */
    uint32_t n_calls;              /* of MPI, among the open regions */
    int32_t n_pending;             /* non-blocking collectives and epochs */
    bool is_off, has_ended;
    bool has_bins;       /* counts have been taken */
    bool has_operations; /* of RMA, since it synchronised */
    bool is_never;       /* no cut from here on */
};
/* and all. */
struct place {
    struct place_now now;
    event_list open; /* the EV_ENTER of regions it is in, outermost first */
    struct receives receives;
    bool was_cut; /* inside a collective operation, which has not ended since */
};

struct state {
    const struct trace *trace;
    struct place *places; /* by location */
    bool *is_of_all;      /* by communicator: every process is a member */
    struct map members;   /* key_pair(communicator, rank) -> 1 + index in it, as far as it was asked for */
};

/* Before the first event of the run. */
void state_begin(struct state *state, const struct trace *trace);
void state_release(struct state *state);
/* The next event of a location. */
void state_follow(struct state *state, const struct event *event);
/* This event ends a collective operation of all in which each waits for the last. */
bool state_is_candidate(const struct state *state, const struct event *event);
/* Such an event is of the operation that location `paced` is in. */
bool state_is_with(const struct state *state, const struct event *event, uint32_t paced);
/* The run may be cut before this event, a candidate. */
bool state_may_cut(const struct state *state, const struct event *event);
/* Adds the events that end what is open, all at the time of `event`, before which the run is cut. */
void state_write_end(const struct state *state, const struct event *event, event_list *events);
/* Adds the events that bring it all back, likewise. All main threads are inside the collective operation again. */
void state_write_begin(struct state *state, const struct event *event, event_list *events);
/* True: this one ends an operation that was cut, on which the location has waited before. Once for each location. */
bool state_ends_cut(struct state *state, const struct event *event);
