/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/tape.h"
#include "wrap/base/err.h"
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 1 << 16,
    FAR = 0x80,             /* beside the number of a shape: the time follows in full, it does not fit into 32 bits */
    SHAPES_NARROW = 1 << 6, /* from then on a new shape has all words, so that there is one more a kind at most */
};
_Static_assert(offsetof(struct event, loc) == sizeof(uint64_t) && EVENT_WORDS % 2 == 0 &&
                   sizeof(struct event) == offsetof(struct event, loc) + sizeof(struct event_words),
               "an event is its time and pairs of words");
_Static_assert(SHAPES_NARROW + (int)EV_END + 1 <= (int)SHAPES_MAX && (int)SHAPES_MAX <= FAR,
               "shapes are numbered by seven bits");

/* Events as bytes. */

/* A word of an event, whatever it holds there. */
typedef uint32_t __attribute__((may_alias)) event_word;

static const event_word *words_of(const struct event *event)
{
    return (const event_word *)(const void *)((const char *)event + offsetof(struct event, loc));
}

/* Two words at a time. */
typedef uint64_t __attribute__((may_alias)) event_pair;

static bool fits(const struct tape_shape *shape, const event_word *event)
{
    const event_pair *pair = (const void *)event, *first = (const void *)shape->first.at,
                     *same = (const void *)shape->same.at;
    uint64_t differs = 0;
    for (uint32_t i = 0; i < EVENT_WORDS / 2; i++)
        differs |= (pair[i] ^ first[i]) & same[i];
    return !differs;
}

/* The place of counts is another matter for the reader. */
static bool is_pointer(const struct event *event, uint32_t word)
{
    size_t at = offsetof(struct event, loc) + word * sizeof(uint32_t);
    return event->kind == EV_BINS && at >= offsetof(struct event, bins);
}

/* A new shape, after the one that does not fit, or for the first event of its kind. Its number plus 1. */
static __attribute__((noinline)) uint32_t shape_make(struct tape_code *code, const struct event *event)
{
    const struct tape_shape *before =
        code->shape_of[event->kind] ? &code->shapes[code->shape_of[event->kind] - 1] : NULL;
    const event_word *words = words_of(event);
    struct tape_shape *made = &code->shapes[code->n_shapes++];
    if (before)
        made->first = before->first;
    else
        memcpy(&made->first, words, sizeof made->first);
    for (uint32_t i = 0; i < EVENT_WORDS; i++) {
        bool is_written = code->n_shapes > SHAPES_NARROW || words[i] != made->first.at[i];
        is_written |= before && !before->same.at[i];
        made->same.at[i] = is_written || is_pointer(event, i) ? 0 : UINT32_MAX;
        if (is_written && !is_pointer(event, i))
            made->words[made->n_words++] = (uint8_t)i;
    }
    return code->shape_of[event->kind] = (uint8_t)code->n_shapes;
}

/* The number plus 1 of the shape that an event is written in. */
static inline uint32_t shape_find(struct tape_code *code, const struct event *event)
{
    uint32_t number = code->shape_of[event->kind];
    bool is_known = number && fits(&code->shapes[number - 1], words_of(event));
    return is_known ? number : shape_make(code, event);
}

static inline unsigned char *encode(const struct tape_code *code, uint32_t number, uint64_t *now_ns,
                                    const struct event *event, unsigned char *at)
{
    const event_word *words = words_of(event);
    const struct tape_shape *shape = &code->shapes[number - 1];
    uint64_t since_ns = event->time_ns - *now_ns;
    bool is_far = since_ns > UINT32_MAX;
    *at++ = (unsigned char)((number - 1) | (is_far ? FAR : 0));
    memcpy(at, &since_ns, sizeof since_ns); /* little-endian: its lower half comes first */
    at += is_far ? sizeof since_ns : sizeof(uint32_t);
    for (uint32_t i = 0; i < shape->n_words; i++, at += sizeof *words)
        memcpy(at, &words[shape->words[i]], sizeof *words);
    *now_ns = event->time_ns;
    if (!event_n_bins(event))
        return at;
    memcpy(at, event->bins, event->n_bins * sizeof *event->bins);
    return at + event->n_bins * sizeof *event->bins;
}

/* Returns the end of what it was written as. */
static inline const unsigned char *decode(const struct tape_code *code, struct tape_player *player,
                                          const unsigned char *at, struct event *event)
{
    const struct tape_shape *shape = &code->shapes[*at & ~FAR];
    uint64_t since_ns;
    uint32_t near_ns;
    if (*at++ & FAR) {
        memcpy(&since_ns, at, sizeof since_ns);
        at += sizeof since_ns;
    } else {
        memcpy(&near_ns, at, sizeof near_ns);
        at += sizeof near_ns;
        since_ns = near_ns;
    }
    char *words = (char *)event + offsetof(struct event, loc);
    memcpy(words, &shape->first, sizeof shape->first);
    for (uint32_t i = 0; i < shape->n_words; i++, at += sizeof(uint32_t))
        memcpy(words + shape->words[i] * sizeof(uint32_t), at, sizeof(uint32_t));
    event->time_ns = player->now_ns += since_ns;
    if (event_n_bins(event)) {
        size_t n = player->bins.n, bytes = event->n_bins * sizeof *player->bins.at;
        vec_resize(&player->bins, n + event->n_bins);
        memcpy(&player->bins.at[n], at, bytes);
        at += bytes;
    }
    return at;
}

