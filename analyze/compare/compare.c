/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/compare/compare.h"
#include "analyze/constants/constants.h"
#include "wrap/base/keys.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The shares of groups in the chance of a wrong word. */

double compare_change(const struct compare_row *row)
{
    return row->mean_ns[1] - row->mean_ns[0];
}

static double largest_mean(const struct comparison *comparison, const struct compare_row *row)
{
    double most = 0;
    for (uint32_t side = 0; side < comparison->n_sides; side++)
        most = fmax(most, row->mean_ns[side]);
    return most;
}

/* Adds what a node has, or all below it, to a row: computing or waiting. */
static void row_add(const struct comparison *comparison, struct compare_row *row, const double *match_ns)
{
    for (size_t run = 0; run < comparison->n_runs; run++) {
        const double *ns = &match_ns[run * MATCH_N];
        uint32_t side = comparison->side_of[run], n_others = comparison->runs[run]->n_ranks - 1;
        double n = comparison->n_of_side[side];
        if (row->group == GROUP_COMPUTING) {
            row->ns[run] += ns[MATCH_LONGEST];
            row->mean_ns[side] += ns[MATCH_LONGEST] / n;
            if (row->others_ns)
                row->others_ns[run] += (ns[MATCH_TIME] - ns[MATCH_LONGEST]) / n_others;
            continue;
        }
        for (size_t kind = 0; kind < KIND_N; kind++) {
            row->ns[run] += ns[kind];
            row->mean_ns[side] += ns[kind] / n;
            row->kind_ns[side * KIND_N + kind] += ns[kind] / n;
        }
    }
}

static void row_add_row(const struct comparison *comparison, struct compare_row *to, const struct compare_row *from)
{
    for (size_t run = 0; run < comparison->n_runs; run++) {
        to->ns[run] += from->ns[run];
        if (to->others_ns)
            to->others_ns[run] += from->others_ns[run];
    }
    for (uint32_t side = 0; side < comparison->n_sides; side++)
        to->mean_ns[side] += from->mean_ns[side];
    for (size_t k = 0; k < comparison->n_sides * KIND_N; k++)
        to->kind_ns[k] += from->kind_ns[k];
}

/* As the last side has it. One whose routine was renamed has its old name beside it. */
static const char *name_of(struct comparison *comparison, const struct match_place *place)
{
    const char *was = place->first->routine, *is = place->place->routine;
    if (!was || !is || !strcmp(was, is))
        return place->place->name;
    return arena_printf(&comparison->arena, "%s (before: %s)", place->place->name, place->first->name);
}

static struct compare_row row_make(struct comparison *comparison, enum compare_group group, uint32_t depth,
                                   const struct match_place *place)
{
    bool has_others = group == GROUP_COMPUTING;
    for (size_t run = 0; run < comparison->n_runs; run++)
        has_others &= comparison->runs[run]->n_ranks > 1;
    return (struct compare_row){.name = place ? name_of(comparison, place) : NULL,
                                .place = place ? place->place : NULL,
                                .group = group,
                                .depth = depth,
                                .parent = TRACE_NONE,
                                .ns = arena_array(&comparison->arena, double, comparison->n_runs + 1),
                                .others_ns =
                                    has_others ? arena_array(&comparison->arena, double, comparison->n_runs + 1) : NULL,
                                .mean_ns = arena_array(&comparison->arena, double, comparison->n_sides + 1),
                                .kind_ns = arena_array(&comparison->arena, double, comparison->n_sides *KIND_N),
                                .test = {.chance = 1, .scatter = NAN}};
}

static enum compare_group group_of(const struct run_place *place)
{
    return place->state == STEP_TRANSFER || place->state == STEP_MPI ? GROUP_MPI : GROUP_PROGRAM;
}

typedef VEC(struct compare_row) row_list;

/* The row around a row, so many levels outwards; NULL beyond the outermost. */
static const struct run_place *place_around(const struct match *match, uint32_t node, uint32_t level)
{
    for (; level && node != TRACE_NONE; level--)
        node = match->nodes.at[node].parent;
    return node == TRACE_NONE ? NULL : match->places.at[match->nodes.at[node].place].place;
}

/* Rows that read alike. */
struct alike {
    const struct run_place *around; /* of the first of them */
    uint32_t n;
    bool differs, has_more;
};

