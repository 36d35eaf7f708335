/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/sections/index.h"
#include "analyze/trace/mark.h"
#include "analyze/waits/call_classes.h"
#include "wrap/base/err.h"
#include <stdlib.h>

enum {
    PLACES_EACH = 4,    /* of which some may be none where a process can begin */
    ENTRIES_MOST = 256, /* of collective operations before one of all that may begin a turn: others are of some */
    TICKS_APART = 4096  /* events */
};

/* The first operation of all in a turn: so many of them had ended before. */
struct turn_begin {
    uint64_t turn, ordinal;
};

struct marked {
    struct packing mark, place;
    bool is_there;
};

struct indexing {
    struct trace *trace;
    struct engine *engine;
    struct state state;
    uint32_t paced;
    uint64_t every, n_events;
    uint64_t n_turns;               /* of the run, if it goes on as far as it may be cut */
    VEC(struct turn_begin) turns;   /* all; then those that locations are marked at */
    VEC(struct marked) paced_marks; /* of process 0, by turn */
    struct marked *marks;           /* by turn, then location */
    uint64_t *enter_ns;             /* of the present rank's first thread, by turn, as recorded */
    struct parcel *take;            /* by process */
};

/* States. */

static void pack_place(const struct place *place, struct packing *packing)
{
    pack_value(packing, place->now);
    pack_vec(packing, &place->open);
    pack_vec(packing, &place->receives.posted);
}

static void unpack_place(struct place *place, struct unpacking *from)
{
    unpack_value(from, &place->now);
    unpack_vec(from, &place->open);
    struct receives receives = {0};
    unpack_vec(from, &receives.posted);
    receives_add(&place->receives, &receives);
    receives_release(&receives);
}

static void marked_release(struct marked *marked)
{
    vec_release(&marked->mark.bytes);
    vec_release(&marked->place.bytes);
    *marked = (struct marked){0};
}

static void mark_here(struct indexing *indexing, uint32_t loc, struct marked *marked)
{
    marked->mark.bytes.n = marked->place.bytes.n = 0;
    mark_write(indexing->trace, loc, &marked->mark);
    pack_place(&indexing->state.places[loc], &marked->place);
    marked->is_there = true;
}

/* Reading by location. */

static const struct event *read_next(struct indexing *indexing, uint32_t loc)
{
    const struct event *event = mark_next(indexing->trace, loc);
    if (event)
        state_follow(&indexing->state, event);
    if (++indexing->n_events % TICKS_APART == 0)
        engine_tick(indexing->engine);
    return event;
}

/* This event enters an operation which may be one of all. */
static bool may_be_of_all(const struct indexing *indexing, uint32_t loc, const struct event *event)
{
    const struct trace *trace = indexing->trace;
    if (event->kind != EV_ENTER || indexing->state.places[loc].now.n_calls || event->region >= trace->n_regions)
        return false;
    const struct trace_region *region = &trace->regions[event->region];
    return region->is_mpi && region->class == WW_COLLECTIVE && coll_needs_all(region->coll);
}

static struct marked *marked_at(const struct indexing *indexing, size_t turn, uint32_t loc)
{
    return &indexing->marks[turn * indexing->trace->n_locations + loc];
}

/* Where that piece of the run should begin, if all are as long. */
static uint64_t wanted_turn(const struct indexing *indexing, uint32_t piece)
{
    return (indexing->n_turns * piece + engine_n(indexing->engine) / 2) / engine_n(indexing->engine);
}

static void count_turns(struct indexing *indexing, uint64_t n_events)
{
    uint64_t n_turns = n_events / indexing->every + 1;
    indexing->n_turns = n_turns > indexing->n_turns ? n_turns : indexing->n_turns;
}

/* So many of the turns that were found begin where the last piece should, or later. */
static bool are_enough(const struct indexing *indexing, size_t n)
{
    bool is_told = indexing->trace->locations[indexing->paced].n_records; /* how long the run is */
    size_t n_found = indexing->turns.n;
    return is_told && n_found >= n &&
           indexing->turns.at[n_found - n].turn >= wanted_turn(indexing, engine_n(indexing->engine) - 1);
}

