/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/open_waits.h"
#include "analyze/result/names.h"
#include <stdlib.h>

static bool class_is_collective(enum ww_class class)
{
    return class == WW_COLLECTIVE || class == WW_COMM_CREATE || class == WW_COMM_FREE || class == WW_WIN_CREATE ||
           class == WW_WIN_FREE || class == WW_RMA_FENCE || class == WW_IO_COLLECTIVE;
}

static bool rank_is_inside(const struct reader *reader, uint32_t rank, uint32_t comm)
{
    for (size_t i = 0; i < reader->open_calls.n; i++) {
        const struct open_call *call = &reader->open_calls.at[i];
        if (call->rank == rank && class_is_collective(call->class) && call->comm == comm)
            return true;
    }
    return false;
}

/* How many collectives of the communicator a rank has come to, the open one included. */
static uint64_t n_entered(const struct reader *reader, const struct open_call *call, uint32_t rank)
{
    enum gather_space space = call->class == WW_RMA_FENCE ? GATHER_FENCE : GATHER_BLOCKING;
    return gatherings_n_joined(reader->replay->gatherings, call->comm, space, rank) +
           rank_is_inside(reader, rank, call->comm);
}

/* The first member that has not come to this collective. Others may be through: the root of a broadcast does not wait
 * for the rest. */
static uint32_t missing_member(const struct reader *reader, const struct open_call *call)
{
    uint64_t number = n_entered(reader, call, call->rank);
    for (uint32_t i = 0; i < gather_comm_size(reader->trace, call->comm); i++) {
        uint32_t rank = gather_comm_rank(reader->trace, call->comm, i);
        if (rank < reader->trace->n_ranks && n_entered(reader, call, rank) < number)
            return rank;
    }
    return TRACE_NONE;
}

/* Whoever has the lock, if that is known; else the target, which may have to be in MPI. */
static uint32_t lock_holder(const struct reader *reader, const struct open_call *call)
{
    struct lock wanted = {.target = call->peer, .is_exclusive = call->tag == WW_LOCK_EXCLUSIVE};
    uint32_t holder = locks_holder(reader->replay->locks, call->rank, &wanted, call->class != WW_RMA_LOCK);
    return holder == TRACE_NONE ? call->peer : holder;
}

static uint32_t awaited(const struct reader *reader, const struct open_call *call)
{
    if (class_is_collective(call->class))
        return call->comm < reader->trace->n_comms ? missing_member(reader, call) : TRACE_NONE;
    return class_is_passive(call->class) ? lock_holder(reader, call) : call->peer;
}

/* What such a call is known to wait for is a receive. */
static bool class_receives(enum ww_class class)
{
    return class == WW_RECV || class == WW_SENDRECV || class == WW_PROBE || class == WW_WAIT || class == WW_TEST;
}

/* A process that was killed while it received does not wait for its partner to act, though it looks like that. */
static bool is_sent(const struct reader *reader, const struct open_call *call)
{
    return class_receives(call->class) && call->peer != TRACE_NONE &&
           messages_is_under_way(reader->replay->messages, call->comm, call->tag, call->peer, call->rank);
}

static bool class_may_wait(enum ww_class class)
{
    return class != WW_LOCAL && class != WW_ABORT && class != WW_FINALIZE && class != WW_INIT;
}

static const struct open_wait *open_wait_of(const struct analysis *analysis, uint32_t rank)
{
    for (uint32_t i = 0; i < analysis->n_open_waits; i++)
        if (analysis->open_waits[i].rank == rank && analysis->open_waits[i].for_rank != TRACE_NONE)
            return &analysis->open_waits[i];
    return NULL;
}

uint32_t open_waits_ring(const struct analysis *analysis, uint32_t n_ranks, uint32_t *ring)
{
    for (uint32_t start = 0; start < n_ranks; start++) {
        uint32_t rank = start, n = 0;
        do {
            const struct open_wait *wait = open_wait_of(analysis, rank);
            if (!wait || wait->is_sent || n == n_ranks)
                break;
            ring[n++] = rank;
            rank = wait->for_rank;
        } while (rank != start);
        if (n && rank == start && open_wait_of(analysis, ring[n - 1])->for_rank == start)
            return n;
    }
    return 0;
}

static int open_wait_compare(const void *a, const void *b)
{
    const struct open_wait *left = a, *right = b;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    return (left->since_ns > right->since_ns) - (left->since_ns < right->since_ns);
}

void open_waits_write(struct analysis *analysis, struct sites *sites, const struct reader *reader)
{
    analysis->open_waits = arena_array(&analysis->arena, struct open_wait, reader->open_calls.n + 1);
    for (size_t i = 0; i < reader->open_calls.n; i++) {
        const struct open_call *call = &reader->open_calls.at[i];
        struct wait_site named = {0};
        if (!class_may_wait(call->class))
            continue;
        names_site(sites, &analysis->arena, call->site, &named);
        analysis->open_waits[analysis->n_open_waits++] = (struct open_wait){.rank = call->rank,
                                                                            .for_rank = awaited(reader, call),
                                                                            .call = named.call,
                                                                            .file = named.file,
                                                                            .line = named.line,
                                                                            .is_sent = is_sent(reader, call),
                                                                            .since_ns = call->enter_ns};
    }
    qsort(analysis->open_waits, analysis->n_open_waits, sizeof *analysis->open_waits, open_wait_compare);
    analysis->deadlock = arena_array(&analysis->arena, uint32_t, analysis->trace->n_ranks + 1);
    analysis->n_deadlock = open_waits_ring(analysis, analysis->trace->n_ranks, analysis->deadlock);
}