/* Rows that read alike are told apart by what is around them: of each level outwards by what not all of them have. */
static void tell_rows_apart(struct comparison *comparison, row_list *causes, const uint32_t *row_of_node)
{
    const struct match *match = &comparison->match;
    struct arena scratch = {0};
    struct intern names = {0};
    uint32_t *node = arena_array(&scratch, uint32_t, causes->n + 1),
             *group = arena_array(&scratch, uint32_t, causes->n + 1);
    for (uint32_t i = 0; i < match->nodes.n; i++)
        if (match->nodes.at[i].row == i)
            node[row_of_node[i]] = i;
    bool has_more = true;
    for (uint32_t level = 1; has_more; level++) {
        for (size_t i = 0; i < causes->n; i++)
            group[i] = intern_text(&names, causes->at[i].name);
        struct alike *groups = arena_array(&scratch, struct alike, names.n + 1);
        for (size_t i = 0; i < causes->n; i++) {
            const struct run_place *around = place_around(match, node[i], level);
            struct alike *alike = &groups[group[i]];
            if (!alike->n++)
                alike->around = around;
            alike->differs |= !around != !alike->around || (around && strcmp(around->name, alike->around->name) != 0);
            alike->has_more |= around != NULL;
        }
        has_more = false;
        for (size_t i = 0; i < causes->n; i++) {
            const struct run_place *around = place_around(match, node[i], level);
            has_more |= groups[group[i]].n > 1 && groups[group[i]].has_more;
            if (groups[group[i]].differs && around)
                causes->at[i].name = arena_printf(&comparison->arena, "%s, in %s", causes->at[i].name, around->name);
        }
    }
    intern_release(&names);
    arena_release(&scratch);
}

/* One row for each node that stands for one, and where each node's is: of the waiting for it, or of the computing in
 * it. Both lists have the same order. */
static void make_causes(struct comparison *comparison, bool is_computing, row_list *causes, uint32_t *row_of_node)
{
    const struct match *match = &comparison->match;
    for (size_t i = 0; i < match->nodes.n; i++)
        row_of_node[i] = TRACE_NONE;
    for (size_t i = 0; i < match->nodes.n; i++) {
        const struct match_node *node = &match->nodes.at[i];
        uint32_t *row = &row_of_node[node->row];
        if (*row == TRACE_NONE) {
            const struct match_place *place = &match->places.at[match->nodes.at[node->row].place];
            *row = (uint32_t)causes->n;
            enum compare_group group = group_of(place->place);
            if (is_computing) /* what nobody knows (start-up, recording switched off) is not known to compute */
                group = group == GROUP_MPI || place->place->state == STEP_UNKNOWN ? GROUP_N : GROUP_COMPUTING;
            *vec_push(causes) = row_make(comparison, group, 1, place);
        }
        row_add(comparison, &causes->at[*row], node->own_ns);
    }
    tell_rows_apart(comparison, causes, row_of_node);
}

/* Of the nodes of the tree. */
struct children {
    uint32_t *first, *next; /* by node: node + 1; 0 = none */
};

/* Parts of a cause in the order of the tree. A node that only leads to one other says nothing of its own. */
static void push_parts(struct comparison *comparison, uint32_t cause, const struct children *children,
                       const uint32_t *tops, size_t n_tops)
{
    const struct match *match = &comparison->match;
    double least_ns = NEGLIGIBLE_SHARE * largest_mean(comparison, &comparison->rows.at[cause]);
    struct open {
        uint32_t node, parent, depth;
    };
    VEC(struct open) open = {0};
    for (size_t i = n_tops; i-- > 0;)
        *vec_push(&open) = (struct open){tops[i], cause, 2};
    while (open.n) {
        struct open at = open.at[--open.n];
        const struct match_node *node = &match->nodes.at[at.node];
        struct compare_row row =
            row_make(comparison, comparison->rows.at[cause].group, at.depth, &match->places.at[node->place]);
        row_add(comparison, &row, node->has_below ? node->below_ns : node->own_ns);
        double all_ns = largest_mean(comparison, &row), largest_ns = 0;
        uint32_t n_below = 0;
        for (uint32_t c = node->has_below ? children->first[at.node] : 0; c; c = children->next[c - 1]) {
            struct compare_row below = row_make(comparison, row.group, 0, NULL);
            row_add(comparison, &below, match->nodes.at[c - 1].below_ns);
            largest_ns = fmax(largest_ns, largest_mean(comparison, &below));
            n_below++;
        }
        bool is_itself = n_tops == 1 && at.node == tops[0],
             leads_to_one = n_below && largest_ns >= (1 - NEGLIGIBLE_SHARE) * all_ns;
        if (all_ns < least_ns || all_ns <= 0)
            continue;
        uint32_t parent = at.parent, depth = at.depth;
        if (!is_itself && !leads_to_one) {
            row.parent = at.parent;
            parent = (uint32_t)comparison->rows.n;
            *vec_push(&comparison->rows) = row;
            depth++;
        }
        for (uint32_t c = node->has_below ? children->first[at.node] : 0; c; c = children->next[c - 1])
            *vec_push(&open) = (struct open){c - 1, parent, depth};
    }
    vec_release(&open);
}

