/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/trace/part.h"
#include "analyze/trace/collectives.h"
#include "analyze/trace/mark.h"
#include "analyze/trace/receives.h"
#include "analyze/trace/source.h"
#include "analyze/trace/tape.h"
#include "wrap/base/err.h"
#include "wrap/base/keys.h"
#include "wrap/base/containers.h"
#include <stdlib.h>

/* For the second reading of a part. */
enum { PART_ROOM = 160 << 20 };

/* A location between two events. */
struct place {
    VEC(struct event) open;    /* the EV_ENTER of regions it is in, outermost first */
    VEC(struct event) sends;   /* begun since the first of them */
    struct event off, control; /* the last of these kinds */
    bool is_off, is_paused, has_ended;
    bool is_collecting, began_before; /* inside a collective operation; which counts as before the part */
    bool has_counts;                  /* since the part began */
};

/* Of a process: requests may be completed by another thread. */
struct requests {
    struct receives receives;
    struct map collectives; /* request of a non-blocking one -> 1 + the part it is in, 0 = it is in none */
};

/* All of them. */
struct middle {
    struct place *places;      /* by location */
    struct requests *requests; /* by rank */
};

struct piece {
    uint64_t from_ns, until_ns;
    struct collectives before;
};

struct trace_part {
    struct piece *pieces;
    size_t n_pieces, at;          /* the one that is read */
    uint64_t start_ns, end_ns;    /* of the run */
    struct trace_skipped skipped; /* before the earliest */
    struct tape tape;             /* of the present piece */
    bool plays;                   /* this reading comes from it */
    /* While reading. */
    bool has_begun, is_over;
    uint64_t now_ns; /* up to where it is known what locations are in the middle of */
    struct middle middle;
    struct map n_skipped; /* as those before the piece: how many were left out since */
    VEC(struct event) ready;
    size_t next;
    const struct event *held; /* the first event of the piece, or behind it */
    struct event_block block; /* of the source */
    /* The begin of the first piece; no marks = it takes a reading from the begin of the run. */
    struct packing marks;
    struct middle at_marks;
};

static struct piece *present(struct trace_part *part)
{
    return &part->pieces[part->at];
}

/* A location, while collectives before each piece are counted. */
struct counting {
    size_t begun; /* pieces that begin before its next event */
    size_t open;  /* 1 + the piece before which the collective began that it is in; 0 = it is in none */
};

/* Of which communicator a collective is, its end tells: those that a piece's begin cuts are read to their end. False:
 * what follows at this location is before no piece. */
static bool count_event(struct trace *trace, struct counting *counting, const struct event *event)
{
    struct trace_part *part = trace->part;
    uint32_t rank = trace->locations[event->loc].rank;
    while (counting->begun < part->n_pieces && event->time_ns >= part->pieces[counting->begun].from_ns)
        counting->begun++;
    bool is_before = counting->begun < part->n_pieces;
    if (event->kind == EV_COLL_BEGIN && is_before && !counting->open)
        counting->open = 1 + counting->begun;
    else if (event->kind == EV_COLL_END && counting->open) {
        collectives_add(&part->pieces[counting->open - 1].before, collectives_key(event, rank), 1);
        counting->open = 0;
    } else if (event->kind == EV_ICOLL && is_before)
        collectives_add(&part->pieces[counting->begun].before, collectives_key(event, rank), 1);
    return is_before || counting->open;
}

/* Is this a collective that some member has behind it already? */
static bool is_left_out(struct trace *trace, const struct event *event)
{
    const struct collectives *before = &present(trace->part)->before;
    uint64_t key = collectives_key(event, trace->locations[event->loc].rank);
    uint64_t *n_skipped = map_put(&trace->part->n_skipped, key, NULL);
    if (collectives_n(before, key) + *n_skipped >= collectives_most(before, key))
        return false;
    ++*n_skipped;
    return true;
}

/* The state of a location and its process. */

