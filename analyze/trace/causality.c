/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/causality.h"
#include "analyze/constants/constants.h"
#include "wrap/base/err.h"
#include "wrap/base/keys.h"
#include <stdlib.h>

enum { NOBODY = UINT32_MAX };

struct sent {
    uint64_t time_ns, raw_ns;
    uint32_t rank;
};

/* Messages of one (communicator, sender, receiver, tag), in order. */
struct channel {
    _Alignas(CACHE_LINE) uint64_t processes; /* a pair: sender and receiver */
    uint64_t comm_tag;                       /* likewise: communicator and tag */
    struct channel *alike;                   /* of the same hash */
    uint32_t waiter;                         /* location */
    size_t n_sent, n_received;
    VEC(struct sent) sent;       /* those after the last time that all had been received */
    struct channel *made_before; /* of all */
};

/* One collective operation, until the last member has left it. */
struct gathering {
    uint64_t key;
    uint64_t last_enter_ns, root_enter_ns; /* 0 = the root has not entered */
    uint32_t n_entered, n_left;
    bool is_complete;
    VEC(uint32_t) waiters;
    VEC(uint64_t) entered_raw_ns; /* by member, where bounds are asked for; 0 = not yet */
};

/* Of a process in a communicator. */
struct membership {
    uint32_t turn; /* collectives so far */
    uint32_t index;
};

struct player {
    const struct event *held; /* cannot be processed yet */
    uint64_t now_ns;
    uint64_t enter_ns, enter_raw_ns; /* of the present MPI region */
    struct gathering *gathering;     /* when entered but not left */
    bool is_forced, is_at_end;
};

struct replay {
    struct archive_reader *archive;
    struct causality *result;
    struct player *players;
    struct map channels; /* hash of the key -> struct channel */
    struct channel *made_last;
    struct arena arena;                  /* of channels; what they hold is their own */
    struct map gatherings;               /* communicator and turn -> struct gathering, while open */
    VEC(struct gathering *) made, spare; /* all; those that are not open */
    struct map membership_ids;           /* communicator and rank -> 1 + index */
    VEC(struct membership) memberships;
    VEC(uint32_t) runnable;
    struct heap blocked; /* locations by time, once all have been. Some are not any more */
    bool has_forced;
    bool is_in_order; /* events come by time: what was sent before was sent earlier, and need not be kept */
};

static uint32_t rank_of(const struct replay *replay, uint32_t loc)
{
    return replay->archive->trace->locations[loc].rank;
}

/* World rank of a peer. For an intercommunicator a rank of the group that the process itself is not in. */
static uint32_t world_rank(const struct trace *trace, uint32_t comm, uint32_t self, uint32_t peer)
{
    if (comm >= trace->n_comms)
        return NOBODY;
    const struct trace_comm *of = &trace->comms[comm];
    const uint32_t *group = of->ranks;
    uint32_t n = of->n;
    if (of->n_remote) {
        bool in_first = false;
        for (uint32_t i = 0; i < of->n; i++)
            in_first |= of->ranks[i] == self;
        group += in_first ? of->n : 0;
        n = in_first ? of->n_remote : of->n;
    }
    return peer < n ? group[peer] : NOBODY;
}

static void take_bound(struct replay *replay, uint32_t from, uint32_t to, uint64_t cause_ns, uint64_t effect_ns)
{
    struct causality *result = replay->result;
    if (result->steps)
        clock_steps_take(result->steps, from, cause_ns, to, effect_ns);
    if (result->pairs && from != to)
        clock_pairs_take(result->pairs, from, to, (int64_t)(effect_ns - cause_ns));
}