struct ranked {
    double size;
    const char *name;
    uint32_t at;
};

static int by_falling_size(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    int by_name = strcmp(x->name ? x->name : "", y->name ? y->name : "");
    return order_of(y->size, x->size) ?: by_name ?: order_of(x->at, y->at);
}

/* Causes by what changed most; in a series, by the most waiting. */
static struct ranked *rank_rows(const struct comparison *comparison, struct arena *arena, const row_list *rows)
{
    struct ranked *ranked = arena_array(arena, struct ranked, rows->n + 1);
    for (size_t i = 0; i < rows->n; i++) {
        const struct compare_row *row = &rows->at[i];
        double size = comparison->n_sides == 2 ? fabs(compare_change(row)) : largest_mean(comparison, row);
        ranked[i] = (struct ranked){size, row->name, (uint32_t)i};
    }
    items_sort(ranked, rows->n, sizeof *ranked, by_falling_size);
    return ranked;
}

static void push_cause(struct comparison *comparison, const struct children *children, const row_list *causes,
                       uint32_t number, const uint32_t *row_of_node)
{
    const struct match *match = &comparison->match;
    uint32_t at = (uint32_t)comparison->rows.n;
    VEC(uint32_t) tops = {0};
    for (uint32_t i = 0; i < match->nodes.n; i++) {
        const struct match_node *node = &match->nodes.at[i];
        bool is_top = node->parent == TRACE_NONE || match->nodes.at[node->parent].row != node->row ||
                      !match->nodes.at[node->parent].has_below;
        if (row_of_node[node->row] == number && is_top)
            *vec_push(&tops) = i;
    }
    *vec_push(&comparison->rows) = causes->at[number];
    comparison->rows.at[at].parent = comparison->group_row[causes->at[number].group];
    push_parts(comparison, at, children, tops.at, tops.n);
    vec_release(&tops);
}

static bool is_named(const struct compare_row *row)
{
    return row->place->file || row->place->routine;
}

/* Whether the code of a group is known by samples, most of it: where nothing was sampled, all of it lies between two
 * calls and no more is known. */
static bool is_sampled(const struct comparison *comparison, const row_list *causes, enum compare_group group)
{
    double named_ns = 0, other_ns = 0;
    for (size_t i = 0; i < causes->n; i++)
        if (causes->at[i].group == group)
            *(is_named(&causes->at[i]) ? &named_ns : &other_ns) += largest_mean(comparison, &causes->at[i]);
    return named_ns > other_ns;
}

/* Small rows are put together in a last one, and so is computing that no sample has hit: that takes microseconds, and
 * where it takes longer something held it up, now here, now there, for the same milliseconds. One by one these would
 * look like changes. `shown`: by cause, its row. */
