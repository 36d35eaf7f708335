/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/waits/calls.h"

void calls_release(struct calls *calls)
{
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
    reader_record(calls->reader, event);
}

/* The sums of the lane's stretch, which is complete. */
static void spread(struct calls *calls, struct lane *lane, struct sparse *atoms, struct sparse *counts,
                   struct sparse *lent, struct spent *spent)
{
    spread_stretch(calls->pools, lane->rank, &lane->stretch, atoms, lent, spent);
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

static void tell_enter(struct calls *calls, struct lane *lane, const struct event *event)
{
    enum ww_class class = calls->trace->regions[lane->region].class;
    expect(calls, lane->site, CALL_ITSELF);
    if (class == WW_TEST || class == WW_IPROBE || class == WW_PROBE || class == WW_RECV)
        expect(calls, lane->site, CALL_WAITING);
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
        struct shares shares = atom_expand(calls->pools, key_atom(stretch->atoms[i].key), &single);
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
    if (is_end)
        reader_end(calls->reader, event, has_stretch ? &stretch : NULL);
    else
        reader_return(calls->reader, event->loc, event->time_ns, &stretch);
}

void calls_feed(struct calls *calls, const struct event *event)
{
    struct lane *lane = &calls->lanes->at[event->loc];
    bool was_off = lane->is_off_cpu;
    enum lane_news news = lanes_feed(calls->lanes, event);
    bool is_off = calls->lanes->at[event->loc].is_off_cpu;
    if (was_off && !is_off && event->kind != EV_ON)
        reader_is_back(calls->reader, event->loc);
    switch (news) {
    case LANE_NOTHING:
        if (reader_needs(event))
            tell_event(calls, lane, event);
        break;
    case LANE_ENTERED:
        tell_enter(calls, lane, event);
        break;
    case LANE_LEFT:
        reader_leave(calls->reader, event->loc, event->time_ns);
        break;
    case LANE_CALLED:
        expect(calls, lane->site, CALL_WAITING);
        reader_call_back(calls->reader, event->loc, event->time_ns);
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
    reader_finish(calls->reader);
}
