/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/readings/second.h"
#include "analyze/blame/efficiency.h"
#include "analyze/blame/findings.h"
#include "analyze/engine/share.h"
#include "analyze/steps/numbers.h"
#include "analyze/timeline/gather.h"

enum { SOON = 3 }; /* events */

/* Likewise, in two steps: where its call is stands in what is fetched first. */
static void fetch_reading(const struct passes *passes)
{
    const struct event *soon = passes->trace->n_locations > FEW_LOCATIONS ? trace_ahead(passes->trace, SOON) : NULL;
    if (soon)
        memory_fetch(&passes->lanes.at[soon->loc], sizeof *passes->lanes.at);
    if (soon) {
        reader_fetch(&passes->reader, soon->loc);
        reader_fetch_call(&passes->reader, trace_ahead(passes->trace, 1)->loc);
    }
}

/* A location is in the middle of a call when the section begins. */
static void take_state(struct passes *passes, const struct event *event)
{
    const struct lane *lane = &passes->lanes.at[event->loc];
    if (event->kind == EV_ENTER && lane->depth)
        passes->cut_sites.at[event->loc] = lane->site;
}

static void begin_section(struct passes *passes, const struct sections *sections)
{
    lanes_rewind(&passes->lanes, sections->begin_ns);
    call_steps_release(&passes->call_steps);
    call_steps_begin(&passes->call_steps, &passes->sites);
    passes_begin_waits(passes, sections->begin_ns);
    vec_resize(&passes->cut_sites, passes->trace->n_locations);
    for (size_t i = 0; i < passes->cut_sites.n; i++)
        passes->cut_sites.at[i] = TRACE_NONE;
}

static void read_section(struct passes *passes, struct sections *sections)
{
    const struct event *event;
    begin_section(passes, sections);
    while ((event = sections_next(sections))) {
        fetch_reading(passes);
        if (sections->event != SECTION_RECORD)
            calls_feed(&passes->calls, event);
        if (sections->event == SECTION_STATE) {
            take_state(passes, event);
            continue;
        }
        passes->n_events++;
        file_use_feed(&passes->file_use, &passes->lanes.at[event->loc], event);
        exchanges_feed(&passes->exchanges, passes->trace, &passes->lanes.at[event->loc], event);
        if (passes->wanted.facts)
            traffic_feed(&passes->traffic, passes->trace, &passes->lanes.at[event->loc], event);
    }
    passes->replay.end_ns = sections->end_ns;
    calls_finish(&passes->calls);
}

/* Of several sections. */
struct sections_reading {
    struct passes *passes;
    struct engine *engine;
    struct numbers numbers;
    struct findings findings;
    struct keyed_sums file_use, traffic;
    struct exchanges exchanges;
    struct timeline timeline; /* of the present section */
    uint64_t n_events;
    bool has_last; /* the passes have read the last section, and found what the report says of the run's end */
};

static struct section_passes section_passes(struct passes *passes)
{
    return (struct section_passes){.classes = &passes->classes,
                                   .replay = &passes->replay,
                                   .reader = &passes->reader,
                                   .lanes = &passes->lanes,
                                   .locks = &passes->locks,
                                   .cut_sites = passes->cut_sites.at};
}

/* What was made beyond those that all have is forgotten. */
static void reset_numbers(struct sections_reading *reading)
{
    numbers_reset(&reading->numbers);
    atoms_forget(&reading->passes->pools);
    lanes_forget_steps(&reading->passes->lanes, reading->numbers.n_steps);
}

static void forget_section(struct sections_reading *reading)
{
    struct passes *passes = reading->passes;
    timeline_clear(&reading->timeline);
    passes->n_events = 0;
    keyed_sums_release(&passes->file_use);
    exchanges_release(&passes->exchanges);
    keyed_sums_release(&passes->traffic);
}

static void give_section(struct sections_reading *reading, struct deal *deal, uint32_t turn)
{
    struct passes *passes = reading->passes;
    struct packing packing = {0};
    const struct section_passes section = section_passes(passes);
    numbers_pack(&reading->numbers, &packing);
    findings_pack(&section, &packing);
    pack_value(&packing, passes->n_events);
    keyed_sums_pack(&passes->file_use, &packing);
    exchanges_pack(&passes->exchanges, &packing);
    keyed_sums_pack(&passes->traffic, &packing);
    timeline_pack(&reading->timeline, &packing);
    deal_give(deal, turn, (struct parcel){packing.bytes.at, packing.bytes.n});
    vec_release(&packing.bytes);
}

