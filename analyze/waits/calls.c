/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/calls.h"
#include "wrap/base/err.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = STAGE_PORTION, APART_BYTES = BLOCK_BYTES / 4 };

/* Messages to the reader as they are written down: as short as they can be, since they go from one core to another. */
struct record {
    uint64_t time_ns;
    uint32_t lane;
    enum { TELL_EVENT, TELL_BACK, TELL_ENTER, TELL_LEAVE, TELL_CALL_BACK, TELL_STRETCH } what;
};
struct record_of_event {
    struct record head;
    char rest[sizeof(struct event) - offsetof(struct event, kind)];
};
/* Terms follow, unless they are many. Then they lie apart, to be freed. */
struct record_of_enter {
    struct record head;
    uint32_t site, region;
    bool is_off;
    uint32_t n_atoms, n_counts, n_lent;
    struct term *apart;
    struct spent spent;
};
struct record_of_stretch {
    struct record head;
    struct event event; /* the last one, or the return of a function */
    bool has_stretch;
    struct term *apart;
    struct stretch_told stretch;
};

/* In the stage. */

static const struct term *terms_of(const void *record, size_t record_bytes, const struct term *apart)
{
    return apart ? apart : (const struct term *)(const void *)((const char *)record + record_bytes);
}

static size_t record_bytes(const void *at)
{
    const struct record_of_enter *enter = at;
    const struct record_of_stretch *stretch = at;
    size_t n_terms = 0;
    switch (((const struct record *)at)->what) {
    case TELL_EVENT:
        return sizeof(struct record_of_event);
    case TELL_ENTER:
        n_terms = enter->apart ? 0 : (size_t)enter->n_atoms + enter->n_counts + enter->n_lent;
        return sizeof *enter + n_terms * sizeof(struct term);
    case TELL_STRETCH:
        n_terms = stretch->apart ? 0 : (size_t)stretch->stretch.n_atoms + stretch->stretch.n_counts;
        return sizeof *stretch + n_terms * sizeof(struct term);
    default:
        return sizeof(struct record);
    }
}

static void read_event(struct reader *reader, const struct record_of_event *record)
{
    struct event event;
    event.time_ns = record->head.time_ns;
    event.loc = record->head.lane;
    memcpy((char *)&event + offsetof(struct event, kind), record->rest, sizeof record->rest);
    reader_record(reader, &event);
}

static void take_terms(struct sparse *to, const struct term *terms, uint32_t n)
{
    struct term *at = sparse_extend(to, n);
    for (uint32_t i = 0; i < n; i++)
        at[i] = terms[i];
}

static void read_enter(struct reader *reader, const struct record_of_enter *record)
{
    const struct term *terms = terms_of(record, sizeof *record, record->apart);
    struct call *call = reader_call(reader, &(struct call_begin){.time_ns = record->head.time_ns,
                                                                 .lane = record->head.lane,
                                                                 .site = record->site,
                                                                 .region = record->region,
                                                                 .is_off = record->is_off});
    call->spent = record->spent;
    take_terms(&call->before, terms, record->n_atoms);
    take_terms(&call->counts, terms + record->n_atoms, record->n_counts);
    take_terms(&call->lent, terms + record->n_atoms + record->n_counts, record->n_lent);
    free(record->apart);
    reader_enter(reader, record->head.lane);
}

static void read_stretch(struct reader *reader, const struct record_of_stretch *record)
{
    struct stretch_told stretch = record->stretch;
    stretch.atoms = terms_of(record, sizeof *record, record->apart);
    stretch.counts = stretch.atoms + stretch.n_atoms;
    if (record->event.kind == EV_END)
        reader_end(reader, &record->event, record->has_stretch ? &stretch : NULL);
    else
        reader_return(reader, record->event.loc, record->event.time_ns, &stretch);
    free(record->apart);
}