static void push_group(struct comparison *comparison, enum compare_group group, const struct children *children,
                       const row_list *causes, const uint32_t *row_of_node, uint32_t *shown)
{
    struct arena scratch = {0};
    struct compare_row sum = row_make(comparison, group, 0, NULL), rest = row_make(comparison, group, 1, NULL);
    for (size_t i = 0; i < causes->n; i++)
        if (causes->at[i].group == group)
            row_add_row(comparison, &sum, &causes->at[i]);
    uint32_t at = comparison->group_row[group] = (uint32_t)comparison->rows.n;
    *vec_push(&comparison->rows) = sum;
    struct ranked *ranked = rank_rows(comparison, &scratch, causes);
    double least_ns = NEGLIGIBLE_SHARE * largest_mean(comparison, &sum);
    bool only_named = group == GROUP_COMPUTING && is_sampled(comparison, causes, group);
    rest.is_rest = true;
    rest.parent = at;
    for (size_t i = 0; i < causes->n; i++) {
        const struct compare_row *cause = &causes->at[ranked[i].at];
        if (cause->group != group)
            continue;
        double cause_ns = largest_mean(comparison, cause);
        if (cause_ns >= least_ns && cause_ns > 0 && (!only_named || is_named(cause))) {
            shown[ranked[i].at] = (uint32_t)comparison->rows.n;
            push_cause(comparison, children, causes, ranked[i].at, row_of_node);
            continue;
        }
        row_add_row(comparison, &rest, cause);
    }
    if (largest_mean(comparison, &rest) > 0)
        *vec_push(&comparison->rows) = rest;
    arena_release(&scratch);
}

static void push_single(struct comparison *comparison, enum compare_group group)
{
    struct compare_row row = row_make(comparison, group, 0, NULL);
    for (size_t run = 0; run < comparison->n_runs; run++) {
        uint32_t side = comparison->side_of[run];
        row.ns[run] = group == GROUP_MACHINE ? comparison->runs[run]->machine_ns : comparison->runs[run]->wall_ns;
        row.mean_ns[side] += row.ns[run] / comparison->n_of_side[side];
        if (group == GROUP_MACHINE)
            row.kind_ns[side * KIND_N + KIND_DESCHEDULED] = row.mean_ns[side];
    }
    comparison->group_row[group] = (uint32_t)comparison->rows.n;
    *vec_push(&comparison->rows) = row;
}

static int by_falling_share(const void *a, const void *b)
{
    const struct compare_share *x = a, *y = b;
    double left = fabs(x->computing_ns[1] + x->imbalance_ns[1] - x->computing_ns[0] - x->imbalance_ns[0]);
    double right = fabs(y->computing_ns[1] + y->imbalance_ns[1] - y->computing_ns[0] - y->imbalance_ns[0]);
    return order_of(right, left) ?: order_of(x->kind, y->kind) ?: order_of(x->row, y->row);
}

/* The run time is the length of the critical path: what lies on it is computing as everybody does, on average, and what
 * is more of it there, for which others wait. Then what passes inside MPI, and the machine. */
static void make_shares(struct comparison *comparison, const uint32_t *row_of_node, const uint32_t *shown)
{
    const struct match *match = &comparison->match;
    struct compare_share rest[SHARE_MACHINE + 1] = {0};
    struct arena scratch = {0};
    uint32_t *share_of = arena_array(&scratch, uint32_t, comparison->rows.n + 1); /* by row, 1 + index */
    for (size_t i = 0; i < match->nodes.n; i++) {
        const struct match_node *node = &match->nodes.at[i];
        uint32_t row = shown[row_of_node[node->row]];
        bool is_mpi = group_of(match->places.at[node->place].place) == GROUP_MPI;
        struct compare_share *share = &rest[is_mpi ? SHARE_MPI : SHARE_OTHER_CODE];
        if (!is_mpi && row != TRACE_NONE) {
            if (!share_of[row]) {
                *vec_push(&comparison->shares) = (struct compare_share){.row = row, .kind = SHARE_CAUSE};
                share_of[row] = (uint32_t)comparison->shares.n;
            }
            share = &comparison->shares.at[share_of[row] - 1];
        }
        for (size_t run = 0; run < comparison->n_runs; run++) {
            uint32_t side = comparison->side_of[run];
            double computing_ns =
                is_mpi ? 0 : node->own_ns[run * MATCH_N + MATCH_TIME] / comparison->runs[run]->n_ranks;
            share->computing_ns[side] += computing_ns / comparison->n_of_side[side];
            share->imbalance_ns[side] += (node->on_path_ns[run] - computing_ns) / comparison->n_of_side[side];
        }
    }
    for (size_t run = 0; run < comparison->n_runs; run++)
        rest[SHARE_MACHINE].imbalance_ns[comparison->side_of[run]] +=
            comparison->runs[run]->path_off_cpu_ns / comparison->n_of_side[comparison->side_of[run]];
    for (int kind = SHARE_OTHER_CODE; kind <= SHARE_MACHINE; kind++) {
        rest[kind].row = TRACE_NONE;
        rest[kind].kind = kind;
        *vec_push(&comparison->shares) = rest[kind];
    }
    vec_sort(&comparison->shares, by_falling_share);
    arena_release(&scratch);
}