/* The location's present event is not before its cause. */
static void effect_after(struct replay *replay, uint32_t loc, uint64_t cause_ns)
{
    struct player *player = &replay->players[loc];
    if (player->now_ns >= cause_ns)
        return;
    struct causality *result = replay->result;
    struct location_reader *location = &replay->archive->locations[loc];
    uint64_t size_ns = cause_ns - player->now_ns;
    result->n_violations++;
    if (size_ns > result->largest_violation_ns)
        result->largest_violation_ns = size_ns;
    *vec_push(&replay->archive->clocks.locations[loc].floors) =
        (struct clock_floor){location->now.n_handed - 1, cause_ns};
    result->n_floors++;
    player->now_ns = location->now.clock.floor_ns = cause_ns;
}

/* Messages. */

static struct channel *channel_of(struct replay *replay, const struct event *event, bool is_send)
{
    uint32_t self = rank_of(replay, event->loc);
    uint32_t peer = world_rank(replay->archive->trace, event->comm, self, event->peer);
    if (peer >= replay->archive->trace->n_ranks)
        return NULL;
    uint64_t processes = is_send ? key_pair(self, peer) : key_pair(peer, self);
    uint64_t comm_tag = key_pair(event->comm, (uint32_t)event->tag);
    uint64_t *slot = map_put(&replay->channels, hash_u64(processes) ^ comm_tag, NULL);
    struct channel *channel = (struct channel *)(uintptr_t)*slot;
    while (channel && (channel->processes != processes || channel->comm_tag != comm_tag))
        channel = channel->alike;
    if (channel)
        return channel;
    channel = arena_new(&replay->arena, struct channel);
    *channel = (struct channel){.processes = processes,
                                .comm_tag = comm_tag,
                                .waiter = NOBODY,
                                .alike = (struct channel *)(uintptr_t)*slot,
                                .made_before = replay->made_last};
    *slot = (uint64_t)(uintptr_t)channel;
    return replay->made_last = channel;
}

static void play_send(struct replay *replay, const struct event *event, uint64_t raw_ns)
{
    struct channel *channel = channel_of(replay, event, true);
    if (!channel)
        return;
    if (channel->n_received == channel->n_sent)
        channel->n_received = channel->n_sent = channel->sent.n = 0;
    channel->n_sent++;
    if (!replay->is_in_order)
        *vec_push(&channel->sent) =
            (struct sent){replay->players[event->loc].now_ns, raw_ns, rank_of(replay, event->loc)};
    if (channel->waiter == NOBODY)
        return;
    *vec_push(&replay->runnable) = channel->waiter;
    channel->waiter = NOBODY;
}

/* False when the message has not been sent yet. */
static bool play_receive(struct replay *replay, const struct event *event, uint64_t raw_ns)
{
    uint32_t loc = event->loc;
    struct channel *channel = channel_of(replay, event, false);
    if (!channel)
        return true;
    if (channel->n_received == channel->n_sent) {
        channel->waiter = loc;
        return false;
    }
    channel->n_received++;
    if (replay->is_in_order)
        return true;
    const struct sent *sent = &channel->sent.at[channel->n_received - 1];
    take_bound(replay, sent->rank, rank_of(replay, loc), sent->raw_ns, raw_ns);
    effect_after(replay, loc, sent->time_ns);
    return true;
}

/* Collectives. */

static struct membership *membership_of(struct replay *replay, uint32_t comm, uint32_t rank)
{
    bool is_new;
    uint64_t *slot = map_put(&replay->membership_ids, key_pair(comm, rank), &is_new);
    if (is_new) {
        const struct trace_comm *of = &replay->archive->trace->comms[comm];
        uint32_t index = rank < of->n && of->ranks[rank] == rank ? rank : 0;
        while (index < of->n && of->ranks[index] != rank)
            index++;
        vec_push(&replay->memberships)->index = index;
        *slot = replay->memberships.n;
    }
    return &replay->memberships.at[*slot - 1];
}

