/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All passes, in order. The trace is read twice (readings/):
 *
 *   first    events -> lanes (calls and the stretches of code between them) -> survey, pools of samples, equations of
 *            cost, which CPUs were idle when
 *   second   events -> lanes -> calls -> reader (calls matched with their messages, collectives, locks) -> replay (who
 *            waited for whom) -> history (chains that explain it) -> occurrences -> classes of equal behaviour
 *   then     blame, executions and work of each class -> sites, efficiency, causes -> profiles, memory, threads, files
 *
 * Long runs are read in sections (sections/), which processes share (engine/).
 *
 * Memory follows code size x processes and what is under way between them, not the length of the trace.
 */
#include "analyze/pipeline.h"
#include "analyze/task.h"
#include "analyze/archive/keep.h"
#include "analyze/archive/run.h"
#include "analyze/blame/blame.h"
#include "analyze/blame/causes.h"
#include "analyze/blame/efficiency.h"
#include "analyze/code/script.h"
#include "analyze/profile/partings.h"
#include "analyze/profile/profile.h"
#include "analyze/readings/first.h"
#include "analyze/readings/second.h"
#include "analyze/steps/cut_stacks.h"
#include "analyze/constants/constants.h"
#include "analyze/result/names.h"
#include "analyze/result/whole.h"
#include "analyze/timeline/gather.h"
#include "analyze/trace/part.h"
#include "analyze/trace/source.h"
#include "analyze/verdict/verdict.h"
#include "analyze/waits/last_places.h"
#include "analyze/waits/open_waits.h"
#include "wrap/base/err.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void add_hosts(struct passes *passes, struct analysis *analysis)
{
    struct arena scratch = {0};
    double *young_ns = arena_array(&scratch, double, passes->trace->n_ranks + 1);
    thread_use_add_young(&passes->thread_use, passes->trace, young_ns);
    hosts_write(analysis, young_ns);
    arena_release(&scratch);
}

static void add_facts(struct passes *passes, struct analysis *analysis)
{
    add_hosts(passes, analysis);
    stops_write(analysis, &passes->lanes);
    if (passes->reader.open_calls.n)
        open_waits_write(analysis, &passes->sites, &passes->reader);
    last_places_write(analysis, &passes->sites, &passes->reader);
    names_steps(&passes->sites, analysis);
    space_find(analysis, &passes->executions, &passes->measures.bins);
    space_add_to_causes(analysis);
    thread_use_add_to_causes(analysis, &passes->sites, &passes->survey, &passes->thread_use);
    if (analysis->trace->n_points) /* the program was built to count */
        partings_add_to_causes(analysis, &passes->measures, &passes->executions, &passes->costs.weighed);
    insides_add_to_causes(analysis, &passes->sites, &passes->survey);
    errands_add_to_causes(analysis, &passes->sites, &passes->survey);
    pauses_add_to_causes(analysis, &passes->sites, &passes->survey, &passes->lanes.awaited);
    file_use_add_to_causes(&passes->file_use, &passes->sites, analysis);
    if (passes->wanted.facts)
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

static struct analysis *run(struct trace *trace, struct code *code, struct wanted wanted)
{
    struct passes passes = {.wanted = wanted};
    struct timeline *timeline = wanted.timeline;
    struct analysis *analysis = NULL;
    struct engine forked = {0}, *engine = &forked;
    if (sections_are_possible(trace))
        engine = task_engine(trace, &wanted, &forked);
    if (first_reading(&passes, trace, code, engine)) {
        engine_give_up(engine);
        goto out;
    }
    meter_stage(&trace->meter, "reading 2 of 2", "events", trace->n_records, 0);
    second_reading(&passes, engine);
    if (trace->has_failed)
        goto out;
    meter_end(&trace->meter);
    analysis = memory_new(1, sizeof *analysis);
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
    return run(trace, code, (struct wanted){.threshold = threshold, .timeline = timeline});
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

struct code *load_code(struct trace *trace)
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
    cut_stacks_join(trace, code);
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
        run(loaded->trace, loaded->code,
            (struct wanted){
                .threshold = threshold, .facts = with_facts, .timeline = with_timeline ? &loaded->timeline : NULL});
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