static void make_rows(struct comparison *comparison)
{
    struct arena scratch = {0};
    const struct match *match = &comparison->match;
    row_list computing = {0}, causes = {0};
    uint32_t *row_of_node = arena_array(&scratch, uint32_t, match->nodes.n + 1);
    struct children children = {arena_array(&scratch, uint32_t, match->nodes.n + 1),
                                arena_array(&scratch, uint32_t, match->nodes.n + 1)};
    for (uint32_t i = (uint32_t)match->nodes.n; i-- > 0;) {
        uint32_t parent = match->nodes.at[i].parent;
        if (parent == TRACE_NONE)
            continue;
        children.next[i] = children.first[parent];
        children.first[parent] = i + 1;
    }
    make_causes(comparison, true, &computing, row_of_node);
    make_causes(comparison, false, &causes, row_of_node);
    uint32_t *shown = arena_array(&scratch, uint32_t, causes.n + 1);
    memset(shown, 0xff, (causes.n + 1) * sizeof *shown);
    push_single(comparison, GROUP_RUN_TIME);
    push_group(comparison, GROUP_COMPUTING, &children, &computing, row_of_node, shown);
    push_group(comparison, GROUP_PROGRAM, &children, &causes, row_of_node, shown);
    push_group(comparison, GROUP_MPI, &children, &causes, row_of_node, shown);
    push_single(comparison, GROUP_MACHINE);
    if (comparison->n_sides == 2)
        make_shares(comparison, row_of_node, shown);
    vec_release(&computing);
    vec_release(&causes);
    arena_release(&scratch);
}

/* The runs' values of a row by side. */
static void row_test(const struct comparison *comparison, struct compare_row *row, double scale, double level)
{
    struct arena scratch = {0};
    double *values[2], *others[2] = {NULL, NULL};
    size_t n[2] = {0};
    for (int side = 0; side < 2; side++) {
        values[side] = arena_array(&scratch, double, comparison->n_runs);
        if (row->others_ns)
            others[side] = arena_array(&scratch, double, comparison->n_runs);
    }
    for (size_t run = 0; run < comparison->n_runs; run++) {
        uint32_t side = comparison->side_of[run];
        values[side][n[side]] = row->ns[run];
        if (row->others_ns)
            others[side][n[side]] = row->others_ns[run];
        n[side]++;
    }
    row->test = noise_compare((struct noise_side){n[0], values[0], others[0]},
                              (struct noise_side){n[1], values[1], others[1]}, scale, level);
    row->level = level;
    arena_release(&scratch);
}

/* A change that these runs do not tell would matter. Of one run a side nothing is known, however small. */
static bool is_blind(const struct comparison *comparison, const struct compare_row *row, double scale)
{
    double most_ns = largest_mean(comparison, row);
    return comparison->n_runs < 3 ? most_ns > 0 : most_ns > NEGLIGIBLE_SHARE / NEXT_TO_NOTHING * scale;
}

static void row_judge(const struct comparison *comparison, struct compare_row *row, double scale)
{
    double change_ns = compare_change(row);
    if (row->test.is_known && row->test.chance <= row->level)
        row->verdict = change_ns < 0 ? COMPARE_LESS : change_ns > 0 ? COMPARE_MORE : COMPARE_NOISE;
    else if (is_blind(comparison, row, scale) && !row->test.sees_doubling)
        row->verdict = COMPARE_TOO_FEW;
    if (row->verdict == COMPARE_TOO_FEW && row->test.is_known)
        row->runs_needed = noise_runs_needed(&row->test);
}

/* A row's part of what those beside it share. */
static double weight_of(const struct comparison *comparison, const struct compare_row *row, double all_ns, size_t n)
{
    double sum_ns = 0;
    for (size_t run = 0; run < comparison->n_runs; run++)
        sum_ns += row->ns[run];
    return (all_ns > 0 ? (1 - COMPARE_EACH_PART) * sum_ns / all_ns : 0) + COMPARE_EACH_PART / (double)n;
}

/* Tests the rows below one that has changed, at a level that they share; returns the least of their chances by what
 * each was held against. */
