/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/base/sparse.h"
#include "wrap/base/containers.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void terms_insert(struct term *terms, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct term moved = terms[i];
        if (terms[i - 1].key <= moved.key) /* as most are: what is joined was sorted */
            continue;
        size_t at = i;
        for (; at > 0 && terms[at - 1].key > moved.key; at--)
            terms[at] = terms[at - 1];
        terms[at] = moved;
    }
}

/* Merge sort, as qsort is, but with the comparison in line. */
static void terms_sort(struct term *terms, size_t n)
{
    enum { FEW = 24 };
    for (size_t i = 0; i < n; i += FEW)
        terms_insert(terms + i, n - i < FEW ? n - i : FEW);
    if (n <= FEW)
        return;
    struct term *room = NULL, *from = terms, *to;
    size_t cap = 0;
    vec_grow((void **)&room, &cap, n, sizeof *room);
    to = room;
    for (size_t width = FEW; width < n; width *= 2) {
        for (size_t i = 0; i < n; i += 2 * width) {
            size_t n_both = n - i < 2 * width ? n - i : 2 * width;
            /* Two sorted rows, one behind the other, become one. */
            size_t n_left = n_both < width ? n_both : width;
            for (size_t k = i, left = i, right = i + n_left; k < i + n_both; k++) {
                bool is_left = right == i + n_both || (left < i + n_left && from[left].key <= from[right].key);
                to[k] = from[is_left ? left++ : right++];
            }
        }
        struct term *merged = to;
        to = from;
        from = merged;
    }
    if (from != terms)
        memcpy(terms, from, n * sizeof *terms);
    vec_free(room);
}

static size_t terms_combine(struct term *terms, size_t n)
{
    size_t n_kept = 0;
    for (size_t i = 0; i < n;) {
        struct term sum = terms[i++];
        while (i < n && terms[i].key == sum.key)
            sum.ns += terms[i++].ns;
        if (sum.ns != 0)
            terms[n_kept++] = sum;
    }
    return n_kept;
}

/* Adds terms whose keys are there already in place; returns how many are left, moved to the front of the tail. */
static size_t tail_fold(struct sparse *vector, size_t n_tail)
{
    struct term *tail = vector->at + vector->n_packed;
    size_t n_left = 0;
    for (size_t i = 0, at = 0; i < n_tail; i++) {
        while (at < vector->n_packed && vector->at[at].key < tail[i].key)
            at++;
        if (at < vector->n_packed && vector->at[at].key == tail[i].key)
            vector->at[at].ns += tail[i].ns;
        else
            tail[n_left++] = tail[i];
    }
    return n_left;
}

/* The packed part and the sorted tail become one, from the back, so that only the tail must be moved out of the way. */
static void tail_merge(struct sparse *vector, size_t n_tail)
{
    struct term few[SPARSE_TAIL_MIN], *many = NULL;
    size_t cap = 0, left = vector->n_packed, at = vector->n_packed + n_tail;
    if (n_tail > SPARSE_TAIL_MIN)
        vec_grow((void **)&many, &cap, n_tail, sizeof *many);
    struct term *tail = many ? many : few;
    memcpy(tail, vector->at + vector->n_packed, n_tail * sizeof *tail);
    while (n_tail) {
        bool is_tail = !left || tail[n_tail - 1].key > vector->at[left - 1].key;
        vector->at[--at] = is_tail ? tail[--n_tail] : vector->at[--left];
    }
    vec_free(many);
}

/* A sorted tail, each key once, comes to what is packed. */
static void tail_join(struct sparse *vector, size_t n_tail)
{
    size_t n_new = tail_fold(vector, n_tail);
    vector->n = vector->n_packed + n_new;
    if (n_new)
        tail_merge(vector, n_new);
    bool has_zero = false;
    for (size_t i = 0; i < vector->n && !has_zero; i++)
        has_zero = vector->at[i].ns == 0;
    if (has_zero)
        vector->n = terms_combine(vector->at, vector->n);
}

void sparse_pack_tail(struct sparse *vector)
{
    struct term *tail = vector->at + vector->n_packed;
    terms_sort(tail, vector->n - vector->n_packed);
    size_t n_tail = terms_combine(tail, vector->n - vector->n_packed);
    if (vector->n_packed)
        tail_join(vector, n_tail);
    else
        vector->n = n_tail;
    vector->n_packed = vector->n;
}

void sparse_append(struct sparse *vector, uint64_t key, double ns)
{
    *vec_push(vector) = (struct term){.key = key, .ns = ns};
    if (vector->n - vector->n_packed > SPARSE_TAIL_MIN && vector->n > 2 * vector->n_packed)
        sparse_pack(vector);
}

void sparse_add_all(struct sparse *vector, const struct sparse *other, double factor)
{
    for (size_t i = 0; i < other->n; i++)
        sparse_add(vector, other->at[i].key, factor * other->at[i].ns);
}

void sparse_absorb(struct sparse *vector, struct sparse *other)
{
    if (!other->n)
        return;
    if (other->n > vector->n) {
        struct sparse larger = *other;
        *other = *vector;
        *vector = larger;
    }
    sparse_add_all(vector, other, 1);
    sparse_clear(other);
}

size_t sparse_find(const struct sparse *vector, uint64_t key)
{
    size_t low = 0;
    bisect(low, vector->n_packed, vector->at[low].key < key);
    return low;
}

