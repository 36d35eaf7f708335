/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace built in memory, one line an event, for tests of the passes. Events may be added in any order; trace_next
 * sorts by (time, location). */
#pragma once
#include "analyze/trace/trace.h"

/* n_ranks processes with one location each; communicator 0 is the world. Close with trace_close. */
struct trace *trace_memory(uint32_t n_ranks);
uint32_t trace_memory_region(struct trace *trace, const char *name, bool is_mpi, enum ww_class class,
                             enum ww_coll coll);
uint32_t trace_memory_comm(struct trace *trace, const uint32_t *ranks, uint32_t n);
uint32_t trace_memory_module(struct trace *trace, const char *path);
uint32_t trace_memory_frame(struct trace *trace, struct trace_frame frame);
void trace_memory_event(struct trace *trace, struct event event);
