/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of the passes: samples are pooled and costs fitted in a first reading of the trace; a second one matches,
 * replays, explains and classifies wait by wait; then blame is shared out and named. Memory follows code size x
 * processes and what is under way between them, not the length of the trace.
 */
#include "analyze/result/result.h"
#include "analyze/steps/costs.h"
#include "analyze/waits/reader.h"
#include "analyze/write.h"
#include "wrap/base/err.h"
#include <stdlib.h>

struct passes {
    struct trace *trace;
    struct steps steps;
    struct sites sites;
    struct lanes lanes;
    struct executions executions;
    struct work work;
    struct costs costs;
    struct pools pools;
    struct survey survey;
    struct links links;
    struct messages messages;
    struct gatherings gatherings;
    struct locks locks;
    struct classes classes;
    struct replay replay;
    struct reader reader;
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
    links_begin(&passes->links, trace->n_locations);
    messages_begin(&passes->messages, trace, &passes->links);
    gatherings_begin(&passes->gatherings, trace, &passes->links);
    locks_begin(&passes->locks, &passes->links, trace->n_ranks);
    classes_begin(&passes->classes, &passes->pools, trace->n_ranks);
    passes->replay = (struct replay){.trace = trace,
                                     .links = &passes->links,
                                     .messages = &passes->messages,
                                     .gatherings = &passes->gatherings,
                                     .locks = &passes->locks,
                                     .classes = &passes->classes,
                                     .steps = &passes->steps};
    replay_begin(&passes->replay);
    passes->reader =
        (struct reader){.trace = trace, .lanes = &passes->lanes, .pools = &passes->pools, .replay = &passes->replay};
    reader_begin(&passes->reader);
}

static void passes_release(struct passes *passes)
{
    reader_release(&passes->reader);
    replay_release(&passes->replay);
    classes_release(&passes->classes);
    locks_release(&passes->locks);
    gatherings_release(&passes->gatherings);
    messages_release(&passes->messages);
    links_release(&passes->links);
    survey_release(&passes->survey);
    pools_release(&passes->pools);
    costs_release(&passes->costs);
    work_release(&passes->work);
    executions_release(&passes->executions);
    lanes_release(&passes->lanes);
    sites_release(&passes->sites);
    steps_release(&passes->steps);
}

static void passes_survey(struct passes *passes)
{
    const struct event *event;
    while ((event = trace_next(passes->trace))) {
        struct lane *lane = &passes->lanes.at[event->loc];
        enum lane_news news = lanes_feed(&passes->lanes, event);
        if (lanes_rank_is_off(&passes->lanes, lane->rank))
            continue;
        survey_feed(&passes->survey, lane, news, event);
        if (news == LANE_ENTERED || (news == LANE_ENDED && !lane->depth)) {
            pools_add(&passes->pools, lane->rank, &lane->stretch);
            costs_add(&passes->costs, lane->rank, &lane->stretch);
        }
    }
    survey_finish(&passes->survey);
    survey_leave_out_workers(&passes->survey, &passes->sites, &passes->executions);
    pools_complete(&passes->pools);
    costs_fit(&passes->costs, &passes->survey);
}

static void passes_read(struct passes *passes)
{
    const struct event *event;
    while ((event = trace_next(passes->trace)))
        reader_feed(&passes->reader, event);
    reader_finish(&passes->reader);
}

static void passes_write(struct passes *passes, struct analysis *analysis)
{
    result_write(&(struct result_input){.analysis = analysis,
                                        .sites = &passes->sites,
                                        .survey = &passes->survey,
                                        .executions = &passes->executions,
                                        .costs = &passes->costs,
                                        .classes = &passes->classes,
                                        .replay = &passes->replay,
                                        .reader = &passes->reader});
}

struct analysis *analysis_run(struct trace *trace, struct code *code)
{
    struct passes passes = {0};
    struct analysis *analysis = NULL;
    passes_begin(&passes, trace, code);
    if (trace_rewind(trace))
        goto out;
    passes_survey(&passes);
    if (trace_rewind(trace))
        goto out;
    lanes_rewind(&passes.lanes);
    passes_read(&passes);
    if (!(analysis = calloc(1, sizeof *analysis)))
        err_out_of_memory(sizeof *analysis);
    analysis->trace = trace;
    analysis->code = code;
    passes_write(&passes, analysis);
out:
    passes_release(&passes);
    return analysis;
}

void analysis_free(struct analysis *analysis)
{
    if (!analysis)
        return;
    struct arena arena = analysis->arena;
    arena_release(&arena);
    free(analysis);
}
