/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From spool records to OTF2 event records. One emitter a process, one location a thread. The caller feeds calls in
 * order of time, entries and returns separately, so that requests are matched across threads.
 */
#pragma once
#include "analyze/archive/emitter.h"

/* Of a communicator, before the first event that names it. */
void emit_define_comm(struct emitter *emitter, const struct ww_comm *comm);
/* A call on a communicator with processes that are not in the archive: only its region can be. */
bool emit_is_outside(const struct emitter *emitter, const struct ww_call *call);
void emitter_release(struct emitter *emitter);
int emit_location_begin(struct emit_location *location, OTF2_Archive *archive, uint64_t id);
void emit_location_end(struct emit_location *location);

/* A worker thread, which the recorder saw first at time_ns; `main` is the location of the process's first thread. */
void emit_thread_begin(struct emit_location *main, struct emit_location *worker, uint64_t time_ns);
/* The first location is about to enter MPI. It is time for a start (starts.h) then, which can be had as a rule. */
static inline bool emit_start_is_due(const struct emitter *emitter, const struct emit_location *first)
{
    return starts_are_due(&emitter->starts, first->n_calls, first->contexts.nodes.n);
}
void emit_start(struct emitter *emitter, struct emit_location *locations, size_t n, uint64_t time_ns);
/* `context`: 0 = not known, else 1 + local calling context. */
void emit_enter(struct emitter *emitter, struct emit_location *location, struct emit_call *call, uint32_t context);
/* In a call: the MPI library calls a function of the program, which returns. */
void emit_callback(struct emitter *emitter, struct emit_location *location, uint32_t context, uint64_t time_ns);
void emit_return(struct emit_location *location, uint64_t time_ns);
void emit_leave(struct emitter *emitter, struct emit_location *location, struct emit_call *call);
/* After the leave of failing polls that are the last that a process did before it was ended: what is pending. */
void emit_polls_to_the_end(struct emitter *emitter, struct emit_location *location, const struct emit_call *emit);
void emit_sample(struct emit_location *location, const struct ww_sample *sample, uint32_t context,
                 uint32_t unwind_distance);
void emit_switch(struct emit_location *location, const struct ww_switch *record);
void emit_control(struct emitter *emitter, struct emit_location *location, const struct ww_control *record);
void emit_bins(struct emitter *emitter, struct emit_location *location, const struct ww_bins *bins, uint64_t time_ns);