static double test_below(struct comparison *comparison, size_t at, double scale, double level)
{
    double all_ns = 0, least = INFINITY;
    size_t n = 0, end = at + 1;
    for (; end < comparison->rows.n && comparison->rows.at[end].depth > comparison->rows.at[at].depth; end++)
        if (comparison->rows.at[end].parent == at) {
            n++;
            for (size_t run = 0; run < comparison->n_runs; run++)
                all_ns += comparison->rows.at[end].ns[run];
        }
    for (size_t i = at + 1; i < end; i++) {
        struct compare_row *row = &comparison->rows.at[i];
        if (row->parent != at)
            continue;
        row_test(comparison, row, scale, level * weight_of(comparison, row, all_ns, n));
        least = row->level > 0 ? fmin(least, row->test.chance / row->level) : least;
    }
    return least;
}

double compare_level(enum compare_group group)
{
    bool is_of_code = group == GROUP_COMPUTING || group == GROUP_PROGRAM;
    return COMPARE_CHANCE * (is_of_code ? COMPARE_OF_CODE : (1 - 2 * COMPARE_OF_CODE) / (GROUP_N - 2));
}

double compare_scale(const struct comparison *comparison, enum compare_group group)
{
    double ns = 0;
    for (size_t run = 0; run < comparison->n_runs; run++)
        ns += group == GROUP_RUN_TIME ? comparison->runs[run]->wall_ns : comparison->runs[run]->all_ns;
    return NEXT_TO_NOTHING * ns / (double)comparison->n_runs;
}

static void judge(struct comparison *comparison)
{
    for (int group = 0; group < GROUP_N; group++) {
        size_t at = comparison->group_row[group];
        double level = compare_level((enum compare_group)group);
        double scale = compare_scale(comparison, (enum compare_group)group);
        bool has_below = at + 1 < comparison->rows.n && comparison->rows.at[at + 1].depth > 0;
        bool has_changed_below = test_below(comparison, at, scale, level) <= 0.5;
        row_test(comparison, &comparison->rows.at[at], scale, has_below ? level / 2 : level);
        row_judge(comparison, &comparison->rows.at[at], scale);
        enum compare_verdict verdict = comparison->rows.at[at].verdict;
        bool has_changed = has_changed_below || verdict == COMPARE_LESS || verdict == COMPARE_MORE;
        for (size_t i = at + 1; i < comparison->rows.n && comparison->rows.at[i].depth; i++) {
            struct compare_row *row = &comparison->rows.at[i];
            bool is_asked = row->depth == 1 ? has_changed : row->level > 0;
            if (is_asked)
                row_judge(comparison, row, scale);
            else
                row->verdict =
                    verdict == COMPARE_TOO_FEW && is_blind(comparison, row, scale) ? COMPARE_TOO_FEW : COMPARE_NOISE;
            if (!is_asked)
                row->level = 0;
            if (is_asked && (row->verdict == COMPARE_LESS || row->verdict == COMPARE_MORE))
                test_below(comparison, i, scale, row->level);
        }
    }
}

static bool has_changed(const struct compare_row *row)
{
    return row->verdict == COMPARE_LESS || row->verdict == COMPARE_MORE;
}

double compare_share_change(const struct compare_share *share)
{
    return share->computing_ns[1] + share->imbalance_ns[1] - share->computing_ns[0] - share->imbalance_ns[0];
}

/* Shares come by falling difference. */
static uint32_t largest_share(const struct comparison *comparison, double change_ns)
{
    for (uint32_t i = 0; i < comparison->shares.n; i++)
        if (compare_share_change(&comparison->shares.at[i]) * change_ns > 0)
            return i;
    return TRACE_NONE;
}

/* Among those so deep; TRACE_NONE. */
static uint32_t largest_row(const struct comparison *comparison, uint32_t depth)
{
    uint32_t most = TRACE_NONE;
    for (uint32_t i = 0; i < comparison->rows.n; i++) {
        const struct compare_row *row = &comparison->rows.at[i];
        if (row->depth == depth && has_changed(row) &&
            (most == TRACE_NONE || fabs(compare_change(row)) > fabs(compare_change(&comparison->rows.at[most]))))
            most = i;
    }
    return most;
}