/* The operation that the process takes part in next. */
static struct gathering *gathering_of(struct replay *replay, uint32_t comm, struct membership *member)
{
    bool is_new;
    uint64_t key = key_pair(comm, member->turn++);
    uint64_t *slot = map_put(&replay->gatherings, key, &is_new);
    if (!is_new)
        return (struct gathering *)(uintptr_t)*slot;
    if (!replay->spare.n) {
        struct gathering *made = memory_new(1, sizeof *made);
        *vec_push(&replay->made) = *vec_push(&replay->spare) = made;
    }
    struct gathering *gathering = replay->spare.at[--replay->spare.n];
    gathering->key = key;
    gathering->last_enter_ns = gathering->root_enter_ns = 0;
    gathering->n_entered = gathering->n_left = 0;
    gathering->is_complete = false;
    gathering->entered_raw_ns.n = gathering->waiters.n = 0;
    *slot = (uint64_t)(uintptr_t)gathering;
    return gathering;
}

static bool depends_on_root(uint16_t coll)
{
    return coll == WW_COLL_BCAST || coll == WW_COLL_SCATTER || coll == WW_COLL_SCATTERV;
}

static bool only_root_depends(uint16_t coll)
{
    return coll == WW_COLL_REDUCE || coll == WW_COLL_GATHER || coll == WW_COLL_GATHERV;
}

static bool all_depend(uint16_t coll)
{
    return coll == WW_COLL_BARRIER || coll == WW_COLL_ALLREDUCE || coll == WW_COLL_ALLGATHER ||
           coll == WW_COLL_ALLTOALL;
}

/* Only operations whose dependences are certain, on intracommunicators of more than one process. */
static bool is_checked(const struct trace *trace, const struct event *event)
{
    if (event->comm >= trace->n_comms || trace->comms[event->comm].n < 2 || trace->comms[event->comm].n_remote)
        return false;
    bool has_root = event->peer < trace->comms[event->comm].n;
    return all_depend(event->coll) || (has_root && (depends_on_root(event->coll) || only_root_depends(event->coll)));
}

static bool may_leave(const struct gathering *gathering, bool is_root, uint16_t coll)
{
    if (depends_on_root(coll))
        return is_root || gathering->is_complete || gathering->root_enter_ns;
    return (only_root_depends(coll) && !is_root) || gathering->is_complete;
}

static void take_member(struct replay *replay, const struct event *event, uint64_t raw_ns, uint32_t index,
                        uint32_t cause)
{
    const struct trace_comm *comm = &replay->archive->trace->comms[event->comm];
    const struct gathering *gathering = replay->players[event->loc].gathering;
    uint64_t entered_ns = cause < comm->n ? gathering->entered_raw_ns.at[cause] : 0;
    if (entered_ns)
        take_bound(replay, comm->ranks[cause], comm->ranks[index], entered_ns, raw_ns);
}

/*
 * Those whom the member depends on had entered before it left. Between all members of a large communicator there would
 * be too many bounds: each takes those with the members at distances 1, 2, 4, ... from it, which connect all in few
 * steps. Only bounds with process 0 tell when a clock was set.
 */
static void leave_bounds(struct replay *replay, const struct event *event, uint64_t raw_ns, uint32_t index)
{
    const struct trace_comm *comm = &replay->archive->trace->comms[event->comm];
    bool is_first = replay->result->steps && !comm->ranks[index];
    if (depends_on_root(event->coll)) {
        take_member(replay, event, raw_ns, index, event->peer);
    } else if (only_root_depends(event->coll) || is_first) {
        for (uint32_t cause = 0; cause < comm->n; cause++)
            take_member(replay, event, raw_ns, index, cause);
    } else if (replay->result->steps) {
        take_member(replay, event, raw_ns, index, membership_of(replay, event->comm, 0)->index);
    } else {
        for (uint32_t step = 1; step < comm->n; step *= 2) {
            take_member(replay, event, raw_ns, index, (index + step) % comm->n);
            take_member(replay, event, raw_ns, index, (index + comm->n - step) % comm->n);
        }
    }
}

