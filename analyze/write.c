/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/write.h"
#include "analyze/blame/blame.h"
#include "analyze/blame/causes.h"
#include "analyze/blame/efficiency.h"
#include "analyze/profile/libraries.h"
#include "analyze/result/names.h"
#include "analyze/waits/open_waits.h"
#include "analyze/profile/profile.h"
#include "analyze/profile/space.h"
#include "analyze/profile/teams.h"
#include "wrap/base/err.h"
#include <math.h>
#include <stdlib.h>

static int class_step_compare(const void *a, const void *b)
{
    const struct class_step *left = a, *right = b;
    double difference = fabs(left->dur_ns) - fabs(right->dur_ns);
    if (difference != 0)
        return difference > 0 ? -1 : 1;
    if (left->step != right->step)
        return left->step < right->step ? -1 : 1;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    return (left->is_long_term > right->is_long_term) - (left->is_long_term < right->is_long_term);
}

/* Executions are known of places; time off the CPU there or inside MPI has none of its own. */
static uint64_t term_executions(const struct result_input *input, const struct sparse *counted, uint64_t key)
{
    const struct step_key *step = steps_key(input->sites->steps, key_atom(key));
    if (step->what != WHAT_PLACE || step->state != STEP_COMPUTING)
        return 0;
    return (uint64_t)sparse_get(counted, (key & ~(uint64_t)UINT32_MAX) | step->id);
}

/* Where a process stands on both sides (late in one instance, waiting in the next), the difference is shown. */
static struct class_step class_step_make(const struct result_input *input, const struct path_class *class,
                                         const struct sparse *blame, const struct sparse *counted,
                                         const struct term *term)
{
    uint64_t bare = term->key & ~(KEY_WAITING | KEY_LONG_TERM);
    double direct_ns = sparse_get(&class->terms, bare), adopted_ns = sparse_get(&class->terms, bare | KEY_LONG_TERM);
    double waiting_ns = sparse_get(&class->terms, bare | KEY_WAITING), dur_ns = term->ns;
    bool is_waiting = term->key & KEY_WAITING, is_adopted = term->key & KEY_LONG_TERM;
    if (is_waiting)
        dur_ns = direct_ns != 0 || adopted_ns != 0 ? 0 : -waiting_ns;
    else if (!is_adopted || direct_ns == 0)
        dur_ns -= waiting_ns;
    return (struct class_step){.step = key_atom(term->key),
                               .rank = key_rank(term->key),
                               .dur_ns = dur_ns,
                               .blame_ns = is_waiting ? 0 : sparse_get(blame, term->key),
                               .executions = term_executions(input, counted, term->key),
                               .is_long_term = is_adopted};
}

static void class_write(const struct result_input *input, struct path_class *class, const struct sparse *blame,
                        const struct sparse *counted, struct wait_class *out)
{
    struct sparse redundant = {0};
    blame_prune(class, &redundant);
    out->n_instances = class->n_instances;
    out->waiting_ns = class->waiting_ns;
    out->first_ns = class->first_ns;
    out->steps = arena_array(&input->analysis->arena, struct class_step, class->terms.n + 1);
    for (size_t i = 0; i < class->terms.n; i++) {
        struct class_step step = class_step_make(input, class, blame, counted, &class->terms.at[i]);
        step.is_redundant = sparse_get(&redundant, step.step) > 0;
        if (step.dur_ns != 0 || step.blame_ns != 0)
            out->steps[out->n_steps++] = step;
    }
    qsort(out->steps, out->n_steps, sizeof *out->steps, class_step_compare);
    sparse_release(&redundant);
}

static void site_write(const struct result_input *input, uint32_t index, uint32_t at, struct sparse *blames,
                       struct sparse *counted)
{
    struct felt_site *site = &input->classes->sites.at[at];
    struct analysis *analysis = input->analysis;
    struct wait_site *out = &analysis->sites[index];
    names_site(input->sites, &analysis->arena, site->site, out);
    out->kind = site->kind;
    out->waiting_ns = site->waiting_ns;
    out->n_instances = site->n_instances;
    out->rank_waiting_ns =
        arena_copy(&analysis->arena, site->rank_waiting_ns, analysis->trace->n_ranks * sizeof(double));
    out->n_classes = (uint32_t)site->classes.n;
    out->classes = arena_array(&analysis->arena, struct wait_class, site->classes.n + 1);
    for (uint32_t i = 0; i < site->classes.n; i++) {
        out->classes[i].site = index;
        out->classes[i].number = i + 1;
        class_write(input, &site->classes.at[i], &blames[i], &counted[i], &out->classes[i]);
    }
    for (uint32_t rank = 0; rank < analysis->trace->n_ranks; rank++)
        analysis->rank_waiting_ns[rank] += site->rank_waiting_ns[rank];
}

struct site_order {
    double waiting_ns;
    uint32_t at;
};

