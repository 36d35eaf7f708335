/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/compare/match.h"
#include "analyze/constants/constants.h"
#include "analyze/compare/counterparts.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* For a name without lines of its own: the numbers behind ':', '+0x' and 'routine ' in it, the first and the last of
 * them. They are blanked. */
static void lines_of_name(char *name, uint32_t *first, uint32_t *last)
{
    *first = *last = 0;
    for (char *at = name; *at; at++) {
        static const char word[] = "routine ";
        size_t word_length = strlen(word);
        bool is_line = *at == ':' && isdigit((unsigned char)at[1]), is_offset = !strncmp(at, "+0x", 3);
        bool is_number = !strncmp(at, word, word_length) && isdigit((unsigned char)at[word_length]);
        if (!is_line && !is_offset && !is_number)
            continue;
        char *end, *digits = at + (is_offset ? 3 : is_number ? word_length : 1);
        *last = (uint32_t)strtoul(digits, &end, is_offset ? 16 : 10);
        *first = *first ? *first : *last;
        memset(digits, '#', (size_t)(end - digits));
        at = end - 1;
    }
}

/* Texts are in `arena`. */
static struct candidate candidate_of_place(struct arena *arena, const struct run_place *place)
{
    struct candidate candidate = {.file = place->file,
                                  .routine = place->routine,
                                  .build = place->build,
                                  .line_first = place->line_first,
                                  .line_last = place->line_last};
    if (place->file && place->line_first) {
        candidate.alike = arena_printf(arena, "%d %d %s %s", place->state, place->is_loop, place->file,
                                       place->routine ? place->routine : "");
        candidate.renamed =
            place->routine ? arena_printf(arena, "%d %d %s", place->state, place->is_loop, place->file) : NULL;
        return candidate;
    }
    char *name = arena_strdup(arena, place->key ? place->key : place->name);
    lines_of_name(name, &candidate.line_first, &candidate.line_last);
    candidate.alike = arena_printf(arena, "%d %d %s", place->state, place->is_loop, name);
    return candidate;
}

static struct candidate candidate_of_fact(struct arena *arena, const struct run *run, const struct fact *fact)
{
    return (struct candidate){.alike = arena_printf(arena, "%d %u %s %s", fact->kind, fact->number,
                                                    fact->file ? fact->file : "", fact->routine ? fact->routine : ""),
                              .file = fact->file,
                              .routine = fact->routine,
                              .build = run->build,
                              .line_first = fact->line_first,
                              .line_last = fact->line_last};
}

/* Things of all sides so far, by number, as the last side that has them has them. */
struct identities {
    struct arena arena;
    VEC(struct candidate) known;
    /* Of the side at hand, each once. */
    struct intern keys;
    VEC(struct candidate) fresh;
};

static uint32_t identities_put(struct identities *identities, const struct candidate *candidate)
{
    const char *key =
        arena_printf(&identities->arena, "%u %u %s", candidate->line_first, candidate->line_last, candidate->alike);
    uint32_t at = intern_text(&identities->keys, key);
    if (at == identities->fresh.n)
        *vec_push(&identities->fresh) = *candidate;
    return at;
}

/* Ends a side: the number of each of its things, in the arena. */
static uint32_t *identities_settle(struct identities *identities)
{
    size_t n_known = identities->known.n, n_fresh = identities->fresh.n, n = n_known + n_fresh;
    struct candidate *candidates = arena_array(&identities->arena, struct candidate, n + 1);
    uint32_t *counterpart = arena_array(&identities->arena, uint32_t, n + 1),
             *number = arena_array(&identities->arena, uint32_t, n_fresh + 1);
    for (size_t i = 0; i < n; i++) {
        candidates[i] = i < n_known ? identities->known.at[i] : identities->fresh.at[i - n_known];
        candidates[i].is_after = i >= n_known;
    }
    counterparts_find(candidates, (uint32_t)n, counterpart);
    for (size_t i = 0; i < n_fresh; i++) {
        number[i] = counterpart[n_known + i];
        if (number[i] == COUNTERPART_NONE) {
            number[i] = (uint32_t)identities->known.n;
            vec_push(&identities->known);
        }
        identities->known.at[number[i]] = candidates[n_known + i];
    }
    intern_release(&identities->keys);
    identities->keys = (struct intern){0};
    identities->fresh.n = 0;
    return number;
}