/* Process 0: all turns as far as they are wanted, and marks of that location. */
static void find_turns(struct indexing *indexing)
{
    struct marked last = {0};
    uint32_t paced = indexing->paced;
    const struct place *place = &indexing->state.places[paced];
    uint64_t turn = 0; /* the last one that has begun */
    count_turns(indexing, indexing->trace->locations[paced].n_records);
    for (const struct event *event; (event = mark_ahead(indexing->trace, paced)) && !place->now.is_never;) {
        if (place->now.n_events / indexing->every > turn && may_be_of_all(indexing, paced, event))
            mark_here(indexing, paced, &last);
        uint64_t ordinal = place->now.n_of_all, at = place->now.n_at_enter / indexing->every;
        read_next(indexing, paced);
        if (place->now.n_of_all == ordinal || at <= turn)
            continue;
        turn = at;
        *vec_push(&indexing->turns) = (struct turn_begin){turn, ordinal};
        *vec_push(&indexing->paced_marks) = last;
        last = (struct marked){0};
        if (are_enough(indexing, PLACES_EACH / 2))
            break;
    }
    count_turns(indexing, place->now.n_events);
    marked_release(&last);
}

static void keep_turn(struct indexing *indexing, size_t from, size_t to)
{
    indexing->turns.at[to] = indexing->turns.at[from];
    if (!engine_is_first(indexing->engine) || from == to)
        return;
    marked_release(&indexing->paced_marks.at[to]);
    indexing->paced_marks.at[to] = indexing->paced_marks.at[from];
    indexing->paced_marks.at[from] = (struct marked){0};
}

/* Those next to where pieces should begin: then marks take little memory. In all processes the same ones. */
static void choose_turns(struct indexing *indexing)
{
    size_t n = indexing->turns.n, n_chosen = 0, at = 0;
    for (uint32_t piece = 1; piece < engine_n(indexing->engine); piece++) {
        uint64_t wanted = wanted_turn(indexing, piece);
        size_t next = at;
        while (next < n && indexing->turns.at[next].turn < wanted)
            next++;
        at = next > at + PLACES_EACH / 2 ? next - PLACES_EACH / 2 : at;
        for (; at < n && at < next + PLACES_EACH / 2; at++)
            keep_turn(indexing, at, n_chosen++);
    }
    indexing->turns.n = n_chosen;
}

/* The first thread of a rank. */
static void mark_main(struct indexing *indexing, uint32_t loc)
{
    const struct place *place = &indexing->state.places[loc];
    struct marked last = {0};
    uint64_t enter_ns = 0, n_entries = 0;
    for (size_t k = 0; k < indexing->turns.n && !place->now.is_never;) {
        uint64_t wanted = indexing->turns.at[k].ordinal, ordinal = place->now.n_of_all;
        const struct event *event = mark_ahead(indexing->trace, loc);
        if (!event)
            break;
        if (ordinal == wanted && may_be_of_all(indexing, loc, event) && n_entries++ < ENTRIES_MOST) {
            enter_ns = event->time_ns;
            mark_here(indexing, loc, &last);
        }
        read_next(indexing, loc);
        if (ordinal != wanted || place->now.n_of_all == ordinal)
            continue;
        if (n_entries <= ENTRIES_MOST) {
            *marked_at(indexing, k, loc) = last;
            indexing->enter_ns[k] = enter_ns;
            last = (struct marked){0};
        }
        n_entries = 0;
        k++;
    }
    marked_release(&last);
}

/* Another thread of it: before it goes on from there. */
static void mark_thread(struct indexing *indexing, uint32_t loc, uint32_t main)
{
    for (size_t k = 0; k < indexing->turns.n; k++) {
        if (!marked_at(indexing, k, main)->is_there)
            continue;
        const struct event *event;
        while ((event = mark_ahead(indexing->trace, loc)) && event->time_ns < indexing->enter_ns[k])
            read_next(indexing, loc);
        mark_here(indexing, loc, marked_at(indexing, k, loc));
    }
}

/* Those of the ranks that this process reads. */
static void mark_all(struct indexing *indexing)
{
    const struct trace *trace = indexing->trace;
    const struct engine *engine = indexing->engine;
    uint32_t main = TRACE_NONE;
    indexing->marks = memory_lines(indexing->turns.n * trace->n_locations + 1, sizeof *indexing->marks);
    indexing->enter_ns = memory_lines(indexing->turns.n + 1, sizeof *indexing->enter_ns);
    for (uint32_t loc = 0; loc < trace->n_locations; loc++) {
        if (trace->locations[loc].rank % engine_n(engine) != engine->number)
            continue;
        bool has_main = main != TRACE_NONE && trace->locations[main].rank == trace->locations[loc].rank;
        if (trace->locations[loc].thread && has_main)
            mark_thread(indexing, loc, main);
        else if (!trace->locations[loc].thread && loc != indexing->paced)
            mark_main(indexing, loc);
        for (size_t k = 0; loc == indexing->paced && k < indexing->turns.n; k++) {
            *marked_at(indexing, k, loc) = indexing->paced_marks.at[k];
            indexing->paced_marks.at[k] = (struct marked){0};
        }
        main = trace->locations[loc].thread ? main : loc;
    }
}