static void find_news(struct comparison *comparison)
{
    const struct compare_row *time = &comparison->rows.at[comparison->group_row[GROUP_RUN_TIME]];
    struct compare_news *news = &comparison->news;
    *news = (struct compare_news){.is_tested = comparison->n_runs >= 3, .share = TRACE_NONE};
    if (news->is_tested ? has_changed(time) : compare_change(time) != 0) {
        news->kind = NEWS_RUN_TIME;
        news->share = largest_share(comparison, compare_change(time));
        return;
    }
    news->row = largest_row(comparison, 1);
    news->row = news->row == TRACE_NONE ? largest_row(comparison, 0) : news->row;
    news->kind = news->row == TRACE_NONE ? NEWS_NONE : NEWS_ROW;
}

/* Exact counts. */

bool compare_counts_are_equal(const struct fact *a, const struct fact *b)
{
    if (!a || !b)
        return a == b;
    bool is_equal = a->n_counts == b->n_counts;
    for (uint32_t i = 0; is_equal && i < a->n_counts; i++)
        is_equal = a->counts[i].rank == b->counts[i].rank && a->counts[i].n == b->counts[i].n &&
                   a->counts[i].of == b->counts[i].of;
    return is_equal;
}

/* A count is that of all ranks up to the next one that has another. */
static uint32_t count_end(const struct fact *fact, uint32_t i, uint32_t n_ranks)
{
    return i + 1 < fact->n_counts ? fact->counts[i + 1].rank : n_ranks;
}

double compare_difference(const struct fact *a, const struct fact *b, bool each_time)
{
    double largest = 0;
    for (uint32_t i = 0, j = 0; i < a->n_counts && j < b->n_counts;) {
        const struct fact_count *x = &a->counts[i], *y = &b->counts[j];
        bool is_there = !each_time || (x->of && y->of);
        double left = each_time && x->of ? (double)x->n / (double)x->of : (double)x->n;
        double right = each_time && y->of ? (double)y->n / (double)y->of : (double)y->n;
        bool differs = each_time ? (unsigned __int128)x->n * y->of != (unsigned __int128)y->n * x->of : x->n != y->n;
        if (is_there && differs)
            largest = fmax(largest, fmax(fabs(left - right) / fmax(left, right), 1e-15));
        uint32_t end_x = count_end(a, i, UINT32_MAX), end_y = count_end(b, j, UINT32_MAX);
        i += end_x <= end_y;
        j += end_y <= end_x;
    }
    return largest;
}

/* Of a decision: how many iterations or ways it makes other, as often as both sides come to it. A decision taken once
 * at the start is little of that, whatever follows. */
static double executions_moved(const struct fact *before, const struct fact *after, uint32_t n_ranks)
{
    double moved = 0;
    for (uint32_t i = 0, j = 0; i < before->n_counts && j < after->n_counts;) {
        const struct fact_count *x = &before->counts[i], *y = &after->counts[j];
        uint32_t end_x = count_end(before, i, n_ranks), end_y = count_end(after, j, n_ranks);
        uint32_t first = x->rank > y->rank ? x->rank : y->rank, end = end_x < end_y ? end_x : end_y;
        if (first < end && x->of && y->of)
            moved += (end - first) * fabs((double)x->n / (double)x->of - (double)y->n / (double)y->of) *
                     (double)(x->of < y->of ? x->of : y->of);
        i += end_x <= end_y;
        j += end_y <= end_x;
    }
    return moved;
}

static int by_decision_and_size(const void *a, const void *b)
{
    const struct compare_fact *x = a, *y = b;
    const struct fact *left = x->after ? x->after : x->before, *right = y->after ? y->after : y->before;
    int order = order_of(y->is_decision, x->is_decision) ?: order_of(y->moved, x->moved) ?: order_of(y->size, x->size);
    order = order ?: order_of(left->depth, right->depth) ?: order_of(left->kind, right->kind);
    order = order ?: strcmp(left->file ? left->file : "", right->file ? right->file : "");
    return order ?: order_of(left->line_first, right->line_first) ?: order_of(left->number, right->number);
}

static const char *why_not_exact(const struct comparison *comparison)
{
    for (size_t run = 1; run < comparison->n_runs; run++)
        if (comparison->runs[run]->n_ranks != comparison->runs[0]->n_ranks)
            return "the runs have different numbers of ranks";
    for (size_t run = 0; run < comparison->n_runs; run++)
        if (!comparison->runs[run]->is_whole)
            return "not all runs came to their end";
    return NULL;
}