static void follow(struct trace *trace, const struct event *event, bool is_in_part)
{
    struct trace_part *part = trace->part;
    struct place *place = &part->middle.places[event->loc];
    struct requests *requests = &part->middle.requests[trace->locations[event->loc].rank];
    part->now_ns = event->time_ns;
    switch (event->kind) {
    case EV_ENTER:
        *vec_push(&place->open) = *event;
        break;
    case EV_LEAVE:
        place->open.n -= place->open.n > 0;
        place->sends.n = place->open.n ? place->sends.n : 0;
        break;
    case EV_SEND:
        *vec_push(&place->sends) = *event;
        break;
    case EV_COLL_BEGIN:
        place->is_collecting = true;
        place->began_before = false;
        break;
    case EV_COLL_END:
        place->is_collecting = false;
        break;
    case EV_IRECV:
    case EV_IRECV_DONE:
    case EV_CANCELLED:
        receives_follow(&requests->receives, event);
        break;
    case EV_ICOLL:
        *map_put(&requests->collectives, event->request, NULL) = is_in_part ? 1 + part->at : 0;
        break;
    case EV_ICOLL_DONE:
        map_remove(&requests->collectives, event->request);
        break;
    case EV_OFF:
    case EV_ON:
        place->off = *event;
        place->is_off = event->kind == EV_OFF;
        break;
    case EV_CONTROL:
        /* What was pending when a window ended may have been completed unseen; the next one begins with what is. */
        if (event->request && !event->flags)
            receives_release(&requests->receives);
        place->control = *event;
        place->is_paused = !event->flags;
        break;
    case EV_BINS:
        place->has_counts = true;
        break;
    case EV_END:
        place->has_ended = true;
        break;
    default:
        break;
    }
}

/* The part's first and last events. */

static void add_ready(struct trace_part *part, struct event event, uint64_t time_ns)
{
    event.time_ns = time_ns;
    *vec_push(&part->ready) = event;
}

static void add_end(struct trace_part *part, uint32_t loc, uint64_t time_ns)
{
    struct event end = event_plain(EV_END, loc, time_ns);
    end.flags = WW_END_FINALIZE;
    add_ready(part, end, time_ns);
}

static void begin(struct trace *trace)
{
    struct trace_part *part = trace->part;
    uint64_t from_ns = present(part)->from_ns;
    part->has_begun = true;
    for (uint32_t loc = 0; loc < trace->n_locations; loc++) {
        struct place *place = &part->middle.places[loc];
        place->began_before = true;
        place->has_counts = false;
        if (place->is_off)
            add_ready(part, place->off, from_ns);
        if (place->is_paused)
            add_ready(part, place->control, from_ns);
        /* In whatever region they were posted; one of this moment serves. */
        const struct receives *receives = &part->middle.requests[trace->locations[loc].rank].receives;
        for (size_t i = 0; i < receives->posted.n; i++)
            if (receives->posted.at[i].kind == EV_IRECV && receives->posted.at[i].loc == loc)
                add_ready(part, receives->posted.at[i], from_ns);
        for (size_t i = 0; i < place->open.n; i++)
            add_ready(part, place->open.at[i], from_ns);
        for (size_t i = 0; i < place->sends.n; i++)
            add_ready(part, place->sends.at[i], from_ns);
        if (place->has_ended)
            add_end(part, loc, from_ns);
    }
}

/* Does this event of the part's time belong to it? */
static bool is_of_part(struct trace *trace, const struct event *event)
{
    const struct place *place = &trace->part->middle.places[event->loc];
    const struct map *collectives = &trace->part->middle.requests[trace->locations[event->loc].rank].collectives;
    switch (event->kind) {
    case EV_COLL_END:
        return !(place->is_collecting && place->began_before) && !is_left_out(trace, event);
    case EV_ICOLL:
        return !is_left_out(trace, event);
    case EV_ICOLL_DONE: {
        const uint64_t *in = map_get(collectives, event->request);
        return !in || *in == 1 + trace->part->at;
    }
    case EV_BINS: /* the first ones are partly of the time before */
        return place->has_counts || !present(trace->part)->from_ns;
    default:
        return true;
    }
}