static void identities_release(struct identities *identities)
{
    vec_release(&identities->known);
    vec_release(&identities->fresh);
    intern_release(&identities->keys);
    arena_release(&identities->arena);
}

uint32_t match_facts(struct arena *arena, struct run *const *runs, const uint32_t *side_of, size_t n_runs,
                     uint32_t n_sides, uint32_t **number)
{
    struct identities identities = {0};
    for (uint32_t side = 0; side < n_sides; side++) {
        for (size_t run = 0; run < n_runs; run++) {
            if (side_of[run] != side)
                continue;
            number[run] = arena_array(arena, uint32_t, runs[run]->n_facts + 1);
            for (uint32_t i = 0; i < runs[run]->n_facts; i++) {
                struct candidate candidate = candidate_of_fact(&identities.arena, runs[run], &runs[run]->facts[i]);
                number[run][i] = identities_put(&identities, &candidate);
            }
        }
        const uint32_t *settled = identities_settle(&identities);
        for (size_t run = 0; run < n_runs; run++)
            for (uint32_t i = 0; side_of[run] == side && i < runs[run]->n_facts; i++)
                number[run][i] = settled[number[run][i]];
    }
    uint32_t n = (uint32_t)identities.known.n;
    identities_release(&identities);
    return n;
}

/* The number of each place of each run, in match->places. */
static uint32_t **match_places(struct match *match, struct arena *scratch, struct run *const *runs,
                               const uint32_t *side_of, size_t n_runs, uint32_t n_sides)
{
    struct identities identities = {0};
    uint32_t **number = arena_array(scratch, uint32_t *, n_runs + 1);
    for (uint32_t side = 0; side < n_sides; side++) {
        for (size_t run = 0; run < n_runs; run++) {
            if (side_of[run] != side)
                continue;
            number[run] = arena_array(scratch, uint32_t, runs[run]->n_places + 1);
            for (uint32_t i = 0; i < runs[run]->n_places; i++) {
                struct candidate candidate = candidate_of_place(&identities.arena, &runs[run]->places[i]);
                number[run][i] = identities_put(&identities, &candidate);
            }
        }
        const uint32_t *settled = identities_settle(&identities);
        vec_resize(&match->places, identities.known.n);
        for (size_t run = 0; run < n_runs; run++)
            for (uint32_t i = 0; side_of[run] == side && i < runs[run]->n_places; i++) {
                number[run][i] = settled[number[run][i]];
                struct match_place *at = &match->places.at[number[run][i]];
                at->place = &runs[run]->places[i];
                at->first = at->first ? at->first : at->place;
            }
    }
    identities_release(&identities);
    return number;
}

struct node_key {
    uint32_t parent, place;
};

static uint32_t match_node(struct match *match, uint32_t parent, uint32_t place, size_t n_runs)
{
    struct node_key key = {parent, place};
    uint32_t node = intern_put(&match->keys, &key, sizeof key);
    if (node == match->nodes.n)
        *vec_push(&match->nodes) = (struct match_node){.parent = parent,
                                                       .place = place,
                                                       .row = TRACE_NONE,
                                                       .own_ns = arena_array(&match->arena, double, n_runs *MATCH_N),
                                                       .below_ns = arena_array(&match->arena, double, n_runs *MATCH_N),
                                                       .on_path_ns = arena_array(&match->arena, double, n_runs),
                                                       .cause = arena_array(&match->arena, uint32_t, n_runs)};
    return node;
}

static void add_run(struct match *match, const struct run *run, size_t at, size_t n_runs, const uint32_t *place)
{
    struct arena scratch = {0};
    uint32_t *node_of = arena_array(&scratch, uint32_t, run->n_nodes + 1);
    for (uint32_t i = 0; i < run->n_nodes; i++) {
        const struct run_node *from = &run->nodes[i];
        uint32_t parent = from->parent == TRACE_NONE ? (uint32_t)TRACE_NONE : node_of[from->parent];
        node_of[i] = match_node(match, parent, place[from->place], n_runs);
        struct match_node *node = &match->nodes.at[node_of[i]];
        for (size_t k = 0; k < MATCH_N; k++) {
            double ns = k == MATCH_TIME ? from->time_ns : k == MATCH_LONGEST ? from->longest_ns : from->kind_ns[k];
            node->own_ns[at * MATCH_N + k] += ns;
            node->below_ns[at * MATCH_N + k] += ns;
        }
        node->on_path_ns[at] += from->on_path_ns;
        node->cause[at] = from->cause ? from->cause : node->cause[at];
    }
    arena_release(&scratch);
}