/* Which kinds of facts every run has recorded. */
static void find_recorded(const struct comparison *comparison, bool is_recorded[FACT_N])
{
    bool is_allocated = true;
    for (int kind = 0; kind < FACT_N; kind++)
        is_recorded[kind] = true;
    for (size_t run = 0; run < comparison->n_runs; run++) {
        const struct run *at = comparison->runs[run];
        bool has_bytes = false;
        for (uint32_t i = 0; i < at->n_facts; i++)
            has_bytes |= at->facts[i].kind == FACT_ALLOCATED;
        is_allocated &= has_bytes;
        is_recorded[FACT_TRIPS] &= at->is_counted && at->is_whole;
    }
    is_recorded[FACT_WAY] = is_recorded[FACT_CALLS] = is_recorded[FACT_TRIPS];
    is_recorded[FACT_ALLOCATED] = is_allocated;
}

static void compare_facts(struct comparison *comparison)
{
    struct arena scratch = {0};
    bool is_recorded[FACT_N];
    size_t n_runs = comparison->n_runs;
    if ((comparison->facts_missing = why_not_exact(comparison)))
        return;
    find_recorded(comparison, is_recorded);
    /* Code that is on one side only, of another build, is no count that changed. */
    bool is_one_build = comparison->runs[0]->build == comparison->runs[n_runs - 1]->build;
    uint32_t **number = arena_array(&scratch, uint32_t *, n_runs + 1);
    uint32_t n = match_facts(&scratch, comparison->runs, comparison->side_of, n_runs, comparison->n_sides, number);
    const struct fact **at = arena_array(&scratch, const struct fact *, (size_t)n *n_runs + 1);
    for (size_t run = 0; run < n_runs; run++)
        for (uint32_t i = 0; i < comparison->runs[run]->n_facts; i++)
            at[number[run][i] * n_runs + run] = &comparison->runs[run]->facts[i];
    for (uint32_t i = 0; i < n; i++) {
        const struct fact *sides[2] = {NULL, NULL}, *some = NULL;
        bool is_seen[2] = {false, false}, is_steady = true;
        for (size_t run = 0; run < n_runs; run++) {
            uint32_t side = comparison->side_of[run];
            const struct fact *fact = at[i * n_runs + run];
            is_steady &= !is_seen[side] || compare_counts_are_equal(sides[side], fact);
            is_seen[side] = true;
            sides[side] = fact;
            some = fact ? fact : some;
        }
        if (!some || !is_recorded[some->kind] || !is_steady || compare_counts_are_equal(sides[0], sides[1]) ||
            ((!sides[0] || !sides[1]) && !is_one_build))
            continue;
        double each_time = sides[0] && sides[1] ? compare_difference(sides[0], sides[1], true) : 0;
        double size = !sides[0] || !sides[1] ? 1
                      : each_time > 0        ? each_time
                                             : compare_difference(sides[0], sides[1], false);
        *vec_push(&comparison->facts) = (struct compare_fact){
            .before = sides[0],
            .after = sides[1],
            .is_decision = each_time > 0,
            .moved = each_time > 0 ? executions_moved(sides[0], sides[1], comparison->runs[0]->n_ranks) : 0,
            .size = size};
    }
    vec_sort(&comparison->facts, by_decision_and_size);
    arena_release(&scratch);
}

void compare_make(struct comparison *comparison, struct run **runs, const uint32_t *side_of, size_t n_runs,
                  uint32_t n_sides)
{
    *comparison = (struct comparison){.n_runs = n_runs, .n_sides = n_sides};
    comparison->runs = arena_copy(&comparison->arena, runs, n_runs * sizeof *runs);
    comparison->side_of = arena_copy(&comparison->arena, side_of, n_runs * sizeof *side_of);
    comparison->n_of_side = arena_array(&comparison->arena, uint32_t, n_sides + 1);
    for (size_t run = 0; run < n_runs; run++)
        comparison->n_of_side[side_of[run]]++;
    match_runs(&comparison->match, runs, side_of, n_runs, n_sides);
    make_rows(comparison);
    if (n_sides != 2)
        return;
    judge(comparison);
    find_news(comparison);
    compare_facts(comparison);
}

void compare_release(struct comparison *comparison)
{
    vec_release(&comparison->rows);
    vec_release(&comparison->facts);
    vec_release(&comparison->shares);
    match_release(&comparison->match);
    arena_release(&comparison->arena);
}