/* False when processes on which this one depends have not entered yet. */
static bool play_collective(struct replay *replay, const struct event *event, uint64_t raw_ns)
{
    const struct trace *trace = replay->archive->trace;
    struct player *player = &replay->players[event->loc];
    if (!is_checked(trace, event))
        return true;
    const struct trace_comm *comm = &trace->comms[event->comm];
    struct membership *member = membership_of(replay, event->comm, rank_of(replay, event->loc));
    uint32_t index = member->index;
    bool is_new = !player->gathering, is_root = event->peer == index;
    bool with_bounds = (replay->result->pairs || replay->result->steps) && index < comm->n;
    if (is_new)
        player->gathering = gathering_of(replay, event->comm, member);
    struct gathering *gathering = player->gathering;
    if (is_new) {
        gathering->n_entered++;
        if (with_bounds) {
            vec_resize(&gathering->entered_raw_ns, comm->n);
            gathering->entered_raw_ns.at[index] = player->enter_raw_ns;
        }
        if (player->enter_ns > gathering->last_enter_ns)
            gathering->last_enter_ns = player->enter_ns;
        if (is_root)
            gathering->root_enter_ns = player->enter_ns;
        gathering->is_complete = gathering->n_entered >= comm->n;
        /* Nobody else lets others go on: to ask all of them at each arrival would take n x n. */
        for (size_t i = 0; (gathering->is_complete || is_root) && i < gathering->waiters.n; i++)
            *vec_push(&replay->runnable) = gathering->waiters.at[i];
        gathering->waiters.n = gathering->is_complete || is_root ? 0 : gathering->waiters.n;
    }
    if (!may_leave(gathering, is_root, event->coll)) {
        *vec_push(&gathering->waiters) = event->loc;
        return false;
    }
    bool needs_root = depends_on_root(event->coll) && !is_root;
    bool needs_all = all_depend(event->coll) || (only_root_depends(event->coll) && is_root);
    if (with_bounds && (needs_root || needs_all))
        leave_bounds(replay, event, raw_ns, index);
    if (needs_root || needs_all)
        effect_after(replay, event->loc, needs_all ? gathering->last_enter_ns : gathering->root_enter_ns);
    player->gathering = NULL;
    if (++gathering->n_left >= gathering->n_entered && gathering->is_complete) {
        map_remove(&replay->gatherings, gathering->key);
        *vec_push(&replay->spare) = gathering;
    }
    return true;
}

/* The replay. */

static inline bool play(struct replay *replay, const struct event *event, uint64_t raw_ns)
{
    struct player *player = &replay->players[event->loc];
    const struct trace *trace = replay->archive->trace;
    player->now_ns = event->time_ns;
    switch (event->kind) {
    case EV_SEND:
    case EV_ISEND:
        play_send(replay, event, raw_ns);
        return true;
    case EV_RECV:
    case EV_IRECV_DONE:
        return play_receive(replay, event, raw_ns);
    case EV_COLL_BEGIN:
        player->enter_ns = player->now_ns;
        player->enter_raw_ns = raw_ns;
        return true;
    case EV_LEAVE:
        if (event->region < trace->n_regions && trace->regions[event->region].class == WW_COLLECTIVE)
            replay->result->n_regions++;
        return true;
    case EV_COLL_END:
        replay->result->n_records++;
        return play_collective(replay, event, raw_ns);
    default:
        return true;
    }
}

/* A location goes on until it depends on another one. */
static void play_location(struct replay *replay, uint32_t loc)
{
    struct player *player = &replay->players[loc];
    for (;;) {
        if (!player->held)
            player->held = location_next(&replay->archive->locations[loc]);
        if (!player->held) {
            player->is_at_end = true;
            return;
        }
        if (!play(replay, player->held, replay->archive->locations[loc].now.ahead_raw_ns) && !player->is_forced) {
            if (replay->has_forced)
                heap_push(&replay->blocked, player->now_ns, loc);
            return;
        }
        if (player->is_forced)
            player->gathering = NULL;
        player->is_forced = false;
        const struct event *event = player->held;
        if (event->kind != EV_END && event->time_ns < replay->result->first_ns)
            replay->result->first_ns = event->time_ns;
        if (event->kind != EV_END && player->now_ns > replay->result->last_ns)
            replay->result->last_ns = player->now_ns;
        player->held = NULL;
    }
}

