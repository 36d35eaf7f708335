/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/open_waits.h"
#include "analyze/result/names.h"
#include "analyze/waits/reading.h"
#include "wrap/base/keys.h"
#include <stdlib.h>

/* A turn of a communicator that somebody waits at. */
struct turn {
    uint32_t missing; /* the first member that has not come to it; TRACE_NONE */
    uint32_t first,
        unlike; /* indices of open calls: the first there, and the first that does not match it; TRACE_NONE */
};

/* Data about the calls that never ended. */
struct turns {
    const struct reader *reader;
    struct map inside; /* (space and communicator, rank) -> how many collectives it has begun and not ended */
    struct map of;     /* (space and communicator, number) -> 1 + index of the turn */
    VEC(struct turn) all;
    bool is_certain; /* all calls were recorded */
};

static bool class_is_collective(enum ww_class class)
{
    return class == WW_COLLECTIVE || class == WW_COMM_CREATE || class == WW_COMM_FREE || class == WW_WIN_CREATE ||
           class == WW_WIN_FREE || class == WW_RMA_FENCE || class == WW_IO_COLLECTIVE;
}

/* The owner of turns: those of a communicator, counted apart. TRACE_NONE when the communicator is not known. */
static uint32_t turns_in(const struct trace *trace, uint32_t comm, enum gather_space space)
{
    return comm < trace->n_comms ? comm * GATHER_N_SPACES + space : TRACE_NONE;
}

/* TRACE_NONE when the call has no turn. Reading and writing a file together is counted apart: members may be through
 * with it that others wait in. */
static uint32_t turns_of(const struct reader *reader, const struct open_call *call)
{
    bool is_on_file = call->class == WW_IO_COLLECTIVE && reader->trace->regions[call->region].coll == WW_COLL_NONE;
    enum gather_space space = call->class == WW_RMA_FENCE ? GATHER_FENCE : is_on_file ? GATHER_FILE : GATHER_BLOCKING;
    return class_is_collective(call->class) ? turns_in(reader->trace, call->comm, space) : TRACE_NONE;
}

static uint32_t n_joined(const struct turns *turns, uint32_t which, uint32_t rank)
{
    return (uint32_t)gatherings_n_joined(turns->reader->replay->gatherings, which / GATHER_N_SPACES,
                                         (enum gather_space)(which % GATHER_N_SPACES), rank);
}

/* The number of collectives of the communicator that a rank has come to, those included that it has not ended. */
static uint32_t n_entered(const struct turns *turns, uint32_t which, uint32_t rank)
{
    const uint64_t *inside = map_get(&turns->inside, key_pair(which, rank));
    return n_joined(turns, which, rank) + (inside ? (uint32_t)*inside : 0);
}

/* The first member that has not come to this turn. Others may be through: the root of a broadcast does not wait for the
 * rest. */
static uint32_t missing_member(const struct turns *turns, uint32_t which, uint32_t number)
{
    const struct trace *trace = turns->reader->trace;
    uint32_t comm = which / GATHER_N_SPACES;
    for (uint32_t i = 0; i < gather_comm_size(trace, comm); i++) {
        uint32_t rank = gather_comm_rank(trace, comm, i);
        if (rank < trace->n_ranks && n_entered(turns, which, rank) < number)
            return rank;
    }
    return TRACE_NONE;
}

/* Operations of one turn match when they are the same, of the same root. */
static bool calls_match(const struct open_call *a, const struct open_call *b)
{
    bool other_root = a->peer != b->peer && a->peer != TRACE_NONE && b->peer != TRACE_NONE;
    return a->region == b->region && !other_root;
}

/* NULL when the call has none. */
static struct turn *turn_of(struct turns *turns, const struct open_call *call)
{
    uint32_t which = turns_of(turns->reader, call);
    if (which == TRACE_NONE)
        return NULL;
    uint32_t number = n_entered(turns, which, call->rank);
    uint64_t *slot = map_put(&turns->of, key_pair(which, number), NULL);
    if (!*slot) {
        *vec_push(&turns->all) = (struct turn){missing_member(turns, which, number), TRACE_NONE, TRACE_NONE};
        *slot = turns->all.n;
    }
    return &turns->all.at[*slot - 1];
}

/* If records of calls found no room, turns are not known for certain. */
static bool has_lost_calls(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->n_locations; i++)
        if (trace->locations[i].n_dropped)
            return true;
    return false;
}

