/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sparse vector: durations by key. Terms are appended and summed up later, so that adding is O(1), joining two
 * vectors costs the smaller one (amortised, O(log n) a term), and nothing depends on the order of additions.
 *
 * Durations are doubles because sampled time is shared out; whole nanoseconds below 2^53 (104 days) add up exactly.
 */
#pragma once
#include "wrap/base/containers.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct term {
    uint64_t key;
    double ns;
};

/* Zero-initialised is empty. Terms before n_packed are sorted by key, each key once. */
struct sparse {
    struct term *at;
    size_t n, n_packed, cap;
};

/* Packing is put off until the unsorted tail is as long as the sorted part. Each term is then sorted O(log n) times. */
enum { SPARSE_TAIL_MIN = 32 };

/* The term is the first of its key since the vector was packed, or the last added was of another. */
void sparse_append(struct sparse *vector, uint64_t key, double ns);
static inline void sparse_add(struct sparse *vector, uint64_t key, double ns)
{
    if (ns == 0)
        return;
    size_t n_tail = vector->n - vector->n_packed;
    if (n_tail && vector->at[vector->n - 1].key == key)
        vector->at[vector->n - 1].ns += ns;
    else if (vector->at && n_tail < SPARSE_TAIL_MIN && vector->n < vector->cap)
        vector->at[vector->n++] = (struct term){.key = key, .ns = ns};
    else
        sparse_append(vector, key, ns);
}
/* The same, but never packs: for a vector that is gone through once and cleared. */
static inline void sparse_push(struct sparse *vector, uint64_t key, double ns)
{
    if (ns != 0)
        *vec_push(vector) = (struct term){.key = key, .ns = ns};
}
/* Room for n more terms at its end, which the caller fills in at once, with durations other than 0. NULL for
   no terms. */
static inline struct term *sparse_extend(struct sparse *vector, size_t n)
{
    if (n == 0)
        return NULL;
    if (vector->cap - vector->n < n)
        vec_grow((void **)&vector->at, &vector->cap, vector->n + n, sizeof *vector->at);
    vector->n += n;
    return vector->at + vector->n - n;
}
void sparse_add_all(struct sparse *vector, const struct sparse *other, double factor);
/* Adds `other`, which is left empty. */
void sparse_absorb(struct sparse *vector, struct sparse *other);
void sparse_pack_tail(struct sparse *vector);
/* Sorts by key and leaves each key once; terms that have become 0 go. */
static inline void sparse_pack(struct sparse *vector)
{
    if (vector->n != vector->n_packed)
        sparse_pack_tail(vector);
}
/* Of a packed vector, the place of the first term whose key is not below this one; n when there is none. */
size_t sparse_find(const struct sparse *vector, uint64_t key);
/* The duration of a key in a packed vector; 0 when it is not there. */
double sparse_get(const struct sparse *vector, uint64_t key);
double sparse_sum(const struct sparse *vector);
static inline void sparse_clear(struct sparse *vector)
{
    vector->n = vector->n_packed = 0;
}
/* Packs it, and moves it into the arena as it is. It is not added to any more, nor released. */
void sparse_settle(struct sparse *vector, struct arena *arena);
void sparse_release(struct sparse *vector);

/*
 * Adds durations up by keys that come again and again: O(1) a term, where a sparse vector would sort them many times.
 * Keys that differ in the last bits only come together as a rule, so they share a line, and a key is mostly looked for
 * in the line of the one before. Few lines are looked through; more are found by a hash table of their places.
 */
enum { SUMS_LINE = 8 };
struct sums_line {
    uint64_t key; /* of its terms, divided by how many there are */
    double ns[SUMS_LINE];
};
struct sums {
    VEC(struct sums_line) lines;
    size_t last;          /* of the lines, the one that was added to */
    VEC(uint32_t) places; /* in lines, plus 1; 0 = free. A power of two, at most a quarter of them taken */
};

/* The line with this key (a term's, divided by SUMS_LINE), found or made. */
struct sums_line *sums_find(struct sums *sums, uint64_t key);
static inline void sums_add(struct sums *sums, uint64_t key, double ns)
{
    bool is_last = sums->lines.n && sums->lines.at[sums->last].key == key / SUMS_LINE;
    struct sums_line *line = is_last ? &sums->lines.at[sums->last] : sums_find(sums, key / SUMS_LINE);
    line->ns[key % SUMS_LINE] += ns;
}
void sums_add_all(struct sums *sums, const struct sparse *vector);
/* Moves everything into an empty vector, which is packed then. */
void sums_take(struct sums *sums, struct sparse *out);
void sums_release(struct sums *sums);

/*
 * Adds durations up by dense keys and hands them over in order, without sorting: a table with a bit for what is in it.
 */
struct tally {
    VEC(double) ns;
    VEC(uint64_t) bits;
};

enum { TALLY_WORD = 64 };
void tally_grow(struct tally *tally, uint32_t key);
/* Keys count from 0 without large gaps. */
static inline void tally_add(struct tally *tally, uint32_t key, double ns)
{
    if (key >= tally->ns.n)
        tally_grow(tally, key);
    tally->ns.at[key] += ns;
    tally->bits.at[key / TALLY_WORD] |= 1ull << key % TALLY_WORD;
}
/* Moves everything into an empty vector, which is packed then. */
void tally_take(struct tally *tally, struct sparse *out);
void tally_release(struct tally *tally);