/* All wait for causes that are not in the archive: the one that waits longest goes on without. */
static bool force_one(struct replay *replay)
{
    for (uint32_t loc = 0; !replay->has_forced && loc < replay->archive->trace->n_locations; loc++)
        if (!replay->players[loc].is_at_end)
            heap_push(&replay->blocked, replay->players[loc].now_ns, loc);
    replay->has_forced = true;
    while (replay->blocked.n) {
        struct heap_item first = replay->blocked.items[0];
        struct player *player = &replay->players[first.stream];
        heap_pop(&replay->blocked);
        if (player->is_at_end || player->now_ns != first.time_ns)
            continue;
        player->is_forced = true;
        *vec_push(&replay->runnable) = first.stream;
        return true;
    }
    return false;
}

static void replay_release(struct replay *replay)
{
    for (struct channel *channel = replay->made_last; channel; channel = channel->made_before)
        vec_release(&channel->sent);
    for (size_t i = 0; i < replay->made.n; i++) {
        vec_release(&replay->made.at[i]->waiters);
        vec_release(&replay->made.at[i]->entered_raw_ns);
        free(replay->made.at[i]);
    }
    vec_release(&replay->made);
    vec_release(&replay->spare);
    vec_release(&replay->runnable);
    vec_release(&replay->memberships);
    map_release(&replay->channels);
    arena_release(&replay->arena);
    map_release(&replay->gatherings);
    map_release(&replay->membership_ids);
    heap_release(&replay->blocked);
    free(replay->players);
}

/* Fills in the floors of archive->clocks; to be rewound afterwards. */
static void replay_archive(struct archive_reader *archive, struct causality *result)
{
    uint32_t n = archive->trace->n_locations;
    struct replay replay = {.archive = archive, .result = result, .players = memory_new(n + 1, sizeof *replay.players)};
    for (uint32_t loc = n; loc-- > 0;)
        *vec_push(&replay.runnable) = loc;
    do {
        while (replay.runnable.n) {
            uint32_t loc = replay.runnable.at[--replay.runnable.n];
            if (!replay.players[loc].is_at_end)
                play_location(&replay, loc);
        }
    } while (force_one(&replay));
    replay_release(&replay);
}

/* While events are read. An effect may come before its cause that has the same time, but no later event may come
 * between them. */

struct causality_watch {
    struct replay replay;
    struct causality result;
    struct event *last; /* by location, that are held: what waits for its cause */
    VEC(uint32_t) held; /* locations whose last event waits for its cause */
    uint64_t held_ns;
    bool has_failed;
};

struct causality_watch *causality_watch_begin(struct archive_reader *archive)
{
    uint32_t n = archive->trace->n_locations;
    struct causality_watch *watch = memory_new(1, sizeof *watch);
    watch->result = (struct causality){.first_ns = UINT64_MAX};
    watch->replay = (struct replay){.archive = archive,
                                    .result = &watch->result,
                                    .players = memory_new(n + 1, sizeof *watch->replay.players),
                                    .is_in_order = true};
    watch->last = memory_new(n + 1, sizeof *watch->last);
    return watch;
}

static bool watch_held(struct causality_watch *watch)
{
    for (size_t i = 0; i < watch->held.n; i++) {
        uint32_t loc = watch->held.at[i];
        if (!play(&watch->replay, &watch->last[loc], 0))
            return false;
        watch->replay.players[loc].held = NULL;
    }
    watch->held.n = 0;
    return true;
}

static inline bool watch_play(struct causality_watch *watch, const struct event *event)
{
    struct player *player = &watch->replay.players[event->loc];
    if (watch->held.n && (event->time_ns > watch->held_ns || player->held) && !watch_held(watch))
        watch->has_failed = true;
    if (watch->has_failed)
        return false;
    if (!play(&watch->replay, event, 0)) {
        watch->last[event->loc] = *event;
        player->held = &watch->last[event->loc];
        watch->held_ns = event->time_ns;
        *vec_push(&watch->held) = event->loc;
    }
    watch->replay.runnable.n = 0;
    return true;
}

