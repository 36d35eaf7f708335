/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/costs.h"
#include "analyze/constants/constants.h"
#include "wrap/base/keys.h"
#include <math.h>

enum { COLUMN_REST = 0 };

/* Of stretches between two calls. */
struct usual_length {
    double log_sum;
    uint64_t n;
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
    work_release(&costs->weighed);
    map_release(&costs->columns);
    intern_release(&costs->pairs);
    vec_release(&costs->lengths);
    sparse_release(&costs->measured);
    vec_release(&costs->row_columns);
    vec_release(&costs->row_work);
    arena_release(&costs->arena);
}

/* The usual length of such a stretch, this one included; 0 while too few have been seen. */
static double usual_length(struct costs *costs, uint32_t rank, const struct stretch *stretch, double on_ns)
{
    uint32_t key[] = {rank, stretch->from, stretch->to};
    uint32_t pair = intern_put(&costs->pairs, key, sizeof key);
    if (pair == costs->lengths.n)
        vec_push(&costs->lengths);
    struct usual_length *length = &costs->lengths.at[pair];
    length->log_sum += log(on_ns);
    return ++length->n < COST_SEEN_BEFORE ? 0 : exp(length->log_sum / (double)length->n);
}

/* The measured work by column; each stands once. */
static uint32_t row_make(struct costs *costs, bool may_add_columns)
{
    uint32_t n = 1;
    vec_resize(&costs->row_columns, costs->measured.n + 1);
    vec_resize(&costs->row_work, costs->measured.n + 1);
    costs->row_columns.at[0] = COLUMN_REST;
    costs->row_work.at[0] = 0;
    for (size_t i = 0; i < costs->measured.n; i++) {
        uint64_t *column = map_put(&costs->columns, (uint32_t)costs->measured.at[i].key, NULL);
        if (*column == COLUMN_REST && may_add_columns && costs->n_columns < COSTS_COLUMNS_MAX)
            *column = costs->n_columns++;
        uint32_t at = *column == COLUMN_REST ? 0 : n++;
        costs->row_columns.at[at] = (uint32_t)*column;
        costs->row_work.at[at] = costs->measured.at[i].ns + (at ? 0 : costs->row_work.at[0]);
    }
    return n;
}

void costs_add(struct costs *costs, uint32_t rank, const struct stretch *stretch)
{
    if (rank >= costs->n_ranks || !stretch->is_counted)
        return;
    struct rank_costs *at = &costs->ranks[rank];
    double amounts[N_AMOUNTS];
    stretch_split(stretch, amounts);
    double on_ns = amounts[ON_CPU] + stretch->count_more_ns;
    work_measure(costs->work, &stretch->counts, &costs->measured);
    sparse_add_all(&at->work, &costs->measured, 1);
    sparse_add_all(&at->counts, &stretch->counts, 1);
    at->counted_ns += on_ns;
    bool is_all_counted = stretch->is_count_whole && !sites_is_start(costs->sites, stretch->from);
    bool is_equation = is_all_counted && !stretch->n_worker && on_ns >= COST_SHORTEST_NS;
    double usual_ns = is_equation ? usual_length(costs, rank, stretch, on_ns) : 0;
    uint32_t n = row_make(costs, usual_ns > 0);
    if (!is_equation)
        return;
    double error_ns = LENGTH_ERROR * fmax(usual_ns > 0 ? usual_ns : on_ns, on_ns / COST_OUTLIER);
    nnls_widen(&at->problem, &costs->arena, costs->n_columns);
    nnls_add(&at->problem, costs->row_columns.at, costs->row_work.at, n, on_ns, 1 / (error_ns * error_ns));
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
        rank->sampled_ns += (double)entry->sampled_ns;
        rank->n_samples += (double)entry->n_samples;
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
}

static void rank_join(struct costs *costs, struct rank_costs *rank)
{
    struct rank_costs *all = &costs->all;
    sparse_pack(&rank->work);
    sparse_pack(&rank->steps);
    nnls_widen(&rank->problem, &costs->arena, costs->n_columns);
    nnls_join(&all->problem, &rank->problem);
    sparse_add_all(&all->work, &rank->work, 1);
    sparse_add_all(&all->steps, &rank->steps, 1);
    all->counted_ns += rank->counted_ns;
    all->sampled_ns += rank->sampled_ns;
    all->n_samples += rank->n_samples;
}

