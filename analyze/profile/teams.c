/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/profile/teams.h"
#include "wrap/base/sparse.h"

/* Time on a CPU of all threads, by place and rank, and the places that workers run. */
struct teams {
    struct sparse sampled;
    struct map is_shared;
};

static uint64_t team_key(uint32_t place, uint32_t rank)
{
    return (uint64_t)place << 32 | rank;
}

static void teams_gather(struct teams *teams, struct sites *sites, const struct survey *survey)
{
    for (size_t i = 0; i < survey->entries.n; i++) {
        const struct survey_entry *entry = &survey->entries.at[i];
        uint32_t step = entry->n_samples ? sites_sample_step(sites, entry->frame) : TRACE_NONE;
        const struct step_key *key = step == TRACE_NONE ? NULL : steps_key(sites->steps, step);
        if (!key || key->what != WHAT_PLACE)
            continue;
        sparse_add(&teams->sampled, team_key(key->id, entry->rank), (double)entry->sampled_ns);
        if (entry->is_workers)
            *map_put(&teams->is_shared, key->id, NULL) = 1;
    }
    sparse_pack(&teams->sampled);
}

static void count_threads(const struct teams *teams, uint32_t place, struct cause_rank *ranks, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (ranks[i].computing_ns > 0)
            ranks[i].threads = sparse_get(&teams->sampled, team_key(place, ranks[i].rank)) / ranks[i].computing_ns;
}

void teams_add_to_causes(struct analysis *analysis, struct sites *sites, const struct survey *survey)
{
    struct teams teams = {0};
    teams_gather(&teams, sites, survey);
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        struct cause *cause = &analysis->causes[i];
        uint32_t place = analysis->steps[cause->step].place;
        if (place == CODE_NONE || !map_get(&teams.is_shared, place))
            continue;
        count_threads(&teams, place, cause->ranks, cause->n_ranks);
        count_threads(&teams, place, cause->others, cause->n_others);
    }
    sparse_release(&teams.sampled);
    map_release(&teams.is_shared);
}