/* Regions are counted for archives without records of collectives. */
static inline bool is_watched(const struct causality_watch *watch, uint16_t kind)
{
    enum {
        WATCHED = 1u << EV_SEND | 1u << EV_ISEND | 1u << EV_RECV | 1u << EV_IRECV_DONE | 1u << EV_COLL_BEGIN |
                  1u << EV_COLL_END
    };
    return WATCHED >> kind & 1 || (kind == EV_LEAVE && !watch->result.n_records);
}

bool causality_watch_feed(struct causality_watch *watch, const struct event_block *block)
{
    struct causality *result = &watch->result;
    bool holds = !watch->has_failed;
    for (uint32_t i = 0; i < block->n && holds; i++) {
        const struct event *event = block->at[i];
        if (event->kind != EV_END) {
            result->first_ns = event->time_ns < result->first_ns ? event->time_ns : result->first_ns;
            result->last_ns = event->time_ns;
        }
        holds = !is_watched(watch, event->kind) || watch_play(watch, event);
    }
    return holds;
}

bool causality_has_collectives(const struct archive_reader *archive, uint64_t n_records, uint64_t n_regions)
{
    return archive->synthesise || n_records || !n_regions;
}

void causality_watch_fail(struct causality_watch *watch)
{
    watch->has_failed = true;
}

bool causality_watch_end(struct causality_watch *watch, bool goes_on, struct causality *result)
{
    bool holds = !watch->has_failed && (goes_on || watch_held(watch)) && !watch->result.n_violations;
    *result = watch->result;
    replay_release(&watch->replay);
    vec_release(&watch->held);
    free(watch->last);
    free(watch);
    return holds;
}

/*
 * Which clocks need what. A run of ours on one clock (no measured offset) needs nothing and costs nothing. Otherwise
 * the archive is replayed once: with measured offsets, what still comes before its cause is moved behind it. Archives
 * of other tools without measured offsets that show effects before causes beyond the noise of their timer get offsets
 * from the bounds that messages and collectives give, and are replayed again with these.
 */

/* By how much two processes' clocks may differ as far as is known: by a tick, and by what the offsets of the two worst
 * of them may be wrong by. */
static uint64_t known_error(const struct archive_reader *archive)
{
    uint64_t worst_ns = 0, second_ns = 0;
    uint32_t worst_rank = TRACE_NONE;
    for (uint32_t i = 0; i < archive->trace->n_locations; i++) {
        uint64_t error_ns = archive->clocks.locations[i].error_ns;
        uint32_t rank = archive->trace->locations[i].rank;
        if (error_ns > worst_ns) {
            second_ns = rank == worst_rank ? second_ns : worst_ns;
            worst_ns = error_ns;
            worst_rank = rank;
        } else if (error_ns > second_ns && rank != worst_rank)
            second_ns = error_ns;
    }
    return events_time_ns(archive, 1) + worst_ns + second_ns;
}

/* Offsets leave effects before their causes by more than they and timers err. */
static bool is_beyond_error(const struct archive_reader *archive, const struct causality *found)
{
    return found->largest_violation_ns > CLOCK_NOISE_NS + known_error(archive);
}

/* The replay consumes events; afterwards reading starts anew. */
static int replay(struct archive_reader *archive, struct causality *result, struct clock_pairs *pairs,
                  struct clock_steps *steps)
{
    *result = (struct causality){.first_ns = UINT64_MAX, .pairs = pairs, .steps = steps};
    for (size_t i = 0; i < archive->clocks.n_locations; i++)
        archive->clocks.locations[i].floors.n = 0;
    if (locations_open(archive))
        return -1;
    uint64_t n_records = archive->trace->n_records;
    meter_stage(&archive->trace->meter, "checking the clocks", "events", n_records, 2 * n_records);
    replay_archive(archive, result);
    locations_close(archive);
    return 0;
}

