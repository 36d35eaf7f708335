/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/profile/facts.h"
#include "analyze/counts/turns.h"
#include "analyze/result/names.h"
#include "wrap/base/containers.h"
#include <string.h>

struct traffic_key {
    uint32_t site, rank;
};

enum traffic_sum { TRAFFIC_CALLS, TRAFFIC_MESSAGES, TRAFFIC_BYTES, TRAFFIC_SUMS };

void traffic_feed(struct keyed_sums *traffic, const struct trace *trace, const struct lane *lane,
                  const struct event *event)
{
    bool is_call = event->kind == EV_ENTER && lane->depth == 1 && trace->regions[event->region].is_mpi,
         is_message = event->kind == EV_SEND || event->kind == EV_ISEND,
         is_sent = is_message || event->kind == EV_COLL_END || event->kind == EV_ICOLL_DONE || event->kind == EV_RMA;
    if ((!is_call && !is_sent) || !lane->depth || lane->is_off)
        return;
    /* The number of polls depends on when something comes. */
    enum ww_class class = trace->regions[lane->region].class;
    if (class == WW_TEST || class == WW_IPROBE)
        return;
    const struct traffic_key key = {lane->site, lane->rank};
    uint64_t *sums = keyed_sums_of(traffic, &key, sizeof key, TRAFFIC_SUMS);
    sums[TRAFFIC_CALLS] += is_call;
    sums[TRAFFIC_MESSAGES] += is_message;
    sums[TRAFFIC_BYTES] += is_sent ? event->bytes : 0;
}

/* Facts while they are gathered: rank by rank, so that each one's counts come in the order of ranks. */
struct gathered {
    struct fact fact;
    VEC(struct fact_count) counts;
    struct fact_count open; /* of the rank at hand; is_open */
    bool is_open;
};

struct gathering_facts {
    struct arena *arena;
    struct executions *executions;
    struct intern keys, texts; /* struct fact_key; of its file and routine */
    VEC(struct gathered) facts;
    uint32_t rank;
};

/* One fact, wherever the compiler has put its code. */
struct fact_key {
    uint32_t kind, file, routine; /* texts */
    uint32_t line_first, line_last, line_to, number;
};

/* From this rank on; equal ranks are told once. */
static void push_count(struct gathered *gathered, struct fact_count count)
{
    size_t n = gathered->counts.n;
    if (!n || gathered->counts.at[n - 1].n != count.n || gathered->counts.at[n - 1].of != count.of)
        *vec_push(&gathered->counts) = count;
}

/* Ends what a fact has of the ranks before `rank`, which is the next to be counted. */
static void gathered_close(struct gathered *gathered, uint32_t rank)
{
    uint32_t next = gathered->is_open ? gathered->open.rank + 1 : 0;
    if (gathered->is_open)
        push_count(gathered, gathered->open);
    if (next < rank)
        push_count(gathered, (struct fact_count){.rank = next});
    gathered->is_open = false;
}

static void add(struct gathering_facts *facts, const struct fact *fact, uint64_t n, uint64_t of)
{
    struct fact_key key = {.kind = fact->kind,
                           .file = intern_text(&facts->texts, fact->file ? fact->file : ""),
                           .routine = intern_text(&facts->texts, fact->routine ? fact->routine : ""),
                           .line_first = fact->line_first,
                           .line_last = fact->line_last,
                           .line_to = fact->line_to,
                           .number = fact->number};
    uint32_t id = intern_put(&facts->keys, &key, sizeof key);
    if (id == facts->facts.n) {
        /* The tables of counts, which own the texts, do not live as long as the result. */
        struct gathered *made = vec_push(&facts->facts);
        made->fact = *fact;
        made->fact.file = fact->file ? arena_strdup(facts->arena, fact->file) : NULL;
        made->fact.routine = fact->routine ? arena_strdup(facts->arena, fact->routine) : NULL;
    }
    struct gathered *gathered = &facts->facts.at[id];
    if (!gathered->is_open || gathered->open.rank != facts->rank) {
        gathered_close(gathered, facts->rank);
        gathered->open = (struct fact_count){.rank = facts->rank};
        gathered->is_open = true;
    }
    gathered->open.n += n;
    gathered->open.of += of;
    gathered->fact.sum += n;
    gathered->fact.sum_of += of;
}