static void read_record(struct reader *reader, const void *at)
{
    const struct record *record = at;
    switch (record->what) {
    case TELL_EVENT:
        read_event(reader, at);
        break;
    case TELL_ENTER:
        read_enter(reader, at);
        break;
    case TELL_STRETCH:
        read_stretch(reader, at);
        break;
    case TELL_LEAVE:
        reader_leave(reader, record->lane, record->time_ns);
        break;
    case TELL_CALL_BACK:
        reader_call_back(reader, record->lane, record->time_ns);
        break;
    case TELL_BACK:
        reader_is_back(reader, record->lane);
        break;
    }
}

static size_t read_block(void *context, const void *records, size_t n_bytes)
{
    const struct calls *calls = context;
    struct reader *reader = calls->reader;
    const bool fetches = calls->fetches; /* what lies beside it changes all the time */
    const char *at = records, *end = at + n_bytes, *next, *ahead = at;
    for (; at < end; at = next) {
        next = at + record_bytes(at);
        ahead = ahead > next ? ahead : next;
        if (fetches && next < end) {
            reader_fetch_call(reader, ((const struct record *)(const void *)next)->lane);
            ahead += ahead < end ? record_bytes(ahead) : 0;
            if (ahead < end)
                reader_fetch(reader, ((const struct record *)(const void *)ahead)->lane);
        }
        read_record(reader, at);
    }
    return n_bytes;
}

/* Before it. */

void calls_join(struct calls *calls, struct staff *staff)
{
    calls->is_staged = true;
    stage_begin(&calls->stage, BLOCK_BYTES, read_block, calls);
    stage_join(&calls->stage, staff);
}

void calls_release(struct calls *calls)
{
    stage_release(&calls->stage);
    sparse_release(&calls->atoms);
    sparse_release(&calls->counts);
    sparse_release(&calls->lent);
}

static void expect(struct calls *calls, uint32_t site, enum call_state state)
{
    call_steps_expect(calls->call_steps, site, state);
}

static void tell_event(struct calls *calls, const struct lane *lane, const struct event *event)
{
    if (event->kind == EV_OFF && lane->depth)
        expect(calls, lane->site, CALL_ABSENT);
    else if ((event->kind == EV_POLLS || event->kind == EV_OUTSIDE) && lane->depth)
        expect(calls, lane->site, CALL_WAITING);
    if (!calls->is_staged) {
        reader_record(calls->reader, event);
        return;
    }
    struct record_of_event *record = stage_room(&calls->stage, sizeof *record);
    record->head = (struct record){event->time_ns, event->loc, TELL_EVENT};
    memcpy(record->rest, (const char *)event + offsetof(struct event, kind), sizeof record->rest);
}

static void write_short(struct calls *calls, const struct event *event, int what)
{
    *(struct record *)stage_room(&calls->stage, sizeof(struct record)) =
        (struct record){event->time_ns, event->loc, what};
}

static void tell_back(struct calls *calls, const struct event *event)
{
    if (calls->is_staged)
        write_short(calls, event, TELL_BACK);
    else
        reader_is_back(calls->reader, event->loc);
}

static void tell_leave(struct calls *calls, const struct event *event)
{
    if (calls->is_staged)
        write_short(calls, event, TELL_LEAVE);
    else
        reader_leave(calls->reader, event->loc, event->time_ns);
}

static void tell_call_back(struct calls *calls, const struct lane *lane, const struct event *event)
{
    expect(calls, lane->site, CALL_WAITING);
    if (calls->is_staged)
        write_short(calls, event, TELL_CALL_BACK);
    else
        reader_call_back(calls->reader, event->loc, event->time_ns);
}

/* The sums of the lane's stretch, which is complete. */
static void spread(struct calls *calls, struct lane *lane, struct sparse *atoms, struct sparse *counts,
                   struct sparse *lent, struct spent *spent)
{
    pools_spread(calls->pools, lane->rank, &lane->stretch, atoms, lent, spent);
    for (size_t i = 0; i < lane->stretch.counts.n; i++)
        sparse_add(counts, atom_key(lane->rank, (uint32_t)lane->stretch.counts.at[i].key),
                   lane->stretch.counts.at[i].ns);
}

