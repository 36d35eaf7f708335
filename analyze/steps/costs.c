/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/costs.h"
#include "analyze/constants/constants.h"
#include "wrap/base/keys.h"
#include <math.h>
#include <string.h>

enum { COLUMN_REST = 0, ROUNDS = 16 };
/* Of a variance: less is rounding. */
static const double OPEN_LEAST = 1e-6;

/* Of stretches between two calls. */
struct usual_length {
    double log_sum;
    uint64_t n;
};

/* A long stretch between two calls between which too few have been seen to tell whether they repeat. */
struct early_stretch {
    uint32_t rank, pair;
    double on_ns;
    struct sparse work; /* by place */
};

void costs_begin(struct costs *costs, struct sites *sites, struct work *work, uint32_t n_ranks)
{
    *costs = (struct costs){.sites = sites, .work = work, .n_columns = 1, .n_ranks = n_ranks};
    costs->ranks = arena_array(&costs->arena, struct rank_costs, n_ranks + 1);
    work_begin(&costs->weighed, work->executions);
}

static void rank_costs_release(struct rank_costs *rank)
{
    sparse_release(&rank->work);
    sparse_release(&rank->steps);
    sparse_release(&rank->counts);
}

void costs_release(struct costs *costs)
{
    for (uint32_t rank = 0; costs->ranks && rank < costs->n_ranks; rank++)
        rank_costs_release(&costs->ranks[rank]);
    rank_costs_release(&costs->all);
    sparse_release(&costs->ran);
    work_release(&costs->weighed);
    map_release(&costs->columns);
    intern_release(&costs->pairs);
    vec_release(&costs->lengths);
    for (size_t i = 0; i < costs->early.n; i++)
        sparse_release(&costs->early.at[i].work);
    vec_release(&costs->early);
    sparse_release(&costs->measured);
    vec_release(&costs->row_columns);
    vec_release(&costs->row_work);
    arena_release(&costs->arena);
}

/* One more such stretch; returns which. */
static uint32_t add_length(struct costs *costs, uint32_t rank, const struct stretch *stretch, double on_ns)
{
    uint32_t key[] = {rank, stretch->from, stretch->to};
    uint32_t pair = intern_put(&costs->pairs, key, sizeof key);
    if (pair == costs->lengths.n)
        vec_push(&costs->lengths);
    costs->lengths.at[pair].log_sum += log(on_ns);
    costs->lengths.at[pair].n++;
    return pair;
}

/* The usual length of such stretches; 0 while too few have been seen. */
static double usual_length(const struct costs *costs, uint32_t pair)
{
    const struct usual_length *length = &costs->lengths.at[pair];
    return length->n < USUAL_KNOWN ? 0 : exp(length->log_sum / (double)length->n);
}

/* No more stretches of a process are so long than there are columns. */
static double long_ns(const struct costs *costs)
{
    const struct trace *trace = costs->sites->trace;
    return trace->end_ns > trace->start_ns ? (double)(trace->end_ns - trace->start_ns) / COSTS_COLUMNS_MAX : INFINITY;
}

/* The column of a place in which work was done. */
static uint64_t *column_of(struct costs *costs, uint32_t place)
{
    return map_put(&costs->columns, place, NULL);
}

static void give_column(struct costs *costs, uint32_t place)
{
    uint64_t *column = column_of(costs, place);
    if (*column == COLUMN_REST && costs->n_columns < COSTS_COLUMNS_MAX)
        *column = costs->n_columns++;
}

/* Work by column; each stands once. A place with so much work is to have a column of its own. */
static uint32_t row_make(struct costs *costs, const struct sparse *work, double for_column)
{
    uint32_t n = 1;
    vec_resize(&costs->row_columns, work->n + 1);
    vec_resize(&costs->row_work, work->n + 1);
    costs->row_columns.at[0] = COLUMN_REST;
    costs->row_work.at[0] = 0;
    for (size_t i = 0; i < work->n; i++) {
        if (work->at[i].ns >= for_column)
            give_column(costs, (uint32_t)work->at[i].key);
        uint32_t column = (uint32_t)*column_of(costs, (uint32_t)work->at[i].key);
        uint32_t at = column == COLUMN_REST ? 0 : n++;
        costs->row_columns.at[at] = column;
        costs->row_work.at[at] = work->at[i].ns + (at ? 0 : costs->row_work.at[0]);
    }
    return n;
}

/* `usual_ns`: 0 = it is not known. Costs of a place differ by what it calls there, so a short stretch that is seen
 * once tells no more than a long one does. */
static void add_equation(struct costs *costs, uint32_t rank, const struct sparse *work, double on_ns, double usual_ns,
                         double for_column)
{
    struct cost_evidence *own = &costs->ranks[rank].own;
    uint32_t n = row_make(costs, work, for_column);
    double known_ns = usual_ns > 0 ? usual_ns : fmax(on_ns, long_ns(costs));
    double error_ns = LENGTH_ERROR * fmax(known_ns, on_ns / COST_OUTLIER);
    nnls_widen(&own->lengths, &costs->arena, costs->n_columns);
    nnls_add(&own->lengths, costs->row_columns.at, costs->row_work.at, n, on_ns, 1 / (error_ns * error_ns));
}

