/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/cost_fit.h"
#include "analyze/constants/constants.h"
#include <math.h>
#include <string.h>

enum { ROUNDS = 16 };
/* Of a variance: less is rounding. */
static const double OPEN_LEAST = 1e-6;

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
static double others_apart(const struct cost_fit *fit, const struct rank_costs *rank, uint32_t column)
{
    return fmax(fit->across_ranks * rank->others[column].cost_ns, rank->differs[column]);
}

/* The word of the other processes on a column. */
static struct prior prior_of_others(const struct cost_fit *fit, const struct rank_costs *rank, uint32_t column)
{
    const struct nnls_cost *others = &rank->others[column];
    return (struct prior){column, others->cost_ns, pow(others_apart(fit, rank, column), 2) + pow(others->error_ns, 2)};
}

/* The word of a process's samples. If the others' word counts, it stands beside that. */
static uint32_t priors_of_rank(const struct cost_fit *fit, const struct rank_costs *rank, bool is_beside_others,
                               struct prior *priors)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < fit->n_columns; i++)
        if (rank->own.columns[i].work > 0)
            priors[n++] = is_beside_others && is_told(rank, i) && !(rank->differs[i] > 0)
                              ? prior_beside(&rank->own, i, rank->others[i].cost_ns)
                              : prior_of_samples(&rank->own, i);
    return n;
}

static uint32_t priors_of_others(const struct cost_fit *fit, const struct rank_costs *rank, struct prior *priors)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < fit->n_columns; i++)
        if (is_told(rank, i))
            priors[n++] = prior_of_others(fit, rank, i);
    return n;
}

/* The word of other processes' samples to a process of which a column is asked or already known to be alike. There what
 * is usual in the absence of samples is no news. */
