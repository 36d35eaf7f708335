/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/constants/constants.h"
#include "analyze/profile/details.h"
#include "wrap/base/keys.h"
#include "wrap/base/sparse.h"
#include <math.h>

/* Amounts of a place on a rank: samples on a CPU; time of all, on a CPU or asleep; of it that of workers, that of
 * workers in the interpreter itself, where nobody else can be meanwhile, and that of each errand. */
enum { SAMPLES, ALL_NS, WORKERS_NS, INTERPRETED_NS, ERRAND_NS, N_SUMS = ERRAND_NS + ERRAND_N };

/* By place and rank. By rank: how long the threads that call MPI were found asleep, and waiting for the lock. */
struct errands {
    struct sites *sites;
    struct sparse sums[N_SUMS];
    double *asleep_ns, *locked_ns;
};

/* Of the places of one cause, on one rank. */
struct errand_sums {
    double of[N_SUMS];
};

static void take_entry(struct errands *errands, const struct survey_entry *entry)
{
    struct sites *sites = errands->sites;
    uint32_t step = sites_sample_step(sites, entry->frame);
    const struct step_key *key = step == TRACE_NONE ? NULL : steps_key(sites->steps, step);
    if (!key || key->what != WHAT_PLACE)
        return;
    errands->asleep_ns[entry->rank] += entry->is_workers ? 0 : (double)entry->blocked_ns;
    enum errand errand =
        errand_between(sites->trace, sites->code, entry->frame, sites_sample_frame(sites, entry->frame));
    if (errand == ERRAND_INTERPRETER_LOCK && !entry->is_workers)
        errands->locked_ns[entry->rank] += (double)entry->blocked_ns;
    uint64_t at = key_pair(key->id, entry->rank);
    double ns = (double)(entry->sampled_ns + entry->blocked_ns);
    sparse_add(&errands->sums[SAMPLES], at, (double)entry->n_samples);
    sparse_add(&errands->sums[ALL_NS], at, ns);
    sparse_add(&errands->sums[ERRAND_NS + errand], at, ns);
    if (!entry->is_workers)
        return;
    sparse_add(&errands->sums[WORKERS_NS], at, ns);
    uint32_t module = sites->trace->frames[entry->frame].module;
    if (module != TRACE_NONE && code_module_is_script(sites->code, module))
        sparse_add(&errands->sums[INTERPRETED_NS], at, (double)entry->sampled_ns);
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
    for (int i = 0; i < N_SUMS; i++)
        sums->of[i] += sparse_get(&errands->sums[i], at);
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

/* The late rank's MPI thread need not be seen to wait: while another one is in the interpreter, who lacks a CPU lacks
 * the lock, too. */
static bool has_lock(const struct errands *errands, const struct errand_sums *sums, const struct cause_rank *late)
{
    double asleep_ns = errands->asleep_ns[late->rank], locked_ns = errands->locked_ns[late->rank];
    double waited_ns = fmin(asleep_ns, late->time_ns); /* less than the time there, if many looks came late */
    bool sleeps_elsewhere = asleep_ns - locked_ns > late->time_ns / 2;
    bool is_interpreted = sums->of[INTERPRETED_NS] > sums->of[ALL_NS] / 2;
    return sums->of[WORKERS_NS] > sums->of[ALL_NS] / 2 &&
           (locked_ns > waited_ns / 2 || (is_interpreted && !sleeps_elsewhere));
}

static enum errand errand_of_cause(const struct errands *errands, const struct analysis *analysis,
                                   const struct cause *cause)
{
    if (!cause->n_ranks || !is_of_script(analysis, cause))
        return ERRAND_NONE;
    struct errand_sums sums = sums_of_cause(errands, analysis, cause);
    double time_ns = cause->ranks[0].time_ns;
    if (sums.of[SAMPLES] < POOL_SAMPLES_MIN)
        return ERRAND_NONE;
    for (int i = ERRAND_NONE + 1; i < ERRAND_N; i++)
        if (sums.of[ERRAND_NS + i] > fmax(sums.of[ALL_NS], time_ns) / 2)
            return (enum errand)i;
    return has_lock(errands, &sums, &cause->ranks[0]) ? ERRAND_INTERPRETER_LOCK : ERRAND_NONE;
}

void errands_add_to_causes(struct analysis *analysis, struct sites *sites, const struct survey *survey)
{
    struct arena arena = {0};
    if (!sites->code || !code_has_scripts(sites->code))
        return;
    struct errands errands = {.sites = sites,
                              .asleep_ns = arena_array(&arena, double, sites->trace->n_ranks + 1),
                              .locked_ns = arena_array(&arena, double, sites->trace->n_ranks + 1)};
    for (size_t i = 0; i < survey->entries.n; i++)
        take_entry(&errands, &survey->entries.at[i]);
    for (int i = 0; i < N_SUMS; i++)
        sparse_pack(&errands.sums[i]);
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        struct cause *cause = &analysis->causes[i];
        cause->errand = errand_of_cause(&errands, analysis, cause);
        if (cause->errand) {
            cause->library = NULL;
            cause->inside = NULL;
            cause->expression = NULL;
        }
    }
    for (int i = 0; i < N_SUMS; i++)
        sparse_release(&errands.sums[i]);
    arena_release(&arena);
}
