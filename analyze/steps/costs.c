/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/costs.h"
#include "analyze/constants/constants.h"
#include "wrap/base/keys.h"
#include <math.h>
#include <string.h>

enum { COLUMN_REST = 0 };

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
    struct cost_fit fit = {.ranks = costs->ranks, .n_ranks = costs->n_ranks, .n_columns = costs->n_columns};
    cost_fit_ranks(&fit);
    costs->across_ranks = fit.across_ranks;
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
