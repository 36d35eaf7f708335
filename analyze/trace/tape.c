/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/tape.h"
#include "wrap/base/err.h"
#include <stdlib.h>
#include <string.h>

enum {
    SMALLEST_CHUNK = 1 << 11,
    LARGEST_CHUNK = 1 << 16,
    FAR = EVENT_WORDS /* bit of the mask: the time follows in full, it does not fit into 32 bits */
};
_Static_assert(sizeof(struct event) % sizeof(uint32_t) == 0 && EVENT_WORDS < 32,
               "a mask of 32 bits has room for all words");

struct tape_chunk {
    struct tape_chunk *next;
    size_t used, cap;
    unsigned char bytes[];
};

void tapes_begin(struct tapes *tapes, uint32_t n_locations, size_t most_bytes, uint64_t n_records)
{
    enum { EVENT_BYTES = 16 }; /* as a rule */
    *tapes = (struct tapes){.n = n_locations, .most_bytes = most_bytes};
    if (n_records > most_bytes / EVENT_BYTES)
        tapes->state = TAPES_TOO_LARGE;
    for (int kind = 0; kind <= EV_END; kind++)
        memset(&tapes->masks[kind].others, 0xff, sizeof tapes->masks[kind].others);
    tapes->of = calloc(n_locations + 1, sizeof *tapes->of);
    if (!tapes->of)
        err_out_of_memory(n_locations * sizeof *tapes->of);
}

void tapes_discard(struct tapes *tapes)
{
    for (uint32_t i = 0; tapes->of && i < tapes->n; i++) {
        for (struct tape_chunk *chunk = tapes->of[i].first, *next; chunk; chunk = next) {
            next = chunk->next;
            free(chunk);
        }
        tapes->of[i] = (struct tape){0};
    }
    tapes->size_bytes = 0;
    tapes->n_ended = 0;
    tapes->state = tapes->state == TAPES_TOO_LARGE ? TAPES_TOO_LARGE : TAPES_EMPTY;
}

void tapes_release(struct tapes *tapes)
{
    tapes_discard(tapes);
    free(tapes->of);
    *tapes = (struct tapes){0};
}

bool tapes_rewind(struct tapes *tapes)
{
    if (tapes->state == TAPES_COMPLETE) {
        for (uint32_t i = 0; i < tapes->n; i++)
            tapes->of[i] = (struct tape){.first = tapes->of[i].first, .last = tapes->of[i].first};
        return true;
    }
    if (tapes->state != TAPES_TOO_LARGE) {
        tapes_discard(tapes);
        tapes->state = TAPES_RECORDING;
    }
    return false;
}

/* Room for so many bytes, or NULL: then there are no tapes any more. */
static unsigned char *tape_reserve(struct tapes *tapes, struct tape *tape, size_t size)
{
    struct tape_chunk *last = tape->last;
    if (last && last->cap - last->used >= size)
        return last->bytes + last->used;
    size_t cap = !last ? SMALLEST_CHUNK : last->cap < LARGEST_CHUNK ? 2 * last->cap : LARGEST_CHUNK;
    while (cap < size)
        cap *= 2;
    tapes->size_bytes += cap;
    struct tape_chunk *made = tapes->size_bytes > tapes->most_bytes ? NULL : malloc(sizeof *made + cap);
    if (!made) {
        tapes_discard(tapes);
        tapes->state = TAPES_TOO_LARGE;
        return NULL;
    }
    *made = (struct tape_chunk){.cap = cap};
    *(last ? &last->next : &tape->first) = made;
    tape->last = made;
    return made->bytes;
}

static const struct event empty = {.region = TRACE_NONE, .frame = TRACE_NONE, .comm = TRACE_NONE, .peer = TRACE_NONE};

static void mask_widen(struct tape_mask *mask, const struct event_words *words, const struct event_words *usual)
{
    for (uint32_t i = 0; i < EVENT_WORDS; i++) {
        mask->words |= (uint32_t)(words->at[i] != usual->at[i]) << i;
        mask->others.at[i] = mask->words >> i & 1 ? 0 : UINT32_MAX;
    }
}

void tape_write(struct tapes *tapes, uint32_t location, const struct event *event, uint64_t raw_ns,
                const struct trace_bin *bins)
{
    struct tape *tape = &tapes->of[location];
    size_t most = 2 * sizeof(uint64_t) + sizeof *event + event->n_bins * sizeof *bins;
    unsigned char *at = tapes->state == TAPES_RECORDING ? tape_reserve(tapes, tape, most) : NULL;
    if (!at)
        return;
    struct event plain = *event;
    plain.time_ns = 0;
    plain.loc = 0;
    plain.bins = NULL;
    struct event_words words, usual;
    memcpy(&words, &plain, sizeof words);
    memcpy(&usual, &empty, sizeof usual);
    struct tape_mask *of_kind = &tapes->masks[event->kind];
    uint32_t differs = 0;
    for (uint32_t i = 0; i < EVENT_WORDS; i++)
        differs |= (words.at[i] ^ usual.at[i]) & of_kind->others.at[i];
    if (differs)
        mask_widen(of_kind, &words, &usual);
    uint32_t mask = of_kind->words;
    uint64_t since_ns = raw_ns - tape->raw_ns;
    bool is_far = since_ns > UINT32_MAX;
    mask |= (uint32_t)is_far << FAR;
    size_t used = sizeof mask, time_bytes = is_far ? sizeof since_ns : sizeof(uint32_t);
    memcpy(at, &mask, sizeof mask);
    memcpy(at + used, &since_ns, time_bytes); /* little-endian: its lower half */
    used += time_bytes;
    for (uint32_t left = of_kind->words; left; left &= left - 1, used += sizeof *words.at)
        memcpy(at + used, &words.at[__builtin_ctz(left)], sizeof *words.at);
    if (event->n_bins)
        memcpy(at + used, bins, event->n_bins * sizeof *bins);
    tape->last->used += used + event->n_bins * sizeof *bins;
    tape->raw_ns = raw_ns;
}

void tape_end(struct tapes *tapes, uint32_t location)
{
    (void)location;
    if (tapes->state == TAPES_RECORDING && ++tapes->n_ended == tapes->n)
        tapes->state = TAPES_COMPLETE;
}

bool tape_play(struct tapes *tapes, uint32_t location, struct event *event, uint64_t *raw_ns, struct bin_list *bins)
{
    struct tape *tape = &tapes->of[location];
    while (tape->last && tape->at == tape->last->used) {
        tape->last = tape->last->next;
        tape->at = 0;
    }
    if (!tape->last)
        return false;
    const unsigned char *at = tape->last->bytes + tape->at;
    struct event_words words;
    uint32_t mask;
    uint64_t since_ns = 0;
    memcpy(&mask, at, sizeof mask);
    at += sizeof mask;
    size_t time_bytes = mask >> FAR ? sizeof since_ns : sizeof(uint32_t);
    memcpy(&since_ns, at, time_bytes);
    at += time_bytes;
    memcpy(&words, &empty, sizeof words);
    for (uint32_t left = mask & ~(1u << FAR); left; left &= left - 1, at += sizeof *words.at)
        memcpy(&words.at[__builtin_ctz(left)], at, sizeof *words.at);
    memcpy(event, &words, sizeof *event);
    event->loc = location;
    *raw_ns = tape->raw_ns += since_ns;
    for (uint32_t i = 0; i < event->n_bins; i++, at += sizeof *bins->at)
        memcpy(vec_push(bins), at, sizeof *bins->at);
    tape->at = (size_t)(at - tape->last->bytes);
    return true;
}
