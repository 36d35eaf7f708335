/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sections' bytes into structs. Every count and offset is checked against the record's size before it is used. The
 * file may be damaged, or made by somebody else.
 */
#include "analyze/counts/table.h"
#include "wrap/base/keys.h"
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 1 << 24 }; /* counters of one thread: 128 MB */

struct reader {
    struct counts *counts;
    const char *strings;
    size_t strings_bytes;
    struct points_offsets offsets;
};

/* The parts of one record. */
struct record {
    struct points_function head;
    const struct points_edge *edges;
    const struct points_address *addresses;
    const struct points_line *lines;
    const struct points_alloc *allocs;
    struct points_calls calls; /* and its sites; zero = none */
    const struct points_site *sites;
};

static size_t round_up(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

/* What a record of this version has behind its allocation points. */
static bool split_calls(const unsigned char *at, size_t calls, struct record *record)
{
    size_t sites = calls + sizeof record->calls;
    record->calls = (struct points_calls){0};
    if (!(record->head.flags & (POINTS_F_CALLED | POINTS_F_CALLS)))
        return true;
    if (sites > record->head.size_bytes)
        return false;
    memcpy(&record->calls, at + calls, sizeof record->calls);
    record->sites = (const void *)(at + sites);
    return sites + (size_t)record->calls.n_sites * sizeof *record->sites <= record->head.size_bytes;
}

static bool split_record(const unsigned char *at, struct record *record)
{
    const struct points_function *head = &record->head;
    size_t edges = sizeof *head, addresses = round_up(edges + (size_t)head->n_edges * sizeof *record->edges);
    size_t lines = addresses + (size_t)head->n_addresses * sizeof *record->addresses;
    size_t allocs = lines + (size_t)head->n_lines * sizeof *record->lines;
    size_t end = allocs + (size_t)head->n_allocs * sizeof *record->allocs;
    if (end > head->size_bytes)
        return false;
    record->edges = (const void *)(at + edges);
    record->addresses = (const void *)(at + addresses);
    record->lines = (const void *)(at + lines);
    record->allocs = (const void *)(at + allocs);
    return split_calls(at, round_up(end), record);
}

/* Sites lie in blocks, and their counters among those of the edges. */
static bool has_sound_sites(const struct record *record)
{
    const struct points_function *head = &record->head;
    if (record->calls.n_sites && head->flags & POINTS_F_EVERY_BLOCK)
        return false;
    for (uint32_t i = 0; i < record->calls.n_sites; i++)
        if (record->sites[i].block >= head->n_blocks ||
            (record->sites[i].counter != POINTS_NONE && record->sites[i].counter >= head->n_counters - head->n_allocs))
            return false;
    return true;
}

/* Edges within the graph, counters within the function, lines in the order of their blocks. The allocation points'
 * counters are the function's last ones, in order. */
static bool is_sound(const struct record *record)
{
    const struct points_function *head = &record->head;
    bool is_every_block = head->flags & POINTS_F_EVERY_BLOCK;
    if (head->n_blocks < 2 || head->n_blocks > head->size_bytes || head->n_allocs > head->n_counters ||
        (is_every_block && head->n_counters + 2 < head->n_blocks))
        return false;
    for (uint32_t e = 0; e < head->n_edges; e++)
        if (record->edges[e].from >= head->n_blocks || record->edges[e].to >= head->n_blocks ||
            (record->edges[e].counter >= head->n_counters && record->edges[e].counter != POINTS_NONE))
            return false;
    for (uint32_t i = 0; i < head->n_addresses; i++)
        if (record->addresses[i].block >= head->n_blocks)
            return false;
    for (uint32_t i = 0; i < head->n_lines; i++)
        if (record->lines[i].block >= head->n_blocks || (i && record->lines[i].block < record->lines[i - 1].block))
            return false;
    for (uint32_t i = 0; i < head->n_allocs; i++)
        if (record->allocs[i].block >= head->n_blocks ||
            record->allocs[i].counter != head->n_counters - head->n_allocs + i)
            return false;
    return has_sound_sites(record);
}

static const char *string_at(const struct reader *reader, uint32_t offset)
{
    if (offset >= reader->strings_bytes || !memchr(reader->strings + offset, 0, reader->strings_bytes - offset))
        return "";
    return reader->strings + offset;
}

static void read_lines(const struct reader *reader, struct counts_function *function, const struct record *record)
{
    struct counts_line *lines = arena_array(&reader->counts->arena, struct counts_line, record->head.n_lines);
    for (uint32_t i = 0; i < record->head.n_lines; i++) {
        struct counts_block *block = &function->blocks[record->lines[i].block];
        lines[i] = (struct counts_line){string_at(reader, record->lines[i].file), record->lines[i].line,
                                        record->lines[i].copy};
        if (!block->n_lines++)
            block->lines = &lines[i];
    }
    for (uint32_t i = 0; i < record->head.n_allocs; i++)
        function->allocs[i] =
            (struct counts_alloc){.block = record->allocs[i].block,
                                  .at = {string_at(reader, record->allocs[i].file), record->allocs[i].line, 0},
                                  .callee = string_at(reader, record->allocs[i].callee),
                                  .asked = record->allocs[i].asked};
}

static void read_function(const struct reader *reader, const struct record *record)
{
    struct counts *counts = reader->counts;
    const struct points_function *head = &record->head;
    counts->functions[counts->n_functions++] = (struct counts_function){
        .name = string_at(reader, head->name),
        .source_name = string_at(reader, head->source_name),
        .file = string_at(reader, head->file),
        .line = head->line,
        .address = head->address,
        .flags = head->flags,
        .checksum = head->checksum,
        .dispatcher = head->dispatcher,
        .first_point = points_first(head, &reader->offsets),
        .n_counters = head->n_counters,
        .blocks = arena_array(&counts->arena, struct counts_block, head->n_blocks),
        .n_blocks = head->n_blocks,
        .allocs = arena_array(&counts->arena, struct counts_alloc, head->n_allocs),
        .n_allocs = head->n_allocs,
        .edges = record->edges,
        .addresses = record->addresses,
        .n_addresses = head->n_addresses,
        .calls = record->calls,
        .sites = record->sites,
    };
    struct counts_function *function = &counts->functions[counts->n_functions - 1];
    cfg_init(&function->cfg, record->head.n_blocks, 0);
    for (uint32_t e = 0; e < record->head.n_edges; e++)
        cfg_add_edge(&function->cfg, record->edges[e].from, record->edges[e].to);
    cfg_finish(&function->cfg);
    function->loops = cfg_find_loops(&function->cfg);
    for (uint32_t b = 0; b < function->n_blocks; b++)
        function->blocks[b].loop = function->loops.innermost[b];
    read_lines(reader, function, record);
    uint64_t end = (uint64_t)function->first_point + function->n_counters;
    if (end > counts->n_points)
        counts->n_points = (uint32_t)end;
}

/* Calls read(record) for every sound record. */
static uint32_t each_record(const struct reader *reader, const unsigned char *points, size_t bytes,
                            void read(const struct reader *reader, const struct record *record))
{
    uint32_t n = 0;
    for (size_t at = 0; at + sizeof(struct points_function) <= bytes;) {
        struct record record;
        memcpy(&record.head, points + at, sizeof record.head);
        if (record.head.magic == 0) {
            at += 8;
            continue;
        }
        if (record.head.magic != POINTS_MAGIC || !points_version_is_known(record.head.version) ||
            record.head.size_bytes < sizeof record.head || record.head.size_bytes > bytes - at)
            break;
        if (split_record(points + at, &record) && is_sound(&record) &&
            (uint64_t)points_first(&record.head, &reader->offsets) + record.head.n_counters < MOST_POINTS) {
            n++;
            if (read)
                read(reader, &record);
        }
        at += round_up(record.head.size_bytes);
    }
    return n;
}

static int compare_functions(const void *left, const void *right)
{
    const struct counts_function *a = left, *b = right;
    /* A function without counters shares its first point with its successor, and goes first. */
    int order = order_of(a->first_point, b->first_point) ?: order_of(a->n_counters, b->n_counters);
    return order ?: order_of(a->address, b->address);
}

static int compare_returns(const void *left, const void *right)
{
    const struct counts_return *a = left, *b = right;
    return order_of(a->address, b->address) ?: order_of(a->function, b->function);
}

/* A function that its callers count, by which sites name it. */
struct called {
    struct points_calls key;
    uint32_t function;
};

static int compare_called(const void *left, const void *right)
{
    const struct called *a = left, *b = right;
    return order_of(a->key.unit, b->key.unit) ?: order_of(a->key.function, b->key.function);
}

static uint32_t find_called(const struct called *called, size_t n, uint64_t unit, uint32_t callee)
{
    const struct called key = {{unit, callee, 0}, 0};
    const struct called *found = n ? bsearch(&key, called, n, sizeof *called, compare_called) : NULL;
    return found ? found->function : CFG_NONE;
}

/* Returns how many sites name each function, in scratch. */
static uint32_t *link_sites(struct counts *counts, struct arena *scratch)
{
    struct called *called = arena_array(scratch, struct called, counts->n_functions);
    uint32_t *n_named = arena_array(scratch, uint32_t, counts->n_functions), n = 0;
    for (uint32_t f = 0; f < counts->n_functions; f++)
        if (counts->functions[f].flags & POINTS_F_CALLED)
            called[n++] = (struct called){counts->functions[f].calls, f};
    items_sort(called, n, sizeof *called, compare_called);
    for (uint32_t f = 0; f < counts->n_functions; f++) {
        struct counts_function *function = &counts->functions[f];
        uint32_t *callees = arena_array(&counts->arena, uint32_t, function->calls.n_sites);
        for (uint32_t i = 0; i < function->calls.n_sites; i++) {
            callees[i] = find_called(called, n, function->calls.unit, function->sites[i].callee);
            if (callees[i] != CFG_NONE)
                n_named[callees[i]]++;
        }
        function->callees = callees;
    }
    return n_named;
}

/* Kahn's algorithm. A function on a circle, which only a damaged table has, gets no place, and loses its sites. */
static void rank_functions(struct counts *counts, struct arena *scratch, uint32_t *n_named)
{
    uint32_t *by_rank = arena_array(scratch, uint32_t, counts->n_functions), n = 0;
    for (uint32_t f = 0; f < counts->n_functions; f++) {
        counts->rank[f] = CFG_NONE;
        if (!n_named[f])
            by_rank[n++] = f;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct counts_function *function = &counts->functions[by_rank[i]];
        counts->rank[by_rank[i]] = i;
        for (uint32_t k = 0; k < function->calls.n_sites; k++)
            if (function->callees[k] != CFG_NONE && !--n_named[function->callees[k]])
                by_rank[n++] = function->callees[k];
    }
    for (uint32_t f = 0; f < counts->n_functions; f++)
        if (counts->rank[f] == CFG_NONE) {
            counts->functions[f].calls.n_sites = 0;
            counts->rank[f] = n++;
        }
}

struct order {
    uint32_t first_point, n_counters, function;
};

static int compare_orders(const void *left, const void *right)
{
    const struct order *a = left, *b = right;
    int order = order_of(a->first_point, b->first_point) ?: order_of(a->n_counters, b->n_counters);
    return order ?: order_of(a->function, b->function);
}

static void order_points(struct counts *counts, struct arena *scratch)
{
    struct order *order = arena_array(scratch, struct order, counts->n_functions);
    for (uint32_t f = 0; f < counts->n_functions; f++)
        order[f] = (struct order){counts->functions[f].first_point, counts->functions[f].n_counters, f};
    items_sort(order, counts->n_functions, sizeof *order, compare_orders);
    for (uint32_t f = 0; f < counts->n_functions; f++)
        counts->by_point[f] = order[f].function;
}

void table_link(struct counts *counts)
{
    struct arena scratch = {0};
    counts->by_point = arena_array(&counts->arena, uint32_t, counts->n_functions);
    counts->rank = arena_array(&counts->arena, uint32_t, counts->n_functions);
    rank_functions(counts, &scratch, link_sites(counts, &scratch));
    order_points(counts, &scratch);
    arena_release(&scratch);
}

void table_read(struct counts *counts, const unsigned char *points, size_t points_bytes, const char *strings,
                size_t strings_bytes, struct points_offsets offsets)
{
    struct reader reader = {counts, strings, strings_bytes, offsets};
    uint32_t n = each_record(&reader, points, points_bytes, NULL);
    counts->functions = arena_array(&counts->arena, struct counts_function, n);
    each_record(&reader, points, points_bytes, read_function);
    qsort(counts->functions, n, sizeof *counts->functions, compare_functions);
    counts->n_shown = n;
    table_link(counts);
    size_t n_addresses = 0;
    for (uint32_t f = 0; f < n; f++)
        n_addresses += counts->functions[f].n_addresses;
    counts->returns = arena_array(&counts->arena, struct counts_return, n_addresses);
    for (uint32_t f = 0; f < n; f++) {
        const struct counts_function *function = &counts->functions[f];
        for (uint32_t i = 0; i < function->n_addresses; i++) {
            const struct points_address *at = &function->addresses[i];
            if (at->what == POINTS_RETURN || at->what == POINTS_LEFT)
                counts->returns[counts->n_returns++] =
                    (struct counts_return){at->address, f, at->block, at->what == POINTS_LEFT};
        }
    }
    qsort(counts->returns, counts->n_returns, sizeof *counts->returns, compare_returns);
}

/* The functions move together, the places that calls return to follow them. */