void costs_add_counted(struct costs *costs, uint32_t rank, const struct stretch *stretch)
{
    if (rank >= costs->n_ranks)
        return;
    struct rank_costs *at = &costs->ranks[rank];
    double amounts[N_AMOUNTS];
    stretch_split(stretch, amounts);
    double on_ns = amounts[ON_CPU] + stretch->count_more_ns;
    work_measure(costs->work, &stretch->counts, &costs->measured);
    sparse_add_all(&at->work, &costs->measured, 1);
    sparse_add_all(&at->counts, &stretch->counts, 1);
    at->own.counted_ns += on_ns;
    bool is_all_counted = stretch->is_count_whole && !sites_is_start(costs->sites, stretch->from);
    bool is_possible = sparse_sum(&costs->measured) <= COST_FASTEST * on_ns;
    bool is_equation = is_all_counted && is_possible && !stretch->n_worker && on_ns >= COST_SHORTEST_NS;
    if (!is_equation) {
        row_make(costs, &costs->measured, INFINITY); /* its places are counted */
        return;
    }
    uint32_t pair = add_length(costs, rank, stretch, on_ns);
    double usual_ns = usual_length(costs, pair);
    if (!(usual_ns > 0) && on_ns >= long_ns(costs)) {
        struct early_stretch *early = vec_push(&costs->early);
        *early = (struct early_stretch){.rank = rank, .pair = pair, .on_ns = on_ns};
        sparse_add_all(&early->work, &costs->measured, 1);
        row_make(costs, &costs->measured, INFINITY);
        return;
    }
    add_equation(costs, rank, &costs->measured, on_ns, usual_ns, usual_ns > 0 ? 0 : INFINITY);
}

static uint64_t step_key_of(uint64_t place, uint32_t step)
{
    return key_pair((uint32_t)place, step);
}

/* A sample belongs to the innermost place in which work was counted; *counted is the frame there. */
static uint32_t frame_counted_place(struct costs *costs, uint32_t frame, uint32_t *counted)
{
    trace_walk (costs->sites->trace, at, frame) {
        uint32_t place = sites_frame_place(costs->sites, at);
        *counted = at;
        if (place != CODE_NONE && map_get(&costs->columns, place))
            return place;
    }
    return CODE_NONE;
}

static void take_samples(struct costs *costs, const struct survey *survey)
{
    for (size_t i = 0; i < survey->entries.n; i++) {
        const struct survey_entry *entry = &survey->entries.at[i];
        if (entry->rank >= costs->n_ranks || !entry->n_samples)
            continue;
        struct rank_costs *rank = &costs->ranks[entry->rank];
        rank->own.sampled_ns += (double)entry->sampled_ns;
        rank->own.n_samples += (double)entry->n_samples;
        uint32_t at, place = frame_counted_place(costs, entry->frame, &at);
        uint32_t step = sites_sample_step(costs->sites, entry->frame);
        if (place != CODE_NONE && step != TRACE_NONE) {
            uint64_t own_ns = entry->sampled_ns - entry->kernel_ns;
            uint32_t in_kernel = steps_in_state(costs->sites->steps, step, STEP_BLOCKED);
            if (own_ns)
                sparse_add(&rank->steps, step_key_of(place, step), (double)own_ns);
            if (entry->kernel_ns)
                sparse_add(&rank->steps, step_key_of(place, in_kernel), (double)entry->kernel_ns);
        }
    }
    for (uint32_t rank = 0; rank < costs->n_ranks; rank++)
        sparse_pack(&costs->ranks[rank].steps);
}

/* The terms of one place in a packed vector by (place, step). */
struct place_steps {
    const struct term *at;
    size_t n;
    double sum_ns;
};

static struct place_steps steps_of_place(const struct sparse *steps, uint64_t place)
{
    struct place_steps found = {0};
    size_t first = sparse_find(steps, step_key_of(place, 0));
    for (size_t i = first; i < steps->n && key_high(steps->at[i].key) == place; i++) {
        if (!found.n++)
            found.at = &steps->at[i];
        found.sum_ns += steps->at[i].ns;
    }
    return found;
}

/* Which places have columns is known only once it is known which stretches repeat: one that took a place's time for
 * that of all others would contradict those in which the place has a column. In those that do not, a few places may do
 * much of the work, or take much of the time with next to no work, as calls of what is not counted. Costs of both are
 * not those of the rest. */
static void add_early_stretches(struct costs *costs)
{
    for (size_t i = 0; i < costs->early.n; i++) {
        const struct early_stretch *early = &costs->early.at[i];
        double usual_ns = usual_length(costs, early->pair), for_column = INFINITY;
        if (!(usual_ns > 0) && costs->n_columns < COSTS_COLUMNS_MAX / 2) {
            for_column = sparse_sum(&early->work) / COST_PLACES_ONCE;
            for (size_t k = 0; k < early->work.n; k++)
                if (steps_of_place(&costs->ranks[early->rank].steps, early->work.at[k].key).sum_ns >=
                    early->on_ns / COST_PLACES_ONCE)
                    give_column(costs, (uint32_t)early->work.at[k].key);
        }
        add_equation(costs, early->rank, &early->work, early->on_ns, usual_ns, for_column);
    }
}