double sparse_get(const struct sparse *vector, uint64_t key)
{
    size_t at = sparse_find(vector, key);
    return at < vector->n_packed && vector->at[at].key == key ? vector->at[at].ns : 0;
}

double sparse_sum(const struct sparse *vector)
{
    double sum = 0;
    for (size_t i = 0; i < vector->n; i++)
        sum += vector->at[i].ns;
    return sum;
}

void sparse_release(struct sparse *vector)
{
    vec_release(vector);
    vector->n_packed = 0;
}

void sparse_settle(struct sparse *vector, struct arena *arena)
{
    sparse_pack(vector);
    struct sparse settled = {.n = vector->n, .cap = vector->n, .n_packed = vector->n};
    if (vector->n)
        settled.at = arena_copy(arena, vector->at, vector->n * sizeof *vector->at);
    sparse_release(vector);
    *vector = settled;
}

/* The place of the line, or for it. */
static uint32_t *sums_place(const struct sums *sums, uint64_t key)
{
    size_t mask = sums->places.n - 1, at = hash_u64(key) & mask;
    while (sums->places.at[at] && sums->lines.at[sums->places.at[at] - 1].key != key)
        at = (at + 1) & mask;
    return &sums->places.at[at];
}

static struct sums_line *sums_make(struct sums *sums, uint64_t key)
{
    enum { FEW = 8, PLACES_A_LINE = 4 };
    struct sums_line *line = vec_push(&sums->lines);
    line->key = key;
    sums->last = sums->lines.n - 1;
    if (sums->lines.n > FEW && PLACES_A_LINE * sums->lines.n > sums->places.n) {
        size_t n = sums->places.n ? 2 * sums->places.n : 2 * PLACES_A_LINE * FEW;
        sums->places.n = 0;
        vec_resize(&sums->places, n);
        for (size_t i = 0; i < sums->lines.n; i++)
            *sums_place(sums, sums->lines.at[i].key) = (uint32_t)i + 1;
    } else if (sums->places.n) {
        *sums_place(sums, key) = (uint32_t)sums->lines.n;
    }
    return line;
}

struct sums_line *sums_find(struct sums *sums, uint64_t key)
{
    if (sums->places.n) {
        uint32_t place = *sums_place(sums, key);
        if (!place)
            return sums_make(sums, key);
        sums->last = place - 1;
        return &sums->lines.at[place - 1];
    }
    for (size_t i = 0; i < sums->lines.n; i++)
        if (sums->lines.at[i].key == key) {
            sums->last = i;
            return &sums->lines.at[i];
        }
    return sums_make(sums, key);
}

/* Of many lines most are not in the cache: first a term's place comes there, then its line. */
static inline void sums_fetch(const struct sums *sums, const struct sparse *vector, size_t i)
{
    enum { AHEAD = 8 };
    size_t mask = sums->places.n - 1;
    if (i + 2 * AHEAD < vector->n)
        __builtin_prefetch(&sums->places.at[hash_u64(vector->at[i + 2 * AHEAD].key / SUMS_LINE) & mask]);
    uint32_t place =
        i + AHEAD < vector->n ? sums->places.at[hash_u64(vector->at[i + AHEAD].key / SUMS_LINE) & mask] : 0;
    if (place)
        memory_fetch(&sums->lines.at[place - 1], sizeof *sums->lines.at);
}

void sums_add_all(struct sums *sums, const struct sparse *vector)
{
    enum { MANY = 1 << 12 };
    bool fetches = sums->lines.n > MANY;
    for (size_t i = 0; i < vector->n; i++) {
        if (fetches)
            sums_fetch(sums, vector, i);
        sums_add(sums, vector->at[i].key, vector->at[i].ns);
    }
}

void sums_take(struct sums *sums, struct sparse *out)
{
    sparse_clear(out);
    for (size_t i = 0; i < sums->lines.n; i++) {
        const struct sums_line *line = &sums->lines.at[i];
        for (uint32_t at = 0; at < SUMS_LINE; at++)
            sparse_push(out, line->key * SUMS_LINE + at, line->ns[at]);
    }
    sums_release(sums);
    sparse_pack(out);
}

void sums_release(struct sums *sums)
{
    vec_release(&sums->places);
    vec_release(&sums->lines);
    sums->last = 0;
}

/* The table for dense keys. */

void tally_grow(struct tally *tally, uint32_t key)
{
    size_t n_words = 2 * (size_t)key / TALLY_WORD + 1;
    vec_resize(&tally->bits, n_words);
    vec_resize(&tally->ns, n_words * TALLY_WORD);
}

void tally_take(struct tally *tally, struct sparse *out)
{
    for (size_t word = 0; word < tally->bits.n; word++)
        for (uint64_t bits = tally->bits.at[word]; bits; bits &= bits - 1) {
            size_t key = word * TALLY_WORD + (size_t)__builtin_ctzll(bits);
            if (tally->ns.at[key] != 0)
                *vec_push(out) = (struct term){.key = key, .ns = tally->ns.at[key]};
            tally->ns.at[key] = 0;
        }
    for (size_t word = 0; word < tally->bits.n; word++)
        tally->bits.at[word] = 0;
    out->n_packed = out->n;
}

void tally_release(struct tally *tally)
{
    vec_release(&tally->ns);
    vec_release(&tally->bits);
}
