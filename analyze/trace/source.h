/* SPDX-License-Identifier: BSD-3-Clause */
/* The source of a struct trace's events: an archive or memory. Each source embeds this struct first. */
#pragma once
#include "analyze/trace/trace.h"

/* Events before a part of the run that are not read: the collectives among them, as those before a trace. */
struct trace_skipped {
    VEC(struct trace_before) collectives;
};

struct archive_reader;
struct trace_source {
    struct archive_reader *archive;     /* NULL = events are in memory */
    int (*rewind)(struct trace *trace); /* 0, or -1 after error() */
    /* What readings from now on hand out is complete from from_ns on, and what locations are in the middle of then can
     * be told from what comes before. Says what is not handed out. NULL = all events always are. */
    void (*skip)(struct trace *trace, uint64_t from_ns, struct trace_skipped *skipped);
    /* The next events, one at least; none at the end. Valid until the next call. */
    void (*read)(struct trace *trace, struct event_block *block);
    void (*rest)(struct trace *trace);  /* closes its files; NULL = it has none */
    void (*close)(struct trace *trace); /* releases the source itself */
    /* trace_is_settled and those behind it; NULL = there is nothing to settle. */
    bool (*is_settled)(const struct trace *trace);
    struct trace_watched (*watched)(struct trace *trace);
    int (*settle)(struct trace *trace, const struct trace_watched *all);
    void (*cannot_watch)(struct trace *trace);
};

/* The next event by way of the block, which is empty after a rewind; NULL at the end. */
static inline const struct event *source_next(struct trace *trace, struct event_block *block)
{
    if (block->next == block->n) {
        block->next = 0;
        trace->source->read(trace, block);
    }
    return block->n ? block->at[block->next++] : NULL;
}

/* Adds a whole sentence to trace->notes, once. */
void trace_note(struct trace *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));
