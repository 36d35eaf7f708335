/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/constants/constants.h"
#include "analyze/profile/details.h"
#include "wrap/base/keys.h"
#include "wrap/base/sparse.h"

/* By place and rank: samples on a CPU. `locked_ns`, by rank: threads that call MPI waited for the lock. */
struct errands {
    struct sites *sites;
    struct sparse n, of_errand[ERRAND_N], of_workers;
    double *locked_ns;
};

static void take_entry(struct errands *errands, const struct survey_entry *entry)
{
    struct sites *sites = errands->sites;
    uint32_t step = sites_sample_step(sites, entry->frame);
    const struct step_key *key = step == TRACE_NONE ? NULL : steps_key(sites->steps, step);
    if (!key || key->what != WHAT_PLACE)
        return;
    enum errand errand =
        errand_between(sites->trace, sites->code, entry->frame, sites_sample_frame(sites, entry->frame));
    if (errand == ERRAND_INTERPRETER_LOCK && !entry->is_workers)
        errands->locked_ns[entry->rank] += (double)entry->blocked_ns;
    uint64_t at = key_pair(key->id, entry->rank);
    double n = (double)entry->n_samples;
    sparse_add(&errands->n, at, n);
    sparse_add(&errands->of_errand[errand], at, n);
    if (entry->is_workers)
        sparse_add(&errands->of_workers, at, n);
}

static void pack(struct errands *errands)
{
    sparse_pack(&errands->n);
    sparse_pack(&errands->of_workers);
    for (int i = 0; i < ERRAND_N; i++)
        sparse_pack(&errands->of_errand[i]);
}

static bool is_locked(const struct errands *errands, const struct analysis *analysis, const struct cause *cause,
                      uint64_t at)
{
    const struct code_place *place = code_place(analysis->code, analysis->steps[cause->step].place);
    return code_module_is_script(analysis->code, place->module) &&
           sparse_get(&errands->of_workers, at) > sparse_get(&errands->n, at) / 2 &&
           errands->locked_ns[cause->ranks[0].rank] > cause->ranks[0].time_ns / 2;
}

static enum errand errand_of_cause(const struct errands *errands, const struct analysis *analysis,
                                   const struct cause *cause)
{
    uint32_t place = analysis->steps[cause->step].place;
    if (place == CODE_NONE || !cause->n_ranks)
        return ERRAND_NONE;
    uint64_t at = key_pair(place, cause->ranks[0].rank);
    double all = sparse_get(&errands->n, at);
    if (all < LIBRARY_SAMPLES)
        return ERRAND_NONE;
    for (int i = ERRAND_NONE + 1; i < ERRAND_N; i++)
        if (sparse_get(&errands->of_errand[i], at) > all / 2)
            return (enum errand)i;
    return is_locked(errands, analysis, cause, at) ? ERRAND_INTERPRETER_LOCK : ERRAND_NONE;
}

void errands_add_to_causes(struct analysis *analysis, struct sites *sites, const struct survey *survey)
{
    struct arena arena = {0};
    struct errands errands = {.sites = sites, .locked_ns = arena_array(&arena, double, sites->trace->n_ranks + 1)};
    if (!sites->code || !code_has_scripts(sites->code))
        return;
    for (size_t i = 0; i < survey->entries.n; i++)
        take_entry(&errands, &survey->entries.at[i]);
    pack(&errands);
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        struct cause *cause = &analysis->causes[i];
        cause->errand = errand_of_cause(&errands, analysis, cause);
        cause->library = cause->errand ? NULL : cause->library;
    }
    sparse_release(&errands.n);
    sparse_release(&errands.of_workers);
    for (int i = 0; i < ERRAND_N; i++)
        sparse_release(&errands.of_errand[i]);
    arena_release(&arena);
}