/* All ways but the last of each condition, which follows from the others. Ways round a loop or out of it are its trips.
 */
static void add_ways(struct gathering_facts *facts, const struct counts_function *function, const int64_t *edges)
{
    const struct cfg *cfg = &function->cfg;
    for (uint32_t from = 0; from < function->n_blocks; from++) {
        const struct counts_block *block = &function->blocks[from];
        uint32_t first = cfg->out_at[from], end = cfg->out_at[from + 1], around = function->loops.innermost[from];
        bool is_decision = end - first >= 2 && block->n_lines && from != BLOCK_ROOT && from != function->dispatcher;
        uint64_t executions = 0;
        for (uint32_t i = first; i < end; i++) {
            uint32_t to = cfg->edges.at[cfg->out[i]].to;
            executions += (uint64_t)edges[cfg->out[i]];
            is_decision &= to != BLOCK_EXIT && to != function->dispatcher &&
                           !function->loops.order.is_retreating[cfg->out[i]] &&
                           (around == CFG_NONE || cfg_loop_contains(&function->loops, around, to));
        }
        for (uint32_t i = first; is_decision && executions && i + 1 < end; i++) {
            const struct counts_block *next = &function->blocks[cfg->edges.at[cfg->out[i]].to];
            const struct counts_line *at = &block->lines[block->n_lines - 1];
            add(facts,
                &(struct fact){.kind = FACT_WAY,
                               .file = at->file,
                               .routine = function->source_name,
                               .line_first = at->line,
                               .line_last = at->line,
                               .line_to = next->n_lines ? next->lines[0].line : 0,
                               .number = i - first,
                               .depth = around == CFG_NONE ? 0 : function->loops.at[around].depth},
                (uint64_t)edges[cfg->out[i]], executions);
        }
    }
}

static void visit_flow(void *context, uint32_t module, const struct counts_function *function, const int64_t *edges,
                       int64_t calls)
{
    struct gathering_facts *facts = context;
    for (uint32_t e = 0; e < function->cfg.edges.n; e++)
        if (edges[e] < 0)
            return; /* left by a way that is not in the graph */
    if (calls > 0)
        add(facts,
            &(struct fact){.kind = FACT_CALLS,
                           .file = function->file,
                           .routine = function->source_name,
                           .line_first = function->line,
                           .line_last = function->line},
            (uint64_t)calls, 0);
    const struct cfg *cfg = &function->cfg;
    struct arena scratch = {0};
    bool *asks = arena_array(&scratch, bool, function->n_blocks);
    for (uint32_t l = 0; l < function->loops.n; l++) {
        uint32_t head = function->loops.at[l].head;
        uint32_t place = executions_block_place(facts->executions, module, function, head);
        const struct code_place *at = place == CODE_NONE ? NULL : code_place(facts->executions->code, place);
        uint64_t times = 0, entries = 0;
        turns_find_asking(function, l, asks);
        for (uint32_t i = cfg->in_at[head]; i < cfg->in_at[head + 1]; i++) {
            uint64_t taken = (uint64_t)edges[cfg->in[i]];
            times += taken;
            entries += cfg_loop_contains(&function->loops, l, cfg->edges.at[cfg->in[i]].from) ? 0 : taken;
        }
        for (uint32_t i = 0; i < function->loops.at[l].n_exits; i++) {
            uint32_t exit = function->loops.at[l].exits[i];
            times -= asks[cfg->edges.at[exit].from] ? (uint64_t)edges[exit] : 0;
        }
        if (at && at->is_loop && times)
            add(facts,
                &(struct fact){.kind = FACT_TRIPS,
                               .file = at->file,
                               .routine = at->routine,
                               .line_first = at->line_first,
                               .line_last = at->line_last,
                               .depth = function->loops.at[l].depth - 1},
                times, entries);
    }
    add_ways(facts, function, edges);
    arena_release(&scratch);
}