static void turns_begin(struct turns *turns, const struct reader *reader)
{
    *turns = (struct turns){.reader = reader, .is_certain = !has_lost_calls(reader->trace)};
    for (size_t i = 0; i < reader->open_calls.n; i++) {
        const struct open_call *call = &reader->open_calls.at[i];
        uint32_t which = turns_of(reader, call);
        if (which != TRACE_NONE)
            ++*map_put(&turns->inside, key_pair(which, call->rank), NULL);
        const struct reading *reading = &reader->readings[call->lane];
        for (size_t k = 0; k < reading->pending.n; k++) {
            which = turns_in(reader->trace, reading->pending.at[k].comm, GATHER_NONBLOCKING);
            if (!reading->pending.at[k].is_receive && which != TRACE_NONE)
                ++*map_put(&turns->inside, key_pair(which, call->rank), NULL);
        }
    }
    for (uint32_t i = 0; i < reader->open_calls.n; i++) {
        const struct open_call *call = &reader->open_calls.at[i];
        struct turn *turn = turn_of(turns, call);
        if (turn && (turn->first == TRACE_NONE || call->rank < reader->open_calls.at[turn->first].rank))
            turn->first = i;
    }
    for (uint32_t i = 0; i < reader->open_calls.n; i++) {
        const struct open_call *call = &reader->open_calls.at[i];
        struct turn *turn = turn_of(turns, call);
        if (turn && !calls_match(call, &reader->open_calls.at[turn->first]) &&
            (turn->unlike == TRACE_NONE || call->rank < reader->open_calls.at[turn->unlike].rank))
            turn->unlike = i;
    }
}

static void turns_release(struct turns *turns)
{
    map_release(&turns->inside);
    map_release(&turns->of);
    vec_release(&turns->all);
}

/* A rank that is at the same turn with an operation that does not match; TRACE_NONE. */
static uint32_t unlike_member(struct turns *turns, const struct open_call *call)
{
    const struct turn *turn = turns->is_certain ? turn_of(turns, call) : NULL;
    if (!turn || turn->unlike == TRACE_NONE)
        return TRACE_NONE;
    const struct open_call *first = &turns->reader->open_calls.at[turn->first];
    return calls_match(call, first) ? turns->reader->open_calls.at[turn->unlike].rank : first->rank;
}

static bool is_in(const struct reader *reader, uint32_t rank, bool only_finalize)
{
    for (size_t i = 0; i < reader->open_calls.n; i++) {
        const struct open_call *call = &reader->open_calls.at[i];
        if (call->rank == rank && (!only_finalize || call->class == WW_FINALIZE))
            return true;
    }
    return false;
}

/* An apparent collective operation in which both are is two. */
static bool is_in_other_comm(const struct reader *reader, uint32_t rank, const struct open_call *call)
{
    for (size_t i = 0; i < reader->open_calls.n; i++) {
        const struct open_call *other = &reader->open_calls.at[i];
        if (other->rank == rank && other->region == call->region && turns_of(reader, other) != turns_of(reader, call) &&
            turns_of(reader, other) != TRACE_NONE && turns_of(reader, call) != TRACE_NONE)
            return true;
    }
    return false;
}

/* Of what is pending in a call that completes requests, what it waits for: the oldest receive for which nothing has
 * been sent. Each message is for one receive. */
static const struct pending *unsent_receive(const struct reader *reader, const struct open_call *call)
{
    const struct reading *reading = &reader->readings[call->lane];
    const struct pending *unknown = NULL, *found = NULL;
    struct intern alike = {0};
    struct map n_seen = {0};
    for (size_t i = 0; i < reading->pending.n && !found; i++) {
        const struct pending *pending = &reading->pending.at[i];
        if (!pending->is_receive)
            continue;
        if (pending->peer == TRACE_NONE) {
            unknown = unknown ? unknown : pending;
            continue;
        }
        uint32_t key[] = {pending->comm, pending->peer, (uint32_t)pending->tag};
        uint64_t *n = map_put(&n_seen, intern_put(&alike, key, sizeof key), NULL);
        if (++*n >
            messages_n_under_way(reader->replay->messages, pending->comm, pending->tag, pending->peer, call->rank))
            found = pending;
    }
    intern_release(&alike);
    map_release(&n_seen);
    return found ? found : unknown;
}

/* Whom a call waits for that completes requests: who has not sent, has not begun a collective operation, or has not
 * received. Without any of them, the sender of the oldest receive. One that takes a buffer back waits for who has not
 * received what lies there. */
