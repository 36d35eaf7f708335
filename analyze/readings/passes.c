/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/readings/passes.h"
#include "analyze/engine/share.h"
#include "analyze/waits/open_waits.h"

void passes_begin(struct passes *passes, struct trace *trace, struct code *code)
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

void passes_begin_waits(struct passes *passes, uint64_t begin_ns)
{
    struct trace *trace = passes->trace;
    links_begin(&passes->links, trace->n_locations);
    messages_begin(&passes->messages, trace, &passes->links);
    gatherings_begin(&passes->gatherings, trace, &passes->links);
    locks_begin(&passes->locks, &passes->links, trace->n_ranks);
    classes_begin(&passes->classes, &passes->pools, &passes->cpu_use, trace->n_ranks);
    if (passes->wanted.threshold > 0)
        passes->classes.threshold = passes->wanted.threshold;
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

void passes_release_waits(struct passes *passes)
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

void passes_release(struct passes *passes)
{
    keyed_sums_release(&passes->traffic);
    keyed_sums_release(&passes->file_use);
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

bool passes_begin_sections(struct passes *passes, struct sections *sections, const struct deal *deal)
{
    static const struct sections_index none;
    return sections_begin_at(sections, passes->trace, deal_is_as_planned(deal) ? &passes->index : &none);
}

bool passes_go_on(const struct passes *passes, struct sections *sections, const struct deal *deal, bool was_mine)
{
    bool has_block = passes->index.firsts && deal_is_as_planned(deal);
    return sections_go_on(sections) && !(has_block && was_mine && !deal_has(deal, sections_turn(sections)));
}