static void spread_aside(struct calls *calls, struct lane *lane, struct spent *spent)
{
    sparse_clear(&calls->atoms);
    sparse_clear(&calls->counts);
    sparse_clear(&calls->lent);
    spread(calls, lane, &calls->atoms, &calls->counts, &calls->lent, spent);
}

/* Room for a record and the terms that were spread aside, which are written there. */
static void *write_terms(struct calls *calls, size_t record_bytes, struct term **apart)
{
    const struct sparse *all[] = {&calls->atoms, &calls->counts, &calls->lent};
    size_t n = calls->atoms.n + calls->counts.n + calls->lent.n, bytes = n * sizeof(struct term);
    bool is_apart = bytes > APART_BYTES;
    *apart = is_apart ? malloc(bytes) : NULL;
    if (is_apart && !*apart)
        err_out_of_memory(bytes);
    char *record = stage_room(&calls->stage, record_bytes + (is_apart ? 0 : bytes));
    struct term *to = is_apart ? *apart : (struct term *)(void *)(record + record_bytes);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k < all[i]->n; k++)
            *to++ = all[i]->at[k];
    return record;
}

static void write_enter(struct calls *calls, struct lane *lane, const struct event *event)
{
    struct spent spent;
    struct term *apart;
    spread_aside(calls, lane, &spent);
    struct record_of_enter *record = write_terms(calls, sizeof *record, &apart);
    *record = (struct record_of_enter){.head = {event->time_ns, event->loc, TELL_ENTER},
                                       .site = lane->site,
                                       .region = lane->region,
                                       .is_off = lane->is_off,
                                       .n_atoms = (uint32_t)calls->atoms.n,
                                       .n_counts = (uint32_t)calls->counts.n,
                                       .n_lent = (uint32_t)calls->lent.n,
                                       .apart = apart,
                                       .spent = spent};
}

static void tell_enter(struct calls *calls, struct lane *lane, const struct event *event)
{
    enum ww_class class = calls->trace->regions[lane->region].class;
    expect(calls, lane->site, CALL_ITSELF);
    if (class == WW_TEST || class == WW_IPROBE || class == WW_PROBE || class == WW_RECV)
        expect(calls, lane->site, CALL_WAITING);
    if (calls->is_staged) {
        write_enter(calls, lane, event);
        return;
    }
    struct call *call = reader_call(calls->reader, &(struct call_begin){.time_ns = event->time_ns,
                                                                        .lane = event->loc,
                                                                        .site = lane->site,
                                                                        .region = lane->region,
                                                                        .is_off = lane->is_off});
    spread(calls, lane, &call->before, &call->counts, &call->lent, &call->spent);
    reader_enter(calls->reader, event->loc);
}

/* The step that most of a stretch was. Its place matters, not whether it had a CPU there. */
static void find_most(struct calls *calls, struct stretch_told *stretch)
{
    struct steps *all = calls->pools->sites->steps;
    struct sparse steps = {0};
    struct term single;
    const struct term *most = NULL;
    for (size_t i = 0; i < stretch->n_atoms; i++) {
        struct shares shares = pools_expand(calls->pools, key_atom(stretch->atoms[i].key), &single);
        for (size_t k = 0; k < shares.n; k++) {
            uint32_t step = (uint32_t)shares.at[k].key;
            bool lacked_cpu = steps_key(all, step)->state == STEP_DESCHEDULED;
            step = lacked_cpu ? steps_in_state(all, step, STEP_COMPUTING) : step;
            sparse_add(&steps, step, stretch->atoms[i].ns * shares.at[k].ns);
        }
    }
    sparse_pack(&steps);
    for (size_t i = 0; i < steps.n; i++)
        most = !most || steps.at[i].ns > most->ns ? &steps.at[i] : most;
    if (most && most->ns > 0) {
        stretch->last_step = 1 + (uint32_t)most->key;
        stretch->last_share = most->ns / sparse_sum(&calls->atoms);
    }
    sparse_release(&steps);
}