/* A site is named once; sites of one line, with other callers, are one fact. */
static void add_traffic(struct gathering_facts *facts, struct sites *sites, const struct keyed_sums *traffic,
                        uint32_t n_ranks)
{
    struct arena scratch = {0};
    struct map named = {0}; /* site -> struct wait_site */
    uint32_t *first = arena_array(&scratch, uint32_t, n_ranks + 1),
             *next = arena_array(&scratch, uint32_t, traffic->keys.n + 1);
    for (uint32_t i = (uint32_t)traffic->keys.n; i-- > 0;) {
        uint32_t rank = ((const struct traffic_key *)traffic->keys.items[i].bytes)->rank;
        next[i] = rank < n_ranks ? first[rank] : 0;
        if (rank < n_ranks)
            first[rank] = i + 1;
    }
    for (facts->rank = 0; facts->rank < n_ranks; facts->rank++)
        for (uint32_t i = first[facts->rank]; i; i = next[i - 1]) {
            const uint64_t *sums = traffic->at.at + (size_t)(i - 1) * TRAFFIC_SUMS;
            uint32_t site =
                sites_innermost(sites, ((const struct traffic_key *)traffic->keys.items[i - 1].bytes)->site);
            uint64_t *slot = map_put(&named, site, NULL);
            if (!*slot) {
                struct wait_site *name = arena_new(facts->arena, struct wait_site);
                names_site(sites, facts->arena, site, name);
                *slot = (uintptr_t)name;
            }
            const struct wait_site *at = (const struct wait_site *)(uintptr_t)*slot;
            struct fact fact = {.kind = FACT_MPI_CALLS,
                                .file = at->file,
                                .routine = at->call,
                                .line_first = at->line,
                                .line_last = at->line};
            add(facts, &fact, sums[TRAFFIC_CALLS], 0);
            fact.kind = FACT_MESSAGES;
            if (sums[TRAFFIC_MESSAGES])
                add(facts, &fact, sums[TRAFFIC_MESSAGES], sums[TRAFFIC_CALLS]);
            fact.kind = FACT_SENT;
            if (sums[TRAFFIC_BYTES])
                add(facts, &fact, sums[TRAFFIC_BYTES], sums[TRAFFIC_CALLS]);
        }
    map_release(&named);
    arena_release(&scratch);
}

void facts_write(struct analysis *analysis, const struct measures *measures, struct executions *executions,
                 struct sites *sites, const struct keyed_sums *traffic)
{
    struct gathering_facts facts = {.arena = &analysis->arena, .executions = executions};
    const struct sparse *bins = &measures->bins;
    uint32_t n_ranks = analysis->trace->n_ranks;
    for (size_t i = 0, end; i < bins->n; i = end) {
        facts.rank = key_rank(bins->at[i].key);
        for (end = i; end < bins->n && key_rank(bins->at[end].key) == facts.rank;)
            end++;
        executions_each_flow(executions, &bins->at[i], end - i, visit_flow, &facts);
    }
    for (uint32_t i = 0; i < analysis->n_allocations; i++) {
        const struct allocation *at = &analysis->allocations[i];
        struct fact fact = {.kind = FACT_ALLOCATED,
                            .file = at->file,
                            .routine = at->routine,
                            .line_first = at->line,
                            .line_last = at->line};
        for (facts.rank = 0; facts.rank < analysis->trace->n_ranks; facts.rank++)
            if (at->rank_bytes[facts.rank])
                add(&facts, &fact, at->rank_bytes[facts.rank], 0);
    }
    add_traffic(&facts, sites, traffic, n_ranks);
    analysis->facts = arena_array(&analysis->arena, struct fact, facts.facts.n + 1);
    analysis->n_facts = (uint32_t)facts.facts.n;
    for (size_t i = 0; i < facts.facts.n; i++) {
        struct gathered *gathered = &facts.facts.at[i];
        gathered_close(gathered, n_ranks);
        gathered->fact.counts =
            arena_copy(&analysis->arena, gathered->counts.at, gathered->counts.n * sizeof *gathered->counts.at);
        gathered->fact.n_counts = (uint32_t)gathered->counts.n;
        analysis->facts[i] = gathered->fact;
        vec_release(&gathered->counts);
    }
    vec_release(&facts.facts);
    intern_release(&facts.keys);
    intern_release(&facts.texts);
}
