/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All passes, in order. The trace is read twice:
 *
 *   first    events -> lanes (calls and the stretches of code between them) -> survey, pools of samples, equations of
 *            cost, which CPUs were idle when
 *   second   events -> lanes -> calls | reader (calls matched with their messages, collectives, locks) -> replay (who
 *            waited for whom) | history (chains that explain it) -> occurrences | classes of equal behaviour
 *   then     blame, executions and work of each class -> sites, efficiency, causes -> profiles, memory, threads, files
 *
 * With more processes others read the events, and what stands behind a bar is a stage that threads do (stage.h).
 *
 * Memory follows code size x processes and what is under way between them, not the length of the trace.
 */
#include "analyze/pipeline.h"
#include "analyze/archive/keep.h"
#include "analyze/archive/run.h"
#include "analyze/blame/blame.h"
#include "analyze/blame/causes.h"
#include "analyze/blame/classes.h"
#include "analyze/blame/efficiency.h"
#include "analyze/blame/findings.h"
#include "analyze/blame/occurrences.h"
#include "analyze/code/script.h"
#include "analyze/engine/share.h"
#include "analyze/task.h"
#include "analyze/steps/numbers.h"
#include "analyze/steps/services.h"
#include "analyze/profile/details.h"
#include "analyze/profile/facts.h"
#include "analyze/profile/flows.h"
#include "analyze/profile/profile.h"
#include "analyze/constants/constants.h"
#include "analyze/result/names.h"
#include "analyze/result/whole.h"
#include "analyze/sections/index.h"
#include "analyze/sections/sections.h"
#include "analyze/timeline/gather.h"
#include "analyze/trace/part.h"
#include "analyze/trace/source.h"
#include "analyze/verdict/verdict.h"
#include "analyze/waits/calls.h"
#include "analyze/waits/last_places.h"
#include "analyze/waits/open_waits.h"
#include "wrap/base/err.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SOON = 3 }; /* events */

struct passes {
    struct trace *trace;
    /* Steps: what ran between two calls, and how long each part of it took. */
    struct steps steps;
    struct sites sites;
    struct lanes lanes;
    struct executions executions;
    struct work work;
    struct costs costs;
    struct pools pools;
    struct survey survey;
    struct cpu_use cpu_use;
    struct services services;
    struct thread_use thread_use;
    struct call_steps call_steps;
    struct calls calls;
    /* Waits: who waited for whom. */
    struct links links;
    struct messages messages;
    struct gatherings gatherings;
    struct locks locks;
    struct replay replay;
    struct reader reader;
    /* Blame. */
    struct occurrences occurrences;
    struct classes classes;
    struct measures measures;
    struct sparse critical; /* the critical path */
    struct cause_times acting;
    struct file_use file_use;
    struct exchanges exchanges;
    struct traffic traffic;
    bool wants_facts;
    double threshold;       /* of classes; 0 = the usual one */
    struct time_sink times; /* takes what each location did when, or nobody does */
    uint64_t n_events;
    uint32_t n_sections, last_turn;
    struct sections_index index; /* where this process begins to read them */
    bool is_in_sections;         /* the first reading is, too */
    VEC(uint32_t) cut_sites;     /* by location: of the call in which the present section has begun; TRACE_NONE */
};

static void passes_begin(struct passes *passes, struct trace *trace, struct code *code)
{
    passes->trace = trace;
    sites_begin(&passes->sites, trace, code, &passes->steps);
    lanes_begin(&passes->lanes, &passes->sites);
    executions_begin(&passes->executions, trace, code);
    work_begin(&passes->work, &passes->executions);
    costs_begin(&passes->costs, &passes->sites, &passes->work, trace->n_ranks);
    pools_begin(&passes->pools, &passes->sites, &passes->costs);
    cpu_use_begin(&passes->cpu_use, trace);
    services_begin(&passes->services, trace);
}

