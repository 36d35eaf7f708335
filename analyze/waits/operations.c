/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/operations.h"
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
