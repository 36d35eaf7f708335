/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A part of a run as if it were a run: a user asks for it (report --from --until), or the recorder kept no more.
 *
 * A process enters, when the part begins, what it is in the middle of: regions, posted receives, time off the CPU.
 * Messages that were sent earlier are received without a sender (waits/matching.h gives such receives up). Collective
 * operations are known by their order on a communicator: those that some member began earlier are left out on the
 * others, so that the order agrees again.
 */
#pragma once
#include "analyze/trace/trace.h"

/* Events from from_ns to until_ns (UINT64_MAX = to the end) are handed out from now on, after a trace_rewind. Moves
 * start_ns and end_ns, and notes which part that is. Reads what comes before the part once, location by location, and
 * marks where it begins (mark.h), as readings of the part do then. Returns 0, or -1 after error(). */
int trace_set_part(struct trace *trace, uint64_t from_ns, uint64_t until_ns);

/* The windows of a run that was recorded in such (record --window), each from the first rank's begin to the last one's
 * end (UINT64_MAX = it has none). Reads all events once. The number of windows; 0 = the run was recorded as a whole, or
 * could not be read. Then *windows is NULL. To be freed. */
struct trace_window {
    uint64_t begin_ns, end_ns;
};
size_t part_windows(struct trace *trace, struct trace_window **windows);
/* Several parts, one after the other: as trace_set_part of the first, and trace_next_part goes on to the next one, as
 * long as there is one. If parts follow each other in time, all of them together take one reading of the run: what
 * locations are in the middle of is known where a part ends, and what it handed out is kept for its second reading. */
int trace_set_parts(struct trace *trace, const struct trace_window *windows, size_t n);
void trace_next_part(struct trace *trace);

/* Rings keep the newest records only: the part begins at from_ns, where all have them. 0, or -1 after error(). */
int part_keep(struct trace *trace, uint64_t from_ns);
/* The parts of trace_rewind, trace_read and trace_close for a part. */
int part_rewind(struct trace *trace);
void part_read(struct trace *trace, struct event_block *block);
void part_close(struct trace *trace);