/* Waiting in a run, all kinds: of the node with what is below it. */
static double match_below(const struct match_node *node, size_t run)
{
    double ns = 0;
    for (size_t kind = 0; kind < KIND_N; kind++)
        ns += node->below_ns[run * MATCH_N + kind];
    return ns;
}

/* Waiting below a node in the runs of a side, a run on average, decides: whether most of it is named so. */
static bool is_row(const struct match_node *node, const uint32_t *side_of, size_t n_runs, uint32_t n_sides)
{
    double most_ns = 0, most_named_ns = 0;
    for (uint32_t side = 0; side < n_sides; side++) {
        double all_ns = 0, named_ns = 0, n = 0;
        for (size_t run = 0; run < n_runs; run++) {
            if (side_of[run] != side)
                continue;
            n++;
            double below_ns = match_below(node, run);
            all_ns += below_ns;
            named_ns += node->cause[run] ? below_ns : 0;
        }
        most_ns = fmax(most_ns, all_ns / fmax(n, 1));
        most_named_ns = fmax(most_named_ns, named_ns / fmax(n, 1));
    }
    return most_ns > 0 && most_named_ns >= MAJORITY * most_ns;
}

/* Of the same place. Runs that have both as causes decide, by the waiting of the lesser. */
static bool is_one_row(const struct match_node *a, const struct match_node *b, size_t n_runs)
{
    double one_ns = 0;
    for (size_t run = 0; run < n_runs && a->has_below && b->has_below; run++) {
        double ns = fmin(match_below(a, run), match_below(b, run));
        if (a->cause[run] && b->cause[run])
            one_ns += a->cause[run] == b->cause[run] ? ns : -ns;
    }
    return a->has_below == b->has_below && one_ns >= 0;
}

void match_runs(struct match *match, struct run *const *runs, const uint32_t *side_of, size_t n_runs, uint32_t n_sides)
{
    struct arena scratch = {0};
    uint32_t **place = match_places(match, &scratch, runs, side_of, n_runs, n_sides);
    uint32_t *last_row = arena_array(&scratch, uint32_t, match->places.n + 1);
    for (size_t run = 0; run < n_runs; run++)
        add_run(match, runs[run], run, n_runs, place[run]);
    for (size_t i = match->nodes.n; i-- > 0;) {
        const struct match_node *node = &match->nodes.at[i];
        for (size_t k = 0; k < n_runs * MATCH_N && node->parent != TRACE_NONE; k++)
            match->nodes.at[node->parent].below_ns[k] += node->below_ns[k];
    }
    uint32_t *row_before = arena_array(&scratch, uint32_t, match->nodes.n + 1);
    for (size_t i = 0; i < match->nodes.n; i++) {
        struct match_node *node = &match->nodes.at[i];
        bool is_inside = node->parent != TRACE_NONE && match->nodes.at[node->parent].has_below;
        node->has_below = is_inside || is_row(node, side_of, n_runs, n_sides);
        node->row = is_inside ? match->nodes.at[node->parent].row : (uint32_t)i;
        /* Rows before it of the same name, from the last one. */
        for (uint32_t k = is_inside ? 0 : last_row[node->place]; k; k = row_before[k - 1])
            if (is_one_row(&match->nodes.at[k - 1], node, n_runs))
                node->row = k - 1;
        if (node->row == i) {
            row_before[i] = last_row[node->place];
            last_row[node->place] = (uint32_t)i + 1;
        }
    }
    arena_release(&scratch);
}

void match_release(struct match *match)
{
    vec_release(&match->places);
    vec_release(&match->nodes);
    intern_release(&match->keys);
    arena_release(&match->arena);
}
