/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/history.h"
#include "analyze/trace/trace.h"
#include "wrap/base/err.h"

/* The tree. */

static struct chain_node *node_make(struct chain *chain)
{
    struct chain_node *node = chain->spare;
    if (node)
        chain->spare = node->parent;
    else {
        node = arena_new(&chain->arena, struct chain_node);
        node->made_before = chain->made;
        chain->made = node;
    }
    /* A spare node keeps the room of its vectors. */
    node->parent = node->child = node->next = node->previous = NULL;
    node->order = ++chain->n_made;
    node->noise_ns2 = 0;
    node->time_ns = node->longest_ns = 0;
    node->holds = 1;
    chain->n_live++;
    return node;
}

static void node_spare(struct chain *chain, struct chain_node *node)
{
    enum { ROOM_KEPT = 64 };
    struct sparse *vectors[] = {&node->terms, &node->counts};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        if (!vectors[i]->n)
            continue;
        sparse_clear(vectors[i]);
        if (vectors[i]->cap > ROOM_KEPT)
            sparse_release(vectors[i]);
    }
    node->parent = chain->spare;
    chain->spare = node;
    chain->n_live--;
}

static void node_link(struct chain_node *node, struct chain_node *parent)
{
    node->parent = parent;
    node->next = parent->child;
    node->previous = NULL;
    if (parent->child)
        parent->child->previous = node;
    parent->child = node;
}

static void node_unlink(struct chain_node *node)
{
    if (node->previous)
        node->previous->next = node->next;
    else
        node->parent->child = node->next;
    if (node->next)
        node->next->previous = node->previous;
}

struct chain_node *chain_begin(struct chain *chain, uint64_t time_ns)
{
    struct chain_node *node = node_make(chain);
    node->time_ns = time_ns;
    return node;
}

struct chain_node *chain_extend(struct chain *chain, struct chain_node *parent, uint64_t time_ns, struct sparse *terms,
                                double noise_ns2)
{
    struct chain_node *node = node_make(chain);
    struct sparse empty = node->terms;
    node->terms = *terms;
    *terms = empty;
    node->time_ns = time_ns;
    node->noise_ns2 = noise_ns2;
    node_link(node, parent);
    return node;
}

/* The node's only child takes over its terms and its place. The origin stays: it is where all times begin. */
static void node_merge(struct chain *chain, struct chain_node *node)
{
    struct chain_node *child = node->child;
    sparse_absorb(&child->terms, &node->terms);
    sparse_absorb(&child->counts, &node->counts);
    child->noise_ns2 += node->noise_ns2;
    if (node->longest_ns > child->longest_ns)
        child->longest_ns = node->longest_ns;
    node_unlink(node);
    node_link(child, node->parent);
    node_spare(chain, node);
}

void chain_drop(struct chain *chain, struct chain_node *node)
{
    if (!node)
        return;
    node->holds--;
    while (node->parent && !node->holds && !node->child) {
        struct chain_node *parent = node->parent;
        node_unlink(node);
        node_spare(chain, node);
        node = parent;
    }
    if (node->parent && !node->holds && !node->child->next)
        node_merge(chain, node);
}

struct chain_node *chain_common(struct chain_node *a, struct chain_node *b)
{
    while (a != b) {
        struct chain_node **later = a->order > b->order ? &a : &b;
        __builtin_prefetch(a->parent); /* of one of them at once, of the other one later */
        __builtin_prefetch(b->parent);
        __builtin_prefetch((*later)->terms.at); /* who asks for it goes through both paths next */
        *later = (*later)->parent;
    }
    return a;
}

void chain_release(struct chain *chain)
{
    for (struct chain_node *node = chain->made; node; node = node->made_before) {
        sparse_release(&node->terms);
        sparse_release(&node->counts);
    }
    arena_release(&chain->arena);
    *chain = (struct chain){0};
}

/* The replay's messages, as records. */

/* Some hundred calls, and of many locations a few of each; terms of one record. */
enum { BLOCK_LEAST = 1 << 16, BLOCK_A_LANE = 1 << 13, BLOCK_MOST = 1 << 22, MOST_TERMS = 1024 };

/* A record begins so; what is `at`, and what follows, depends on its kind. */
struct record {
    uint16_t kind, to;
    uint32_t at;
};