/* Of one section of the run. The error of clocks is known. */
static void passes_begin_waits(struct passes *passes, uint64_t begin_ns)
{
    struct trace *trace = passes->trace;
    links_begin(&passes->links, trace->n_locations);
    messages_begin(&passes->messages, trace, &passes->links);
    gatherings_begin(&passes->gatherings, trace, &passes->links);
    locks_begin(&passes->locks, &passes->links, trace->n_ranks);
    classes_begin(&passes->classes, &passes->pools, &passes->cpu_use, trace->n_ranks);
    if (passes->threshold > 0)
        passes->classes.threshold = passes->threshold;
    occurrences_begin(&passes->occurrences, &passes->classes);
    passes->links.history.sink = occurrences_sink(&passes->occurrences);
    passes->replay = (struct replay){.trace = trace,
                                     .begin_ns = begin_ns,
                                     .end_ns = trace->end_ns,
                                     .times = passes->times,
                                     .links = &passes->links,
                                     .messages = &passes->messages,
                                     .gatherings = &passes->gatherings,
                                     .locks = &passes->locks,
                                     .absences = &passes->reader.absences,
                                     .sites = &passes->sites,
                                     .serves = passes->services.serves,
                                     .call_steps = &passes->call_steps};
    replay_begin(&passes->replay);
    passes->reader = (struct reader){.trace = trace, .main_lanes = passes->lanes.rank_lane, .replay = &passes->replay};
    reader_begin(&passes->reader);
    passes->calls = (struct calls){.trace = trace,
                                   .lanes = &passes->lanes,
                                   .pools = &passes->pools,
                                   .call_steps = &passes->call_steps,
                                   .reader = &passes->reader};
}

static void passes_release_waits(struct passes *passes)
{
    calls_release(&passes->calls);
    reader_release(&passes->reader);
    replay_release(&passes->replay);
    occurrences_release(&passes->occurrences);
    classes_release(&passes->classes);
    locks_release(&passes->locks);
    gatherings_release(&passes->gatherings);
    messages_release(&passes->messages);
    links_release(&passes->links);
}

static void passes_release(struct passes *passes)
{
    if (passes->wants_facts)
        traffic_release(&passes->traffic);
    file_use_release(&passes->file_use);
    exchanges_release(&passes->exchanges);
    sparse_release(&passes->critical);
    vec_release(&passes->acting.parts);
    measures_release(&passes->measures);
    passes_release_waits(passes);
    vec_release(&passes->cut_sites);
    index_release(&passes->index);
    call_steps_release(&passes->call_steps);
    thread_use_release(&passes->thread_use);
    services_release(&passes->services);
    cpu_use_release(&passes->cpu_use);
    survey_release(&passes->survey);
    pools_release(&passes->pools);
    costs_release(&passes->costs);
    work_release(&passes->work);
    executions_release(&passes->executions);
    lanes_release(&passes->lanes);
    sites_release(&passes->sites);
    steps_release(&passes->steps);
}

static void fetch_lane(const struct passes *passes)
{
    const struct event *soon = passes->trace->n_locations > FEW_LOCATIONS ? trace_ahead(passes->trace, SOON) : NULL;
    if (soon)
        memory_fetch(&passes->lanes.at[soon->loc], sizeof *passes->lanes.at);
}

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

/* This process's sections of the run. False where it has none, or after error(). */
static bool begin_sections(struct passes *passes, struct sections *sections, const struct deal *deal)
{
    static const struct sections_index none;
    return sections_begin_at(sections, passes->trace, deal_is_as_planned(deal) ? &passes->index : &none);
}