/* Packs the work that was taken in, and adds all to what is known of all processes. */
static void rank_join(struct costs *costs, struct rank_costs *rank)
{
    struct rank_costs *all = &costs->all;
    sparse_pack(&rank->work);
    sparse_add_all(&all->work, &rank->work, 1);
    sparse_add_all(&all->steps, &rank->steps, 1);
    all->own.sampled_ns += rank->own.sampled_ns;
    all->own.n_samples += rank->own.n_samples;
    struct cost_evidence *own = &rank->own;
    nnls_widen(&own->lengths, &costs->arena, costs->n_columns);
    own->columns = arena_array(&costs->arena, struct cost_column, costs->n_columns);
    own->work = sparse_sum(&rank->work);
    for (size_t i = 0; i < rank->work.n; i++)
        own->columns[*map_get(&costs->columns, rank->work.at[i].key)].work += rank->work.at[i].ns;
    for (size_t i = 0; i < rank->steps.n; i++)
        own->columns[*map_get(&costs->columns, key_high(rank->steps.at[i].key))].sampled_ns += rank->steps.at[i].ns;
    rank->fitted = arena_array(&costs->arena, struct nnls_cost, own->lengths.n);
    rank->others = arena_array(&costs->arena, struct nnls_cost, own->lengths.n);
    rank->differs = arena_array(&costs->arena, double, costs->n_columns);
}

static bool evidence_is_any(const struct cost_evidence *evidence)
{
    return evidence->work > 0 && evidence->counted_ns > 0;
}

static struct cost_evidence evidence_copy(const struct cost_evidence *evidence, uint32_t n_columns, struct arena *arena)
{
    struct cost_evidence copy = *evidence;
    copy.lengths = nnls_copy(&evidence->lengths, arena);
    copy.columns = arena_copy(arena, evidence->columns, n_columns * sizeof *copy.columns);
    return copy;
}

static void evidence_join(struct cost_evidence *evidence, const struct cost_evidence *other, uint32_t n_columns)
{
    nnls_join(&evidence->lengths, &other->lengths);
    for (uint32_t i = 0; i < n_columns; i++) {
        evidence->columns[i].work += other->columns[i].work;
        evidence->columns[i].sampled_ns += other->columns[i].sampled_ns;
    }
    evidence->counted_ns += other->counted_ns;
    evidence->sampled_ns += other->sampled_ns;
    evidence->n_samples += other->n_samples;
    evidence->work += other->work;
}

/* Samples in a column, and how many a cost of 1 ns would make. */
struct sampled {
    double n, per_ns;
};

static struct sampled column_sampled(const struct cost_evidence *evidence, uint32_t column)
{
    if (!(evidence->n_samples > 0) || !(evidence->sampled_ns > 0))
        return (struct sampled){0};
    return (struct sampled){.n = evidence->columns[column].sampled_ns / evidence->sampled_ns * evidence->n_samples,
                            .per_ns = evidence->columns[column].work * evidence->n_samples / evidence->counted_ns};
}

/* Knowledge of a column's cost beside the lengths. */
struct prior {
    uint32_t column;
    double cost, variance;
};

/*
 * The samples' word alone on a column's cost. A unit of work costs the same everywhere, as an exponential distribution,
 * and n samples of w ns each have been seen in so much work: the mean of the posterior and its relative variance. Work
 * that calls what is not counted (a matrix product, output) may cost thousands of times as much, so the mean of the
 * distribution is that of all but one of the samples, where that is more. One sample alone may have strayed there.
 */
static struct prior prior_of_samples(const struct cost_evidence *evidence, uint32_t column)
{
    struct sampled sampled = column_sampled(evidence, column);
    double usual = evidence->counted_ns / evidence->work;
    if (sampled.per_ns > 0)
        usual = fmax(usual, (sampled.n - 1) / sampled.per_ns);
    double cost = (1 + sampled.n) / (1 / usual + sampled.per_ns);
    double relative = 1 / (1 + sampled.n) + SAMPLING_BIAS * SAMPLING_BIAS;
    return (struct prior){column, cost, relative * cost * cost};
}

/* The same beside a cost that is known otherwise, with the error that tells their number from what that cost would make
 * (roots of numbers that chance makes have a deviation of a half: Anscombe), if not with its own. */
static struct prior prior_beside(const struct cost_evidence *evidence, uint32_t column, double known_ns)
{
    struct sampled sampled = column_sampled(evidence, column);
    if (!(sampled.per_ns > 0))
        return (struct prior){column, known_ns, known_ns * known_ns};
    double apart = (sqrt(sampled.n + 3. / 8) + sqrt(known_ns * sampled.per_ns + 3. / 8)) / 2;
    double error_ns = fmax(apart, sqrt(sampled.n + 1)) / sampled.per_ns;
    double cost = prior_of_samples(evidence, column).cost;
    return (struct prior){column, cost, error_ns * error_ns + pow(SAMPLING_BIAS * fmax(cost, known_ns), 2)};
}

static bool is_told(const struct rank_costs *rank, uint32_t column)
{
    return rank->others[column].cost_ns > 0 && isfinite(rank->others[column].error_ns) &&
           rank->own.columns[column].work > 0;
}

/* The difference of a cost from that on the others. */
static double others_apart(const struct costs *costs, const struct rank_costs *rank, uint32_t column)
{
    return fmax(costs->across_ranks * rank->others[column].cost_ns, rank->differs[column]);
}

/* The word of the other processes on a column. */
static struct prior prior_of_others(const struct costs *costs, const struct rank_costs *rank, uint32_t column)
{
    const struct nnls_cost *others = &rank->others[column];
    return (struct prior){column, others->cost_ns,
                          pow(others_apart(costs, rank, column), 2) + pow(others->error_ns, 2)};
}

