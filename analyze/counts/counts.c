/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening and closing: the two sections of the file, through libelf, whose bytes are kept with the table. Then what was
 * solved, summed up and listed by source line, condition and function.
 */
#include "analyze/counts/counts.h"
#include "analyze/counts/table.h"
#include "analyze/files/plain.h"
#include "wrap/base/err.h"
#include "wrap/only.h"
#include "wrap/base/keys.h"
#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bytes {
    const unsigned char *at;
    size_t n;
    uint64_t address;
};

/* A copy of the section's contents, ended by a zero byte. */
static struct bytes section(struct counts *counts, Elf *elf, const char *name)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return (struct bytes){0};
    for (Elf_Scn *each = NULL; (each = elf_nextscn(elf, each));) {
        GElf_Shdr header;
        if (!gelf_getshdr(each, &header) || header.sh_type == SHT_NOBITS)
            continue;
        const char *text = elf_strptr(elf, names, header.sh_name);
        if (!text || strcmp(text, name) != 0)
            continue;
        if (header.sh_flags & SHF_COMPRESSED)
            elf_compress(each, 0, 0);
        Elf_Data *data = elf_rawdata(each, NULL);
        if (!data || !data->d_buf)
            continue;
        unsigned char *copy = arena_alloc(&counts->arena, data->d_size + 1);
        memcpy(copy, data->d_buf, data->d_size);
        return (struct bytes){copy, data->d_size, header.sh_addr};
    }
    return (struct bytes){0};
}

int counts_open(const char *path, struct counts **opened)
{
    *opened = NULL;
    elf_version(EV_CURRENT);
    int fd = plain_open(path, 0);
    if (fd < 0)
        return error("cannot read %s: %s", path, strerror(errno));
    struct counts *counts = memory_new(1, sizeof *counts);
    elf_errno(); /* from here on, it is about this file */
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    struct bytes points = {0}, strings = {0}, offsets = {0};
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        points = section(counts, elf, POINTS_SECTION);
        strings = section(counts, elf, POINTS_STRINGS);
        offsets = section(counts, elf, POINTS_OFFSETS);
    }
    int why = elf_errno();
    elf_end(elf);
    close(fd);
    if (why) {
        counts_close(counts);
        return error("cannot read the counters of %s: %s", path, elf_errmsg(why));
    }
    if (points.n)
        table_read(counts, points.at, points.n, (const char *)strings.at, strings.n,
                   (struct points_offsets){offsets.at, offsets.address, offsets.n});
    if (counts->n_functions)
        *opened = counts;
    else
        counts_close(counts);
    return 0;
}

void counts_close(struct counts *counts)
{
    if (!counts)
        return;
    for (uint32_t f = 0; f < counts->n_functions; f++)
        cfg_release(&counts->functions[f].cfg);
    arena_release(&counts->arena);
    free(counts);
}

/* Moves the functions that a list of patterns chooses to the front. Returns how many. now[f]: where f is then. */
static uint32_t move_chosen(struct counts *counts, const char *only, uint32_t *now)
{
    struct counts_function *all = arena_copy(&counts->arena, counts->functions, counts->n_functions * sizeof *all);
    uint32_t n = 0, n_chosen = 0;
    for (uint32_t f = 0; f < counts->n_functions; f++)
        if (only_choose(only, all[f].name, all[f].source_name, all[f].file))
            now[f] = n_chosen++;
        else
            now[f] = CFG_NONE;
    n = n_chosen;
    for (uint32_t f = 0; f < counts->n_functions; f++) {
        now[f] = now[f] == CFG_NONE ? n++ : now[f];
        counts->functions[now[f]] = all[f];
    }
    return n_chosen;
}

/* Of the others those were recorded that count calls, if there is a chosen function of which calls are counted. */
static void drop_unneeded(struct counts *counts)
{
    bool needs_callers = false;
    for (uint32_t f = 0; f < counts->n_shown; f++)
        needs_callers |= (counts->functions[f].flags & POINTS_F_CALLED) != 0;
    for (uint32_t f = counts->n_shown; f < counts->n_functions; f++)
        if (!needs_callers || !(counts->functions[f].flags & POINTS_F_CALLS))
            counts->functions[f].n_counters = counts->functions[f].calls.n_sites = 0;
}

void counts_keep_only(struct counts *counts, const char *only)
{
    if (!only || !*only)
        return;
    uint32_t *now = arena_array(&counts->arena, uint32_t, counts->n_functions);
    counts->n_shown = move_chosen(counts, only, now);
    for (size_t i = 0; i < counts->n_returns; i++)
        counts->returns[i].function = now[counts->returns[i].function];
    drop_unneeded(counts);
    table_link(counts);
}