static uint32_t priors_of_told(const struct cost_fit *fit, const struct cost_evidence *told,
                               const struct rank_costs *rank, bool is_last, struct prior *priors)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < fit->n_columns; i++) {
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
static struct cost_evidence evidence_told(const struct cost_fit *fit, const struct rank_costs *rank,
                                          struct arena *arena)
{
    struct cost_evidence told = rank->own;
    bool is_copy = false;
    for (uint32_t i = 0; i < fit->n_columns; i++) {
        if (!(rank->differs[i] > 0))
            continue;
        if (!is_copy)
            told = evidence_copy(&rank->own, fit->n_columns, arena);
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
 * be apart, and its own are asked for. So it helps that the others know a sum of fit, also where they do not know
 * each.
 */
static void rank_fit_last(const struct cost_fit *fit, const struct cost_evidence *others, struct rank_costs *rank)
{
    struct arena scratch = {0};
    struct prior *priors = arena_array(&scratch, struct prior, fit->n_columns);
    uint32_t own = others->lengths.n, n_priors = priors_of_told(fit, others, rank, true, priors);
    struct nnls_cost *fitted = arena_array(&scratch, struct nnls_cost, 2 * (size_t)own);
    double variance = length_variance(&others->lengths, priors, n_priors, fitted, &scratch);
    struct nnls both;
    nnls_init(&both, &scratch, 2 * own);
    both.variance = rank->length_variance;
    nnls_join_at(&both, 0, &others->lengths, both.variance / variance);
    prefer(&both, 0, priors, n_priors, both.variance);
    for (uint32_t i = 0; i < fit->n_columns; i++)
        if (is_told(rank, i))
            nnls_add(&both, (uint32_t[]){i, own + i}, (double[]){1, -1}, 2, 0,
                     both.variance / pow(others_apart(fit, rank, i), 2));
    for (uint32_t i = 0; i < fit->n_columns; i++)
        nnls_forget(&both, i);
    nnls_join_at(&both, own, &rank->own.lengths, 1);
    n_priors = priors_of_rank(fit, rank, true, priors);
    prefer(&both, own, priors, n_priors, both.variance);
    nnls_solve(&both, &scratch, fitted);
    memcpy(rank->fitted, fitted + own, own * sizeof *fitted);
    arena_release(&scratch);
}

/* Each of n processes hears what all others tell: those outside of these, and of them by halves. */
static void others_tell(struct cost_fit *fit, const struct cost_evidence *told, const struct cost_evidence *outside,
                        uint32_t first, uint32_t n, bool is_last)
{
    struct arena scratch = {0};
    struct rank_costs *rank = &fit->ranks[first];
    bool is_any = n == 1 && evidence_is_any(outside) && evidence_is_any(&rank->own);
    if (is_any && is_last) {
        rank_fit_last(fit, outside, rank);
    } else if (is_any) {
        struct prior *priors = arena_array(&scratch, struct prior, fit->n_columns);
        evidence_fit(outside, priors, priors_of_told(fit, outside, rank, false, priors), rank->others);
    }
    for (uint32_t half = 0; half < 2 && n > 1; half++) {
        uint32_t middle = first + n / 2, end = first + n;
        struct cost_evidence wider = evidence_copy(outside, fit->n_columns, &scratch);
        for (uint32_t i = half ? first : middle; i < (half ? middle : end); i++)
            evidence_join(&wider, &told[i], fit->n_columns);
        others_tell(fit, told, &wider, half ? middle : first, half ? end - middle : middle - first, is_last);
    }
    arena_release(&scratch);
}

static void ranks_hear_others(struct cost_fit *fit, bool is_last)
{
    struct arena scratch = {0};
    struct cost_evidence *told = arena_array(&scratch, struct cost_evidence, fit->n_ranks);
    struct cost_evidence none = {.columns = arena_array(&scratch, struct cost_column, fit->n_columns)};
    nnls_widen(&none.lengths, &scratch, fit->n_columns);
    for (uint32_t i = 0; i < fit->n_ranks; i++)
        told[i] = evidence_told(fit, &fit->ranks[i], &scratch);
    others_tell(fit, told, &none, 0, fit->n_ranks, is_last);
    arena_release(&scratch);
}

/*
 * The relative distance of a place's cost from what the other processes say if nothing is wrong: by as much as first
 * fits differ, less what their errors account for (the moments of DerSimonian and Laird). A usual value is taken for
 * what some places have shown before. A process on which a place is out of that altogether is what users look for, and
 * does not count.
 */
static double across_ranks(const struct cost_fit *fit)
{
    double usual = COST_ACROSS_RANKS * COST_ACROSS_RANKS, least = LENGTH_ERROR_LEAST * LENGTH_ERROR_LEAST;
    double weights = USUAL_KNOWN / (usual * usual), sum = weights * usual;
    for (uint32_t rank = 0; rank < fit->n_ranks; rank++)
        for (uint32_t i = 1; i < fit->n_columns; i++) {
            const struct nnls_cost *one = &fit->ranks[rank].fitted[i], *others = &fit->ranks[rank].others[i];
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

static struct contradiction contradiction_of(const struct cost_fit *fit, const struct rank_costs *rank, uint32_t column)
{
    const struct nnls_cost *fitted = &rank->fitted[column];
    if (!is_told(rank, column) || !isfinite(fitted->error_ns))
        return (struct contradiction){0};
    struct prior others = prior_of_others(fit, rank, column);
    double open = fmax(others.variance - fitted->error_ns * fitted->error_ns, OPEN_LEAST * others.variance);
    double off_ns = fitted->cost_ns - others.cost, square = off_ns * off_ns / open;
    double alone_ns = others.cost + off_ns * others.variance / open;
    double alone_variance = others.variance * (others.variance - open) / open;
    /* Nothing costs less than nothing: so much is contradicted anyway. */
    if (alone_ns < 0 && alone_variance > 0)
        square = fmax(square - alone_ns * alone_ns / alone_variance, 0);
    return (struct contradiction){fabs(fmax(alone_ns, 0) - others.cost), square};
}

static double worst_contradiction(const struct cost_fit *fit, const struct rank_costs *rank)
{
    double worst = 0;
    for (uint32_t i = 0; i < fit->n_columns; i++)
        worst = fmax(worst, contradiction_of(fit, rank, i).square);
    return worst;
}

/*
 * Places that cost something else on a process than on the others are found from the worst on, those half as far off
 * with it. They spoil what the others are told, and what is left for other places of the process. If it is not decided
 * which place of a process it is, all are that may be; samples then decide. Returns false when none is left.
 */
static bool differences_find(struct cost_fit *fit)
{
    double chance = FAR_DEVIATIONS * FAR_DEVIATIONS, worst = 0;
    for (uint32_t rank = 0; rank < fit->n_ranks; rank++)
        worst = fmax(worst, worst_contradiction(fit, &fit->ranks[rank]));
    for (uint32_t rank = 0; rank < fit->n_ranks && worst >= chance; rank++) {
        struct rank_costs *at = &fit->ranks[rank];
        double worst_here = worst_contradiction(fit, at);
        for (uint32_t i = 0; i < fit->n_columns && worst_here >= fmax(chance, worst / 4); i++) {
            struct contradiction found = contradiction_of(fit, at, i);
            if (found.square >= fmax(chance, worst_here - chance))
                at->differs[i] = fmax(at->differs[i], found.off_ns);
        }
    }
    return worst >= chance;
}

static void ranks_fit(struct cost_fit *fit, bool is_beside_others)
{
    struct arena scratch = {0};
    struct prior *priors = arena_array(&scratch, struct prior, 2 * (size_t)fit->n_columns);
    for (uint32_t i = 0; i < fit->n_ranks; i++) {
        struct rank_costs *rank = &fit->ranks[i];
        if (!evidence_is_any(&rank->own))
            continue;
        uint32_t n_priors = priors_of_rank(fit, rank, is_beside_others, priors);
        n_priors += is_beside_others ? priors_of_others(fit, rank, priors + n_priors) : 0;
        rank->length_variance = evidence_fit(&rank->own, priors, n_priors, rank->fitted);
    }
    arena_release(&scratch);
}

void cost_fit_ranks(struct cost_fit *fit)
{
    ranks_fit(fit, false);
    ranks_hear_others(fit, false);
    fit->across_ranks = across_ranks(fit);
    ranks_fit(fit, true);
    for (uint32_t round = 0; round < ROUNDS && differences_find(fit); round++) {
        ranks_hear_others(fit, false);
        ranks_fit(fit, true);
    }
    ranks_hear_others(fit, true);
}