/* Exchanges. */

static bool is_anybody_lost(const struct engine *engine)
{
    for (uint32_t i = 0; i < engine_n(engine); i++)
        if (engine->is_lost[i])
            return true;
    return false;
}

static void share_turns(struct indexing *indexing)
{
    const size_t size_bytes = sizeof *indexing->turns.at;
    vec_push(&indexing->turns)->turn = indexing->n_turns; /* behind the last one */
    engine_tell_all(indexing->engine, (struct parcel){indexing->turns.at, indexing->turns.n * size_bytes},
                    indexing->take);
    const struct parcel all = indexing->take[0];
    if (!engine_is_first(indexing->engine) && all.n_bytes && all.n_bytes != PARCEL_LOST) {
        vec_resize(&indexing->turns, all.n_bytes / size_bytes);
        memcpy(indexing->turns.at, all.at, all.n_bytes);
    }
    indexing->n_turns = indexing->turns.at[--indexing->turns.n].turn;
}

/* By turn: every location is marked there, whoever reads it. To be freed. */
static bool *find_complete(struct indexing *indexing)
{
    const struct trace *trace = indexing->trace;
    const struct engine *engine = indexing->engine;
    bool *complete = memory_lines(indexing->turns.n + 1, sizeof *complete),
         *mine = memory_lines(indexing->turns.n + 1, sizeof *mine);
    for (size_t k = 0; k < indexing->turns.n; k++) {
        complete[k] = mine[k] = true;
        for (uint32_t loc = 0; loc < trace->n_locations; loc++)
            if (trace->locations[loc].rank % engine_n(engine) == engine->number)
                mine[k] &= marked_at(indexing, k, loc)->is_there;
    }
    engine_tell_all(indexing->engine, (struct parcel){mine, indexing->turns.n}, indexing->take);
    for (uint32_t i = 0; i < engine_n(engine); i++)
        for (size_t k = 0; k < indexing->turns.n; k++)
            complete[k] &= indexing->take[i].n_bytes == indexing->turns.n && ((const bool *)indexing->take[i].at)[k];
    vec_free(mine);
    return complete;
}

/* By process: 1 + the number of the turn where it begins; 0 = at the run's begin. Pieces are about as long. */
static uint32_t *choose_begins(const struct indexing *indexing, const bool *complete)
{
    uint32_t n = engine_n(indexing->engine), *begins = memory_lines(n, sizeof *begins), last = 0;
    for (uint32_t piece = 1; piece < n; piece++) {
        uint32_t best = 0;
        uint64_t wanted = wanted_turn(indexing, piece), best_off = UINT64_MAX;
        for (uint32_t k = last; k < indexing->turns.n; k++) {
            uint64_t turn = indexing->turns.at[k].turn, off = turn > wanted ? turn - wanted : wanted - turn;
            if (complete[k] && off < best_off) {
                best = k + 1;
                best_off = off;
            }
        }
        last = best ? best : last;
        begins[(piece + 1) % n] = last; /* with none of its own, a piece is empty */
    }
    return begins;
}

/* What process `from` gave of one location: the mark goes to `marks`, the state to `places`. */
static void take_start(struct unpacking *from, struct packing *marks, struct packing *places)
{
    struct packing *const to[] = {marks, places};
    for (unsigned i = 0; i < sizeof to / sizeof *to; i++) {
        uint64_t n_bytes;
        unpack_value(from, &n_bytes);
        pack_bytes(to[i], from->at, n_bytes);
        from->at += n_bytes;
    }
}