static int site_order_compare(const void *a, const void *b)
{
    const struct site_order *left = a, *right = b;
    if (left->waiting_ns != right->waiting_ns)
        return left->waiting_ns > right->waiting_ns ? -1 : 1;
    return (left->at > right->at) - (left->at < right->at);
}

static uint32_t *sites_by_waiting(const struct classes *classes, struct arena *arena)
{
    struct site_order *order = arena_array(arena, struct site_order, classes->sites.n + 1);
    uint32_t *sorted = arena_array(arena, uint32_t, classes->sites.n + 1);
    for (uint32_t i = 0; i < classes->sites.n; i++)
        order[i] = (struct site_order){.waiting_ns = classes->sites.at[i].waiting_ns, .at = i};
    qsort(order, classes->sites.n, sizeof *order, site_order_compare);
    for (uint32_t i = 0; i < classes->sites.n; i++)
        sorted[i] = order[i].at;
    return sorted;
}

/* An empty vector for every class, by site. */
static struct sparse **vectors_make(const struct classes *classes, struct arena *arena)
{
    struct sparse **vectors = arena_array(arena, struct sparse *, classes->sites.n + 1);
    for (size_t site = 0; site < classes->sites.n; site++)
        vectors[site] = arena_array(arena, struct sparse, classes->sites.at[site].classes.n + 1);
    return vectors;
}

/* Blame, executions and work of every class; the latter two stay empty where nothing was counted. */
static void classes_measure(const struct result_input *input, struct sparse **blames, struct sparse **counted,
                            struct sparse **worked)
{
    for (size_t site = 0; site < input->classes->sites.n; site++) {
        struct felt_site *at = &input->classes->sites.at[site];
        for (size_t i = 0; i < at->classes.n; i++) {
            at->classes.at[i].longer_ns = blame_share(&at->classes.at[i], input->sites, &blames[site][i]);
            executions_solve(input->executions, &at->classes.at[i].counts, &counted[site][i]);
            costs_place_work(input->costs, &at->classes.at[i].counts, &worked[site][i]);
        }
    }
}

/* The bins of the whole run, packed. */
static struct sparse ranks_bins(const struct result_input *input)
{
    struct sparse bins = {0};
    for (uint32_t rank = 0; rank < input->analysis->trace->n_ranks; rank++)
        sparse_add_all(&bins, &input->replay->ranks[rank].counts, 1);
    sparse_pack(&bins);
    return bins;
}

/* What the code of a step is blamed for, whatever its state and caller. */
static struct sparse ranks_blame(const struct result_input *input, struct sparse **blames)
{
    struct sparse blame = {0};
    for (size_t site = 0; site < input->classes->sites.n; site++)
        for (size_t i = 0; i < input->classes->sites.at[site].classes.n; i++)
            for (size_t j = 0; j < blames[site][i].n; j++) {
                const struct term *term = &blames[site][i].at[j];
                uint32_t step = steps_base(input->sites->steps, key_atom(term->key));
                sparse_add(&blame, atom_key(key_rank(term->key), step), term->ns);
            }
    sparse_pack(&blame);
    return blame;
}

static void profiles_write(const struct result_input *input, const struct sparse *bins, struct sparse **blames)
{
    struct analysis *analysis = input->analysis;
    struct sparse blame = ranks_blame(input, blames);
    struct profile_input profile = {.arena = &analysis->arena,
                                    .trace = analysis->trace,
                                    .code = analysis->code,
                                    .survey = input->survey,
                                    .executions = input->executions,
                                    .bins = bins,
                                    .sites = input->sites};
    analysis->profile = profile_make(&profile);
    profile.blame = &blame;
    analysis->blame_profile = profile_make(&profile);
    sparse_release(&blame);
}

static void vectors_release(const struct classes *classes, struct sparse **blames)
{
    for (size_t site = 0; site < classes->sites.n; site++)
        for (size_t i = 0; i < classes->sites.at[site].classes.n; i++)
            sparse_release(&blames[site][i]);
}

/* Naming a step may make its caller's step, so the end moves. */
static void steps_write(const struct result_input *input)
{
    struct analysis *analysis = input->analysis;
    struct steps *steps = input->sites->steps;
    VEC(struct step) named = {0};
    while (named.n < steps_n(steps)) {
        struct step step = names_step(input->sites, &analysis->arena, (uint32_t)named.n);
        *vec_push(&named) = step;
    }
    analysis->n_steps = (uint32_t)named.n;
    analysis->steps = arena_copy(&analysis->arena, named.at, named.n * sizeof *named.at);
    vec_release(&named);
}

/* Time alone is two kinds in one. */
static bool kind_is_open(const struct analysis *analysis)
{
    const struct cause *first = analysis->n_causes ? &analysis->causes[0] : NULL;
    return first && first->kind == KIND_MORE_TIME && !analysis->trace->n_points && analysis->code &&
           analysis->steps[first->step].place != CODE_NONE;
}