/* If collectives left no records, the regions named like them stand for them. */
static int check(struct archive_reader *archive, struct causality *result)
{
    if (replay(archive, result, NULL, NULL))
        return -1;
    if (archive->synthesise || result->n_records || !result->n_regions)
        return 0;
    archive->synthesise = true;
    trace_note(archive->trace,
               "The archive has no records of collectives: they are known by the names of regions only, "
               "and taken to be over all processes.");
    return replay(archive, result, NULL, NULL);
}

/* Clocks that were set during the run. */

/* Measured or aligned values are replaced where process 0 knows more. */
static void set_pieces(struct archive_reader *archive, struct clock_steps *steps)
{
    struct clocks *clocks = &archive->clocks;
    struct clock_pieces *found = memory_new(steps->n_ranks + 1, sizeof *found);
    for (uint32_t i = 0; i < archive->trace->n_locations; i++) {
        uint32_t rank = archive->trace->locations[i].rank;
        struct clock_pieces *of = &found[rank];
        if (rank && !of->pieces.n)
            clock_steps_find(steps, rank, clocks->locations[i].points.at, clocks->locations[i].points.n, of);
        clocks->locations[i].points.n = of->pieces.n ? 0 : clocks->locations[i].points.n;
        for (size_t k = 0; k < of->pieces.n; k++) {
            const struct clock_piece *piece = &of->pieces.at[k];
            *vec_push(&clocks->locations[i].points) = (struct clock_point){piece->from_ns, piece->offset_ns};
            *vec_push(&clocks->locations[i].points) = (struct clock_point){piece->until_ns, piece->offset_ns};
        }
    }
    for (uint32_t rank = 0; rank < steps->n_ranks; rank++)
        vec_release(&found[rank].pieces);
    free(found);
}

/* Pieces instead of lines, if they explain the records better. `found` becomes what is left then. 0, or -1 after
 * error(). */
static int try_pieces(struct archive_reader *archive, struct clock_steps *steps, struct causality *found)
{
    struct clocks lines;
    struct causality left;
    clocks_init(&lines, archive->clocks.n_locations);
    for (size_t i = 0; i < lines.n_locations; i++)
        for (size_t k = 0; k < archive->clocks.locations[i].points.n; k++)
            *vec_push(&lines.locations[i].points) = archive->clocks.locations[i].points.at[k];
    set_pieces(archive, steps);
    int result = replay(archive, &left, NULL, NULL);
    bool is_better = !result && left.largest_violation_ns < found->largest_violation_ns / 2;
    if (is_better)
        trace_note(
            archive->trace,
            "Clocks were set during the run, or drifted: effects came up to %.3f ms before their cause. They were "
            "aligned with process 0 piece by piece.",
            (double)found->largest_violation_ns / 1e6);
    if (!result && !is_better) {
        for (size_t i = 0; i < archive->clocks.n_locations; i++) {
            struct clock_location kept = archive->clocks.locations[i];
            archive->clocks.locations[i].points = lines.locations[i].points;
            lines.locations[i].points = kept.points;
        }
        result = replay(archive, &left, NULL, NULL);
    }
    *found = left;
    archive->trace->clocks.n_repaired = left.n_floors;
    clocks_release(&lines);
    return result;
}

/* Straight lines leave effects before their causes: perhaps a clock was set. */
static int find_steps(struct archive_reader *archive, struct causality *found)
{
    struct clock_steps steps;
    struct causality with_bounds;
    clock_steps_init(&steps, archive->trace->n_ranks);
    int result = replay(archive, &with_bounds, NULL, &steps);
    if (!result)
        result = try_pieces(archive, &steps, found);
    clock_steps_release(&steps);
    return result;
}

