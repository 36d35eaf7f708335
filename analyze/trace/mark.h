/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places in the records of locations, from which a later reading may begin. To find them, each location is read by
 * itself in its own order: nothing is merged, and other processes may read other ranks at the same time.
 *
 * Events and their times are those of a reading from the first record, since a mark has what the reader knows there:
 * its position, the events that it is ahead by, the prediction of call stacks and the state of the clock. Some KB each.
 */
#pragma once
#include "analyze/trace/trace.h"
#include "wrap/base/packing.h"

/* Begins to read ranks number, number + n, number + 2 n, ..., of a part from where its reader may begin. False where
 * that is impossible: events come from memory, files are compressed, or cannot be opened. Ends with mark_end or
 * mark_leave. */
bool mark_begin(struct trace *trace, uint32_t number, uint32_t n);
/* The next event of a location, its time as recorded; NULL at its end. */
const struct event *mark_ahead(struct trace *trace, uint32_t loc);
/* The corrected time of that event; UINT64_MAX at the end. */
uint64_t mark_ahead_ns(struct trace *trace, uint32_t loc);
/* The next event, its time corrected, and hands it out. Valid until the location is read on. */
const struct event *mark_next(struct trace *trace, uint32_t loc);
/* The place before that event. */
void mark_write(struct trace *trace, uint32_t loc, struct packing *packing);
void mark_leave(struct trace *trace);
/* Notes that were made since mark_begin are gone, too: who reads all finds the same. */
void mark_end(struct trace *trace);

/* As trace_rewind, but each location begins at its mark. */
int mark_rewind(struct trace *trace, struct unpacking *marks);