static bool ends_with_a_poll(const struct calls *calls, const struct lane *lane)
{
    uint32_t from = lane->stretch.from,
             region = from == TRACE_NONE ? TRACE_NONE : sites_at(calls->lanes->sites, from)->region;
    enum ww_class class = region < calls->trace->n_regions ? calls->trace->regions[region].class : WW_LOCAL;
    return class == WW_TEST || class == WW_IPROBE;
}

/* A function that MPI called returns, or the location ends; inside a call that ends no stretch. */
static __attribute__((noinline)) void tell_stretch(struct calls *calls, struct lane *lane, const struct event *event)
{
    struct stretch_told stretch = {0};
    bool is_end = event->kind == EV_END;
    bool has_stretch = !is_end || (!lane->is_worker && !lane->depth && !lane->callback_ns);
    sparse_clear(&calls->atoms);
    sparse_clear(&calls->counts);
    sparse_clear(&calls->lent);
    if (has_stretch) {
        stretch = (struct stretch_told){.begin_ns = lane->stretch.begin_ns,
                                        .end_ns = lane->stretch.end_ns,
                                        .from = lane->stretch.from,
                                        .to = lane->stretch.to};
        spread_aside(calls, lane, &stretch.spent);
        sparse_clear(&calls->lent); /* no call enters with it */
        stretch.atoms = calls->atoms.at;
        stretch.counts = calls->counts.at;
        stretch.n_atoms = (uint32_t)calls->atoms.n;
        stretch.n_counts = (uint32_t)calls->counts.n;
    }
    if (is_end && has_stretch) {
        expect(calls, lane->stretch.to, CALL_ITSELF);
        if (ends_with_a_poll(calls, lane))
            expect(calls, lane->stretch.from, CALL_OPEN);
    } else if (is_end && !lane->is_worker)
        expect(calls, lane->site, CALL_OPEN);
    if (is_end && has_stretch && calls->lanes->rank_lane[lane->rank] == event->loc)
        find_most(calls, &stretch);
    if (calls->is_staged) {
        struct term *apart;
        struct record_of_stretch *record = write_terms(calls, sizeof *record, &apart);
        *record = (struct record_of_stretch){.head = {event->time_ns, event->loc, TELL_STRETCH},
                                             .event = *event,
                                             .has_stretch = has_stretch,
                                             .apart = apart,
                                             .stretch = stretch};
    } else if (is_end) {
        reader_end(calls->reader, event, has_stretch ? &stretch : NULL);
    } else {
        reader_return(calls->reader, event->loc, event->time_ns, &stretch);
    }
}

void calls_feed(struct calls *calls, const struct event *event)
{
    struct lane *lane = &calls->lanes->at[event->loc];
    bool was_off = lane->is_off_cpu;
    enum lane_news news = lanes_feed(calls->lanes, event);
    if (was_off && !lane->is_off_cpu && event->kind != EV_ON)
        tell_back(calls, event);
    switch (news) {
    case LANE_NOTHING:
        if (reader_needs(event))
            tell_event(calls, lane, event);
        break;
    case LANE_ENTERED:
        tell_enter(calls, lane, event);
        break;
    case LANE_LEFT:
        tell_leave(calls, event);
        break;
    case LANE_CALLED:
        tell_call_back(calls, lane, event);
        break;
    case LANE_RETURNED:
    case LANE_ENDED:
        tell_stretch(calls, lane, event);
        break;
    }
}

/* Locations without an end record end with the trace. */
void calls_finish(struct calls *calls)
{
    for (uint32_t lane = 0; lane < calls->trace->n_locations; lane++) {
        struct event end = {.kind = EV_END,
                            .loc = lane,
                            .time_ns = calls->trace->locations[lane].end_ns,
                            .comm = TRACE_NONE,
                            .peer = TRACE_NONE};
        if (!calls->lanes->at[lane].is_ended && end.time_ns)
            calls_feed(calls, &end);
    }
    if (calls->is_staged)
        stage_finish(&calls->stage);
    reader_finish(calls->reader);
}
