/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/onesided.h"
#include "analyze/constants/constants.h"
#include "analyze/result/names.h"
#include "analyze/trace/trace.h"
#include "wrap/base/containers.h"
#include "wrap/base/keys.h"
#include <string.h>

struct locks_held {
    uint32_t rank;
    struct lock lock;
};

struct locks_unlock {
    struct lock lock;
    struct point *enter; /* held */
    uint64_t leave_ns;
};

struct locks_window {
    VEC(struct locks_held) held; /* or asked for, where locks are deferred */
    bool are_deferred;
    struct locks_unlock *ring; /* the latest unlocks, in the order in which they ended */
    size_t ring_cap;
    uint64_t n_unlocks; /* ever */
};

struct locks_going {
    uint32_t rank;
    uint64_t enter_ns;
};

void locks_begin(struct locks *locks, struct links *links, uint32_t n_ranks)
{
    *locks = (struct locks){.links = links, .n_ranks = n_ranks};
}

void locks_release(struct locks *locks)
{
    for (size_t i = 0; i < locks->windows.n; i++) {
        vec_release(&locks->windows.at[i].held);
        vec_free(locks->windows.at[i].ring);
    }
    vec_release(&locks->windows);
    vec_release(&locks->going);
    vec_release(&locks->unsettled);
    for (size_t i = 0; i < locks->works.n; i++)
        sparse_release(&locks->works.at[i].atoms);
    vec_release(&locks->works);
    map_release(&locks->work_numbers);
    map_release(&locks->numbers);
    slab_release(&locks->waits);
}

static struct locks_window *window_of(struct locks *locks, uint64_t window)
{
    uint64_t *number = map_put(&locks->numbers, window, NULL);
    if (!*number) {
        struct locks_window *made = vec_push(&locks->windows);
        vec_grow((void **)&made->ring, &made->ring_cap, 2 * (size_t)locks->n_ranks, sizeof *made->ring);
        *number = locks->windows.n;
    }
    return &locks->windows.at[*number - 1];
}

/* In one window. */
static bool locks_meet(const struct lock *a, const struct lock *b)
{
    return a->target == b->target || a->target == TRACE_NONE || b->target == TRACE_NONE;
}

static bool locks_exclude(const struct lock *a, const struct lock *b)
{
    return locks_meet(a, b) && (a->is_exclusive || b->is_exclusive);
}

static struct locks_held *held_find(struct locks_window *window, uint32_t rank, const struct lock *lock)
{
    for (size_t i = window->held.n; i-- > 0;)
        if (window->held.at[i].rank == rank && locks_meet(&window->held.at[i].lock, lock))
            return &window->held.at[i];
    return NULL;
}

static bool rank_is_unlocking(const struct locks *locks, uint32_t rank)
{
    for (size_t i = 0; i < locks->going.n; i++)
        if (locks->going.at[i].rank == rank)
            return true;
    return false;
}

/* Do others hold, for certain, what excludes this lock? */
static bool held_by_others(const struct locks *locks, const struct locks_window *window, uint32_t rank,
                           const struct lock *lock)
{
    for (size_t i = 0; i < window->held.n; i++) {
        const struct locks_held *held = &window->held.at[i];
        if (held->rank != rank && locks_exclude(&held->lock, lock) && !rank_is_unlocking(locks, held->rank))
            return true;
    }
    return false;
}

static struct lock_work *work_of(struct locks *locks, uint32_t rank, const struct lock *lock)
{
    uint64_t *number = map_put(&locks->work_numbers, key_pair((uint32_t)lock->window, lock->target), NULL);
    if (!*number) {
        *vec_push(&locks->works) = (struct lock_work){.window = lock->window, .rank = rank};
        *number = locks->works.n;
    }
    return &locks->works.at[*number - 1];
}

/* One process has no lock twice: a second one for the same means that the unlock was not seen. */
void locks_take(struct locks *locks, uint32_t rank, struct lock lock)
{
    struct locks_window *window = window_of(locks, lock.window);
    struct lock_work *work = work_of(locks, rank, &lock);
    work->has_others = work->has_others || work->rank != rank;
    window->are_deferred = window->are_deferred || held_by_others(locks, window, rank, &lock);
    struct locks_held *held = held_find(window, rank, &lock);
    if (!held || held->lock.target != lock.target)
        held = vec_push(&window->held);
    locks->n_exclusive += lock.is_exclusive;
    locks->n_exclusive -= held->lock.is_exclusive;
    *held = (struct locks_held){.rank = rank, .lock = lock};
}

void locks_add_work(struct locks *locks, uint32_t rank, const struct sparse *atoms)
{
    for (size_t i = 0; locks->n_exclusive && i < locks->windows.n; i++)
        for (size_t k = 0; k < locks->windows.at[i].held.n; k++) {
            const struct locks_held *held = &locks->windows.at[i].held.at[k];
            if (held->rank != rank || !held->lock.is_exclusive)
                continue;
            sparse_add_all(&work_of(locks, rank, &held->lock)->atoms, atoms, 1);
            return;
        }
}

