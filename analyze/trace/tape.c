/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/tape.h"
#include "wrap/base/err.h"
#include <stdlib.h>
#include <string.h>

enum {
    SMALLEST_CHUNK = 1 << 11,
    LARGEST_CHUNK = 1 << 16,
    FAR = 0x80,             /* beside the number of a shape: the time follows in full, it does not fit into 32 bits */
    SHAPES_NARROW = 1 << 6, /* from then on a new shape has all words, so that there is one more a kind at most */
};
_Static_assert(sizeof(struct event) % sizeof(uint32_t) == 0, "an event is words");
_Static_assert(SHAPES_NARROW + (int)EV_END + 1 <= (int)SHAPES_MAX && (int)SHAPES_MAX <= FAR,
               "shapes are numbered by seven bits");

struct tape_chunk {
    struct tape_chunk *next;
    size_t used, cap;
    unsigned char bytes[];
};

void tapes_begin(struct tapes *tapes, uint32_t n_locations, size_t most_bytes, uint64_t n_records)
{
    enum { EVENT_BYTES = 12 }; /* as a rule */
    *tapes = (struct tapes){.n = n_locations, .most_bytes = most_bytes};
    if (n_records > most_bytes / EVENT_BYTES)
        tapes->state = TAPES_TOO_LARGE;
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

bool tapes_rewind(struct tapes *tapes, bool is_last)
{
    tapes->is_last = is_last;
    if (tapes->state == TAPES_COMPLETE) {
        for (uint32_t i = 0; i < tapes->n; i++)
            tapes->of[i] = (struct tape){.first = tapes->of[i].first, .last = tapes->of[i].first};
        tapes->state = is_last ? TAPES_EMPTY : TAPES_COMPLETE;
        return true;
    }
    if (tapes->state != TAPES_TOO_LARGE) {
        tapes_discard(tapes);
        tapes->state = is_last ? TAPES_EMPTY : TAPES_RECORDING;
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

static bool fits(const struct tape_shape *shape, const struct event_words *event)
{
    uint32_t differs = 0;
    for (uint32_t i = 0; i < EVENT_WORDS; i++)
        differs |= (event->at[i] ^ shape->first.at[i]) & shape->same.at[i];
    return !differs;
}

/* A new shape, after the one that does not fit; NULL: this is the first event of its kind. */
static const struct tape_shape *shape_make(struct tapes *tapes, const struct tape_shape *before,
                                           const struct event *event)
{
    /* Time and place are told in other ways, and counts follow. */
    const struct event apart = {.time_ns = UINT64_MAX, .loc = UINT32_MAX, .bins = (const void *)UINTPTR_MAX};
    struct event plain = *event;
    struct event_words words, is_apart;
    plain.time_ns = plain.loc = 0;
    plain.bins = NULL;
    memcpy(&words, &plain, sizeof words);
    memcpy(&is_apart, &apart, sizeof is_apart);
    struct tape_shape *made = &tapes->shapes[tapes->n_shapes++];
    made->first = before ? before->first : words;
    for (uint32_t i = 0; i < EVENT_WORDS; i++) {
        bool is_written = tapes->n_shapes > SHAPES_NARROW || words.at[i] != made->first.at[i];
        is_written |= before && !before->same.at[i];
        is_written &= !is_apart.at[i];
        made->same.at[i] = is_written || is_apart.at[i] ? 0 : UINT32_MAX;
        if (is_written)
            made->words[made->n_words++] = (uint8_t)i;
    }
    tapes->shape_of[event->kind] = (uint8_t)tapes->n_shapes;
    return made;
}

void tape_write(struct tapes *tapes, uint32_t location, const struct event *event, uint64_t raw_ns,
                const struct trace_bin *bins)
{
    struct tape *tape = &tapes->of[location];
    size_t most = 2 * sizeof(uint64_t) + sizeof *event + event->n_bins * sizeof *bins;
    unsigned char *at = tapes->state == TAPES_RECORDING ? tape_reserve(tapes, tape, most) : NULL;
    if (!at)
        return;
    struct event_words words;
    memcpy(&words, event, sizeof words);
    uint32_t number = tapes->shape_of[event->kind];
    const struct tape_shape *shape = number ? &tapes->shapes[number - 1] : NULL;
    if (!shape || !fits(shape, &words))
        shape = shape_make(tapes, shape, event);
    uint64_t since_ns = raw_ns - tape->raw_ns;
    bool is_far = since_ns > UINT32_MAX;
    *at++ = (unsigned char)((unsigned)(shape - tapes->shapes) | (is_far ? FAR : 0));
    memcpy(at, &since_ns, sizeof since_ns); /* little-endian: its lower half comes first */
    at += is_far ? sizeof since_ns : sizeof(uint32_t);
    for (uint32_t i = 0; i < shape->n_words; i++, at += sizeof *words.at)
        memcpy(at, &words.at[shape->words[i]], sizeof *words.at);
    for (uint32_t i = 0; i < event->n_bins; i++, at += sizeof *bins)
        memcpy(at, &bins[i], sizeof *bins);
    tape->last->used = (size_t)(at - tape->last->bytes);
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
        struct tape_chunk *played = tape->last;
        tape->last = played->next;
        tape->at = 0;
        if (tapes->is_last) {
            tape->first = tape->last;
            free(played);
        }
    }
    if (!tape->last)
        return false;
    const unsigned char *at = tape->last->bytes + tape->at;
    const struct tape_shape *shape = &tapes->shapes[*at & ~FAR];
    uint64_t since_ns = 0;
    size_t time_bytes = *at & FAR ? sizeof since_ns : sizeof(uint32_t);
    memcpy(&since_ns, at + 1, time_bytes);
    at += 1 + time_bytes;
    memcpy(event, &shape->first, sizeof *event);
    for (uint32_t i = 0; i < shape->n_words; i++, at += sizeof(uint32_t))
        memcpy((char *)event + shape->words[i] * sizeof(uint32_t), at, sizeof(uint32_t));
    event->loc = location;
    *raw_ns = tape->raw_ns += since_ns;
    for (uint32_t i = 0; i < event->n_bins; i++, at += sizeof *bins->at)
        memcpy(vec_push(bins), at, sizeof *bins->at);
    tape->at = (size_t)(at - tape->last->bytes);
    return true;
}