enum record_kind {
    RECORD_TERM,    /* at: location; a term */
    RECORD_TERMS,   /* at: location; a count, then so many terms */
    RECORD_NOISE,   /* at: location; a variance */
    RECORD_NODE,    /* at: location */
    RECORD_NO_NODE, /* one that was taken back */
    RECORD_GO_ON,   /* at: location; so far, what belongs to one */
    RECORD_RELEASE, /* at: a node that the replay asks for no more */
    RECORD_WAIT,    /* at: occurrence */
    RECORD_CLOSE,   /* at: occurrence */
};

struct record_term {
    struct record record;
    struct term term;
};

struct record_terms {
    struct record record;
    uint64_t n;
    struct term terms[];
};

struct record_noise {
    struct record record;
    double noise_ns2;
};

struct record_node {
    struct record record;
    uint64_t time_ns;
    uint64_t node;
};

struct record_go_on {
    struct record record;
    uint64_t node;
};

struct record_wait {
    struct record record;
    struct wait wait;
    uint32_t begin, late; /* nodes */
};
_Static_assert(sizeof(struct record_wait) % 8 == 0, "records are multiples of 8 bytes");

/* Taking them. */

static void past_add(struct past *past, int to, const struct term *terms, uint64_t n)
{
    bool is_counts = to & TO_COUNTS;
    struct sparse *open = to & TO_SEGMENT ? is_counts ? &past->open_counts : &past->open : NULL;
    struct sums *sums = to & TO_SUMS ? is_counts ? &past->counts : &past->atoms : NULL;
    for (uint64_t i = 0; i < n; i++) {
        if (open)
            sparse_add(open, terms[i].key, terms[i].ns);
        if (sums)
            sums_add(sums, terms[i].key, terms[i].ns);
    }
}

static void past_move(struct history *history, struct past *past, struct chain_node *tip)
{
    struct chain_node *before = past->tip;
    tip->holds++;
    past->tip = tip;
    past->since_ns = tip->time_ns;
    past->longest_ns = 0;
    past->open_noise_ns2 = 0;
    chain_drop(&history->chain, before);
}

static void past_end_segment(struct past *past, uint64_t time_ns)
{
    uint64_t length_ns = time_ns > past->since_ns ? time_ns - past->since_ns : 0;
    past->longest_ns = length_ns > past->longest_ns ? length_ns : past->longest_ns;
    past->since_ns = time_ns;
}

static void take_node(struct history *history, struct past *past, const struct record_node *record)
{
    past_end_segment(past, record->time_ns);
    struct chain_node *node =
        chain_extend(&history->chain, past->tip, record->time_ns, &past->open, past->open_noise_ns2);
    sparse_absorb(&node->counts, &past->open_counts);
    node->longest_ns = past->longest_ns;
    past_move(history, past, node);
    if (record->node >= history->nodes.n)
        vec_resize(&history->nodes, record->node + 1);
    history->nodes.at[record->node] = node;
}

static void take_wait(struct history *history, const struct record_wait *record)
{
    struct chain_node *const *nodes = history->nodes.at;
    uint32_t at = record->record.at;
    if (at > history->occurrence.n)
        vec_resize(&history->occurrence, at);
    history->sink.add(history->sink.context, at ? &history->occurrence.at[at - 1] : NULL, &record->wait,
                      nodes[record->begin], nodes[record->late]);
}

static size_t record_bytes(const void *at)
{
    switch ((enum record_kind)((const struct record *)at)->kind) {
    case RECORD_TERM:
        return sizeof(struct record_term);
    case RECORD_TERMS:
        return sizeof(struct record_terms) + ((const struct record_terms *)at)->n * sizeof(struct term);
    case RECORD_NOISE:
        return sizeof(struct record_noise);
    case RECORD_NODE:
    case RECORD_NO_NODE:
        return sizeof(struct record_node);
    case RECORD_GO_ON:
        return sizeof(struct record_go_on);
    case RECORD_WAIT:
        return sizeof(struct record_wait);
    case RECORD_RELEASE:
    case RECORD_CLOSE:
        return sizeof(struct record);
    }
    bug("a record of an unknown kind");
}

