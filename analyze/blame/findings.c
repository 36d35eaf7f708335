/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/findings.h"
#include "analyze/blame/efficiency.h"
#include <stdlib.h>

void findings_begin(struct findings *findings, const struct trace *trace, const uint32_t *main_lanes)
{
    *findings =
        (struct findings){.main_lanes = main_lanes, .n_ranks = trace->n_ranks, .n_locations = trace->n_locations};
    findings->done = memory_lines(trace->n_locations + 1, sizeof *findings->done);
    findings->ranks = memory_lines(trace->n_ranks + 1, sizeof *findings->ranks);
    for (uint32_t i = 0; i < trace->n_locations; i++)
        findings->done[i].cut_site = TRACE_NONE;
}

void findings_release(struct findings *findings)
{
    for (uint32_t i = 0; findings->done && i < findings->n_locations; i++) {
        vec_release(&findings->done[i].calls);
        vec_release(&findings->done[i].left);
    }
    for (uint32_t i = 0; findings->ranks && i < findings->n_ranks; i++) {
        sparse_release(&findings->ranks[i].atoms);
        sparse_release(&findings->ranks[i].counts);
        sparse_release(&findings->ranks[i].served);
    }
    vec_free(findings->done);
    vec_free(findings->ranks);
    sparse_release(&findings->critical);
    sparse_release(&findings->fetched);
    classes_release(&findings->classes);
}

void findings_begin_in(struct findings *findings, const struct rounds *rounds, uint32_t location, uint32_t site)
{
    struct location_done *done = &findings->done[location];
    done->cut_site = site;
    for (uint32_t loop = rounds->innermost.at[site]; loop != TRACE_NONE; loop = rounds->outer.at[loop])
        if (loop < done->left.n && done->left.at[loop])
            done->left.at[loop]--;
}

static void add_rank(struct rank_time *sum, struct rank_time *later)
{
    sum->compute_ns += later->compute_ns;
    sum->outside_ns += later->outside_ns;
    sum->mpi_ns += later->mpi_ns;
    sum->transfer_ns += later->transfer_ns;
    sum->waiting_ns += later->waiting_ns;
    sum->blocked_ns += later->blocked_ns;
    sum->descheduled_ns += later->descheduled_ns;
    sum->preempted_ns += later->preempted_ns;
    sum->beside_ns += later->beside_ns;
    sum->asleep_ns += later->asleep_ns;
    sum->unrecorded_ns += later->unrecorded_ns;
    sum->ended_ns += later->ended_ns;
    for (int part = 0; part < WHEN_PARTS; part++)
        sum->lacks_ns[part] += later->lacks_ns[part];
    sparse_absorb(&sum->atoms, &later->atoms);
    sparse_absorb(&sum->counts, &later->counts);
    sparse_absorb(&sum->served, &later->served);
}

static struct done_before done_before(const void *context, uint32_t rank, uint32_t site)
{
    const struct findings *findings = context;
    const struct location_done *done = &findings->done[findings->main_lanes[rank]];
    uint32_t loop = findings->rounds->innermost.at[site];
    uint32_t n_calls = site < done->calls.n ? done->calls.at[site] : 0;
    return (struct done_before){.n_calls = n_calls - (site == done->cut_site && n_calls),
                                .n_rounds = loop < done->left.n ? done->left.at[loop] : 0,
                                .did_ns = findings->ranks[rank].outside_ns - findings->ranks[rank].preempted_ns};
}

static void add_done(struct location_done *done, const struct queue_of_calls *lane, const struct loops_left *left)
{
    if (lane->calls.n > done->calls.n)
        vec_resize(&done->calls, lane->calls.n);
    for (size_t i = 0; i < lane->calls.n; i++)
        done->calls.at[i] += lane->calls.at[i].n - (i == done->cut_site && lane->calls.at[i].n);
    if (left->n.n > done->left.n)
        vec_resize(&done->left, left->n.n);
    for (size_t i = 0; i < left->n.n; i++)
        done->left.at[i] += left->n.at[i];
}

void findings_add(struct findings *findings, struct classes *classes, struct replay *replay, struct reader *reader)
{
    findings->rounds = &replay->rounds;
    if (findings->n_sections++) {
        classes_join(&findings->classes, classes, done_before, findings);
    } else {
        findings->classes = *classes;
        *classes = (struct classes){0};
    }
    for (uint32_t rank = 0; rank < findings->n_ranks; rank++)
        add_rank(&findings->ranks[rank], &replay->ranks[rank]);
    for (uint32_t i = 0; i < findings->n_locations; i++) {
        add_done(&findings->done[i], &replay->lanes[i], &replay->left[i]);
        findings->n_calls -= findings->done[i].cut_site != TRACE_NONE;
        findings->done[i].cut_site = TRACE_NONE;
    }
    efficiency_critical_path(replay, &findings->critical);
    fetching_finish(&reader->fetching);
    sparse_add_all(&findings->fetched, &reader->fetching.spent, 1);
    findings->n_calls += reader->n_calls;
    findings->n_polls += reader->n_polls;
    findings->n_forced += replay->n_forced;
    findings->unexplained_ns += replay->unexplained_ns;
    if (replay->longest_wait_ns > findings->longest_wait_ns)
        findings->longest_wait_ns = replay->longest_wait_ns;
}

void findings_give(struct findings *findings, struct classes *classes, struct replay *replay, struct reader *reader)
{
    struct classes of_last = *classes;
    struct rank_time *ranks = replay->ranks;
    struct sparse fetched = reader->fetching.spent;
    *classes = findings->classes;
    findings->classes = of_last;
    replay->ranks = findings->ranks;
    findings->ranks = ranks;
    for (uint32_t rank = 0; rank < findings->n_ranks; rank++) {
        sparse_pack(&replay->ranks[rank].atoms);
        sparse_pack(&replay->ranks[rank].counts);
        sparse_pack(&replay->ranks[rank].served);
    }
    reader->fetching.spent = findings->fetched;
    findings->fetched = fetched;
    reader->n_calls = findings->n_calls;
    reader->n_polls = findings->n_polls;
    replay->n_forced = findings->n_forced;
    replay->unexplained_ns = findings->unexplained_ns;
    replay->longest_wait_ns = findings->longest_wait_ns;
}