static int align(struct archive_reader *archive, const struct causality *found)
{
    struct trace *trace = archive->trace;
    struct clock_pairs pairs = {0};
    struct causality with_bounds;
    int64_t *offset = memory_new(trace->n_ranks + 1, sizeof *offset);
    uint64_t *error_ns = memory_new(trace->n_ranks + 1, sizeof *error_ns);
    int result = replay(archive, &with_bounds, &pairs, NULL);
    uint32_t n_reached = clocks_align(&pairs, trace->n_ranks, offset, error_ns);
    clock_pairs_release(&pairs);
    for (uint32_t i = 0; i < trace->n_locations; i++)
        *vec_push(&archive->clocks.locations[i].points) =
            (struct clock_point){.offset_ns = offset[trace->locations[i].rank]};
    /* The earliest event becomes time 0 also when a clock ran ahead of the others. */
    int64_t smallest = 0;
    for (uint32_t i = 0; i < trace->n_ranks; i++)
        if (offset[i] < smallest)
            smallest = offset[i];
    archive->clocks.origin_ns += smallest;
    trace->clocks.aligned = true;
    trace_note(trace,
               "The clocks of the processes disagree: %llu effects came up to %.3f ms before their cause. The clocks "
               "were aligned from the messages and collectives themselves.",
               (unsigned long long)found->n_violations, (double)found->largest_violation_ns / 1e6);
    if (n_reached < trace->n_ranks)
        trace_note(trace, "No message or collective connects %u of %u processes with process 0: their clocks stay.",
                   trace->n_ranks - n_reached, trace->n_ranks);
    struct causality again = {0};
    if (!result)
        result = check(archive, &again);
    if (!result && is_beyond_error(archive, &again))
        result = find_steps(archive, &again);
    for (uint32_t i = 0; i < trace->n_locations; i++)
        archive->clocks.locations[i].error_ns = error_ns[trace->locations[i].rank];
    free(offset);
    free(error_ns);
    trace->clocks.error_ns = again.largest_violation_ns;
    trace->clocks.n_repaired = again.n_floors;
    if (!result) {
        clocks_begin_at(&archive->clocks, again.first_ns);
        trace->end_ns = again.last_ns - again.first_ns;
    }
    return result;
}

static bool is_measured(const struct archive_reader *archive)
{
    bool any = false;
    for (size_t i = 0; i < archive->clocks.n_locations; i++)
        any |= archive->clocks.locations[i].points.n > 0;
    return any;
}

void clocks_take(struct archive_reader *archive, const struct causality *found)
{
    struct trace *trace = archive->trace;
    if (!trace->clocks.aligned)
        trace->clocks.error_ns = found->largest_violation_ns;
    if (trace->clocks.error_ns < known_error(archive))
        trace->clocks.error_ns = known_error(archive);
    if (!trace->is_ours && !trace->clocks.aligned)
        trace->end_ns = found->last_ns;
}

int clocks_check(struct archive_reader *archive)
{
    struct trace *trace = archive->trace;
    struct causality found;
    int result = check(archive, &found);
    trace->clocks.n_violations = found.n_violations;
    trace->clocks.largest_violation_ns = found.largest_violation_ns;
    trace->clocks.n_repaired = found.n_floors;
    if (!result && is_beyond_error(archive, &found))
        result = trace->clocks.measured ? find_steps(archive, &found) : align(archive, &found);
    if (!result && !trace->clocks.aligned && found.n_floors) {
        trace_note(trace,
                   "%llu effects came up to %.3f ms before their cause in the records; they were moved behind it.",
                   (unsigned long long)found.n_floors, (double)found.largest_violation_ns / 1e6);
    }
    clocks_take(archive, &found);
    return result;
}

int clocks_prepare(struct archive_reader *archive, struct causality_watch **watch)
{
    struct trace *trace = archive->trace;
    trace->clocks.measured = is_measured(archive);
    trace->clocks.error_ns = known_error(archive);
    if (trace->is_ours && !trace->clocks.measured)
        return 0;
    if (!watch)
        return clocks_check(archive);
    *watch = causality_watch_begin(archive);
    return 0;
}