/* The next events before `end`, one at least and as many as a block holds, which are valid until the next call. Returns
 * the end of what they were written as. */
static const unsigned char *decode_block(const struct tape_code *code, struct tape_player *player,
                                         const unsigned char *at, const unsigned char *end, struct event_block *block)
{
    player->bins.n = 0;
    for (block->n = 0; block->n < EVENTS_READY && at < end; block->n++) {
        struct event *event = &player->events[block->n];
        at = decode(code, player, at, event);
        block->at[block->n] = event;
    }
    const struct trace_bin *bins = player->bins.at;
    for (uint32_t i = 0; player->bins.n && i < block->n; i++) {
        if (player->events[i].kind == EV_BINS)
            player->events[i].bins = bins;
        bins += event_n_bins(&player->events[i]);
    }
    return at;
}

/* The tape. */

struct tape_chunk {
    struct tape_chunk *next;
    size_t used, cap;
    unsigned char bytes[];
};

void tape_begin(struct tape *tape, size_t most_bytes, uint64_t n_records)
{
    enum { EVENT_BYTES = 16 }; /* as a rule */
    *tape = (struct tape){.most_bytes = most_bytes};
    if (n_records > most_bytes / EVENT_BYTES)
        tape->state = TAPE_TOO_LARGE;
}

void tape_discard(struct tape *tape)
{
    for (struct tape_chunk *chunk = tape->first, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    tape->first = tape->last = NULL;
    tape->size_bytes = 0;
    tape->state = tape->state == TAPE_TOO_LARGE ? TAPE_TOO_LARGE : TAPE_EMPTY;
}

void tape_release(struct tape *tape)
{
    tape_discard(tape);
    vec_release(&tape->player.bins);
}

/* One more chunk, for so many bytes, or NULL: then there is no tape any more. */
static struct tape_chunk *tape_extend(struct tape *tape, size_t size)
{
    struct tape_chunk *last = tape->last;
    size_t cap = size < CHUNK ? CHUNK : size;
    tape->size_bytes += cap;
    struct tape_chunk *made = tape->size_bytes > tape->most_bytes ? NULL : malloc(sizeof *made + cap);
    if (!made) {
        tape_discard(tape);
        tape->state = TAPE_TOO_LARGE;
        return NULL;
    }
    *made = (struct tape_chunk){.cap = cap};
    *(last ? &last->next : &tape->first) = made;
    return tape->last = made;
}

void tape_write(struct tape *tape, const struct event_block *block)
{
    if (tape->state != TAPE_RECORDING)
        return;
    struct tape_chunk *chunk = tape->last;
    /* First all shapes, then all bytes: how many an event takes is guessed wrong as a rule, and what a processor had
     * begun of the next event's shape by then would be lost. */
    uint8_t numbers[EVENTS_READY];
    for (uint32_t i = 0; i < block->n; i++)
        numbers[i] = (uint8_t)shape_find(&tape->code, block->at[i]);
    for (uint32_t i = 0; i < block->n; i++) {
        const struct event *event = block->at[i];
        size_t most = tape_most_bytes(event_n_bins(event));
        if ((!chunk || chunk->cap - chunk->used < most) && !(chunk = tape_extend(tape, most)))
            return;
        unsigned char *at = chunk->bytes + chunk->used;
        chunk->used += (size_t)(encode(&tape->code, numbers[i], &tape->player.now_ns, event, at) - at);
    }
}

void tape_end(struct tape *tape)
{
    if (tape->state == TAPE_RECORDING)
        tape->state = TAPE_COMPLETE;
}

/* The present chunk, where something is left of it, or a later one; NULL at the end. */
static const struct tape_chunk *chunk_to_play(struct tape *tape)
{
    while (tape->last && tape->at == tape->last->used) {
        struct tape_chunk *done = tape->last;
        tape->last = done->next;
        tape->at = 0;
        if (tape->is_last) {
            tape->first = tape->last;
            free(done);
        }
    }
    return tape->last;
}

void tape_play(struct tape *tape, struct event_block *block)
{
    const struct tape_chunk *chunk = chunk_to_play(tape);
    block->n = 0;
    if (!chunk)
        return;
    const unsigned char *end = chunk->bytes + chunk->used;
    tape->at = (size_t)(decode_block(&tape->code, &tape->player, chunk->bytes + tape->at, end, block) - chunk->bytes);
}

bool tape_rewind(struct tape *tape, bool is_last)
{
    tape->is_last = is_last;
    bool plays = tape->state == TAPE_COMPLETE;
    if (!plays)
        tape_discard(tape);
    if (tape->state != TAPE_TOO_LARGE)
        tape->state = is_last ? TAPE_EMPTY : plays ? TAPE_COMPLETE : TAPE_RECORDING;
    tape->last = tape->first;
    tape->at = 0;
    tape->player.now_ns = 0;
    return plays;
}
