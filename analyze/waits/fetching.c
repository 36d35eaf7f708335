/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/fetching.h"
#include "analyze/result/names.h"
#include "wrap/base/vec.h"
#include <string.h>

enum { ROW_MIN = 64, RUN_PART = 20, FETCHES_MOST = 3 };

void fetching_begin(struct fetching *fetching, uint32_t n_locations)
{
    size_t cap = 0;
    *fetching = (struct fetching){.n_locations = n_locations};
    vec_grow((void **)&fetching->rows, &cap, n_locations + 1, sizeof *fetching->rows);
    memset(fetching->rows, 0, (n_locations + 1) * sizeof *fetching->rows);
}

void fetching_release(struct fetching *fetching)
{
    vec_free(fetching->rows);
    sparse_release(&fetching->spent);
}

static void row_end(struct fetching *fetching, struct fetch_row *row)
{
    uint64_t all_ns = row->last_ns - row->begin_ns;
    if (row->n >= ROW_MIN && 2 * row->outside_ns <= all_ns)
        sparse_add(&fetching->spent, (uint64_t)row->what.site << 32 | row->rank, (double)all_ns);
    row->n = 0;
}

static bool fetch_is_same(const struct fetch *a, const struct fetch *b)
{
    return a->site == b->site && a->target == b->target && a->window == b->window && a->bytes == b->bytes;
}

void fetching_operation(struct fetching *fetching, uint32_t location, uint32_t rank, struct fetch fetch,
                        uint64_t enter_ns)
{
    struct fetch_row *row = &fetching->rows[location];
    if (row->n && !fetch_is_same(&row->what, &fetch))
        row_end(fetching, row);
    if (!fetch.bytes)
        return;
    if (!row->n)
        *row = (struct fetch_row){.what = fetch, .rank = rank, .begin_ns = enter_ns, .last_ns = enter_ns};
    row->n++;
}

/* Calls that a loop of fetches makes besides. */
static bool class_may_fetch(enum ww_class class)
{
    return class == WW_LOCAL || class == WW_WAIT || (class >= WW_RMA_LOCK && class <= WW_RMA_REQUEST);
}

void fetching_call(struct fetching *fetching, uint32_t location, enum ww_class class, uint64_t enter_ns,
                   uint64_t leave_ns)
{
    struct fetch_row *row = &fetching->rows[location];
    if (!row->n)
        return;
    if (!class_may_fetch(class)) {
        row_end(fetching, row);
        return;
    }
    row->outside_ns += enter_ns > row->last_ns ? enter_ns - row->last_ns : 0;
    row->last_ns = leave_ns;
}

/* Of a site, of which the first term is given: the process that spent most. */
static const struct term *site_most(const struct sparse *spent, size_t *at)
{
    const struct term *most = &spent->at[*at];
    for (uint64_t site = most->key >> 32; *at < spent->n && spent->at[*at].key >> 32 == site; ++*at)
        if (spent->at[*at].ns > most->ns)
            most = &spent->at[*at];
    return most;
}

void fetching_write(struct fetching *fetching, struct sites *sites, struct analysis *analysis)
{
    double run_ns = (double)(analysis->trace->end_ns - analysis->trace->start_ns);
    for (uint32_t i = 0; i < fetching->n_locations; i++)
        row_end(fetching, &fetching->rows[i]);
    sparse_pack(&fetching->spent);
    analysis->fetches = arena_array(&analysis->arena, struct repeated_fetch, FETCHES_MOST);
    for (size_t at = 0; at < fetching->spent.n && analysis->n_fetches < FETCHES_MOST;) {
        const struct term *term = site_most(&fetching->spent, &at);
        if (term->ns * RUN_PART >= run_ns)
            analysis->fetches[analysis->n_fetches++] =
                (struct repeated_fetch){.call = names_site_text(sites, &analysis->arena, (uint32_t)(term->key >> 32)),
                                        .rank = (uint32_t)term->key,
                                        .dur_ns = term->ns};
    }
}