/* Work and sampled time by column. */
struct column {
    double work, sampled_ns;
};

/*
 * What samples say of a column's cost. A unit of work costs the same everywhere, as an exponential distribution, and n
 * samples of w ns each have been seen in so much work: the mean of the posterior and its relative variance. Work that
 * calls what is not counted (a matrix product, output) may cost thousands of times as much, so the mean of the
 * distribution is that of all but one of the samples, where that is more: one sample alone may have strayed there.
 */
struct sampled {
    double n, per_ns; /* samples, and how many a cost of 1 ns would make */
    double usual;     /* mean of the distribution */
};

static struct sampled column_sampled(const struct rank_costs *rank, double work_sum, const struct column *column)
{
    double sample_ns = rank->n_samples > 0 ? rank->counted_ns / rank->n_samples : INFINITY;
    double n = rank->n_samples > 0 ? column->sampled_ns / rank->sampled_ns * rank->n_samples : 0;
    struct sampled sampled = {.n = n, .per_ns = column->work / sample_ns, .usual = rank->counted_ns / work_sum};
    if (sampled.per_ns > 0)
        sampled.usual = fmax(sampled.usual, (n - 1) / sampled.per_ns);
    return sampled;
}

/* What is known of a column's cost beside the lengths. */
struct prior {
    uint32_t column;
    double cost, variance;
};

static struct prior sampled_cost(uint32_t column, const struct sampled *sampled, double usual)
{
    double cost = (1 + sampled->n) / (1 / usual + sampled->per_ns);
    double relative = 1 / (1 + sampled->n) + SAMPLING_BIAS * SAMPLING_BIAS;
    return (struct prior){column, cost, relative * cost * cost};
}

/* By the lengths of this process alone. */
static bool is_off(const struct nnls_cost *first, const struct nnls_cost *common, double variance)
{
    return first && first->cost_ns > 0 && isfinite(first->error_ns) &&
           fabs(first->cost_ns - common->cost_ns) >= COST_CONTRADICTION * sqrt(variance + pow(first->error_ns, 2));
}

/*
 * The cost by samples, and that on all processes together unless samples or lengths of this one contradict it: returns
 * how many priors that is. A few samples more or less than it would make are no contradiction (Anscombe: the roots of
 * numbers that chance makes have a variance of 1/4). Then it is also what a unit of this work usually costs.
 */
static uint32_t column_priors(const struct costs *costs, uint32_t column, const struct sampled *sampled,
                              const struct nnls_cost *common, const struct nnls_cost *first, struct prior *out)
{
    out[0] = sampled_cost(column, sampled, sampled->usual);
    if (!common || !(common->cost_ns > 0) || !isfinite(common->error_ns))
        return 1;
    double variance = pow(costs->across_ranks * common->cost_ns, 2) + pow(common->error_ns, 2);
    double off = fabs(common->cost_ns - out->cost) / sqrt(variance + out->variance);
    double off_by_chance = 2 * fabs(sqrt(common->cost_ns * sampled->per_ns + 3. / 8) - sqrt(sampled->n + 3. / 8));
    if (fmin(off, off_by_chance) >= COST_CONTRADICTION || is_off(first, common, variance))
        return 1;
    out[0] = sampled_cost(column, sampled, common->cost_ns);
    out[1] = (struct prior){column, common->cost_ns, variance};
    return 2;
}