static void end(struct trace *trace)
{
    struct trace_part *part = trace->part;
    part->is_over = true;
    for (uint32_t loc = 0; loc < trace->n_locations; loc++) {
        const struct place *place = &part->middle.places[loc];
        for (size_t i = place->open.n; i-- > 0;) {
            struct event leave = event_plain(EV_LEAVE, loc, 0);
            leave.region = place->open.at[i].region;
            add_ready(part, leave, present(part)->until_ns);
        }
        if (!place->has_ended)
            add_end(part, loc, present(part)->until_ns);
    }
}

static struct middle middle_begin(const struct trace *trace)
{
    struct middle middle = {.places = memory_new(trace->n_locations + 1, sizeof *middle.places),
                            .requests = memory_new(trace->n_ranks + 1, sizeof *middle.requests)};
    return middle;
}

static void middle_release(struct middle *middle, const struct trace *trace)
{
    for (uint32_t loc = 0; middle->places && loc < trace->n_locations; loc++) {
        vec_release(&middle->places[loc].open);
        vec_release(&middle->places[loc].sends);
    }
    for (uint32_t rank = 0; middle->requests && rank < trace->n_ranks; rank++) {
        receives_release(&middle->requests[rank].receives);
        map_release(&middle->requests[rank].collectives);
    }
    free(middle->places);
    free(middle->requests);
    *middle = (struct middle){0};
}

static struct middle middle_copy(const struct middle *middle, const struct trace *trace)
{
    struct middle copy = middle_begin(trace);
    for (uint32_t loc = 0; loc < trace->n_locations; loc++) {
        copy.places[loc] = middle->places[loc];
        vec_copy(&copy.places[loc].open, &middle->places[loc].open);
        vec_copy(&copy.places[loc].sends, &middle->places[loc].sends);
    }
    for (uint32_t rank = 0; rank < trace->n_ranks; rank++) {
        const struct requests *from = &middle->requests[rank];
        receives_add(&copy.requests[rank].receives, &from->receives);
        copy.requests[rank].collectives = map_copy(&from->collectives);
    }
    return copy;
}

static void forget(struct trace *trace)
{
    struct trace_part *part = trace->part;
    middle_release(&part->middle, trace);
    part->held = NULL;
    part->block.n = part->block.next = 0;
    part->now_ns = 0;
}

/* No event of the present piece has been handed out. */
static void piece_begin(struct trace_part *part)
{
    map_release(&part->n_skipped);
    part->ready.n = part->next = 0;
    part->has_begun = part->is_over = false;
}

/* The piece before may end where this one begins. Then what is read on is just what is to come. */
int part_rewind(struct trace *trace)
{
    struct trace_part *part = trace->part;
    part->plays = tape_rewind(&part->tape, trace->is_last_reading);
    if (part->plays || (part->middle.places && !part->has_begun && part->now_ns < present(part)->from_ns))
        return 0;
    forget(trace);
    piece_begin(part);
    if (part->at || !part->marks.bytes.n) {
        part->middle = middle_begin(trace);
        return trace->source->rewind(trace);
    }
    part->middle = middle_copy(&part->at_marks, trace);
    return mark_rewind(trace, &(struct unpacking){part->marks.bytes.at, part->marks.bytes.at + part->marks.bytes.n});
}

static const struct event *read_next(struct trace *trace)
{
    struct trace_part *part = trace->part;
    const struct piece *piece = present(part);
    for (;;) {
        if (part->next < part->ready.n)
            return &part->ready.at[part->next++];
        if (part->is_over)
            return NULL;
        const struct event *event = part->held ? part->held : source_next(trace, &part->block);
        part->held = NULL;
        if ((!event || event->time_ns >= piece->from_ns) && !part->has_begun) {
            begin(trace);
            part->held = event;
        } else if (!event)
            return NULL;
        else if (part->has_begun && event->time_ns > piece->until_ns) {
            end(trace);
            part->held = event;
        } else {
            bool is_in_part = part->has_begun && is_of_part(trace, event);
            follow(trace, event, is_in_part);
            if (is_in_part)
                return event;
        }
    }
}

void part_read(struct trace *trace, struct event_block *block)
{
    struct trace_part *part = trace->part;
    if (part->plays) {
        tape_play(&part->tape, block);
        return;
    }
    block->at[0] = read_next(trace);
    block->n = block->at[0] != NULL;
    if (block->n)
        tape_write(&part->tape, block);
    else
        tape_end(&part->tape);
}