uint32_t counts_n_functions(const struct counts *counts)
{
    return counts->n_shown;
}

const struct counts_function *counts_function(const struct counts *counts, uint32_t function)
{
    return &counts->functions[function];
}

void counts_sum_init(struct counts_sum *sum, struct arena *arena, const struct counts *counts)
{
    size_t n = 0, n_edges = 0;
    *sum = (struct counts_sum){.counts = counts,
                               .first = arena_array(arena, size_t, counts_n_functions(counts)),
                               .first_edge = arena_array(arena, size_t, counts_n_functions(counts))};
    for (uint32_t f = 0; f < counts_n_functions(counts); f++) {
        sum->first[f] = n;
        sum->first_edge[f] = n_edges;
        n += counts_function(counts, f)->n_blocks;
        n_edges += counts_function(counts, f)->cfg.edges.n;
    }
    sum->executions = arena_array(arena, uint64_t, n);
    sum->taken = arena_array(arena, int64_t, n_edges);
}

void counts_sum_add(struct counts_sum *sum, const struct counts_result *result)
{
    for (size_t i = 0; i < result->rows.n; i++)
        sum->executions[sum->first[result->rows.at[i].function] + result->rows.at[i].block] +=
            result->rows.at[i].executions;
    for (size_t i = 0; i < result->flows.n; i++) {
        const struct counts_flow *flow = &result->flows.at[i];
        for (size_t e = 0; e < counts_function(sum->counts, flow->function)->cfg.edges.n; e++)
            sum->taken[sum->first_edge[flow->function] + e] += result->edge_counts.at[flow->first_edge + e];
    }
}

static int compare_places(const struct counts_line_count *a, const struct counts_line_count *b)
{
    int by_file = strcmp(a->file, b->file);
    return by_file ?: order_of(a->line, b->line);
}

static int compare_counts(const void *left, const void *right)
{
    const struct counts_line_count *a = left, *b = right;
    int by_place = compare_places(a, b);
    if (by_place)
        return by_place;
    return order_of(a->number, b->number) ?: order_of(a->copy, b->copy) ?: order_of(b->executions, a->executions);
}

static struct counts_line_count line_of_block(const struct counts_sum *sum, uint32_t f, uint32_t block,
                                              struct counts_line at)
{
    return (struct counts_line_count){.file = at.file,
                                      .function = counts_function(sum->counts, f)->name,
                                      .line = at.line,
                                      .number = f,
                                      .copy = at.copy,
                                      .loop = counts_function(sum->counts, f)->blocks[block].loop,
                                      .executions = sum->executions[sum->first[f] + block]};
}

/* The line of a function's head has its calls. */
static size_t list_blocks(const struct counts_sum *sum, struct counts_line_count *lines)
{
    enum { ROOT };
    size_t n = 0;
    for (uint32_t f = 0; f < counts_n_functions(sum->counts); f++) {
        const struct counts_function *function = counts_function(sum->counts, f);
        if (function->line && lines)
            lines[n] = line_of_block(sum, f, ROOT, (struct counts_line){function->file, function->line, 0});
        n += function->line != 0;
        for (uint32_t b = 0; b < function->n_blocks; b++)
            for (uint32_t i = 0; i < function->blocks[b].n_lines; i++, n++)
                if (lines)
                    lines[n] = line_of_block(sum, f, b, function->blocks[b].lines[i]);
    }
    return n;
}

static bool lies_in(const struct cfg_loops *loops, uint32_t loop, uint32_t outer)
{
    while (loop < loops->n && loop != outer)
        loop = loops->at[loop].parent;
    return loop == outer;
}

/* One execution of the line may run through both: they are of one function and inlining, and one's loop holds the
 * other. */
static bool are_of_one_copy(const struct counts_sum *sum, const struct counts_line_count *a,
                            const struct counts_line_count *b)
{
    const struct cfg_loops *loops = &counts_function(sum->counts, a->number)->loops;
    return a->number == b->number && a->copy == b->copy &&
           (lies_in(loops, a->loop, b->loop) || lies_in(loops, b->loop, a->loop));
}

/* Blocks of a line, of one function and inlining after the other, the most executed first: of each copy that one
 * counts. `first` are those that counted so far, and get this one too if it does. */
static bool add_copy(const struct counts_sum *sum, struct counts_line_count *first, size_t n_first,
                     const struct counts_line_count *block)
{
    for (size_t i = n_first; i-- > 0 && first[i].number == block->number && first[i].copy == block->copy;)
        if (are_of_one_copy(sum, &first[i], block))
            return false;
    first[n_first] = *block;
    return true;
}