static uint32_t priors_gather(struct costs *costs, const struct rank_costs *rank, const struct nnls_cost *first,
                              struct arena *arena, struct prior *priors)
{
    double work_sum = sparse_sum(&rank->work);
    struct column *columns = arena_array(arena, struct column, costs->n_columns);
    for (size_t i = 0; i < rank->work.n; i++)
        columns[*map_get(&costs->columns, rank->work.at[i].key)].work += rank->work.at[i].ns;
    for (size_t i = 0; i < rank->steps.n; i++)
        columns[*map_get(&costs->columns, key_high(rank->steps.at[i].key))].sampled_ns += rank->steps.at[i].ns;
    uint32_t n = 0;
    for (uint32_t i = 0; i < costs->n_columns; i++) {
        if (!(columns[i].work > 0))
            continue;
        struct sampled sampled = column_sampled(rank, work_sum, &columns[i]);
        bool has_common = rank != &costs->all && costs->all.fitted;
        n += column_priors(costs, i, &sampled, has_common ? &costs->all.fitted[i] : NULL, first ? &first[i] : NULL,
                           &priors[n]);
    }
    return n;
}

/* How far lengths scatter about a first fit, in which priors decide only what lengths leave open, in units of the
 * variance that they were weighed by: the better they agree with each other, the less priors say beside them. The fit
 * is left in `fitted`. */
static double length_variance(const struct rank_costs *rank, const struct prior *priors, uint32_t n_priors,
                              struct nnls_cost *fitted, struct arena *arena)
{
    struct nnls first = nnls_copy(&rank->problem, arena);
    double n_fitted = 0, least = LENGTH_ERROR_LEAST * LENGTH_ERROR_LEAST / (LENGTH_ERROR * LENGTH_ERROR);
    for (uint32_t i = 0; i < n_priors; i++)
        nnls_prefer(&first, priors[i].column, priors[i].cost, least / priors[i].variance);
    nnls_solve(&first, arena, fitted);
    for (uint32_t i = 0; i < first.n; i++)
        n_fitted += fitted[i].cost_ns > 0;
    double freedom = fmax(0, (double)rank->problem.n_rows - n_fitted);
    double variance = (nnls_scatter(&rank->problem, fitted) + LENGTH_ERROR_KNOWN) / (freedom + LENGTH_ERROR_KNOWN);
    return fmax(variance, least);
}

/* A first fit, by the lengths of this process as far as they tell; with `is_last`, what else is known as well. */
static void rank_fit(struct costs *costs, struct rank_costs *rank, bool is_last)
{
    struct arena scratch = {0};
    if (!(sparse_sum(&rank->work) > 0) || !(rank->counted_ns > 0))
        return;
    struct prior *priors = arena_array(&scratch, struct prior, 2 * (size_t)costs->n_columns);
    uint32_t n_priors = priors_gather(costs, rank, is_last ? rank->fitted : NULL, &scratch, priors);
    rank->fitted = rank->fitted ? rank->fitted : arena_array(&costs->arena, struct nnls_cost, rank->problem.n);
    double variance = length_variance(rank, priors, n_priors, rank->fitted, &scratch);
    for (uint32_t i = 0; i < n_priors && is_last; i++)
        nnls_prefer(&rank->problem, priors[i].column, priors[i].cost, variance / priors[i].variance);
    if (is_last)
        nnls_solve(&rank->problem, &scratch, rank->fitted);
    arena_release(&scratch);
}

/*
 * How far the cost of a place differs from process to process where nothing is wrong, relatively: by as much as first
 * fits differ from that of all together, less what their errors account for (the moments of DerSimonian and Laird). A
 * usual value is taken for what some places have shown before. A process on which a place is out of that altogether is
 * what users look for, and does not count.
 */
static double across_ranks(const struct costs *costs)
{
    double usual = COST_ACROSS_RANKS * COST_ACROSS_RANKS, least = LENGTH_ERROR_LEAST * LENGTH_ERROR_LEAST;
    double weights = COST_ACROSS_KNOWN / (usual * usual), sum = weights * usual;
    for (uint32_t rank = 0; rank < costs->n_ranks && costs->all.fitted; rank++)
        for (uint32_t i = 1; i < costs->n_columns && costs->ranks[rank].fitted; i++) {
            const struct nnls_cost *one = &costs->ranks[rank].fitted[i], *all = &costs->all.fitted[i];
            if (!(one->cost_ns > 0 && all->cost_ns > 0))
                continue;
            double error = hypot(one->error_ns, all->error_ns) / all->cost_ns, expected = usual + error * error;
            double square = pow(one->cost_ns / all->cost_ns - 1, 2);
            if (!isfinite(error) || square > COST_CONTRADICTION * COST_CONTRADICTION * expected)
                continue;
            weights += 1 / (expected * expected);
            sum += (square - error * error) / (expected * expected);
        }
    return sqrt(fmax(sum / weights, least));
}