static void set_bounds(struct trace *trace)
{
    const struct trace_part *part = trace->part;
    const struct piece *piece = &part->pieces[part->at];
    trace->start_ns = piece->from_ns > part->start_ns ? piece->from_ns : part->start_ns;
    trace->end_ns = piece->until_ns < part->end_ns ? piece->until_ns : part->end_ns;
}

static void skip_before_pieces(struct trace *trace)
{
    struct trace_part *part = trace->part;
    uint64_t first_ns = part->pieces[0].from_ns;
    for (size_t i = 1; i < part->n_pieces; i++)
        first_ns = part->pieces[i].from_ns < first_ns ? part->pieces[i].from_ns : first_ns;
    if (trace->source->skip)
        trace->source->skip(trace, first_ns, &part->skipped);
}

/* Finding where the first piece begins, and what is before each. */

/* The first thread of a rank and the others: by time, since requests may be completed by another one. Marks stand in
 * the order of locations. */
static void find_of_rank(struct trace *trace, uint32_t first, uint32_t n)
{
    struct trace_part *part = trace->part;
    uint64_t from_ns = part->pieces[0].from_ns;
    struct heap heap = {0};
    struct counting *countings = memory_lines(n, sizeof *countings);
    struct packing *marks = memory_lines(n, sizeof *marks);
    for (uint32_t i = 0; i < n; i++)
        heap_push(&heap, mark_ahead_ns(trace, first + i), i);
    while (heap.n) {
        uint32_t i = heap.items[0].stream;
        if (heap.items[0].time_ns >= from_ns && !marks[i].bytes.n)
            mark_write(trace, first + i, &marks[i]);
        const struct event *event = mark_next(trace, first + i);
        if (event && event->time_ns < from_ns)
            follow(trace, event, false);
        if (event && count_event(trace, &countings[i], event))
            heap_replace(&heap, mark_ahead_ns(trace, first + i));
        else
            heap_pop(&heap);
    }
    for (uint32_t i = 0; i < n; i++) {
        pack_bytes(&part->marks, marks[i].bytes.at, marks[i].bytes.n);
        vec_release(&marks[i].bytes);
    }
    vec_free(marks);
    vec_free(countings);
    heap_release(&heap);
}

/* Nothing of different ranks is merged. */
static void find_by_rank(struct trace *trace)
{
    struct trace_part *part = trace->part;
    part->middle = middle_begin(trace);
    for (uint32_t loc = 0, end; loc < trace->n_locations; loc = end) {
        for (end = loc + 1; end < trace->n_locations && trace->locations[end].rank == trace->locations[loc].rank;)
            end++;
        find_of_rank(trace, loc, end - loc);
    }
    mark_leave(trace);
    part->at_marks = part->middle;
    part->middle = (struct middle){0};
    forget(trace);
}

/* Places cannot be marked. */
static int find_by_time(struct trace *trace)
{
    struct event_block block = {.n = 0};
    const struct event *event;
    struct counting *countings = memory_lines(trace->n_locations, sizeof *countings);
    int result = trace->source->rewind(trace);
    while (!result && (event = source_next(trace, &block)))
        count_event(trace, &countings[event->loc], event);
    vec_free(countings);
    return result;
}

/* Collectives are before all pieces if they are known to have been before anything was kept, or is read. */
static int find_pieces(struct trace *trace)
{
    struct trace_part *part = trace->part;
    int result = 0;
    collectives_add_known(&part->pieces[0].before, trace->before, trace->n_before);
    collectives_add_known(&part->pieces[0].before, part->skipped.collectives.at, part->skipped.collectives.n);
    if (part->pieces[part->n_pieces - 1].from_ns && mark_begin(trace, 0, 1))
        find_by_rank(trace);
    else if (part->pieces[part->n_pieces - 1].from_ns)
        result = find_by_time(trace);
    for (size_t i = 1; i < part->n_pieces; i++)
        collectives_add_all(&part->pieces[i].before, &part->pieces[i - 1].before);
    return trace->has_failed ? -1 : result;
}