bool locks_are_serial(const struct locks *locks, const struct lock_work *work)
{
    const uint64_t *number = map_get(&locks->numbers, work->window);
    return work->has_others && !(number && locks->windows.at[*number - 1].are_deferred);
}

bool locks_find(struct locks *locks, uint32_t rank, struct lock *lock)
{
    const struct locks_held *held = held_find(window_of(locks, lock->window), rank, lock);
    lock->is_exclusive = held && held->lock.is_exclusive;
    return held;
}

uint32_t locks_holder(struct locks *locks, uint32_t rank, const struct lock *wanted, bool is_asked_for)
{
    uint32_t holder = TRACE_NONE;
    for (size_t i = 0; i < locks->windows.n; i++) {
        struct locks_window *window = &locks->windows.at[i];
        const struct locks_held *own = is_asked_for ? held_find(window, rank, wanted) : NULL;
        for (size_t k = 0; k < window->held.n && (own || !is_asked_for); k++) {
            const struct locks_held *held = &window->held.at[k];
            if (held->rank == rank || held->rank == holder || !locks_exclude(&held->lock, own ? &own->lock : wanted))
                continue;
            if (holder != TRACE_NONE)
                return TRACE_NONE;
            holder = held->rank;
        }
    }
    return holder;
}

bool locks_are_deferred(struct locks *locks, uint64_t window)
{
    return window_of(locks, window)->are_deferred;
}

/* Is an unlock still under way that was entered inside this call? One that hangs holds up no more than that. */
static bool wait_is_open(const struct locks *locks, const struct lock_wait *wait)
{
    for (size_t i = locks->going.n; i-- > 0 && locks->going.at[i].enter_ns > wait->enter_ns;)
        if (locks->going.at[i].enter_ns <= wait->leave_ns)
            return true;
    return false;
}

/* Those that have nothing to wait for any more. If locks are deferred, also those that `rank` now gives back. */
static void settle_waits(struct locks *locks, const struct lock *given, uint32_t rank)
{
    size_t n = 0;
    for (size_t i = 0; i < locks->unsettled.n; i++) {
        struct lock_wait *wait = locks->unsettled.at[i];
        bool is_given =
            given && wait->rank == rank && wait->lock.window == given->window && locks_meet(&wait->lock, given);
        if (!is_given && wait_is_open(locks, wait)) {
            locks->unsettled.at[n++] = wait;
            continue;
        }
        /* Of the unlocks seen so far, but for those that ended before the wait began. */
        const struct locks_window *window = window_of(locks, wait->lock.window);
        uint64_t first = window->n_unlocks > window->ring_cap ? window->n_unlocks - window->ring_cap : 0;
        struct point *release = NULL;
        for (uint64_t j = window->n_unlocks; j-- > first;) {
            const struct locks_unlock *unlock = &window->ring[j % window->ring_cap];
            if (unlock->leave_ns <= wait->enter_ns)
                break;
            const struct point *enter = unlock->enter;
            if ((enter->rank != wait->rank && enter->time_ns > wait->enter_ns && enter->time_ns <= wait->leave_ns &&
                 locks_exclude(&unlock->lock, &wait->lock)) &&
                (!release || unlock->enter->time_ns > release->time_ns))
                release = unlock->enter;
        }
        wait->release = release ? point_hold(release) : NULL;
        wait->is_settled = true;
        links_wake(locks->links, &wait->sleepers);
        lock_wait_drop(locks, wait);
    }
    locks->unsettled.n = n;
}

void locks_give(struct locks *locks, struct lock lock, struct point *unlock, uint64_t leave_ns)
{
    struct locks_window *window = window_of(locks, lock.window);
    if (window->are_deferred)
        settle_waits(locks, &lock, unlock->rank);
    struct locks_unlock *slot = &window->ring[window->n_unlocks % window->ring_cap];
    if (window->n_unlocks++ >= window->ring_cap)
        point_drop(locks->links, slot->enter);
    *slot = ((struct locks_unlock){.lock = lock, .enter = point_hold(unlock), .leave_ns = leave_ns});
    struct locks_held *held = held_find(window, unlock->rank, &lock);
    if (!held)
        return;
    locks->n_exclusive -= held->lock.is_exclusive;
    *held = window->held.at[--window->held.n];
}

void locks_unlock_begin(struct locks *locks, uint32_t rank, uint64_t enter_ns)
{
    *vec_push(&locks->going) = (struct locks_going){.rank = rank, .enter_ns = enter_ns};
}

void locks_unlock_end(struct locks *locks, uint32_t rank)
{
    size_t at = 0;
    while (at < locks->going.n && locks->going.at[at].rank != rank)
        at++;
    if (at < locks->going.n)
        memmove(&locks->going.at[at], &locks->going.at[at + 1], (--locks->going.n - at) * sizeof *locks->going.at);
    settle_waits(locks, NULL, 0);
}

