/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/timeline/timeline.h"
#include "wrap/base/keys.h"
#include <stdlib.h>

enum { FIRST_RESOLUTION_NS = 1024 };
size_t timeline_budget(uint32_t n_ranks)
{
    enum { LEAST = 400000, A_RANK = 2000, MOST = 4000000 };
    size_t n = LEAST + (size_t)A_RANK * n_ranks;
    return n < MOST ? n : MOST;
}

static int part_compare(const void *a, const void *b)
{
    const struct timeline_part *left = a, *right = b;
    return order_of(left->kind, right->kind) ?: order_of(left->ns, right->ns);
}

uint32_t timeline_join_parts(struct timeline_part *parts, size_t n)
{
    uint32_t n_left = 0;
    items_sort(parts, n, sizeof *parts, part_compare);
    for (size_t i = 0; i < n; i++) {
        if (n_left && parts[n_left - 1].kind == parts[i].kind)
            parts[n_left - 1].ns += parts[i].ns;
        else if (parts[i].ns > 0)
            parts[n_left++] = parts[i];
    }
    return n_left;
}

/* Neighbours shorter than the resolution become one, as long as that is not longer than it. In place: what is written
 * never overtakes what is read. */
static void row_coarsen(struct timeline *timeline, struct timeline_row *row)
{
    size_t n_cells = 0, n_parts = 0, part = 0;
    bool is_open = false; /* the last cell written may take more in */
    for (size_t i = 0; i < row->cells.n; i++) {
        struct timeline_cell cell = row->cells.at[i];
        struct timeline_cell *last = n_cells ? &row->cells.at[n_cells - 1] : NULL;
        bool is_short = cell.end_ns - cell.begin_ns < timeline->resolution_ns;
        if (is_open && is_short && cell.end_ns - last->begin_ns <= timeline->resolution_ns) {
            for (uint32_t k = 0; k < cell.n_parts; k++)
                row->parts.at[n_parts + k] = row->parts.at[part + k];
            n_parts -= last->n_parts;
            last->n_parts = timeline_join_parts(&row->parts.at[n_parts], (size_t)last->n_parts + cell.n_parts);
            last->end_ns = cell.end_ns;
            last->is_several = true;
            if (cell.waited_ns > last->waited_ns) {
                last->waited_ns = cell.waited_ns;
                last->release_ns = cell.release_ns;
                last->by = cell.by;
                last->site = cell.site;
                last->is_inferred = cell.is_inferred;
            }
            n_parts += last->n_parts;
        } else {
            for (uint32_t k = 0; k < cell.n_parts; k++)
                row->parts.at[n_parts + k] = row->parts.at[part + k];
            n_parts += cell.n_parts;
            row->cells.at[n_cells++] = cell;
            is_open = is_short;
        }
        part += cell.n_parts;
    }
    row->cells.n = n_cells;
    row->parts.n = n_parts;
}

/* At the resolution so far first: what came since the last time is finer. To half of the budget, so that the work of it
 * is spread over as many cells as it takes away. */
static void timeline_coarsen(struct timeline *timeline)
{
    if (timeline->n <= timeline->n_most)
        return;
    uint64_t resolution_ns = timeline->resolution_ns ? timeline->resolution_ns : FIRST_RESOLUTION_NS;
    for (; timeline->n > timeline->n_most / 2 && resolution_ns < UINT64_MAX / 4; resolution_ns *= 2) {
        timeline->resolution_ns = resolution_ns;
        timeline->n = 0;
        for (size_t i = 0; i < timeline->rows.n; i++) {
            row_coarsen(timeline, &timeline->rows.at[i]);
            timeline->n += timeline->rows.at[i].cells.n + timeline->rows.at[i].parts.n;
        }
    }
}

static void row_push(struct timeline *timeline, struct timeline_row *row, const struct timeline_cell *cell,
                     const struct timeline_part *parts)
{
    *vec_push(&row->cells) = *cell;
    for (uint32_t i = 0; i < cell->n_parts; i++)
        *vec_push(&row->parts) = parts[i];
    timeline->n += 1u + cell->n_parts;
}

/* The part of a cell between two times, as if evenly mixed. */
static void row_push_cut(struct timeline *timeline, struct timeline_row *row, const struct timeline_cell *cell,
                         const struct timeline_part *parts, uint64_t from_ns, uint64_t to_ns)
{
    struct timeline_cell cut = *cell;
    cut.begin_ns = cell->begin_ns > from_ns ? cell->begin_ns : from_ns;
    cut.end_ns = cell->end_ns < to_ns ? cell->end_ns : to_ns;
    if (cut.begin_ns >= cut.end_ns)
        return;
    float share = (float)((double)(cut.end_ns - cut.begin_ns) / (double)(cell->end_ns - cell->begin_ns));
    if (cut.release_ns > cut.end_ns || cut.release_ns <= cut.begin_ns) {
        cut.waited_ns = 0;
        cut.by = cut.site = TRACE_NONE;
    }
    size_t first = row->parts.n;
    row_push(timeline, row, &cut, parts);
    for (size_t i = first; i < row->parts.n; i++)
        row->parts.at[i].ns *= share;
}

/* Everything from there on is taken back. It stays in `behind` and `parts_behind`. */
static void row_take_back(struct timeline *timeline, struct timeline_row *row, uint64_t from_ns)
{
    size_t first = row->cells.n, n_parts = 0;
    while (first && row->cells.at[first - 1].end_ns > from_ns)
        n_parts += row->cells.at[--first].n_parts;
    vec_resize(&timeline->behind, row->cells.n - first);
    for (size_t i = first; i < row->cells.n; i++)
        timeline->behind.at[i - first] = row->cells.at[i];
    vec_resize(&timeline->parts_behind, n_parts);
    for (size_t i = 0; i < n_parts; i++)
        timeline->parts_behind.at[i] = row->parts.at[row->parts.n - n_parts + i];
    timeline->n -= row->cells.n - first + n_parts;
    row->cells.n = first;
    row->parts.n -= n_parts;
}

void timeline_put(struct timeline *timeline, uint32_t at, const struct timeline_cell *cell,
                  const struct timeline_part *own_parts)
{
    struct timeline_row *row = &timeline->rows.at[at];
    row_take_back(timeline, row, cell->begin_ns);
    const struct timeline_part *parts = timeline->parts_behind.at;
    for (size_t i = 0; i < timeline->behind.n; parts += timeline->behind.at[i++].n_parts)
        row_push_cut(timeline, row, &timeline->behind.at[i], parts, 0, cell->begin_ns);
    row_push(timeline, row, cell, own_parts);
    parts = timeline->parts_behind.at;
    for (size_t i = 0; i < timeline->behind.n; parts += timeline->behind.at[i++].n_parts)
        row_push_cut(timeline, row, &timeline->behind.at[i], parts, cell->end_ns, UINT64_MAX);
    timeline_coarsen(timeline);
}

void timeline_release(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->rows.n; i++) {
        vec_release(&timeline->rows.at[i].cells);
        vec_release(&timeline->rows.at[i].parts);
    }
    vec_release(&timeline->rows);
    vec_release(&timeline->kinds);
    vec_release(&timeline->scratch);
    vec_release(&timeline->parts_behind);
    vec_release(&timeline->behind);
}