/* Of the location that the record belongs to; NULL: it belongs to none. */
static struct past *past_of(const struct history *history, const struct record *record)
{
    return record->kind <= RECORD_GO_ON ? &history->pasts[record->at] : NULL;
}

static void take(struct history *history, const void *at)
{
    const struct record *record = at;
    const struct record_terms *terms = at;
    struct past *past = past_of(history, record);
    switch ((enum record_kind)record->kind) {
    case RECORD_TERM:
        past_add(past, record->to, &((const struct record_term *)at)->term, 1);
        break;
    case RECORD_TERMS:
        past_add(past, record->to, terms->terms, terms->n);
        break;
    case RECORD_NOISE:
        past->open_noise_ns2 += ((const struct record_noise *)at)->noise_ns2;
        break;
    case RECORD_NODE:
        take_node(history, past, at);
        break;
    case RECORD_NO_NODE:
        past_end_segment(past, ((const struct record_node *)at)->time_ns);
        break;
    case RECORD_GO_ON:
        past_move(history, past, history->nodes.at[((const struct record_go_on *)at)->node]);
        sparse_clear(&past->open);
        sparse_clear(&past->open_counts);
        break;
    case RECORD_RELEASE:
        chain_drop(&history->chain, history->nodes.at[record->at]);
        break;
    case RECORD_WAIT:
        take_wait(history, at);
        break;
    case RECORD_CLOSE:
        history->sink.close(history->sink.context, &history->occurrence.at[record->at - 1]);
        break;
    }
}

/* A record's data is in the cache when its turn comes. */
static void fetch(const struct history *history, const void *at)
{
    const struct record *record = at;
    const struct past *past = past_of(history, record);
    bool is_release = record->kind == RECORD_RELEASE && record->at < history->nodes.n;
    const struct chain_node *node = is_release ? history->nodes.at[record->at] : NULL;
    if (past)
        memory_fetch(past, offsetof(struct past, counts));
    if (node)
        memory_fetch(node, offsetof(struct chain_node, counts));
}

static void take_block(struct history *history)
{
    enum { AHEAD = 4 };
    const char *at = history->block, *ahead = at, *end = at + history->n_used;
    bool fetches = history->n_lanes > FEW_LOCATIONS;
    for (int i = 0; fetches && i < AHEAD && ahead < end; i++)
        ahead += record_bytes(ahead);
    for (; at < end; at += record_bytes(at)) {
        if (fetches && ahead < end) {
            fetch(history, ahead);
            ahead += record_bytes(ahead);
        }
        take(history, at);
    }
    history->n_used = 0;
    history->n_blocks++;
}

/* In the replay. */

void history_begin(struct history *history, uint32_t n_lanes)
{
    size_t block = (size_t)n_lanes * BLOCK_A_LANE;
    *history = (struct history){.n_lanes = n_lanes};
    block = block < BLOCK_LEAST ? BLOCK_LEAST : block > BLOCK_MOST ? BLOCK_MOST : block;
    history->block_bytes = block;
    history->block = memory_lines(block, 1);
    history->pasts = memory_lines(n_lanes + 1, sizeof *history->pasts);
}

void history_release(struct history *history)
{
    vec_free(history->block);
    for (uint32_t i = 0; history->pasts && i <= history->n_lanes; i++) {
        struct past *past = &history->pasts[i];
        sparse_release(&past->open);
        sparse_release(&past->open_counts);
        sums_release(&past->atoms);
        sums_release(&past->counts);
    }
    vec_free(history->pasts);
    chain_release(&history->chain);
    vec_release(&history->nodes);
    vec_release(&history->occurrence);
    vec_release(&history->spare_occurrences);
    arena_release(&history->arena);
    *history = (struct history){0};
}

static struct mark *mark_make(struct history *history, uint64_t time_ns)
{
    struct mark *mark = history->spare;
    if (mark)
        history->spare = mark->spare;
    else {
        mark = arena_new(&history->arena, struct mark);
        mark->number = history->n_marks++;
    }
    mark->holds = 1;
    mark->time_ns = time_ns;
    mark->is_used = false;
    mark->record = NULL;
    return mark;
}