struct lock_wait *locks_wait(struct locks *locks, uint32_t rank, struct lock lock, uint64_t enter_ns, uint64_t leave_ns)
{
    struct lock_wait *wait = slab_new(&locks->waits, struct lock_wait);
    *wait = (struct lock_wait){.lock = lock, .rank = rank, .enter_ns = enter_ns, .leave_ns = leave_ns, .holds = 2};
    *vec_push(&locks->unsettled) = wait;
    settle_waits(locks, NULL, 0);
    if (!wait->is_settled || wait->release)
        return wait;
    lock_wait_drop(locks, wait);
    return NULL;
}

void lock_wait_drop(struct locks *locks, struct lock_wait *wait)
{
    if (!wait || --wait->holds)
        return;
    point_drop(locks->links, wait->release);
    slab_give(&locks->waits, wait);
}

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
    operations->ranks = memory_lines(n_ranks + 1, sizeof *operations->ranks);
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
    return key_pair(window, target);
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

void operations_add_request(struct operations *operations, uint32_t rank, uint64_t request, struct operation operation)
{
    struct operations_rank *at = &operations->ranks[rank];
    uint64_t *number = map_put(&at->requests, request, NULL);
    if (!*number) {
        if (at->free.n) {
            *number = 1 + at->free.at[--at->free.n];
        } else {
            (void)vec_push(&at->pending);
            *number = at->pending.n;
        }
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

enum { FETCHES_MOST = 3 };

void fetching_begin(struct fetching *fetching, uint32_t n_locations)
{
    *fetching = (struct fetching){.n_locations = n_locations};
    fetching->rows = memory_lines(n_locations + 1, sizeof *fetching->rows);
}

void fetching_release(struct fetching *fetching)
{
    vec_free(fetching->rows);
    sparse_release(&fetching->spent);
}

static void row_end(struct fetching *fetching, struct fetch_row *row)
{
    uint64_t all_ns = row->last_ns - row->begin_ns;
    if (row->n >= FETCHES_IN_A_ROW && 2 * row->outside_ns <= all_ns)
        sparse_add(&fetching->spent, key_pair(row->what.site, row->rank), (double)all_ns);
    fetching->n_begun -= row->n > 0;
    row->n = 0;
}

void fetching_operation(struct fetching *fetching, uint32_t location, uint32_t rank, struct fetch fetch,
                        uint64_t enter_ns)
{
    struct fetch_row *row = &fetching->rows[location];
    bool is_same = row->what.site == fetch.site && row->what.target == fetch.target &&
                   row->what.window == fetch.window && row->what.bytes == fetch.bytes;
    if (row->n && !is_same)
        row_end(fetching, row);
    if (!fetch.bytes)
        return;
    fetching->n_begun += !row->n;
    if (!row->n)
        *row = (struct fetch_row){.what = fetch, .rank = rank, .begin_ns = enter_ns, .last_ns = enter_ns};
    row->n++;
}

void fetching_call(struct fetching *fetching, uint32_t location, enum ww_class class, uint64_t enter_ns,
                   uint64_t leave_ns)
{
    struct fetch_row *row = fetching->n_begun ? &fetching->rows[location] : NULL;
    if (!row || !row->n)
        return;
    /* Calls that a loop of fetches makes besides. */
    bool may_fetch = class == WW_LOCAL || class == WW_WAIT || (class >= WW_RMA_LOCK && class <= WW_RMA_REQUEST);
    if (!may_fetch) {
        row_end(fetching, row);
        return;
    }
    row->outside_ns += enter_ns > row->last_ns ? enter_ns - row->last_ns : 0;
    row->last_ns = leave_ns;
}

void fetching_finish(struct fetching *fetching)
{
    for (uint32_t i = 0; i < fetching->n_locations; i++)
        row_end(fetching, &fetching->rows[i]);
}

void fetching_write(struct fetching *fetching, struct sites *sites, struct analysis *analysis)
{
    double run_ns = (double)(analysis->trace->end_ns - analysis->trace->start_ns);
    sparse_pack(&fetching->spent);
    analysis->fetches = arena_array(&analysis->arena, struct repeated_fetch, FETCHES_MOST);
    for (size_t at = 0; at < fetching->spent.n && analysis->n_fetches < FETCHES_MOST;) {
        /* The terms of a site are neighbours: the process that spent most. */
        const struct sparse *spent = &fetching->spent;
        const struct term *term = &spent->at[at];
        for (uint32_t site = key_high(term->key); at < spent->n && key_high(spent->at[at].key) == site; ++at)
            if (spent->at[at].ns > term->ns)
                term = &spent->at[at];
        if (term->ns >= (NOTABLY_LONGER - 1) * run_ns)
            analysis->fetches[analysis->n_fetches++] =
                (struct repeated_fetch){.call = names_site_text(sites, &analysis->arena, key_high(term->key)),
                                        .rank = (uint32_t)term->key,
                                        .dur_ns = term->ns};
    }
}
