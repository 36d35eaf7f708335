/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a run between two events: open regions, requests, messages
 * under way, time off the CPU. It is given as events, which stand before the rest of the run: that can then be read as
 * a run of its own.
 *
 * It also says where a run may be cut: right before the first process leaves a collective operation of all in which
 * each waits for the last. Then all are inside it, and nothing that follows is explained by what came before.
 * A cut is passed over as long as anything is under way that no event can bring back (below).
 *
 * O(1) an event. Memory follows locations, messages under way, and members of communicators.
 */
#pragma once
#include "analyze/trace/trace.h"
#include "wrap/base/containers.h"

typedef VEC(struct event) event_list;

struct state;

/* Before the first event of the run; to be released. */
struct state *state_make(const struct trace *trace);
void state_release(struct state *state);
/* The next event of the run. */
void state_follow(struct state *state, const struct event *event);
/*
 * The run may be cut before this event. Not so while a thread beside the main ones calls MPI, a non-blocking collective
 * or an RMA epoch is under way, a communicator's members are not equally far, or a process has ended or is not
 * recorded; nor in runs with locks or in windows.
 */
bool state_may_cut(const struct state *state, const struct event *event);
/* Adds the events that end what is open, all at the time of `event`, before which the run is cut. */
void state_write_end(const struct state *state, const struct event *event, event_list *events);
/* Adds the events that bring it all back, likewise. All main threads are inside the collective operation again. */
void state_write_begin(struct state *state, const struct event *event, event_list *events);
/* Call: this one ends an operation that was cut, on which the location has waited before. Once for each location. */
bool state_ends_cut(struct state *state, const struct event *event);
