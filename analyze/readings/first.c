/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/readings/first.h"
#include "analyze/engine/share.h"
#include "analyze/steps/numbers.h"
#include "wrap/base/err.h"
#include <stdlib.h>

enum { SOON = 3 }; /* events */

static void fetch_lane(const struct passes *passes)
{
    const struct event *soon = passes->trace->n_locations > FEW_LOCATIONS ? trace_ahead(passes->trace, SOON) : NULL;
    if (soon)
        memory_fetch(&passes->lanes.at[soon->loc], sizeof *passes->lanes.at);
}

/* A section, or all. */
static void read_for_steps(struct passes *passes, struct sections *sections)
{
    const struct event *event;
    while ((event = passes->is_in_sections ? sections_next(sections) : sections_next_record(sections))) {
        fetch_lane(passes);
        struct lane *lane = &passes->lanes.at[event->loc];
        enum lane_news news = lanes_feed(&passes->lanes, event);
        cpu_use_feed(&passes->cpu_use, lane, event);
        services_feed(&passes->services, lane, news, event);
        thread_use_feed(&passes->thread_use, &passes->sites, lane, event);
        if (lanes_rank_is_off(&passes->lanes, lane->rank))
            continue;
        survey_feed(&passes->survey, lane, news, event);
        if (news == LANE_ENTERED || news == LANE_RETURNED || (news == LANE_ENDED && !lane->depth)) {
            pools_add(&passes->pools, lane->rank, &lane->stretch);
            costs_add(&passes->costs, lane->rank, &lane->stretch);
        }
    }
}

static void steps_complete(struct passes *passes)
{
    cpu_use_complete(&passes->cpu_use);
    services_complete(&passes->services);
    thread_use_complete(&passes->thread_use);
    survey_finish(&passes->survey);
    survey_leave_out_workers(&passes->survey, &passes->sites, &passes->executions);
    pools_complete(&passes->pools);
    costs_fit(&passes->costs, &passes->survey);
}

/* The passes of the first reading that a section begins anew. */
struct step_passes {
    struct lanes lanes;
    struct pools pools;
    struct survey survey;
    struct cpu_use cpu_use;
    struct services services;
    struct thread_use thread_use;
};

static void step_passes_begin(struct passes *passes)
{
    lanes_begin(&passes->lanes, &passes->sites);
    pools_begin(&passes->pools, &passes->sites, &passes->costs);
    cpu_use_begin(&passes->cpu_use, passes->trace);
    services_begin(&passes->services, passes->trace);
    passes->survey = (struct survey){0};
    passes->thread_use = (struct thread_use){0};
}

static void step_passes_release(struct passes *passes)
{
    thread_use_release(&passes->thread_use);
    services_release(&passes->services);
    cpu_use_release(&passes->cpu_use);
    survey_release(&passes->survey);
    pools_release(&passes->pools);
    lanes_release(&passes->lanes);
}

/* Those that are, for those that were. */
static void step_passes_swap(struct passes *passes, struct step_passes *other)
{
    struct step_passes now = {passes->lanes,   passes->pools,    passes->survey,
                              passes->cpu_use, passes->services, passes->thread_use};
    passes->lanes = other->lanes;
    passes->pools = other->pools;
    passes->survey = other->survey;
    passes->cpu_use = other->cpu_use;
    passes->services = other->services;
    passes->thread_use = other->thread_use;
    *other = now;
}

struct steps_reading {
    struct passes *passes;
    struct engine *engine;
    struct numbers numbers;
    struct step_passes run; /* of all sections so far */
};

static void give_steps(struct steps_reading *reading, struct deal *deal, uint32_t turn)
{
    struct passes *passes = reading->passes;
    struct packing packing = {0};
    numbers_pack(&reading->numbers, &packing);
    lanes_pack(&passes->lanes, &packing);
    pools_pack(&passes->pools, &packing);
    survey_pack(&passes->survey, &packing);
    cpu_use_pack(&passes->cpu_use, &packing);
    services_pack(&passes->services, &packing);
    thread_use_pack(&passes->thread_use, &packing);
    deal_give(deal, turn, (struct parcel){packing.bytes.at, packing.bytes.n});
    vec_release(&packing.bytes);
}