/* The terms of one place in a packed vector by (place, step). */
struct place_steps {
    const struct term *at;
    size_t n;
    double sum_ns;
};

static struct place_steps steps_of_place(const struct sparse *steps, uint64_t place)
{
    size_t first = sparse_find(steps, step_key_of(place, 0));
    struct place_steps found = {.at = steps->at + first};
    for (size_t i = first; i < steps->n && key_high(steps->at[i].key) == place; i++) {
        found.sum_ns += steps->at[i].ns;
        found.n++;
    }
    return found;
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
 * processes alike: these parts, by least squares, both about one beforehand. */
struct call_fit {
    double own, calls, own_cost;
};

static struct call_fit call_fit(const struct uncounted *uncounted, uint32_t place)
{
    const struct costs *costs = uncounted->costs;
    double sample_ns = costs->all.sampled_ns / fmax(costs->all.n_samples, 1);
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
    nnls_widen(&costs->all.problem, &costs->arena, costs->n_columns);
    for (uint32_t i = 0; i < costs->n_ranks; i++)
        rank_join(costs, &costs->ranks[i]);
    sparse_pack(&costs->all.work);
    sparse_pack(&costs->all.steps);
    rank_fit(costs, &costs->all, true);
    costs->across_ranks = COST_ACROSS_RANKS;
    for (uint32_t i = 0; i < costs->n_ranks; i++)
        rank_fit(costs, &costs->ranks[i], false);
    costs->across_ranks = across_ranks(costs);
    for (uint32_t i = 0; i < costs->n_ranks; i++)
        rank_fit(costs, &costs->ranks[i], true);
    weigh_calls(costs, survey);
}

/* The time of a place, to its steps as sampled on this process, else anywhere, else to the place itself. */
static void place_spread(struct costs *costs, const struct rank_costs *rank, uint64_t place, double ns,
                         const struct sparse *seen, struct sparse *out)
{
    struct place_steps steps = steps_of_place(&rank->steps, place);
    if (!steps.n || steps.sum_ns * rank->n_samples < POOL_SAMPLES_OWN * rank->sampled_ns)
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

void costs_place_work(struct costs *costs, const struct sparse *bins, struct sparse *out)
{
    struct sparse spread = {0};
    for (size_t i = 0, end; i < bins->n; i = end) {
        uint64_t high = bins->at[i].key & ~(uint64_t)UINT32_MAX;
        for (end = i; end < bins->n && (bins->at[end].key & ~(uint64_t)UINT32_MAX) == high;)
            end++;
        uint32_t rank = key_rank(high);
        work_measure(&costs->weighed, (&(struct sparse){.at = &bins->at[i], .n = end - i, .n_packed = end - i}),
                     &costs->measured);
        sparse_clear(&spread);
        for (size_t j = 0; j < costs->measured.n && rank < costs->n_ranks; j++)
            place_spread(costs, &costs->ranks[rank], costs->measured.at[j].key, costs->measured.at[j].ns, NULL,
                         &spread);
        for (size_t j = 0; j < spread.n; j++) {
            const struct step_key *step = steps_key(costs->sites->steps, (uint32_t)spread.at[j].key);
            if (step->what == WHAT_PLACE)
                sparse_add(out, high | step->id, spread.at[j].ns);
        }
    }
    sparse_pack(out);
    sparse_release(&spread);
}

double costs_error(const struct costs *costs, uint32_t rank, uint32_t place)
{
    const struct rank_costs *at = rank < costs->n_ranks ? &costs->ranks[rank] : NULL;
    const uint64_t *column = map_get(&costs->columns, place);
    if (!at || !at->fitted || !column || *column == COLUMN_REST)
        return 0;
    const struct nnls_cost *cost = &at->fitted[*column];
    return cost->cost_ns > 0 && isfinite(cost->error_ns) ? cost->error_ns / cost->cost_ns : 0;
}