/* The word of a process's samples. If the others' word counts, it stands beside that. */
static uint32_t priors_of_rank(const struct costs *costs, const struct rank_costs *rank, bool is_beside_others,
                               struct prior *priors)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < costs->n_columns; i++)
        if (rank->own.columns[i].work > 0)
            priors[n++] = is_beside_others && is_told(rank, i) && !(rank->differs[i] > 0)
                              ? prior_beside(&rank->own, i, rank->others[i].cost_ns)
                              : prior_of_samples(&rank->own, i);
    return n;
}

static uint32_t priors_of_others(const struct costs *costs, const struct rank_costs *rank, struct prior *priors)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < costs->n_columns; i++)
        if (is_told(rank, i))
            priors[n++] = prior_of_others(costs, rank, i);
    return n;
}

/* The word of other processes' samples to a process of which a column is asked or already known to be alike. There what
 * is usual in the absence of samples is no news. */
static uint32_t priors_of_told(const struct costs *costs, const struct cost_evidence *told,
                               const struct rank_costs *rank, bool is_last, struct prior *priors)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < costs->n_columns; i++) {
        bool may_be_alike = rank->fitted[i].cost_ns > 0 && !(rank->differs[i] > 0) && (!is_last || is_told(rank, i));
        if (told->columns[i].work > 0)
            priors[n++] = may_be_alike ? prior_beside(told, i, rank->fitted[i].cost_ns) : prior_of_samples(told, i);
    }
    return n;
}

/* Beside lengths of that variance; columns are steps from `at` on. */
static void prefer(struct nnls *problem, uint32_t at, const struct prior *priors, uint32_t n_priors, double variance)
{
    for (uint32_t i = 0; i < n_priors; i++)
        nnls_prefer(problem, at + priors[i].column, priors[i].cost, variance / priors[i].variance);
}

/* The scatter of lengths about a first fit, in which priors decide only what lengths leave open, in units of the
 * variance that they were weighed by: the better they agree with each other, the less priors say beside them. However
 * many there are, they say no more than FIT_SAMPLES do: much that has no column goes with the work of a stretch (how
 * long an exchange had taken before it, caches). The fit is left in `fitted`. */
static double length_variance(const struct nnls *lengths, const struct prior *priors, uint32_t n_priors,
                              struct nnls_cost *fitted, struct arena *arena)
{
    struct nnls first = nnls_copy(lengths, arena);
    double n_fitted = 0, least = LENGTH_ERROR_LEAST * LENGTH_ERROR_LEAST / (LENGTH_ERROR * LENGTH_ERROR);
    prefer(&first, 0, priors, n_priors, least);
    nnls_solve(&first, arena, fitted);
    for (uint32_t i = 0; i < first.n; i++)
        n_fitted += fitted[i].cost_ns > 0;
    double freedom = fmax(0, (double)lengths->n_rows - n_fitted);
    double variance = (nnls_scatter(lengths, fitted) + USUAL_KNOWN) / (freedom + USUAL_KNOWN);
    return fmax(variance, least) * fmax(1, (double)lengths->n_rows / FIT_SAMPLES);
}

/* Costs by all that is known. Returns the variance of lengths. */
static double evidence_fit(const struct cost_evidence *evidence, const struct prior *priors, uint32_t n_priors,
                           struct nnls_cost *fitted)
{
    struct arena scratch = {0};
    struct nnls problem = nnls_copy(&evidence->lengths, &scratch);
    problem.variance = length_variance(&evidence->lengths, priors, n_priors, fitted, &scratch);
    prefer(&problem, 0, priors, n_priors, problem.variance);
    nnls_solve(&problem, &scratch, fitted);
    arena_release(&scratch);
    return problem.variance;
}

/* The word of a process to the others: nothing of the places that cost something else there. */
static struct cost_evidence evidence_told(const struct costs *costs, const struct rank_costs *rank, struct arena *arena)
{
    struct cost_evidence told = rank->own;
    bool is_copy = false;
    for (uint32_t i = 0; i < costs->n_columns; i++) {
        if (!(rank->differs[i] > 0))
            continue;
        if (!is_copy)
            told = evidence_copy(&rank->own, costs->n_columns, arena);
        is_copy = true;
        struct prior prior = prior_of_samples(&rank->own, i);
        nnls_prefer(&told.lengths, i, prior.cost, rank->length_variance / prior.variance);
        nnls_forget(&told.lengths, i);
        told.columns[i] = (struct cost_column){0};
    }
    return told;
}

/*
 * The last fit of a process: its own costs and those of the others are two sets of unknowns, alike as far as they may
 * be apart, and its own are asked for. So it helps that the others know a sum of costs, also where they do not know
 * each.
 */