size_t counts_lines(const struct counts_sum *sum, struct arena *arena, struct counts_line_count **lines)
{
    size_t n = list_blocks(sum, NULL);
    struct counts_line_count *blocks = arena_array(arena, struct counts_line_count, n);
    list_blocks(sum, blocks);
    items_sort(blocks, n, sizeof *blocks, compare_counts);
    *lines = arena_array(arena, struct counts_line_count, n);
    struct counts_line_count *first = arena_array(arena, struct counts_line_count, n); /* of the copies of a line */
    size_t n_lines = 0, n_first = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_new = !n_lines || compare_places(&blocks[i], &(*lines)[n_lines - 1]) != 0;
        n_first = is_new ? 0 : n_first;
        if (!add_copy(sum, first, n_first, &blocks[i]))
            continue;
        n_first++;
        if (is_new)
            (*lines)[n_lines++] = blocks[i];
        else
            (*lines)[n_lines - 1].executions += blocks[i].executions;
    }
    return n_lines;
}

static bool is_way(const struct counts_function *function, uint32_t edge)
{
    enum { EXIT = 1 };
    uint32_t to = function->cfg.edges.at[edge].to;
    return to != EXIT && to != function->dispatcher;
}

/* The ways behind the condition with which a block ends; returns how many. */
static size_t ways_of_block(const struct counts_sum *sum, uint32_t f, uint32_t block, struct counts_branch *ways)
{
    const struct counts_function *function = counts_function(sum->counts, f);
    const struct counts_block *at = &function->blocks[block];
    const struct cfg *cfg = &function->cfg;
    uint32_t n = 0, way = 0;
    for (uint32_t i = cfg->out_at[block]; i < cfg->out_at[block + 1]; i++)
        n += is_way(function, cfg->out[i]);
    if (n < 2 || !at->n_lines || function->flags & POINTS_F_EVERY_BLOCK)
        return 0;
    for (uint32_t i = cfg->out_at[block]; i < cfg->out_at[block + 1] && ways; i++) {
        if (!is_way(function, cfg->out[i]))
            continue;
        int64_t taken = sum->taken[sum->first_edge[f] + cfg->out[i]];
        ways[way] = (struct counts_branch){.file = at->lines[at->n_lines - 1].file,
                                           .line = at->lines[at->n_lines - 1].line,
                                           .number = f,
                                           .block = block,
                                           .way = way,
                                           .executions = sum->executions[sum->first[f] + block],
                                           .taken = taken > 0 ? (uint64_t)taken : 0};
        way++;
    }
    return n;
}

static int compare_branches(const void *left, const void *right)
{
    const struct counts_branch *a = left, *b = right;
    int by_file = strcmp(a->file, b->file);
    if (by_file)
        return by_file;
    int order = order_of(a->line, b->line) ?: order_of(a->number, b->number);
    return order ?: order_of(a->block, b->block) ?: order_of(a->way, b->way);
}

size_t counts_branches(const struct counts_sum *sum, struct arena *arena, struct counts_branch **branches)
{
    size_t n = 0;
    for (int is_filling = 0; is_filling < 2; is_filling++) {
        if (is_filling)
            *branches = arena_array(arena, struct counts_branch, n);
        n = 0;
        for (uint32_t f = 0; f < counts_n_functions(sum->counts); f++)
            for (uint32_t b = 0; b < counts_function(sum->counts, f)->n_blocks; b++)
                n += ways_of_block(sum, f, b, is_filling ? *branches + n : NULL);
    }
    items_sort(*branches, n, sizeof **branches, compare_branches);
    return n;
}

static int compare_heads(const void *left, const void *right)
{
    const struct counts_head *a = left, *b = right;
    int by_file = strcmp(a->file, b->file);
    if (by_file)
        return by_file;
    return order_of(a->line, b->line) ?: strcmp(a->name, b->name);
}

size_t counts_heads(const struct counts_sum *sum, struct arena *arena, struct counts_head **heads)
{
    size_t n = counts_n_functions(sum->counts);
    *heads = arena_array(arena, struct counts_head, n);
    for (uint32_t f = 0; f < n; f++) {
        const struct counts_function *function = counts_function(sum->counts, f);
        (*heads)[f] = (struct counts_head){.file = function->file,
                                           .name = function->name,
                                           .source_name = function->source_name,
                                           .line = function->line,
                                           .calls = sum->executions[sum->first[f]]};
    }
    items_sort(*heads, n, sizeof **heads, compare_heads);
    return n;
}