static void notes_write(const struct result_input *input)
{
    enum { FETCHING_MOST = 3 };
    struct analysis *analysis = input->analysis;
    size_t n_code = 0;
    const char *const *code_sentences = analysis->code ? code_notes(analysis->code, &n_code) : NULL;
    const struct trace *trace = analysis->trace;
    analysis->notes = arena_array(&analysis->arena, const char *, trace->n_notes + n_code + FETCHING_MOST + 2);
    for (uint32_t i = 0; i < trace->n_notes; i++)
        analysis->notes[analysis->n_notes++] = trace->notes[i];
    for (size_t i = 0; i < n_code; i++)
        analysis->notes[analysis->n_notes++] = code_sentences[i];
    if (input->replay->n_forced)
        analysis->notes[analysis->n_notes++] = arena_printf(
            &analysis->arena, "%llu %s for something that is not in the trace: that time counts as communication.",
            (unsigned long long)input->replay->n_forced, input->replay->n_forced == 1 ? "call waits" : "calls wait");
    analysis->n_notes +=
        fetching_notes(&input->reader->fetching, input->sites, &analysis->arena, trace->end_ns - trace->start_ns,
                       &analysis->notes[analysis->n_notes], FETCHING_MOST);
    if (kind_is_open(analysis))
        analysis->notes[analysis->n_notes++] =
            "More time is more work or slower work: times alone cannot tell. Executions can: build with "
            "mpicc $(whywait cc).";
}

/* Conservation: what is blamed is what was waited. */
static void result_check(const struct analysis *analysis)
{
    double blamed_ns = 0, felt_ns = 0;
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        blamed_ns += analysis->causes[i].waiting_ns;
    for (uint32_t i = 0; i < analysis->n_sites; i++)
        felt_ns += analysis->sites[i].waiting_ns;
    double tolerance_ns = 1e-6 * analysis->waiting_ns + 1;
    if (fabs(blamed_ns - analysis->waiting_ns) > tolerance_ns || fabs(felt_ns - analysis->waiting_ns) > tolerance_ns)
        bug("waiting %.0f ns, felt %.0f ns, blamed %.0f ns: they must be equal", analysis->waiting_ns, felt_ns,
            blamed_ns);
}

void result_write(const struct result_input *input)
{
    struct analysis *analysis = input->analysis;
    struct arena scratch = {0};
    classes_expand(input->classes);
    uint32_t *order = sites_by_waiting(input->classes, &scratch);
    struct sparse **blames = vectors_make(input->classes, &scratch);
    struct sparse ran = {0}, work_done = {0}, critical = {0}, bins = ranks_bins(input);
    struct sparse **counted = vectors_make(input->classes, &scratch);
    struct sparse **worked = vectors_make(input->classes, &scratch);
    classes_measure(input, blames, counted, worked);
    executions_solve(input->executions, &bins, &ran);
    costs_place_work(input->costs, &bins, &work_done);
    analysis->waiting_ns = input->classes->waiting_ns;
    analysis->unexplained_ns = input->replay->unexplained_ns;
    analysis->rank_waiting_ns = arena_array(&analysis->arena, double, analysis->trace->n_ranks + 1);
    analysis->n_sites = (uint32_t)input->classes->sites.n;
    analysis->sites = arena_array(&analysis->arena, struct wait_site, analysis->n_sites + 1);
    for (uint32_t i = 0; i < analysis->n_sites; i++)
        site_write(input, i, order[i], blames[order[i]], counted[order[i]]);
    efficiency_critical_path(input->replay, &critical);
    efficiency_write(analysis, input->replay, &critical);
    causes_find(&(struct causes_input){.analysis = analysis,
                                       .classes = input->classes,
                                       .sites = input->sites,
                                       .ranks = input->replay->ranks,
                                       .critical = &critical,
                                       .site_order = order,
                                       .blames = blames,
                                       .counted = counted,
                                       .worked = worked,
                                       .ran = &ran,
                                       .work_done = &work_done,
                                       .costs = input->costs});
    profiles_write(input, &bins, blames);
    open_waits_write(analysis, input->sites, input->reader);
    analysis->n_mpi_calls = input->reader->n_calls;
    analysis->n_polls = input->reader->n_polls;
    analysis->n_events = input->reader->n_events;
    steps_write(input);
    space_find(analysis, input->executions, &bins);
    space_explain(analysis);
    teams_explain(analysis, input->sites, input->survey);
    libraries_explain(analysis, input->sites, input->survey);
    file_use_explain(&input->reader->file_use, input->sites, analysis);
    notes_write(input);
    result_check(analysis);
    vectors_release(input->classes, blames);
    vectors_release(input->classes, counted);
    vectors_release(input->classes, worked);
    sparse_release(&ran);
    sparse_release(&work_done);
    sparse_release(&critical);
    sparse_release(&bins);
    arena_release(&scratch);
}