/* After its last one a process reads on only where others' sections may follow that are its own. */
static bool go_on(const struct passes *passes, struct sections *sections, const struct deal *deal, bool was_mine)
{
    bool has_block = passes->index.firsts && deal_is_as_planned(deal);
    return sections_go_on(sections) && !(has_block && was_mine && !deal_has(deal, sections_turn(sections)));
}

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
    bool is_mine, goes_on = begin_sections(passes, &sections, deal);
    for (; goes_on; goes_on = go_on(passes, &sections, deal, is_mine)) {
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

/* Once more where it shows that clocks disagree. 0, or -1 after error(). */
static int read_first(struct passes *passes, struct trace *trace, struct code *code, struct engine *engine)
{
    for (;;) {
        passes_begin(passes, trace, code);
        passes->is_in_sections = sections_are_possible(trace) && !trace->is_counted;
        if (passes->is_in_sections && trace_is_settled(trace))
            sections_find_index(trace, engine, &passes->index);
        meter_stage(&trace->meter, "reading 1 of 2", "events", trace->n_records, trace->n_records);
        int settled = read_steps(passes, engine) ? trace_settle(trace) : -1;
        if (settled > 0)
            steps_complete(passes);
        if (settled)
            return settled < 0 ? -1 : 0;
        const struct passes anew = {.wants_facts = passes->wants_facts, .threshold = passes->threshold};
        passes_release(passes);
        *passes = anew;
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
        if (passes->wants_facts)
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
    struct file_use file_use;
    struct exchanges exchanges;
    struct traffic traffic;
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
    pools_forget_shares(&reading->passes->pools);
    lanes_forget_steps(&reading->passes->lanes, reading->numbers.n_steps);
}

static void forget_section(struct passes *passes)
{
    passes->n_events = 0;
    file_use_release(&passes->file_use);
    exchanges_release(&passes->exchanges);
    if (passes->wants_facts)
        traffic_release(&passes->traffic);
    passes->file_use = (struct file_use){0};
}

static void give_section(struct sections_reading *reading, struct deal *deal, uint32_t turn)
{
    struct passes *passes = reading->passes;
    struct packing packing = {0};
    const struct section_passes section = section_passes(passes);
    numbers_pack(&reading->numbers, &packing);
    findings_pack(&section, &packing);
    pack_value(&packing, passes->n_events);
    file_use_pack(&passes->file_use, &packing);
    exchanges_pack(&passes->exchanges, &packing);
    traffic_pack(&passes->traffic, &packing);
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
    file_use_unpack(&reading->file_use, &unpacking);
    exchanges_unpack(&reading->exchanges, &unpacking);
    traffic_unpack(&reading->traffic, &unpacking);
}

static bool perform_sections(void *context, struct deal *deal)
{
    struct sections_reading *reading = context;
    struct passes *passes = reading->passes;
    struct sections sections;
    bool is_mine, goes_on = begin_sections(passes, &sections, deal);
    for (; goes_on; goes_on = go_on(passes, &sections, deal, is_mine)) {
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
        forget_section(passes);
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

/* Clocks are settled by now. */
static void read_sections(struct passes *passes, struct engine *engine)
{
    struct sections_reading reading = {.passes = passes, .engine = engine};
    if (!passes->index.firsts)
        sections_find_index(passes->trace, engine, &passes->index);
    const struct share share = {
        .context = &reading, .perform = perform_sections, .take = take_section, .firsts = passes->index.firsts};
    numbers_begin(&reading.numbers, &passes->sites);
    findings_begin(&reading.findings, &reading.numbers,
                   &(struct findings_input){.pools = &passes->pools,
                                            .cpu_use = &passes->cpu_use,
                                            .main_lanes = passes->lanes.rank_lane,
                                            .threshold = passes->threshold});
    bool is_done = share_perform(engine, &share);
    if (is_done && engine_is_first(engine))
        give_run(&reading);
    findings_release(&reading.findings);
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
    passes->trace->is_last_reading = true;
    if (trace_rewind(passes->trace))
        return;
    sections_begin(&sections, passes->trace);
    read_section(passes, &sections);
    sections_release(&sections);
    fetching_finish(&passes->reader.fetching);
    efficiency_critical_path(&passes->replay, &passes->critical);
}

static void read_for_waits(struct passes *passes, struct engine *engine)
{
    if (passes->n_sections > 1) {
        read_sections(passes, engine);
        return;
    }
    engine_end(engine);
    read_alone(passes);
}

static void find_causes(struct passes *passes, struct analysis *analysis, struct timeline *timeline)
{
    classes_expand(&passes->classes, &analysis->arena);
    const struct measure_input input = {.classes = &passes->classes,
                                        .sites = &passes->sites,
                                        .executions = &passes->executions,
                                        .costs = &passes->costs,
                                        .ranks = passes->replay.ranks,
                                        .n_ranks = passes->trace->n_ranks,
                                        .kept = &analysis->arena,
                                        .sample_ns = survey_sample_ns(&passes->survey)};
    sites_find_wrappers(&passes->sites);
    measures_make(&input, &passes->measures);
    sites_write(&input, &passes->measures, analysis);
    efficiency_write(analysis, &passes->replay, &passes->pools, &passes->critical);
    ranks_write(&input, &passes->measures, &passes->critical, analysis);
    causes_find(&(struct causes_input){.analysis = analysis,
                                       .classes = &passes->classes,
                                       .sites = &passes->sites,
                                       .ranks = passes->replay.ranks,
                                       .critical = &passes->critical,
                                       .measures = &passes->measures,
                                       .costs = &passes->costs,
                                       .survey = &passes->survey,
                                       .locks = &passes->locks,
                                       .acting = timeline ? &passes->acting : NULL});
    analysis->n_contradictions = gains_count_contradictions(analysis);
}

/* Of time, and of the waiting that it caused. */
static void make_profiles(struct passes *passes, struct analysis *analysis)
{
    struct sparse blame = measures_blame(&passes->measures, &passes->steps);
    struct profile_input input = {.arena = &analysis->arena,
                                  .trace = passes->trace,
                                  .code = analysis->code,
                                  .survey = &passes->survey,
                                  .executions = &passes->executions,
                                  .bins = &passes->measures.bins,
                                  .sites = &passes->sites};
    analysis->profile = profile_make(&input);
    input.blame = &blame;
    analysis->blame_profile = profile_make(&input);
    sparse_release(&blame);
}

static void add_facts(struct passes *passes, struct analysis *analysis)
{
    hosts_write(analysis);
    stops_write(analysis, &passes->lanes);
    if (passes->reader.open_calls.n)
        open_waits_write(analysis, &passes->sites, &passes->reader);
    last_places_write(analysis, &passes->sites, &passes->reader);
    names_steps(&passes->sites, analysis);
    space_find(analysis, &passes->executions, &passes->measures.bins);
    space_add_to_causes(analysis);
    if (analysis->trace->n_points) /* the program was built to count */
        partings_add_to_causes(analysis, &passes->measures, &passes->executions);
    teams_add_to_causes(analysis, &passes->sites, &passes->survey, &passes->thread_use);
    insides_add_to_causes(analysis, &passes->sites, &passes->survey);
    errands_add_to_causes(analysis, &passes->sites, &passes->survey);
    pauses_add_to_causes(analysis, &passes->sites, &passes->survey);
    file_use_add_to_causes(&passes->file_use, &passes->sites, analysis);
    if (passes->wants_facts)
        facts_write(analysis, &passes->measures, &passes->executions, &passes->sites, &passes->traffic);
    exchanges_write(&passes->exchanges, &passes->classes, &passes->measures, analysis);
    fetching_write(&passes->reader.fetching, &passes->sites, analysis);
    analysis->unexplained_ns = passes->replay.unexplained_ns;
    analysis->n_forced = passes->replay.n_forced;
    analysis->n_mpi_calls = passes->reader.n_calls;
    analysis->n_polls = passes->reader.n_polls;
    analysis->n_events = passes->n_events;
    analysis->n_sections = passes->n_sections;
}

/* Conservation: what is blamed is what was waited. */
static void check_sums(const struct analysis *analysis)
{
    double blamed_ns = analysis->machine.waiting_ns, waited_ns = 0;
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        blamed_ns += analysis->causes[i].waiting_ns;
    for (uint32_t i = 0; i < analysis->n_sites; i++)
        waited_ns += analysis->sites[i].waiting_ns;
    double tolerance_ns = 1e-6 * analysis->waiting_ns + 1;
    if (fabs(blamed_ns - analysis->waiting_ns) > tolerance_ns || fabs(waited_ns - analysis->waiting_ns) > tolerance_ns)
        bug("waiting %.0f ns, at sites %.0f ns, blamed %.0f ns: they must be equal", analysis->waiting_ns, waited_ns,
            blamed_ns);
}

/* The parts of the time are all of it. Where they are not, the reader is told. */
static void check_times(struct trace *trace, const struct analysis *analysis)
{
    const struct efficiency *all = &analysis->efficiency;
    double parts_ns = all->compute_ns + all->waiting_ns + all->transfer_ns + all->mpi_ns + all->descheduled_ns +
                      all->blocked_ns + all->unrecorded_ns + all->ended_ns;
    if (fabs(parts_ns - all->all_ns) > NEGLIGIBLE_SHARE / 2 * all->all_ns)
        trace_note(trace, "The parts of the time add up to %.1f %% of it: take all shares of the time as estimates.",
                   100 * parts_ns / all->all_ns);
}

void analysis_take_part(struct trace *trace, struct code *code, double threshold, bool wants_facts,
                        struct engine *engine)
{
    struct passes passes = {.wants_facts = wants_facts, .threshold = threshold};
    if (read_first(&passes, trace, code, engine))
        engine_give_up(engine);
    read_for_waits(&passes, engine);
}

static struct analysis *run(struct trace *trace, struct code *code, struct timeline *timeline, double threshold,
                            bool wants_facts)
{
    struct passes passes = {.wants_facts = wants_facts, .threshold = threshold};
    struct analysis *analysis = NULL;
    struct engine forked = {0}, *engine = &forked;
    if (!timeline && sections_are_possible(trace))
        engine = task_engine(trace, threshold, wants_facts, &forked);
    if (read_first(&passes, trace, code, engine)) {
        engine_give_up(engine);
        goto out;
    }
    if (timeline)
        passes.times = timeline_sink(timeline, trace->n_locations);
    meter_stage(&trace->meter, "reading 2 of 2", "events", trace->n_records, 0);
    read_for_waits(&passes, engine);
    if (trace->has_failed)
        goto out;
    meter_end(&trace->meter);
    if (!(analysis = calloc(1, sizeof *analysis)))
        err_out_of_memory(sizeof *analysis);
    analysis->trace = trace;
    analysis->code = code;
    find_causes(&passes, analysis, timeline);
    if (timeline)
        timeline_finish(timeline, &(struct timeline_finish_input){.pools = &passes.pools,
                                                                  .classes = &passes.classes,
                                                                  .measures = &passes.measures,
                                                                  .acting = &passes.acting,
                                                                  .trace = trace});
    make_profiles(&passes, analysis);
    add_facts(&passes, analysis);
    check_sums(analysis);
    check_times(trace, analysis);
out:
    passes_release(&passes);
    return analysis;
}

struct analysis *analysis_run(struct trace *trace, struct code *code, struct timeline *timeline, double threshold)
{
    return run(trace, code, timeline, threshold, false);
}

void analysis_free(struct analysis *analysis)
{
    if (!analysis)
        return;
    struct arena arena = analysis->arena;
    arena_release(&arena);
    free(analysis);
}

/* Its text as the run has kept it, else the file itself where it says that it is a script. */
static uint32_t add_script(struct code *code, const struct trace *trace, const char *path)
{
    char *kept = trace->run_dir ? keep_source_path(trace->run_dir, path) : NULL;
    const char *own = script_is_source(path) ? path : NULL;
    uint32_t module = code_add_script(code, path, kept && access(kept, R_OK) == 0 ? kept : own);
    free(kept);
    return module;
}

static uint32_t add_module(struct code *code, const struct trace *trace, const struct trace_module *module)
{
    if (module->is_script)
        return add_script(code, trace, module->path);
    return code_add_module(code, module->path, module->build_id_bytes ? module->build_id : NULL,
                           module->build_id_bytes);
}

struct code *load_code(const struct trace *trace)
{
    struct code *code = code_open();
    if (trace->code_dir)
        code_use_kept(code, trace->code_dir);
    for (uint32_t i = 0; i < trace->n_modules; i++)
        if (add_module(code, trace, &trace->modules[i]) != i)
            bug("module %u of the trace has another number in the code model", i);
    for (uint32_t i = 0; i < trace->n_frames; i++) {
        const struct trace_frame *frame = &trace->frames[i];
        if (frame->module < trace->n_modules && trace->modules[frame->module].is_script &&
            frame->region < trace->n_regions)
            code_name_routine(code, frame->module, trace_code_address(frame->address, frame->is_return),
                              trace->regions[frame->region].name);
    }
    return code;
}

static int load(struct loaded *loaded, const char *path, struct trace *(*open)(const char *anchor))
{
    *loaded = (struct loaded){0};
    char *anchor = run_find_archive(path);
    if (anchor)
        loaded->trace = open(anchor);
    free(anchor);
    if (!loaded->trace)
        return -1;
    return 0;
}

int load_trace(struct loaded *loaded, const char *path)
{
    return load(loaded, path, trace_open);
}

static int analyse(struct loaded *loaded, bool with_timeline, double threshold, bool with_facts)
{
    if (loaded->trace->n_modules && !loaded->code)
        loaded->code = load_code(loaded->trace);
    if (with_timeline)
        loaded->timeline.n_most = timeline_budget(loaded->trace->n_ranks);
    loaded->analysis =
        run(loaded->trace, loaded->code, with_timeline ? &loaded->timeline : NULL, threshold, with_facts);
    if (!loaded->analysis)
        return -1;
    whole_figures(loaded->analysis);
    verdicts_find(loaded->analysis);
    return 0;
}

int load_analysis(struct loaded *loaded, const char *path, bool with_timeline)
{
    return load(loaded, path, trace_open_unchecked) ? -1 : analyse(loaded, with_timeline, 0, false);
}

int load_analysis_part(struct loaded *loaded, const char *path, const struct load_choice *choice)
{
    bool is_whole = !choice->from_ns && choice->until_ns == UINT64_MAX;
    if (load(loaded, path, is_whole ? trace_open_unchecked : trace_open))
        return -1;
    if (!is_whole && trace_set_part(loaded->trace, choice->from_ns, choice->until_ns))
        return -1;
    return analyse(loaded, false, choice->threshold, choice->with_facts);
}

int load_present_part(struct loaded *loaded)
{
    if (loaded->analysis)
        analysis_free(loaded->analysis);
    loaded->trace->is_last_reading = false;
    return analyse(loaded, false, 0, true);
}

int load_analysis_with_facts(struct loaded *loaded, const char *path, bool with_timeline)
{
    return load(loaded, path, trace_open_unchecked) ? -1 : analyse(loaded, with_timeline, 0, true);
}

void load_release(struct loaded *loaded)
{
    if (loaded->timeline.n_most)
        timeline_release(&loaded->timeline);
    if (loaded->analysis)
        analysis_free(loaded->analysis);
    if (loaded->code)
        code_close(loaded->code);
    if (loaded->trace)
        trace_close(loaded->trace);
    *loaded = (struct loaded){0};
}

static bool lacks_records(const struct trace *trace)
{
    if (trace->is_damaged)
        warn("%s: the archive is damaged or cut off; the notes of the report say what is missing", trace->path);
    else if (trace->lacks_records)
        warn("%s: records of some ranks are missing; the notes of the report say which", trace->path);
    return trace->is_damaged || trace->lacks_records;
}

/* Files that the system failed to open while the code model looked for names and lines. */
static bool lacks_files(const struct loaded *loaded)
{
    const char *unread = NULL, *of = NULL;
    uint32_t n = 0;
    int why = 0;
    for (uint32_t i = 0; loaded->code && i < loaded->trace->n_modules; i++) {
        const char *file;
        int fault = code_module_is_read(loaded->code, i) && !code_module_is_runtime(loaded->code, i)
                        ? code_module_fault(loaded->code, i, &file)
                        : 0;
        if (fault && !n++) {
            why = fault;
            unread = file;
            of = loaded->trace->modules[i].path;
        }
    }
    if (n)
        warn("cannot open %s: %s; names, lines or counts of %s%s are missing", unread, strerror(why), of,
             n > 1 ? " and others" : "");
    return n;
}

static bool lacks_program(const struct loaded *loaded)
{
    const struct trace *trace = loaded->trace;
    for (uint32_t i = 0; loaded->code && i < trace->n_modules; i++) {
        const char *path = trace->modules[i].path, *slash = strrchr(path, '/'), *unread;
        if (!trace->program || strcmp(slash ? slash + 1 : path, trace->program) != 0)
            continue;
        enum code_state state = code_module_state(loaded->code, i);
        if (code_module_fault(loaded->code, i, &unread)) /* lacks_files has told */
            return true;
        if (state == CODE_MISSING || state == CODE_CHANGED) {
            warn("%s %s since it was recorded: its loops cannot be named; bring back the recorded build", path,
                 state == CODE_MISSING ? "has gone" : "has changed");
            return true;
        }
    }
    return false;
}

bool load_lacks_counts(const struct loaded *loaded)
{
    bool has_gaps = lacks_records(loaded->trace), lacks_names = lacks_files(loaded);
    return has_gaps || lacks_names || loaded->trace->lacks_counts;
}

bool load_is_degraded(const struct loaded *loaded)
{
    bool has_gaps = load_lacks_counts(loaded);
    return lacks_program(loaded) || has_gaps;
}
