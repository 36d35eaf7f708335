/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decoded events, kept for the next reading. An archive is read two or three times; to decode its records takes longer
 * than all that is done with an event in some of the readings. So the first reading writes what it decoded to a tape of
 * each location, and later ones play the tapes, as long as all of them together fit into a fixed room.
 *
 * An event is written as what distinguishes it from the first one of its kind: a byte that names a shape (the kind, and
 * the 32-bit words that have differed so far), the time since the event before, and those words: 10 to 30 bytes instead
 * of 80. Times are as recorded: corrections of clocks may change between readings.
 */
#pragma once
#include "analyze/trace/trace.h"
#include "wrap/base/containers.h"

struct bin_list {
    struct trace_bin *at;
    size_t n, cap;
};

struct tape {
    struct tape_chunk *first, *last; /* `last` is where it is written, or played */
    size_t at;                       /* in it */
    uint64_t raw_ns;                 /* of the last event */
};

enum { EVENT_WORDS = sizeof(struct event) / sizeof(uint32_t), SHAPES_MAX = 128 };
struct event_words {
    uint32_t at[EVENT_WORDS];
};

/* How events of a kind are written, until one differs from the first in another word: then they get a new shape. */
struct tape_shape {
    struct event_words first, same; /* the first event of the kind; all ones in the words that are not written */
    uint8_t words[EVENT_WORDS];     /* that are written */
    uint32_t n_words;
};

enum tapes_state { TAPES_EMPTY, TAPES_RECORDING, TAPES_COMPLETE, TAPES_TOO_LARGE };

struct tapes {
    struct tape *of; /* by location */
    uint32_t n, n_ended;
    enum tapes_state state;
    bool is_last; /* what is played is freed */
    size_t size_bytes, most_bytes;
    struct tape_shape shapes[SHAPES_MAX];
    uint32_t n_shapes;
    uint8_t shape_of[EV_END + 1]; /* by kind: plus 1; 0 = there was none */
};

/* Of about n_records (0 = unknown): where they will not fit, nothing is written at all. */
void tapes_begin(struct tapes *tapes, uint32_t n_locations, size_t most_bytes, uint64_t n_records);
void tapes_release(struct tapes *tapes);
/* A reading begins: plays complete tapes from the start, writes new ones otherwise. True when it plays. When it is the
 * last, nothing is written, and what has been played is gone. */
bool tapes_rewind(struct tapes *tapes, bool is_last);
/* What was decoded is not what a reading would decode from now on. */
void tapes_discard(struct tapes *tapes);

/* While recording. event->bins is not followed: the n_bins counts of an event are given. */
void tape_write(struct tapes *tapes, uint32_t location, const struct event *event, uint64_t raw_ns,
                const struct trace_bin *bins);
/* Nothing more comes from this location; with the last one the tapes are complete. */
void tape_end(struct tapes *tapes, uint32_t location);
/* The next event but for its corrected time; false at the end. Its counts are appended to `bins`. */
bool tape_play(struct tapes *tapes, uint32_t location, struct event *event, uint64_t *raw_ns, struct bin_list *bins);