static void rank_fit_last(const struct costs *costs, const struct cost_evidence *others, struct rank_costs *rank)
{
    struct arena scratch = {0};
    struct prior *priors = arena_array(&scratch, struct prior, costs->n_columns);
    uint32_t own = others->lengths.n, n_priors = priors_of_told(costs, others, rank, true, priors);
    struct nnls_cost *fitted = arena_array(&scratch, struct nnls_cost, 2 * (size_t)own);
    double variance = length_variance(&others->lengths, priors, n_priors, fitted, &scratch);
    struct nnls both;
    nnls_init(&both, &scratch, 2 * own);
    both.variance = rank->length_variance;
    nnls_join_at(&both, 0, &others->lengths, both.variance / variance);
    prefer(&both, 0, priors, n_priors, both.variance);
    for (uint32_t i = 0; i < costs->n_columns; i++)
        if (is_told(rank, i))
            nnls_add(&both, (uint32_t[]){i, own + i}, (double[]){1, -1}, 2, 0,
                     both.variance / pow(others_apart(costs, rank, i), 2));
    for (uint32_t i = 0; i < costs->n_columns; i++)
        nnls_forget(&both, i);
    nnls_join_at(&both, own, &rank->own.lengths, 1);
    n_priors = priors_of_rank(costs, rank, true, priors);
    prefer(&both, own, priors, n_priors, both.variance);
    nnls_solve(&both, &scratch, fitted);
    memcpy(rank->fitted, fitted + own, own * sizeof *fitted);
    arena_release(&scratch);
}

/* Each of n processes hears what all others tell: those outside of these, and of them by halves. */
static void others_tell(struct costs *costs, const struct cost_evidence *told, const struct cost_evidence *outside,
                        uint32_t first, uint32_t n, bool is_last)
{
    struct arena scratch = {0};
    struct rank_costs *rank = &costs->ranks[first];
    bool is_any = n == 1 && evidence_is_any(outside) && evidence_is_any(&rank->own);
    if (is_any && is_last) {
        rank_fit_last(costs, outside, rank);
    } else if (is_any) {
        struct prior *priors = arena_array(&scratch, struct prior, costs->n_columns);
        evidence_fit(outside, priors, priors_of_told(costs, outside, rank, false, priors), rank->others);
    }
    for (uint32_t half = 0; half < 2 && n > 1; half++) {
        uint32_t middle = first + n / 2, end = first + n;
        struct cost_evidence wider = evidence_copy(outside, costs->n_columns, &scratch);
        for (uint32_t i = half ? first : middle; i < (half ? middle : end); i++)
            evidence_join(&wider, &told[i], costs->n_columns);
        others_tell(costs, told, &wider, half ? middle : first, half ? end - middle : middle - first, is_last);
    }
    arena_release(&scratch);
}

static void ranks_hear_others(struct costs *costs, bool is_last)
{
    struct arena scratch = {0};
    struct cost_evidence *told = arena_array(&scratch, struct cost_evidence, costs->n_ranks);
    struct cost_evidence none = {.columns = arena_array(&scratch, struct cost_column, costs->n_columns)};
    nnls_widen(&none.lengths, &scratch, costs->n_columns);
    for (uint32_t i = 0; i < costs->n_ranks; i++)
        told[i] = evidence_told(costs, &costs->ranks[i], &scratch);
    others_tell(costs, told, &none, 0, costs->n_ranks, is_last);
    arena_release(&scratch);
}

/*
 * The relative distance of a place's cost from what the other processes say if nothing is wrong: by as much as first
 * fits differ, less what their errors account for (the moments of DerSimonian and Laird). A usual value is taken for
 * what some places have shown before. A process on which a place is out of that altogether is what users look for, and
 * does not count.
 */
static double across_ranks(const struct costs *costs)
{
    double usual = COST_ACROSS_RANKS * COST_ACROSS_RANKS, least = LENGTH_ERROR_LEAST * LENGTH_ERROR_LEAST;
    double weights = USUAL_KNOWN / (usual * usual), sum = weights * usual;
    for (uint32_t rank = 0; rank < costs->n_ranks; rank++)
        for (uint32_t i = 1; i < costs->n_columns; i++) {
            const struct nnls_cost *one = &costs->ranks[rank].fitted[i], *others = &costs->ranks[rank].others[i];
            if (!(one->cost_ns > 0 && others->cost_ns > 0))
                continue;
            double error = hypot(one->error_ns, others->error_ns) / others->cost_ns, expected = usual + error * error;
            double square = pow(one->cost_ns / others->cost_ns - 1, 2);
            if (!isfinite(error) || square > FAR_DEVIATIONS * FAR_DEVIATIONS * expected)
                continue;
            weights += 1 / (expected * expected);
            sum += (square - error * error) / (expected * expected);
        }
    return sqrt(fmax(sum / weights, least));
}

/* The distance between all other evidence of a column's cost on a process and the others' word on it, and how much
 * better it fits without them: from the fit of both, in which their word is one observation of many. */
struct contradiction {
    double off_ns, square; /* and in standard deviations, squared */
};

static struct contradiction contradiction_of(const struct costs *costs, const struct rank_costs *rank, uint32_t column)
{
    const struct nnls_cost *fitted = &rank->fitted[column];
    if (!is_told(rank, column) || !isfinite(fitted->error_ns))
        return (struct contradiction){0};
    struct prior others = prior_of_others(costs, rank, column);
    double open = fmax(others.variance - fitted->error_ns * fitted->error_ns, OPEN_LEAST * others.variance);
    double off_ns = fitted->cost_ns - others.cost, square = off_ns * off_ns / open;
    double alone_ns = others.cost + off_ns * others.variance / open;
    double alone_variance = others.variance * (others.variance - open) / open;
    /* Nothing costs less than nothing: so much is contradicted anyway. */
    if (alone_ns < 0 && alone_variance > 0)
        square = fmax(square - alone_ns * alone_ns / alone_variance, 0);
    return (struct contradiction){fabs(fmax(alone_ns, 0) - others.cost), square};
}