static void take_steps(void *context, uint32_t turn, struct parcel result)
{
    struct steps_reading *reading = context;
    struct unpacking unpacking = {result.at, (const unsigned char *)result.at + result.n_bytes};
    reading->passes->n_sections++;
    reading->passes->last_turn = turn;
    numbers_unpack(&reading->numbers, &unpacking);
    lanes_unpack(&reading->run.lanes, &unpacking, &reading->numbers);
    pools_unpack(&reading->run.pools, &unpacking, &reading->numbers);
    survey_unpack(&reading->run.survey, &unpacking);
    cpu_use_unpack(&reading->run.cpu_use, &unpacking);
    services_unpack(&reading->run.services, &unpacking);
    thread_use_unpack(&reading->run.thread_use, &unpacking);
}

static bool perform_steps(void *context, struct deal *deal)
{
    struct steps_reading *reading = context;
    struct passes *passes = reading->passes;
    struct sections sections;
    bool is_mine, goes_on = passes_begin_sections(passes, &sections, deal);
    for (; goes_on; goes_on = passes_go_on(passes, &sections, deal, is_mine)) {
        engine_tick(reading->engine);
        is_mine = deal_has(deal, sections_turn(&sections));
        if (!is_mine) {
            sections_skip(&sections);
            continue;
        }
        numbers_reset(&reading->numbers);
        step_passes_begin(passes);
        lanes_rewind(&passes->lanes, sections.begin_ns);
        read_for_steps(passes, &sections);
        give_steps(reading, deal, sections_turn(&sections));
        step_passes_release(passes);
    }
    sections_release(&sections);
    return !passes->trace->has_failed;
}

/* All processes have the same then. */
static bool read_steps_in_sections(struct passes *passes, struct engine *engine)
{
    struct steps_reading reading = {.passes = passes, .engine = engine};
    const struct share share = {.context = &reading,
                                .perform = perform_steps,
                                .take = take_steps,
                                .firsts = passes->index.firsts,
                                .is_for_all = true};
    numbers_begin(&reading.numbers, &passes->sites);
    step_passes_swap(passes, &reading.run);
    bool is_done = share_perform(engine, &share);
    numbers_settle(&reading.numbers);
    numbers_release(&reading.numbers);
    step_passes_swap(passes, &reading.run);
    return is_done;
}

/* Costs of places are found out in the order of time: exact counts are read by each process. */
static bool read_steps(struct passes *passes, struct engine *engine)
{
    struct sections sections;
    if (passes->is_in_sections)
        return read_steps_in_sections(passes, engine);
    if (trace_rewind(passes->trace))
        return false;
    sections_begin(&sections, passes->trace);
    read_for_steps(passes, &sections);
    passes->n_sections = sections.number + 1;
    passes->last_turn = sections_turn(&sections);
    sections_release(&sections);
    return !passes->trace->has_failed;
}

/* As trace_settle. Processes that have read a piece each tell what they have found out. */
static int settle(const struct passes *passes, struct engine *engine)
{
    if (!passes->index.firsts || trace_is_settled(passes->trace))
        return trace_settle(passes->trace);
    struct trace_watched mine = trace_watched(passes->trace), all = {.holds = true};
    struct parcel *take = memory_new(engine_n(engine) + 1, sizeof *take);
    engine_tell_all(engine, (struct parcel){&mine, sizeof mine}, take);
    for (uint32_t i = 0; i < engine_n(engine); i++)
        if (take[i].n_bytes == sizeof mine)
            trace_watched_add(&all, take[i].at);
        else
            all.holds = false;
    free(take);
    return trace_settle_by(passes->trace, &all);
}

/* Once more where it shows that clocks disagree. 0, or -1 after error(). */
int first_reading(struct passes *passes, struct trace *trace, struct code *code, struct engine *engine)
{
    for (;;) {
        passes_begin(passes, trace, code);
        passes->is_in_sections = sections_are_possible(trace) && !trace->is_counted;
        if (passes->is_in_sections)
            sections_find_index(trace, engine, &passes->index);
        meter_stage(&trace->meter, "reading 1 of 2", "events", trace->n_records, trace->n_records);
        int settled = read_steps(passes, engine) ? settle(passes, engine) : -1;
        if (settled > 0)
            steps_complete(passes);
        if (settled)
            return settled < 0 ? -1 : 0;
        const struct passes anew = {.wanted = passes->wanted};
        passes_release(passes);
        *passes = anew;
    }
}