static int set_parts(struct trace *trace, const struct trace_window *windows, size_t n)
{
    if (trace->part)
        part_close(trace);
    struct trace_part *part = memory_new(1, sizeof *part);
    struct piece *pieces = memory_new(n, sizeof *pieces);
    *part = (struct trace_part){.pieces = pieces, .n_pieces = n, .start_ns = trace->start_ns, .end_ns = trace->end_ns};
    for (size_t i = 0; i < n; i++) {
        uint64_t from_ns = windows[i].begin_ns;
        pieces[i] = (struct piece){.from_ns = from_ns > trace->start_ns ? from_ns : trace->start_ns,
                                   .until_ns = windows[i].end_ns};
    }
    tape_begin(&part->tape, PART_ROOM, 0);
    trace->part = part;
    set_bounds(trace);
    skip_before_pieces(trace);
    return find_pieces(trace);
}

int trace_set_parts(struct trace *trace, const struct trace_window *windows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (windows[i].begin_ns >= trace->end_ns)
            return error("%s: the run ends before %.3f s", trace->path, (double)windows[i].begin_ns / 1e9);
    return set_parts(trace, windows, n);
}

void trace_next_part(struct trace *trace)
{
    struct trace_part *part = trace->part;
    part->at++;
    piece_begin(part);
    tape_release(&part->tape);
    tape_begin(&part->tape, PART_ROOM, 0);
    set_bounds(trace);
}

int trace_set_part(struct trace *trace, uint64_t from_ns, uint64_t until_ns)
{
    trace_note(trace, "Only the part from %.3f s to %.3f s of the run's %.3f s is looked at.", (double)from_ns / 1e9,
               (double)(until_ns < trace->end_ns ? until_ns : trace->end_ns) / 1e9, (double)trace->end_ns / 1e9);
    return trace_set_parts(trace, &(struct trace_window){from_ns, until_ns}, 1);
}

typedef VEC(struct trace_window) window_list;

static void find_window(window_list *found, const struct event *event)
{
    enum { WINDOW_GAP = 1 << 10 }; /* windows are counted: one far beyond the last is damage */
    if (event->kind != EV_CONTROL || !event->request || event->request > found->n + WINDOW_GAP)
        return;
    while (found->n < event->request)
        vec_push(found)->begin_ns = UINT64_MAX;
    found->at[0].begin_ns = 0; /* with the run */
    struct trace_window *window = &found->at[event->request - 1];
    if (event->flags && event->time_ns < window->begin_ns)
        window->begin_ns = event->time_ns;
    if (!event->flags && event->time_ns > window->end_ns)
        window->end_ns = event->time_ns;
}

size_t part_windows(struct trace *trace, struct trace_window **windows)
{
    window_list found = {0};
    struct event_block block = {.n = 0};
    const struct event *event;
    if (mark_begin(trace, 0, 1)) {
        for (uint32_t loc = 0; loc < trace->n_locations; loc++)
            while ((event = mark_next(trace, loc)))
                find_window(&found, event);
        mark_leave(trace);
    } else if (trace->source->rewind(trace) == 0)
        while ((event = source_next(trace, &block)))
            find_window(&found, event);
    for (size_t i = 0; i < found.n; i++)
        if (!found.at[i].end_ns)
            found.at[i].end_ns = UINT64_MAX;
    *windows = found.at;
    return found.n;
}

int part_keep(struct trace *trace, uint64_t from_ns)
{
    return set_parts(trace, &(struct trace_window){from_ns, UINT64_MAX}, 1);
}

void part_close(struct trace *trace)
{
    forget(trace);
    struct trace_part *part = trace->part;
    middle_release(&part->at_marks, trace);
    vec_release(&part->marks.bytes);
    for (size_t i = 0; i < part->n_pieces; i++)
        collectives_release(&part->pieces[i].before);
    map_release(&part->n_skipped);
    vec_release(&part->ready);
    vec_release(&part->skipped.collectives);
    tape_release(&part->tape);
    free(part->pieces);
    free(part);
    trace->part = NULL;
}
