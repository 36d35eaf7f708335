/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoded events, kept for the next reading. To decode an archive's records takes longer than all that is done with an
 * event in some of the readings, and to merge locations by time takes its part. So the first reading writes what it
 * hands out to a tape, in that order, and later ones play it, as long as it fits into a fixed room.
 *
 * An event is written as what distinguishes it from the first one of its kind: a byte that names a shape (the kind, and
 * the 32-bit words that have differed so far), the time since the event before, and those words: 10 to 30 bytes instead
 * of 64.
 */
#pragma once
#include "analyze/trace/trace.h"
#include "wrap/base/containers.h"

struct bin_list {
    struct trace_bin *at;
    size_t n, cap;
};

/* Words of an event without its time, which is told in another way. */
enum { EVENT_WORDS = (sizeof(struct event) - offsetof(struct event, loc)) / sizeof(uint32_t), SHAPES_MAX = 128 };
struct event_words {
    _Alignas(uint64_t) uint32_t at[EVENT_WORDS];
};

/* The shape of events of a kind, until one differs from the first in another word. Then they get a new shape. */
struct tape_shape {
    struct event_words first, same; /* the first event of the kind. All ones in the words that are not written */
    uint8_t words[EVENT_WORDS];     /* that are written */
    uint32_t n_words;
};

/* The meaning of bytes: a reader needs the shapes that there were when they were written, and may have more. */
struct tape_code {
    struct tape_shape shapes[SHAPES_MAX];
    uint32_t n_shapes;
    uint8_t shape_of[EV_END + 1]; /* by kind: plus 1; 0 = there was none */
};

/* No event with so many counts takes more bytes than these. */
static inline size_t tape_most_bytes(uint32_t n_bins)
{
    return 1 + sizeof(uint64_t) + sizeof(struct event) + n_bins * sizeof(struct trace_bin);
}

/* The reader, and the last events that were read, with their counts. */
struct tape_player {
    uint64_t now_ns;
    struct event events[EVENTS_READY];
    struct bin_list bins;
};

enum tape_state { TAPE_EMPTY, TAPE_RECORDING, TAPE_COMPLETE, TAPE_TOO_LARGE };

struct tape {
    enum tape_state state;
    bool is_last;                    /* what is played is freed */
    struct tape_chunk *first, *last; /* `last` is where it is written, or played */
    size_t at;                       /* in it */
    size_t size_bytes, most_bytes;
    struct tape_code code;
    struct tape_player player; /* its time is that of the last event that was written, too */
};

/* Of about n_records (0 = unknown): where they will not fit, nothing is written at all. */
void tape_begin(struct tape *tape, size_t most_bytes, uint64_t n_records);
void tape_release(struct tape *tape);
/* A reading begins: plays a complete tape from the start, writes a new one otherwise. True when it plays. When it is
 * the last, nothing is written, and what has been played is gone. */
bool tape_rewind(struct tape *tape, bool is_last);
/* Events that were read are not those that a reading would hand out from now on. */
void tape_discard(struct tape *tape);

/* While recording. */
void tape_write(struct tape *tape, const struct event_block *block);
/* Nothing more comes: the tape is complete. */
void tape_end(struct tape *tape);
/* The next events, no more than a block holds. None at the end. Valid until the next call. */
void tape_play(struct tape *tape, struct event_block *block);