static double worst_contradiction(const struct costs *costs, const struct rank_costs *rank)
{
    double worst = 0;
    for (uint32_t i = 0; i < costs->n_columns; i++)
        worst = fmax(worst, contradiction_of(costs, rank, i).square);
    return worst;
}

/*
 * Places that cost something else on a process than on the others are found from the worst on, those half as far off
 * with it. They spoil what the others are told, and what is left for other places of the process. If it is not decided
 * which place of a process it is, all are that may be; samples then decide. Returns false when none is left.
 */
static bool differences_find(struct costs *costs)
{
    double chance = FAR_DEVIATIONS * FAR_DEVIATIONS, worst = 0;
    for (uint32_t rank = 0; rank < costs->n_ranks; rank++)
        worst = fmax(worst, worst_contradiction(costs, &costs->ranks[rank]));
    for (uint32_t rank = 0; rank < costs->n_ranks && worst >= chance; rank++) {
        struct rank_costs *at = &costs->ranks[rank];
        double worst_here = worst_contradiction(costs, at);
        for (uint32_t i = 0; i < costs->n_columns && worst_here >= fmax(chance, worst / 4); i++) {
            struct contradiction found = contradiction_of(costs, at, i);
            if (found.square >= fmax(chance, worst_here - chance))
                at->differs[i] = fmax(at->differs[i], found.off_ns);
        }
    }
    return worst >= chance;
}

static void ranks_fit(struct costs *costs, bool is_beside_others)
{
    struct arena scratch = {0};
    struct prior *priors = arena_array(&scratch, struct prior, 2 * (size_t)costs->n_columns);
    for (uint32_t i = 0; i < costs->n_ranks; i++) {
        struct rank_costs *rank = &costs->ranks[i];
        if (!evidence_is_any(&rank->own))
            continue;
        uint32_t n_priors = priors_of_rank(costs, rank, is_beside_others, priors);
        n_priors += is_beside_others ? priors_of_others(costs, rank, priors + n_priors) : 0;
        rank->length_variance = evidence_fit(&rank->own, priors, n_priors, rank->fitted);
    }
    arena_release(&scratch);
}

/* Calls from one address to code that is not counted. */
struct uncounted_call {
    uint32_t place;
    const struct counts_block *block;
    double sampled_ns; /* in what was called, on all processes */
    double *n_calls;   /* by process, and of all */
};

struct uncounted {
    struct costs *costs;
    struct map index; /* frame of the call, or block -> 1 + index in calls */
    VEC(struct uncounted_call) calls;
    struct sparse own; /* sampled in a place itself */
    uint32_t rank;
};

static void uncounted_add(struct uncounted *uncounted, uint32_t frame, uint32_t place, double ns)
{
    struct costs *costs = uncounted->costs;
    struct executions *executions = costs->work->executions;
    const struct trace_frame *call = &costs->sites->trace->frames[frame];
    struct counts *counts = call->is_return ? executions_module(executions, call->module) : NULL;
    uint32_t function, block;
    if (!counts || !counts_parked_at(counts, call->address, &function, &block))
        return;
    const struct counts_block *at = &counts_function(counts, function)->blocks[block];
    uint64_t *index = map_put(&uncounted->index, (uint64_t)(uintptr_t)at, NULL);
    if (!*index) {
        *vec_push(&uncounted->calls) = (struct uncounted_call){
            .place = place, .block = at, .n_calls = arena_array(&costs->arena, double, costs->n_ranks + 1)};
        *index = uncounted->calls.n;
    }
    uncounted->calls.at[*index - 1].sampled_ns += ns;
}

static void block_called(void *context, uint32_t module, const struct counts_function *function,
                         const struct counts_row *row)
{
    struct uncounted *uncounted = context;
    const uint64_t *index = map_get(&uncounted->index, (uint64_t)(uintptr_t)&function->blocks[row->block]);
    (void)module;
    if (!index)
        return;
    struct uncounted_call *call = &uncounted->calls.at[*index - 1];
    call->n_calls[uncounted->rank] += (double)row->executions;
    call->n_calls[uncounted->costs->n_ranks] += (double)row->executions;
}

/* A place's times are a part of what its own instructions cost by samples, and a part of what its calls do, on all
 * processes alike. These parts, by least squares, both about one beforehand. */
struct call_fit {
    double own, calls, own_cost;
};

static struct call_fit call_fit(const struct uncounted *uncounted, uint32_t place)
{
    const struct costs *costs = uncounted->costs;
    double sample_ns = costs->all.own.sampled_ns / fmax(costs->all.own.n_samples, 1);
    double work = sparse_get(&costs->all.work, place), oo = 1, oc = 0, cc = 1, ot = 1, ct = 1;
    struct call_fit fit = {.own_cost = fmax(sparse_get(&uncounted->own, place), sample_ns) / fmax(work, 1)};
    for (uint32_t rank = 0; rank < costs->n_ranks; rank++) {
        double own_ns = fit.own_cost * sparse_get(&costs->ranks[rank].work, place), calls_ns = 0;
        double took_ns = steps_of_place(&costs->ranks[rank].steps, place).sum_ns;
        double weight = 1 / (sample_ns * (took_ns + sample_ns) + LENGTH_ERROR * LENGTH_ERROR * took_ns * took_ns);
        for (size_t i = 0; i < uncounted->calls.n; i++) {
            const struct uncounted_call *call = &uncounted->calls.at[i];
            if (call->place == place && call->n_calls[costs->n_ranks] > 0)
                calls_ns += call->n_calls[rank] * call->sampled_ns / call->n_calls[costs->n_ranks];
        }
        oo += weight * own_ns * own_ns;
        oc += weight * own_ns * calls_ns;
        cc += weight * calls_ns * calls_ns;
        ot += weight * own_ns * took_ns;
        ct += weight * calls_ns * took_ns;
    }
    double determinant = oo * cc - oc * oc;
    fit.calls = fmax((oo * ct - oc * ot) / determinant, 0);
    fit.own = fmax((ot - oc * fit.calls) / oo, COST_ACROSS_RANKS);
    return fit;
}

