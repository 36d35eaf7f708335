/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/operations.h"
#include "analyze/result/names.h"
#include "wrap/base/vec.h"
#include <string.h>

struct operations_rank {
    VEC(struct operation) list;
    struct map numbers;  /* window and target -> 1 + index in list */
    struct map requests; /* request -> 1 + index in pending */
    VEC(struct operation) pending;
    VEC(uint32_t) free; /* entries of pending */
};

void operations_begin(struct operations *operations, uint32_t n_ranks)
{
    *operations = (struct operations){.n_ranks = n_ranks};
    size_t cap = 0;
    vec_grow((void **)&operations->ranks, &cap, n_ranks + 1, sizeof *operations->ranks);
    memset(operations->ranks, 0, (n_ranks + 1) * sizeof *operations->ranks);
}

void operations_release(struct operations *operations)
{
    for (uint32_t rank = 0; operations->ranks && rank < operations->n_ranks; rank++) {
        struct operations_rank *at = &operations->ranks[rank];
        vec_release(&at->list);
        vec_release(&at->pending);
        vec_release(&at->free);
        map_release(&at->numbers);
        map_release(&at->requests);
    }
    vec_free(operations->ranks);
}

static uint64_t key_of(uint32_t window, uint32_t target)
{
    return (uint64_t)window << 32 | target;
}

void operations_add(struct operations *operations, uint32_t rank, struct operation operation)
{
    struct operations_rank *at = &operations->ranks[rank];
    uint64_t *number = map_put(&at->numbers, key_of(operation.window, operation.target), NULL);
    if (!*number) {
        *vec_push(&at->list) = operation;
        *number = at->list.n;
    }
    at->list.at[*number - 1].kinds |= operation.kinds;
}

static uint64_t pending_new(struct operations_rank *at)
{
    if (at->free.n)
        return at->free.at[--at->free.n];
    (void)vec_push(&at->pending);
    return at->pending.n - 1;
}

void operations_add_request(struct operations *operations, uint32_t rank, uint64_t request, struct operation operation)
{
    struct operations_rank *at = &operations->ranks[rank];
    uint64_t *number = map_put(&at->requests, request, NULL);
    if (!*number) {
        *number = 1 + pending_new(at);
        operations->n_requests++;
    }
    at->pending.at[*number - 1] = operation;
}

bool operations_finish_request(struct operations *operations, uint32_t rank, uint64_t request,
                               struct operation *operation)
{
    struct operations_rank *at = &operations->ranks[rank];
    const uint64_t *number = map_get(&at->requests, request);
    if (!number)
        return false;
    *operation = at->pending.at[*number - 1];
    *vec_push(&at->free) = (uint32_t)(*number - 1);
    map_remove(&at->requests, request);
    operations->n_requests--;
    return true;
}

uint32_t operations_kinds(const struct operations *operations, uint32_t rank, uint32_t window, uint32_t target)
{
    const struct operations_rank *at = &operations->ranks[rank];
    const uint64_t *number = map_get(&at->numbers, key_of(window, target));
    return number ? at->list.at[*number - 1].kinds : 0;
}

struct operations_list operations_of(const struct operations *operations, uint32_t rank)
{
    const struct operations_rank *at = &operations->ranks[rank];
    return (struct operations_list){.at = at->list.at, .n = at->list.n};
}

void operations_complete(struct operations *operations, uint32_t rank, uint32_t window, uint32_t target)
{
    struct operations_rank *at = &operations->ranks[rank];
    if (target != UINT32_MAX) {
        const uint64_t *number = map_get(&at->numbers, key_of(window, target));
        if (number)
            at->list.at[*number - 1].kinds = 0;
        return;
    }
    for (size_t i = 0; i < at->list.n; i++)
        if (at->list.at[i].window == window)
            at->list.at[i].kinds = 0;
}

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
