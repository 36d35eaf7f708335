/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One spool file as a stream of items in order of time, for the merge of all files of a process. A call gives two
 * items, its entry and its return; records that belong to a call come with it. Definitions go to the part as they pass.
 */
#pragma once
#include "analyze/archive/emit.h"
#include "analyze/archive/gaps.h"
#include "analyze/archive/spool.h"
#include <stdio.h>

enum stream_item {
    STREAM_NONE,
    STREAM_ENTER,
    STREAM_CALLBACK, /* begins, in the call */
    STREAM_RETURN,   /* ends */
    STREAM_LEAVE,
    STREAM_SAMPLE,
    STREAM_SWITCH,
    STREAM_CONTROL
};
enum { STREAM_LATEST_NS_LOG2 = 62 }; /* later times are damage */

struct stream_stack {
    const uint64_t *address; /* innermost first */
    uint32_t n, flags;
};

struct stream_callback {
    uint64_t from_ns, to_ns;
    size_t bins; /* its counts in callback_bins end there */
};

struct stream {
    struct spool_reader reader;
    FILE *part;        /* definitions */
    uint32_t location; /* index */
    enum stream_item item;
    uint64_t time_ns; /* of the item; UINT64_MAX for the return of a call that never did */
    struct emit_call call;
    VEC(struct stream_callback) callbacks; /* by time: of the call, and of the next one, as far as read ahead */
    size_t n_callbacks_told;
    VEC(uint8_t) callback_bins; /* WW_CALLBACK_BINS records, one after the other */
    union {
        struct ww_sample sample;
        struct ww_switch onoff;
        struct ww_control control;
    };
    const struct ww_head *ahead;     /* the record after the item */
    VEC(uint8_t) bins;               /* WW_BINS records before the call, one after the other */
    VEC(uint8_t) has_stack;          /* by id */
    struct arena arena;              /* for */
    VEC(struct stream_stack) stacks; /* of a file of samples, by id */
    struct stream_stack sampled;     /* the last sample's */
    struct gaps gaps;                /* of a file of samples, */
    size_t n_gap_switches;           /* of whose switches so many were handed out */
    bool part_failed;
};

/* Opens path; definitions are written to part_path. Returns 0; after error() -1 where the file is damaged, or
 * SPOOL_UNREAD where the system could not read or write. What is found for the gaps of a file of samples may be set
 * then. */
int stream_open(struct stream *stream, const char *path, const char *part_path, bool gives_back);
/* Moves to the next item, STREAM_NONE at the end: of another record than the present one. */
void stream_next_record(struct stream *stream, struct emitter *emitter);
/* Likewise inside the present call. */
void stream_next_in_call(struct stream *stream);
/* Moves to the next item, STREAM_NONE at the end. */
static inline void stream_next(struct stream *stream, struct emitter *emitter)
{
    if (stream->item < STREAM_ENTER || stream->item > STREAM_RETURN) {
        stream_next_record(stream, emitter);
    } else if (__builtin_expect(stream->n_callbacks_told < stream->callbacks.n, 0)) {
        stream_next_in_call(stream);
    } else {
        stream->item = STREAM_LEAVE;
        stream->time_ns = stream->call.call.leave_ns;
    }
}
/* The counts of the callback that has ended; returns how many bytes. */
size_t stream_callback_bins(const struct stream *stream, const uint8_t **records);
/* 0 = unknown, else 1 + the calling context's id in this location. */
static inline uint32_t stream_context(const struct stream *stream, uint32_t stack)
{
    if (stack >= stream->has_stack.n || !stream->has_stack.at[stack])
        return 0;
    return 1 + 2 * stack + (stream->reader.header.kind == WW_KIND_SAMPLES);
}
/* How many frames of the present sample's stack are not those of the sample before, plus 1. */
uint32_t stream_unwind_distance(struct stream *stream);
void stream_write(struct stream *stream, const void *record, size_t bytes, uint16_t type);
void stream_close(struct stream *stream);