static void take_section(void *context, uint32_t turn, struct parcel result)
{
    struct sections_reading *reading = context;
    struct unpacking unpacking = {result.at, (const unsigned char *)result.at + result.n_bytes};
    uint64_t n_events;
    (void)turn;
    numbers_unpack(&reading->numbers, &unpacking);
    findings_unpack(&reading->findings, &unpacking);
    unpack_value(&unpacking, &n_events);
    reading->n_events += n_events;
    keyed_sums_unpack(&reading->file_use, &unpacking);
    exchanges_unpack(&reading->exchanges, &unpacking);
    keyed_sums_unpack(&reading->traffic, &unpacking);
    if (reading->passes->wanted.timeline)
        timeline_unpack(reading->passes->wanted.timeline, &unpacking, &reading->numbers);
}

static bool perform_sections(void *context, struct deal *deal)
{
    struct sections_reading *reading = context;
    struct passes *passes = reading->passes;
    struct sections sections;
    bool is_mine, goes_on = passes_begin_sections(passes, &sections, deal);
    for (; goes_on; goes_on = passes_go_on(passes, &sections, deal, is_mine)) {
        uint32_t turn = sections_turn(&sections);
        bool is_kept = turn == passes->last_turn && engine_is_first(reading->engine);
        is_mine = deal_has(deal, turn);
        engine_tick(reading->engine);
        if (!is_mine && !is_kept) {
            sections_skip(&sections);
            continue;
        }
        if (reading->has_last)
            passes_release_waits(passes);
        reset_numbers(reading);
        read_section(passes, &sections);
        if (is_mine)
            give_section(reading, deal, turn);
        forget_section(reading);
        reading->has_last = is_kept;
        if (!is_kept)
            passes_release_waits(passes);
    }
    sections_release(&sections);
    return !passes->trace->has_failed;
}

/* In place of those of the last section. */
static void give_run(struct sections_reading *reading)
{
    struct passes *passes = reading->passes;
    const struct section_passes section = section_passes(passes);
    numbers_of_last(&reading->numbers);
    reset_numbers(reading);
    numbers_settle(&reading->numbers);
    findings_give(&reading->findings, &section);
    sparse_absorb(&passes->critical, &reading->findings.critical);
    sparse_pack(&passes->critical);
    passes->n_events = reading->n_events;
    passes->file_use = reading->file_use;
    passes->exchanges = reading->exchanges;
    passes->traffic = reading->traffic;
}

/* What sections may keep of it together is twice what the run keeps, so that one in which more happens than in others
 * has room for it. */
static void begin_timeline(struct sections_reading *reading)
{
    struct passes *passes = reading->passes;
    if (!passes->wanted.timeline)
        return;
    reading->timeline.n_most = 2 * passes->wanted.timeline->n_most / passes->n_sections;
    vec_resize(&passes->wanted.timeline->rows, passes->trace->n_locations);
    passes->times = timeline_sink(&reading->timeline, passes->trace->n_locations);
}

/* Clocks are settled by now. */
static void read_sections(struct passes *passes, struct engine *engine)
{
    struct sections_reading reading = {.passes = passes, .engine = engine};
    begin_timeline(&reading);
    if (!passes->index.firsts)
        sections_find_index(passes->trace, engine, &passes->index);
    const struct share share = {
        .context = &reading, .perform = perform_sections, .take = take_section, .firsts = passes->index.firsts};
    numbers_begin(&reading.numbers, &passes->sites);
    findings_begin(&reading.findings, &reading.numbers,
                   &(struct findings_input){.pools = &passes->pools,
                                            .cpu_use = &passes->cpu_use,
                                            .main_lanes = passes->lanes.rank_lane,
                                            .threshold = passes->wanted.threshold});
    bool is_done = share_perform(engine, &share);
    if (is_done && engine_is_first(engine))
        give_run(&reading);
    findings_release(&reading.findings);
    timeline_release(&reading.timeline);
    numbers_release(&reading.numbers);
    if (is_done)
        engine_end(engine);
    else
        engine_give_up(engine);
}

/* The findings of a section that is alone stay in their places. */
static void read_alone(struct passes *passes)
{
    struct sections sections;
    if (passes->wanted.timeline)
        passes->times = timeline_sink(passes->wanted.timeline, passes->trace->n_locations);
    passes->trace->is_last_reading = true;
    if (trace_rewind(passes->trace))
        return;
    sections_begin(&sections, passes->trace);
    read_section(passes, &sections);
    sections_release(&sections);
    fetching_finish(&passes->reader.fetching);
    efficiency_critical_path(&passes->replay, &passes->critical);
}

void second_reading(struct passes *passes, struct engine *engine)
{
    if (passes->n_sections > 1) {
        read_sections(passes, engine);
        return;
    }
    engine_end(engine);
    read_alone(passes);
}
