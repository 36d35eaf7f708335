/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/constants/constants.h"
#include "analyze/profile/details.h"
#include "wrap/base/keys.h"
#include "wrap/base/sparse.h"
#include <math.h>

/* By place and rank: time of samples, on a CPU or asleep, all and that of each errand; `n`: those on a CPU.
 * `locked_ns`, by rank: threads that call MPI waited for the lock. */
struct errands {
    struct sites *sites;
    struct sparse n, all, of_errand[ERRAND_N], of_workers;
    double *locked_ns;
};

/* Of the places of one cause, on one rank. */
struct errand_sums {
    double n, all_ns, workers_ns, errand_ns[ERRAND_N];
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
    double ns = (double)(entry->sampled_ns + entry->blocked_ns);
    sparse_add(&errands->n, at, (double)entry->n_samples);
    sparse_add(&errands->all, at, ns);
    sparse_add(&errands->of_errand[errand], at, ns);
    if (entry->is_workers)
        sparse_add(&errands->of_workers, at, ns);
}

static void errands_pack(struct errands *errands)
{
    sparse_pack(&errands->n);
    sparse_pack(&errands->all);
    sparse_pack(&errands->of_workers);
    for (int i = 0; i < ERRAND_N; i++)
        sparse_pack(&errands->of_errand[i]);
}

static void errands_release(struct errands *errands)
{
    sparse_release(&errands->n);
    sparse_release(&errands->all);
    sparse_release(&errands->of_workers);
    for (int i = 0; i < ERRAND_N; i++)
        sparse_release(&errands->of_errand[i]);
}

static void add_place(const struct errands *errands, uint32_t place, uint32_t rank, struct map *known,
                      struct errand_sums *sums)
{
    bool is_new = false;
    uint64_t at = key_pair(place, rank);
    if (place != CODE_NONE)
        map_put(known, place, &is_new);
    if (!is_new)
        return;
    sums->n += sparse_get(&errands->n, at);
    sums->all_ns += sparse_get(&errands->all, at);
    sums->workers_ns += sparse_get(&errands->of_workers, at);
    for (int i = 0; i < ERRAND_N; i++)
        sums->errand_ns[i] += sparse_get(&errands->of_errand[i], at);
}

/* Of what names it and of all that is inside, on the rank most to blame. */
static struct errand_sums sums_of_cause(const struct errands *errands, const struct analysis *analysis,
                                        const struct cause *cause)
{
    struct errand_sums sums = {0};
    struct map known = {0};
    add_place(errands, analysis->steps[cause->step].place, cause->ranks[0].rank, &known, &sums);
    for (uint32_t i = 0; i < cause->n_parts; i++)
        add_place(errands, analysis->steps[cause->parts[i].step].place, cause->ranks[0].rank, &known, &sums);
    map_release(&known);
    return sums;
}

static bool is_of_script(const struct analysis *analysis, const struct cause *cause)
{
    uint32_t place = analysis->steps[cause->step].place;
    return place != CODE_NONE && code_module_is_script(analysis->code, code_place(analysis->code, place)->module);
}

static enum errand errand_of_cause(const struct errands *errands, const struct analysis *analysis,
                                   const struct cause *cause)
{
    if (!cause->n_ranks || !is_of_script(analysis, cause))
        return ERRAND_NONE;
    struct errand_sums sums = sums_of_cause(errands, analysis, cause);
    double time_ns = cause->ranks[0].time_ns;
    for (int i = ERRAND_NONE + 1; i < ERRAND_N && sums.n >= LIBRARY_SAMPLES; i++)
        if (sums.errand_ns[i] > fmax(sums.all_ns, time_ns) / 2)
            return (enum errand)i;
    bool is_locked = sums.n >= LIBRARY_SAMPLES && sums.workers_ns > sums.all_ns / 2 &&
                     errands->locked_ns[cause->ranks[0].rank] > time_ns / 2;
    return is_locked ? ERRAND_INTERPRETER_LOCK : ERRAND_NONE;
}

void errands_add_to_causes(struct analysis *analysis, struct sites *sites, const struct survey *survey)
{
    struct arena arena = {0};
    if (!sites->code || !code_has_scripts(sites->code))
        return;
    struct errands errands = {.sites = sites, .locked_ns = arena_array(&arena, double, sites->trace->n_ranks + 1)};
    for (size_t i = 0; i < survey->entries.n; i++)
        take_entry(&errands, &survey->entries.at[i]);
    errands_pack(&errands);
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        struct cause *cause = &analysis->causes[i];
        cause->errand = errand_of_cause(&errands, analysis, cause);
        cause->library = cause->errand ? NULL : cause->library;
    }
    errands_release(&errands);
    arena_release(&arena);
}