static void find_awaited(const struct turns *turns, struct open_call *call)
{
    const struct reader *reader = turns->reader;
    const struct reading *reading = &reader->readings[call->lane];
    if (reader->trace->regions[call->region].is_on_buffer) {
        const struct message *buffered = reading_oldest_buffered(reading);
        call->peer = buffered ? buffered->destination : TRACE_NONE;
        return;
    }
    const struct pending *receive = unsent_receive(reader, call);
    if (receive) {
        call->comm = receive->comm;
        call->peer = receive->peer;
        call->tag = receive->tag;
        return;
    }
    for (size_t i = 0; i < reading->pending.n; i++) {
        uint32_t which = turns_in(reader->trace, reading->pending.at[i].comm, GATHER_NONBLOCKING);
        if (reading->pending.at[i].is_receive || which == TRACE_NONE)
            continue;
        call->peer = missing_member(turns, which, n_joined(turns, which, call->rank) + 1);
        call->comm = TRACE_NONE;
        return;
    }
    const struct message *send = call->peer == TRACE_NONE ? reading_oldest_send(reading) : NULL;
    call->peer = send ? send->destination : call->peer;
}

static uint32_t awaited(struct turns *turns, const struct open_call *call)
{
    const struct reader *reader = turns->reader;
    if (class_is_collective(call->class)) {
        const struct turn *turn = turn_of(turns, call);
        return !turn ? TRACE_NONE : turn->missing != TRACE_NONE ? turn->missing : unlike_member(turns, call);
    }
    if (!class_is_passive(call->class))
        return call->peer;
    /* The holder of the lock, if known. Else the target, which may have to be in MPI and is not. */
    struct lock wanted = {.target = call->peer, .is_exclusive = call->tag == WW_LOCK_EXCLUSIVE};
    uint32_t holder = locks_holder(reader->replay->locks, call->rank, &wanted, call->class != WW_RMA_LOCK);
    return holder == TRACE_NONE && !is_in(reader, call->peer, false) ? call->peer : holder;
}

static bool class_may_receive(enum ww_class class)
{
    return class == WW_RECV || class == WW_SENDRECV || class == WW_PROBE || class == WW_WAIT || class == WW_TEST ||
           class == WW_IPROBE;
}

/* A process that was killed while it received does not wait for its partner to act, though it looks like that. */
static bool is_sent(const struct reader *reader, const struct open_call *call)
{
    return class_may_receive(call->class) && call->class != WW_IPROBE && call->peer != TRACE_NONE &&
           messages_n_under_way(reader->replay->messages, call->comm, call->tag, call->peer, call->rank);
}

static bool class_may_wait(enum ww_class class)
{
    return class != WW_LOCAL && class != WW_ABORT && class != WW_FINALIZE && class != WW_INIT;
}

/* A rank's last stretch if it lasted for most of a wait for it. */
static const struct last_stretch *stretch_meanwhile(const struct reader *reader, const struct open_wait *wait)
{
    uint64_t until_ns = wait->since_ns + wait->dur_ns;
    for (size_t i = 0; i < reader->last_stretches.n && !wait->is_sent; i++) {
        const struct last_stretch *stretch = &reader->last_stretches.at[i];
        uint64_t from_ns = stretch->begin_ns > wait->since_ns ? stretch->begin_ns : wait->since_ns;
        uint64_t to_ns = stretch->end_ns < until_ns ? stretch->end_ns : until_ns;
        if (stretch->step != TRACE_NONE && stretch->rank == wait->for_rank && to_ns > from_ns &&
            to_ns - from_ns > wait->dur_ns / 2)
            return stretch;
    }
    return NULL;
}

/* Whom a rank cannot go on without; TRACE_NONE: it waits for nobody, or may go on. Of several waits the first counts.
 */
struct needed_rank {
    uint32_t rank;
    uint32_t seen_from; /* 1 + the rank from which one came by here */
};

static void find_needed(const struct analysis *analysis, struct needed_rank *needed, uint32_t n_ranks)
{
    for (uint32_t rank = 0; rank < n_ranks; rank++)
        needed[rank] = (struct needed_rank){.rank = TRACE_NONE};
    for (uint32_t i = analysis->n_open_waits; i-- > 0;) {
        const struct open_wait *wait = &analysis->open_waits[i];
        bool may_go_on = wait->is_sent || (wait->polls && wait->dur_ns <= wait->longest_ns);
        if (wait->rank < n_ranks && wait->for_rank < n_ranks)
            needed[wait->rank].rank = may_go_on ? TRACE_NONE : wait->for_rank;
    }
}

