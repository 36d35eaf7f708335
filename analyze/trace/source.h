/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the events of a struct trace come from: an archive or memory. Each source embeds this struct first. */
#pragma once
#include "analyze/trace/trace.h"

struct trace_source {
    int (*rewind)(struct trace *trace);               /* 0, or -1 after error() */
    const struct event *(*next)(struct trace *trace); /* NULL at the end; valid until the next call */
    void (*close)(struct trace *trace);               /* releases the source itself */
    int (*settle)(struct trace *trace);               /* trace_settle; NULL = there is nothing to settle */
};

/* Adds a whole sentence to trace->notes, once. */
void trace_note(struct trace *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));