static void weigh_calls(struct costs *costs, const struct survey *survey)
{
    struct uncounted uncounted = {.costs = costs};
    for (size_t i = 0; i < survey->entries.n; i++) {
        const struct survey_entry *entry = &survey->entries.at[i];
        uint32_t at, place = entry->n_samples ? frame_counted_place(costs, entry->frame, &at) : CODE_NONE;
        if (place == CODE_NONE)
            continue;
        if (at == entry->frame)
            sparse_add(&uncounted.own, place, (double)entry->sampled_ns);
        else
            uncounted_add(&uncounted, at, place, (double)entry->sampled_ns);
    }
    sparse_pack(&uncounted.own);
    for (uncounted.rank = 0; uncounted.rank < costs->n_ranks && uncounted.calls.n; uncounted.rank++) {
        struct sparse *counts = &costs->ranks[uncounted.rank].counts;
        sparse_pack(counts);
        executions_each_block(costs->work->executions, counts->at, counts->n, block_called, &uncounted);
    }
    for (size_t i = 0; i < uncounted.calls.n; i++) {
        const struct uncounted_call *call = &uncounted.calls.at[i];
        struct call_fit fit = call_fit(&uncounted, call->place);
        double n_calls = call->n_calls[costs->n_ranks];
        if (n_calls > 0)
            work_add_weight(&costs->weighed, call->block,
                            fit.calls * call->sampled_ns / n_calls / (fit.own * fit.own_cost));
    }
    map_release(&uncounted.index);
    vec_release(&uncounted.calls);
    sparse_release(&uncounted.own);
}

void costs_fit(struct costs *costs, const struct survey *survey)
{
    bool is_counted = costs->columns.n > 0;
    if (!is_counted)
        return;
    take_samples(costs, survey);
    add_early_stretches(costs);
    for (uint32_t i = 0; i < costs->n_ranks; i++)
        rank_join(costs, &costs->ranks[i]);
    sparse_pack(&costs->all.work);
    sparse_pack(&costs->all.steps);
    ranks_fit(costs, false);
    ranks_hear_others(costs, false);
    costs->across_ranks = across_ranks(costs);
    ranks_fit(costs, true);
    for (uint32_t round = 0; round < ROUNDS && differences_find(costs); round++) {
        ranks_hear_others(costs, false);
        ranks_fit(costs, true);
    }
    ranks_hear_others(costs, true);
    weigh_calls(costs, survey);
    for (uint32_t i = 0; i < costs->n_ranks; i++) {
        sparse_pack(&costs->ranks[i].counts);
        executions_solve(costs->work->executions, &costs->ranks[i].counts, &costs->ran);
    }
}

/* The time of a place, to its steps as sampled on this process, else anywhere, else to the place itself. */
static void place_spread(struct costs *costs, const struct rank_costs *rank, uint64_t place, double ns,
                         const struct sparse *seen, struct sparse *out)
{
    struct place_steps steps = steps_of_place(&rank->steps, place);
    if (!steps.n || steps.sum_ns * rank->own.n_samples < POOL_SAMPLES_OWN * rank->own.sampled_ns)
        steps = steps_of_place(&costs->all.steps, place);
    double seen_ns = 0;
    for (size_t i = 0; i < steps.n && seen; i++)
        seen_ns += sparse_get(seen, (uint32_t)steps.at[i].key) > 0 ? steps.at[i].ns : 0;
    for (size_t i = 0; i < steps.n; i++)
        if (!(seen_ns > 0) || sparse_get(seen, (uint32_t)steps.at[i].key) > 0)
            sparse_add(out, (uint32_t)steps.at[i].key, ns * steps.at[i].ns / (seen_ns > 0 ? seen_ns : steps.sum_ns));
    if (!steps.n)
        sparse_add(out, steps_put(costs->sites->steps, STEP_COMPUTING, WHAT_PLACE, (uint32_t)place, TRACE_NONE), ns);
}

bool costs_measure(struct costs *costs, const struct stretch *stretch)
{
    if (!stretch->is_counted || !costs->columns.n)
        return false;
    work_measure(costs->work, &stretch->counts, &costs->measured);
    return true;
}

double costs_part_of_run(const struct costs *costs, uint32_t rank, uint32_t step)
{
    const struct step_key *key = steps_key(costs->sites->steps, step);
    if (key->what != WHAT_PLACE || !map_get(&costs->columns, key->id))
        return NAN;
    const struct sparse *of_run = &(rank < costs->n_ranks ? &costs->ranks[rank] : &costs->all)->work;
    double work = sparse_get(&costs->measured, key->id);
    return work > 0 ? work / sparse_get(of_run, key->id) : 0;
}

