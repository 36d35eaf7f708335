/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/survey.h"
#include <stdlib.h>

static struct survey_entry *survey_entry(struct survey *survey, uint32_t rank, uint32_t frame)
{
    bool is_new;
    uint64_t *slot = map_put(&survey->index, (uint64_t)rank << 32 | frame, &is_new);
    if (is_new) {
        *slot = survey->entries.n;
        *vec_push(&survey->entries) = (struct survey_entry){.rank = rank, .frame = frame, .region = TRACE_NONE};
    }
    return &survey->entries.at[*slot];
}

static void survey_call(struct survey *survey, const struct lane *lane, uint64_t leave_ns)
{
    if (lane->frame == TRACE_NONE)
        return;
    struct survey_entry *entry = survey_entry(survey, lane->rank, lane->frame);
    entry->region = lane->region;
    entry->in_mpi_ns += leave_ns - lane->enter_ns;
    entry->n_calls++;
}

static void survey_sample(struct survey *survey, const struct lane *lane, const struct event *event)
{
    struct survey_entry *entry = survey_entry(survey, lane->rank, event->frame);
    entry->sampled_ns += event->weight_ns;
    entry->kernel_ns += event->flags & WW_S_KERNEL ? event->weight_ns : 0;
    entry->n_samples++;
    entry->is_workers |= lane->is_worker;
}

/* Asleep outside MPI: where it sleeps, whoever wakes it. */
static void survey_sleep(struct survey *survey, const struct lane *lane, const struct event *event)
{
    if (!lane->depth && !lane->is_worker)
        survey_entry(survey, lane->rank, event->frame)->blocked_ns += event->weight_ns;
}

void survey_feed(struct survey *survey, const struct lane *lane, enum lane_news news, const struct event *event)
{
    if (news == LANE_LEFT)
        survey_call(survey, lane, event->time_ns);
    else if (event->kind == EV_SAMPLE && event->frame != TRACE_NONE)
        event->flags &WW_S_BLOCKED ? survey_sleep(survey, lane, event) : survey_sample(survey, lane, event);
}

static int entry_compare(const void *a, const void *b)
{
    const struct survey_entry *left = a, *right = b;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    return (left->frame > right->frame) - (left->frame < right->frame);
}

void survey_finish(struct survey *survey)
{
    if (survey->entries.n)
        qsort(survey->entries.at, survey->entries.n, sizeof *survey->entries.at, entry_compare);
    map_release(&survey->index);
}

void survey_leave_out_workers(const struct survey *survey, struct sites *sites, struct executions *executions)
{
    const struct trace *trace = sites->trace;
    for (size_t i = 0; i < survey->entries.n && !trace->counts_all_threads; i++) {
        trace_walk (trace, at, survey->entries.at[i].is_workers ? survey->entries.at[i].frame : TRACE_NONE) {
            uint32_t place = sites_frame_place(sites, at);
            if (place != CODE_NONE)
                executions_leave_out(executions, place);
        }
    }
}

void survey_release(struct survey *survey)
{
    map_release(&survey->index);
    vec_release(&survey->entries);
}