/* The lowest rank of all rings; TRACE_NONE: there are none. From each rank one goes on until nobody is waited for, or
 * to where one has been. If that was on the way from the same rank, it is a ring. */
static uint32_t lowest_in_ring(struct needed_rank *needed, uint32_t n_ranks)
{
    uint32_t lowest = TRACE_NONE;
    for (uint32_t start = 0; start < n_ranks; start++) {
        uint32_t rank = start;
        for (; rank != TRACE_NONE && !needed[rank].seen_from; rank = needed[rank].rank)
            needed[rank].seen_from = start + 1;
        if (rank == TRACE_NONE || needed[rank].seen_from != start + 1)
            continue;
        uint32_t first = rank;
        do {
            lowest = rank < lowest ? rank : lowest;
            rank = needed[rank].rank;
        } while (rank != first);
    }
    return lowest;
}

uint32_t open_waits_ring(const struct analysis *analysis, uint32_t n_ranks, uint32_t *ring)
{
    VEC(struct needed_rank) needed = {0};
    vec_resize(&needed, n_ranks);
    find_needed(analysis, needed.at, n_ranks);
    uint32_t first = lowest_in_ring(needed.at, n_ranks), n = 0;
    for (uint32_t rank = first; first != TRACE_NONE && (!n || rank != first); rank = needed.at[rank].rank)
        ring[n++] = rank;
    vec_release(&needed);
    return n;
}

static int open_wait_compare(const void *a, const void *b)
{
    const struct open_wait *left = a, *right = b;
    return order_of(left->rank, right->rank) ?: order_of(left->since_ns, right->since_ns);
}

static struct open_wait open_wait_make(struct turns *turns, const struct open_call *call, const struct wait_site *named)
{
    const struct reader *reader = turns->reader;
    struct open_wait wait = {.rank = call->rank,
                             .for_rank = awaited(turns, call),
                             .unlike_rank = unlike_member(turns, call),
                             .call = named->call,
                             .file = named->file,
                             .path = named->path,
                             .line = named->line,
                             .tag = call->tag,
                             .is_sent = is_sent(reader, call),
                             .polls = call->class == WW_TEST || call->class == WW_IPROBE,
                             .probes = call->class == WW_IPROBE,
                             .is_outside = call->is_outside,
                             .since_ns = call->enter_ns,
                             .dur_ns = call->end_ns - call->enter_ns,
                             .longest_ns = reader->replay->longest_wait_ns};
    const struct last_stretch *stretch = stretch_meanwhile(reader, &wait);
    wait.meanwhile_step = stretch ? stretch->step : 0;
    wait.meanwhile_share = stretch ? stretch->share : 0;
    wait.is_for_finalizing = wait.for_rank != TRACE_NONE && is_in(reader, wait.for_rank, true);
    wait.is_for_other_comm = wait.for_rank != TRACE_NONE && is_in_other_comm(reader, wait.for_rank, call);
    if (class_may_receive(call->class) && wait.for_rank != TRACE_NONE && !wait.is_sent)
        wait.is_other_sent = messages_other_under_way(reader->replay->messages, call->comm, call->tag, wait.for_rank,
                                                      call->rank, &wait.other_tag);
    return wait;
}

void open_waits_write(struct analysis *analysis, struct sites *sites, const struct reader *reader)
{
    struct turns turns;
    turns_begin(&turns, reader);
    analysis->open_waits = arena_array(&analysis->arena, struct open_wait, reader->open_calls.n + 1);
    for (size_t i = 0; i < reader->open_calls.n; i++) {
        struct open_call call = reader->open_calls.at[i];
        struct wait_site named = {0};
        if (!class_may_wait(call.class))
            continue;
        if (call.class == WW_WAIT || call.class == WW_TEST)
            find_awaited(&turns, &call);
        names_site(sites, &analysis->arena, call.site, &named);
        analysis->open_waits[analysis->n_open_waits++] = open_wait_make(&turns, &call, &named);
    }
    turns_release(&turns);
    qsort(analysis->open_waits, analysis->n_open_waits, sizeof *analysis->open_waits, open_wait_compare);
    analysis->deadlock = arena_array(&analysis->arena, uint32_t, analysis->trace->n_ranks + 1);
    analysis->n_deadlock = open_waits_ring(analysis, analysis->trace->n_ranks, analysis->deadlock);
}