/* All locations, in their order. */
static void take_starts(const struct indexing *indexing, struct packing *start)
{
    const struct trace *trace = indexing->trace;
    uint32_t n = engine_n(indexing->engine);
    struct unpacking *from = memory_lines(n, sizeof *from);
    struct packing places = {0};
    for (uint32_t i = 0; i < n; i++) {
        const unsigned char *at = indexing->take[i].at;
        from[i] = (struct unpacking){at, at + indexing->take[i].n_bytes};
    }
    for (uint32_t loc = 0; loc < trace->n_locations; loc++)
        take_start(&from[n ? trace->locations[loc].rank % n : 0], start, &places);
    pack_bytes(start, places.bytes.at, places.bytes.n);
    vec_release(&places.bytes);
    vec_free(from);
}

/* To each process the marks and states of this one's ranks at the place where that one begins; false where somebody is
 * lost. */
static bool give_starts(struct indexing *indexing, const uint32_t *begins, struct packing *start)
{
    const struct trace *trace = indexing->trace;
    uint32_t n = engine_n(indexing->engine), me = indexing->engine->number;
    struct packing *give = memory_lines(n, sizeof *give);
    struct parcel *parcels = memory_lines(n, sizeof *parcels);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t loc = 0; begins[i] && loc < trace->n_locations; loc++) {
            const struct marked *marked = marked_at(indexing, begins[i] - 1, loc);
            if (trace->locations[loc].rank % n != me)
                continue;
            pack_vec(&give[i], &marked->mark.bytes);
            pack_vec(&give[i], &marked->place.bytes);
        }
        parcels[i] = (struct parcel){give[i].bytes.at, give[i].bytes.n};
    }
    engine_exchange(indexing->engine, parcels, indexing->take);
    bool is_whole = !is_anybody_lost(indexing->engine);
    if (is_whole && begins[me])
        take_starts(indexing, start);
    for (uint32_t i = 0; i < n; i++)
        vec_release(&give[i].bytes);
    vec_free(give);
    vec_free(parcels);
    return is_whole;
}

static void indexing_release(struct indexing *indexing)
{
    for (size_t i = 0; indexing->marks && i < indexing->turns.n * indexing->trace->n_locations; i++)
        marked_release(&indexing->marks[i]);
    for (size_t i = 0; i < indexing->paced_marks.n; i++)
        marked_release(&indexing->paced_marks.at[i]);
    vec_free(indexing->marks);
    vec_free(indexing->enter_ns);
    vec_release(&indexing->paced_marks);
    vec_release(&indexing->turns);
    vec_free(indexing->take);
    state_release(&indexing->state);
}

/* Once all are marked. */
static void take_index(struct indexing *indexing, struct sections_index *index)
{
    uint32_t n = engine_n(indexing->engine);
    bool *complete = find_complete(indexing);
    uint32_t *begins = choose_begins(indexing, complete);
    if (give_starts(indexing, begins, &index->start)) {
        index->firsts = memory_lines(n, sizeof *index->firsts);
        for (uint32_t i = 0; i < n; i++)
            index->firsts[i] = begins[i] ? (uint32_t)indexing->turns.at[begins[i] - 1].turn : 0;
        uint32_t mine = begins[indexing->engine->number];
        index->turn = mine ? indexing->turns.at[mine - 1].turn : 0;
        index->ordinal = mine ? indexing->turns.at[mine - 1].ordinal : 0;
    }
    vec_free(begins);
    vec_free(complete);
}

void index_make(struct sections_index *index, struct trace *trace, struct engine *engine, uint32_t paced,
                uint64_t every)
{
    struct indexing indexing = {.trace = trace, .engine = engine, .paced = paced, .every = every};
    *index = (struct sections_index){0};
    if (!engine->n_others || is_anybody_lost(engine) || !mark_begin(trace, engine->number, engine_n(engine)))
        return;
    indexing.take = memory_lines(engine_n(engine), sizeof *indexing.take);
    state_begin(&indexing.state, trace);
    if (engine_is_first(engine))
        find_turns(&indexing);
    share_turns(&indexing);
    choose_turns(&indexing);
    mark_all(&indexing);
    mark_end(trace);
    take_index(&indexing, index);
    indexing_release(&indexing);
}

int index_begin(const struct sections_index *index, struct trace *trace, struct state *state)
{
    struct unpacking from = {index->start.bytes.at, index->start.bytes.at + index->start.bytes.n};
    if (mark_rewind(trace, &from))
        return -1;
    for (uint32_t loc = 0; loc < trace->n_locations; loc++)
        unpack_place(&state->places[loc], &from);
    return 0;
}

void index_release(struct sections_index *index)
{
    vec_free(index->firsts);
    vec_release(&index->start.bytes);
    *index = (struct sections_index){0};
}