bool costs_of_stretch(struct costs *costs, uint32_t rank, const struct stretch *stretch, const struct sparse *seen,
                      struct sparse *out)
{
    const struct rank_costs *at = rank < costs->n_ranks ? &costs->ranks[rank] : NULL;
    if (!stretch->is_counted || !at || !at->fitted)
        return false;
    size_t n_before = out->n;
    work_measure(costs->work, &stretch->counts, &costs->measured);
    for (size_t i = 0; i < costs->measured.n; i++) {
        const struct term *work = &costs->measured.at[i];
        const uint64_t *column = map_get(&costs->columns, work->key);
        double cost = column ? at->fitted[*column].cost_ns : 0;
        if (cost > 0)
            place_spread(costs, at, work->key, work->ns * cost, seen, out);
    }
    return out->n > n_before;
}

/* Whether a step is a line of the routine that a place lies in. */
static const struct step_key *line_of_place(const struct costs *costs, const struct code_place *place, uint64_t step)
{
    const struct step_key *key = steps_key(costs->sites->steps, (uint32_t)step);
    const struct code_place *line = key->what == WHAT_PLACE ? code_place(costs->work->executions->code, key->id) : NULL;
    return line && line->module == place->module && line->routine_address == place->routine_address ? key : NULL;
}

/* A process's own samples show the callers of a place. At which line of its routine the work is done is not. There a
 * process that is slower is sampled more. Each execution of a line is as much of the work as it takes of the time on
 * all processes together. `ran`: executions by place, with `high` in front. */
static void work_spread(struct costs *costs, uint64_t high, const struct sparse *ran, const struct term *work,
                        struct sparse *out)
{
    const struct code_place *place = code_place(costs->work->executions->code, (uint32_t)work->key);
    struct place_steps all = steps_of_place(&costs->all.steps, work->key);
    struct sparse own = {0}, lines = {0};
    double in_lines = 0;
    place_spread(costs, &costs->ranks[key_rank(high)], work->key, work->ns, NULL, &own);
    for (size_t i = 0; i < all.n; i++) {
        const struct step_key *key = line_of_place(costs, place, all.at[i].key);
        double of_all = key ? sparse_get(&costs->ran, key->id) : 0;
        if (of_all > 0)
            sparse_add(&lines, (uint32_t)all.at[i].key, all.at[i].ns * sparse_get(ran, high | key->id) / of_all);
    }
    sparse_pack(&lines);
    double sum = sparse_sum(&lines);
    for (size_t i = 0; i < own.n; i++) {
        const struct step_key *key = line_of_place(costs, place, own.at[i].key);
        if (sum > 0 && key && sparse_get(&costs->ran, key->id) > 0)
            in_lines += own.at[i].ns;
        else
            sparse_add(out, own.at[i].key, own.at[i].ns);
    }
    for (size_t i = 0; i < lines.n && in_lines > 0; i++)
        sparse_add(out, lines.at[i].key, in_lines * lines.at[i].ns / sum);
    sparse_release(&own);
    sparse_release(&lines);
}

void costs_place_work(struct costs *costs, bool with_calls, const struct sparse *bins, const struct sparse *ran,
                      struct sparse *out)
{
    struct sparse spread = {0};
    for (size_t i = 0, end; i < bins->n; i = end) {
        uint64_t high = bins->at[i].key & ~(uint64_t)UINT32_MAX;
        for (end = i; end < bins->n && (bins->at[end].key & ~(uint64_t)UINT32_MAX) == high;)
            end++;
        work_measure(with_calls ? &costs->weighed : costs->work,
                     (&(struct sparse){.at = &bins->at[i], .n = end - i, .n_packed = end - i}), &costs->measured);
        sparse_clear(&spread);
        for (size_t j = 0; j < costs->measured.n && key_rank(high) < costs->n_ranks; j++)
            work_spread(costs, high, ran, &costs->measured.at[j], &spread);
        for (size_t j = 0; j < spread.n; j++) {
            const struct step_key *step = steps_key(costs->sites->steps, (uint32_t)spread.at[j].key);
            if (step->what == WHAT_PLACE)
                sparse_add(out, high | step->id, spread.at[j].ns);
        }
    }
    sparse_pack(out);
    sparse_release(&spread);
}

double costs_sampled_ns(const struct costs *costs, uint32_t rank, uint32_t place)
{
    double sampled_ns = 0;
    if (rank >= costs->n_ranks)
        return 0;
    struct place_steps steps = steps_of_place(&costs->ranks[rank].steps, place);
    for (size_t i = 0; i < steps.n; i++)
        if (steps_key(costs->sites->steps, (uint32_t)steps.at[i].key)->state == STEP_COMPUTING)
            sampled_ns += steps.at[i].ns;
    return sampled_ns;
}

double costs_error(const struct costs *costs, uint32_t rank, uint32_t place)
{
    const struct rank_costs *at = rank < costs->n_ranks ? &costs->ranks[rank] : NULL;
    const uint64_t *column = map_get(&costs->columns, place);
    if (!at || !at->fitted || !column)
        return 0;
    if (*column == COLUMN_REST) {
        double sampled = steps_of_place(&at->steps, place).sum_ns * at->own.n_samples;
        return sampled > 0 ? 1 / sqrt(1 + sampled / at->own.sampled_ns) : 1;
    }
    const struct nnls_cost *cost = &at->fitted[*column];
    return cost->cost_ns > 0 && isfinite(cost->error_ns) ? cost->error_ns / cost->cost_ns : 0;
}