struct mark *history_origin(struct history *history, uint64_t time_ns)
{
    struct mark *mark = mark_make(history, time_ns);
    struct chain_node *node = chain_begin(&history->chain, time_ns);
    vec_resize(&history->nodes, mark->number + 1);
    history->nodes.at[mark->number] = node;
    for (uint32_t i = 0; i <= history->n_lanes; i++) {
        history->pasts[i].tip = node;
        history->pasts[i].since_ns = time_ns;
    }
    node->holds += history->n_lanes + 1;
    return mark;
}

void history_finish(struct history *history)
{
    take_block(history);
}

struct mark *mark_hold(struct mark *mark)
{
    mark->holds++;
    return mark;
}

static void *record_room(struct history *history, size_t n_bytes, enum record_kind kind, int to, uint32_t at)
{
    if (history->n_used + n_bytes > history->block_bytes)
        take_block(history);
    struct record *record = (struct record *)(void *)(history->block + history->n_used);
    history->n_used += n_bytes;
    *record = (struct record){(uint16_t)kind, (uint16_t)to, at};
    return record;
}

void mark_drop(struct history *history, struct mark *mark)
{
    if (!mark || --mark->holds)
        return;
    if (mark->record && mark->block == history->n_blocks && !mark->is_used)
        mark->record->record.kind = RECORD_NO_NODE;
    else
        record_room(history, sizeof(struct record), RECORD_RELEASE, 0, mark->number);
    mark->spare = history->spare;
    history->spare = mark;
}

void history_add_term(struct history *history, int to, uint32_t lane, uint64_t key, double ns)
{
    if (ns == 0)
        return;
    struct record_term *record = record_room(history, sizeof *record, RECORD_TERM, to, lane);
    record->term = (struct term){.key = key, .ns = ns};
}

void history_add(struct history *history, int to, uint32_t lane, const struct sparse *terms, double factor)
{
    for (size_t from = 0; from < terms->n; from += MOST_TERMS) {
        size_t n = terms->n - from < MOST_TERMS ? terms->n - from : MOST_TERMS;
        struct record_terms *record =
            record_room(history, sizeof *record + n * sizeof *record->terms, RECORD_TERMS, to, lane);
        record->n = n;
        for (size_t i = 0; i < n; i++)
            record->terms[i] = (struct term){terms->at[from + i].key, factor * terms->at[from + i].ns};
    }
}

void history_add_noise(struct history *history, uint32_t lane, double noise_ns2)
{
    if (noise_ns2 == 0)
        return;
    struct record_noise *record = record_room(history, sizeof *record, RECORD_NOISE, 0, lane);
    record->noise_ns2 = noise_ns2;
}

struct mark *history_node(struct history *history, uint32_t lane, uint64_t time_ns)
{
    struct mark *mark = mark_make(history, time_ns);
    struct record_node *record = record_room(history, sizeof *record, RECORD_NODE, 0, lane);
    record->time_ns = time_ns;
    record->node = mark->number;
    mark->record = record;
    mark->block = history->n_blocks;
    return mark;
}

void history_go_on_from(struct history *history, uint32_t lane, struct mark *mark)
{
    mark->is_used = true;
    struct record_go_on *record = record_room(history, sizeof *record, RECORD_GO_ON, 0, lane);
    record->node = mark->number;
}

uint32_t history_aside(const struct history *history)
{
    return history->n_lanes;
}

static uint32_t occurrence_make(struct history *history)
{
    return history->spare_occurrences.n ? history->spare_occurrences.at[--history->spare_occurrences.n]
                                        : ++history->n_occurrences;
}

void history_wait(struct history *history, uint32_t *occurrence, const struct wait *wait, struct mark *begin,
                  struct mark *late)
{
    begin->is_used = late->is_used = true;
    if (occurrence && !*occurrence)
        *occurrence = occurrence_make(history);
    struct record_wait *record = record_room(history, sizeof *record, RECORD_WAIT, 0, occurrence ? *occurrence : 0);
    record->wait = *wait;
    record->begin = begin->number;
    record->late = late->number;
}

void history_close(struct history *history, uint32_t *occurrence)
{
    if (!*occurrence)
        return;
    record_room(history, sizeof(struct record), RECORD_CLOSE, 0, *occurrence);
    *vec_push(&history->spare_occurrences) = *occurrence;
    *occurrence = 0;
}
