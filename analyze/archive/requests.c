/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entries of one handle form a list from the newest to the oldest. More than one is pending only while calls overlap
 * (see requests.h) or when a completion was not recorded. The times of the calls tell which.
 */
#include "analyze/archive/requests.h"
#include "wrap/base/keys.h"
#include <stdlib.h>

uint64_t requests_new_id(struct requests *table)
{
    return table->free_ids.n ? table->free_ids.at[--table->free_ids.n] : table->n_ids++;
}

void requests_free_id(struct requests *table, uint64_t id)
{
    if (!table->keeps_ids)
        *vec_push(&table->free_ids) = id;
}

static uint32_t entry_new(struct requests *table)
{
    uint32_t entry = table->free;
    if (entry) {
        table->free = table->entries.at[entry - 1].older;
        return entry;
    }
    (void)vec_push(&table->entries);
    return (uint32_t)table->entries.n;
}

static void entry_free(struct requests *table, uint32_t entry)
{
    table->entries.at[entry - 1] = (struct request_entry){.older = table->free};
    table->free = entry;
}

void requests_start(struct requests *table, uint64_t handle, const struct request *request)
{
    uint32_t entry = entry_new(table);
    uint64_t *newest = map_put(&table->newest, handle, NULL);
    table->entries.at[entry - 1] = (struct request_entry){*request, (uint32_t)*newest};
    *newest = entry;
}

const struct request *requests_find(const struct requests *table, uint64_t handle)
{
    const uint64_t *newest = map_get(&table->newest, handle);
    return newest && *newest ? &table->entries.at[*newest - 1].request : NULL;
}

/* Takes the newest when it started before the completing call began: older ones are left over from completions that
 * nobody recorded. Otherwise the oldest. */
bool requests_finish(struct requests *table, uint64_t handle, uint64_t enter_ns, struct request *request)
{
    uint64_t *newest = map_get(&table->newest, handle);
    if (!newest || !*newest)
        return false;
    uint32_t taken = (uint32_t)*newest, newer = 0;
    struct request_entry *entries = table->entries.at;
    bool overlaps = entries[taken - 1].request.start_ns > enter_ns;
    while (overlaps && entries[taken - 1].older) {
        newer = taken;
        taken = entries[taken - 1].older;
    }
    *request = entries[taken - 1].request;
    bool is_pending = request->start_ns >= table->from_ns;
    uint32_t stale = entries[taken - 1].older;
    if (newer)
        entries[newer - 1].older = 0;
    else
        map_remove(&table->newest, handle);
    entry_free(table, taken);
    while (stale) {
        uint32_t older = entries[stale - 1].older;
        entry_free(table, stale);
        stale = older;
    }
    return is_pending;
}

void requests_keep(struct requests *table, uint64_t handle, const struct request *request)
{
    uint64_t *kept = map_put(&table->persistent, handle, NULL);
    if (!*kept)
        *kept = entry_new(table);
    table->entries.at[*kept - 1] = (struct request_entry){.request = *request};
}

bool requests_kept(const struct requests *table, uint64_t handle, struct request *request)
{
    const uint64_t *kept = map_get(&table->persistent, handle);
    if (!kept || !*kept)
        return false;
    *request = table->entries.at[*kept - 1].request;
    return true;
}

void requests_forget(struct requests *table, uint64_t handle)
{
    const uint64_t *kept = map_get(&table->persistent, handle);
    if (!kept || !*kept)
        return;
    uint32_t entry = (uint32_t)*kept;
    map_remove(&table->persistent, handle);
    entry_free(table, entry);
}

static int start_compare(const void *a, const void *b)
{
    const struct request *left = a, *right = b;
    return order_of(left->start_ns, right->start_ns) ?: order_of(left->id, right->id);
}

void requests_pending(const struct requests *table, struct request_list *list)
{
    for (size_t i = 0; i < table->entries.n; i++) {
        const struct request *request = &table->entries.at[i].request;
        bool is_awaited =
            request->kind == REQUEST_RECV || request->kind == REQUEST_COLL || request->kind == REQUEST_OUTSIDE;
        if (is_awaited && request->start_ns && request->start_ns >= table->from_ns)
            *vec_push(&list->all) = *request;
    }
    vec_sort(&list->all, start_compare);
}

void requests_release(struct requests *table)
{
    map_release(&table->newest);
    map_release(&table->persistent);
    vec_release(&table->entries);
    vec_release(&table->free_ids);
    *table = (struct requests){0};
}
