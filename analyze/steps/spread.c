/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/spread.h"
#include "analyze/constants/constants.h"
#include "analyze/steps/costs.h"
#include <math.h>
#include <string.h>

/* The samples of a stretch as a pool of one, which borrows them. */
static struct pool pool_of_own(const struct stretch *stretch, const struct sparse *on)
{
    return (struct pool){.on = *on,
                         .blocked = stretch->blocked,
                         .sync = stretch->sync,
                         .worker = stretch->worker,
                         .idle = stretch->idle,
                         .calling = stretch->calling,
                         .beside = stretch->beside,
                         .by_workers_ns = stretch->by_workers_ns,
                         .team_idle_ns = stretch->team_idle_ns,
                         .team_ns = (double)stretch->run_ns[OFF_PREEMPTED] + (double)stretch->run_ns[OFF_BLOCKED]};
}

/* With its own samples, or what stands for them. */
static void spread_own(struct pools *pools, uint32_t rank, const struct stretch *stretch, const struct sparse *on,
                       const double *amounts, struct sparse *out)
{
    struct pool pool = pool_of_own(stretch, on);
    for (int amount = 0; amount < N_AMOUNTS; amount++) {
        if (!amounts[amount])
            continue;
        struct sparse weights = {0};
        atom_weigh(pools->sites->steps, &pool, amount, &weights);
        sparse_pack(&weights);
        /* Whole nanoseconds in proportion to the weights, exactly `amount` in all. */
        double sum = sparse_sum(&weights), seen = 0, given = 0;
        for (size_t i = 0; i < weights.n; i++) {
            seen += weights.at[i].ns;
            double until = i + 1 == weights.n ? amounts[amount] : floor(amounts[amount] * (seen / sum));
            sparse_add(out, atom_key(rank, (uint32_t)weights.at[i].key), until - given);
            given = until;
        }
        sparse_release(&weights);
    }
}

static uint32_t step_of_start(struct pools *pools)
{
    return steps_put(pools->sites->steps, STEP_UNKNOWN, WHAT_START, 0, TRACE_NONE);
}

/* Of a stretch on the CPU, by its counts. */
static bool counted_steps(struct pools *pools, uint32_t rank, const struct stretch *stretch, struct sparse *on)
{
    uint32_t pool = pools_of_calls(pools, rank, stretch);
    return costs_of_stretch(pools->costs, rank, stretch, pool == INTERN_NONE ? NULL : &pools->at[pool].on, on);
}

/*
 * By exact counts and costs that were fitted, and by the stretch's own samples. As a rule the fit is off by as much as
 * FIT_SAMPLES samples would be. Where it foresees another length it is off by that as well: what a stretch takes beyond
 * (pages that are touched for the first time) only its samples tell. Returns how many samples the fit is worth; 0 when
 * there is none, or when threads share the work.
 */
static double spread_counted(struct pools *pools, uint32_t rank, const struct stretch *stretch, uint32_t pool,
                             const double *amounts, struct sparse *out)
{
    struct sparse on = {0};
    bool is_parallel = stretch->n_worker || (pool != INTERN_NONE && pools->at[pool].n_worker);
    if (!stretch->is_counted || is_parallel || !counted_steps(pools, rank, stretch, &on))
        return 0;
    double sample_ns = stretch->n_on ? sparse_sum(&stretch->on) / stretch->n_on : 1, sum = sparse_sum(&on);
    double counted_ns = amounts[ON_CPU] + stretch->count_more_ns;
    double off = counted_ns > 0 ? (counted_ns - sum) / counted_ns : 0;
    double worth = 1 / (1. / FIT_SAMPLES + off * off);
    for (size_t i = 0; i < on.n; i++)
        on.at[i].ns *= worth * sample_ns / sum;
    sparse_add_all(&on, &stretch->on, 1);
    spread_own(pools, rank, stretch, &on, amounts, out);
    sparse_release(&on);
    return worth;
}

static uint32_t step_of_gap(struct pools *pools, uint32_t pair, int amount)
{
    if (pair >= pools->gaps.n)
        vec_resize(&pools->gaps, (size_t)pair + 1);
    uint32_t *step_plus_1 = &pools->gaps.at[pair].of[amount];
    if (!*step_plus_1)
        *step_plus_1 = 1 + steps_put(pools->sites->steps, amount_state(amount), WHAT_GAP, pair, TRACE_NONE);
    return *step_plus_1 - 1;
}

/* Nothing is known of the steps but the calls around them. While a process starts up nobody knows what it sleeps for;
 * that it had no CPU is known there as elsewhere. */
static void spread_unknown(struct pools *pools, uint32_t rank, const struct stretch *stretch, const double *amounts,
                           struct sparse *out)
{
    struct steps *steps = pools->sites->steps;
    bool is_start = sites_is_start(pools->sites, stretch->from);
    uint32_t pair = is_start ? 0 : sites_pair(pools->sites, stretch->from, stretch->to);
    for (int amount = 0; amount < N_AMOUNTS; amount++) {
        if (!amounts[amount])
            continue;
        uint32_t step = !is_start                 ? step_of_gap(pools, pair, amount)
                        : amount == OFF_PREEMPTED ? steps_in_state(steps, step_of_start(pools), STEP_DESCHEDULED)
                                                  : step_of_start(pools);
        sparse_add(out, atom_key(rank, step), amounts[amount]);
    }
}

/* Weights of looks, but for places that the counted stretch never ran: there it cannot have slept. Returns their sum.
 * Where nothing is counted, that of all, and adds none. */
static double add_possible(const struct pools *pools, const struct sparse *looks, bool is_counted, struct sparse *out)
{
    double sum = is_counted ? 0 : sparse_sum(looks);
    for (size_t i = 0; i < looks->n && is_counted; i++)
        if (costs_part_of_run(pools->costs, COSTS_ALL_RANKS, (uint32_t)looks->at[i].key) != 0) {
            sparse_add(out, looks->at[i].key, looks->at[i].ns);
            sum += looks->at[i].ns;
        }
    return sum;
}

/* Looks at places, each for the work that the stretch measured last did there. All processes sleep as long for as much
 * work, unless a process has many looks of its own that say otherwise. Returns the sum: NAN if not all is counted. */
static double add_by_work(const struct pools *pools, uint32_t rank, const struct sparse *own, const struct sparse *all,
                          struct sparse *out)
{
    double sum = 0;
    for (size_t i = 0; i < all->n; i++) {
        uint32_t step = (uint32_t)all->at[i].key;
        double of_all = all->at[i].ns * costs_part_of_run(pools->costs, COSTS_ALL_RANKS, step);
        double of_own = 1 / costs_part_of_run(pools->costs, rank, step), n_own = own ? sparse_get(own, step) : 0;
        double weight = of_all == 0 ? 0 : (n_own + POOL_SAMPLES_OWN) / (of_own + POOL_SAMPLES_OWN / of_all);
        sparse_add(out, step, weight);
        sum += weight;
    }
    return sum;
}

static void add_weighed(struct sparse *out, uint32_t rank, const struct sparse *weights, double scale)
{
    for (size_t i = 0; i < weights->n; i++)
        sparse_add(out, atom_key(rank, (uint32_t)weights->at[i].key), scale * weights->at[i].ns);
}

static const struct pool *pool_at(const struct pools *pools, uint32_t id)
{
    return id == INTERN_NONE ? NULL : &pools->at[id];
}

/* Sleeps at which nobody looked, of the counted stretch that was measured last: each execution of a place sleeps for as
 * long as others, as far as looks tell. False where they do not. */
static bool spread_by_work(struct pools *pools, uint32_t rank, uint32_t kind, double ns, struct sparse *out,
                           struct spent *spent)
{
    const struct pool *own = pool_at(pools, pools_of_length(pools, rank, kind));
    const struct pool *all = pool_at(pools, pools_of_length(pools, POOL_ALL_RANKS, kind));
    if (!all)
        return false;
    struct sparse weights = {0};
    double blocked = add_by_work(pools, rank, own ? &own->blocked : NULL, &all->blocked, &weights);
    double sync = add_by_work(pools, rank, own ? &own->sync : NULL, &all->sync, &weights), sum = blocked + sync;
    if (sum > 0) {
        add_weighed(out, rank, &weights, ns / sum);
        spent->asleep_ns += ns * sync / sum;
        spent->noise_ns2 += ns * ns / all->n_samples;
    }
    sparse_release(&weights);
    return sum > 0;
}

/* Sleeps at which nobody looked: where others of their kind were. Returns how long of that until another thread woke
 * it. */
static double spread_unseen(struct pools *pools, uint32_t rank, uint32_t from, bool is_counted, double ns,
                            struct sparse *out)
{
    const struct pool *pool = &pools->at[from];
    struct sparse looks = {0};
    double blocked = add_possible(pools, &pool->blocked, is_counted, &looks);
    double sync = add_possible(pools, &pool->sync, is_counted, &looks), sum = blocked + sync;
    bool are_fewer = sum < sparse_sum(&pool->blocked) + sparse_sum(&pool->sync);
    if (sum > 0 && are_fewer)
        add_weighed(out, rank, &looks, ns / sum);
    else
        sparse_add(out, atom_key(rank, atom_of_pool(pools, from, OFF_BLOCKED)), ns);
    sparse_release(&looks);
    return sum > 0 ? ns * sync / sum : 0;
}

/* Each sleep where it was seen, or where others of its kind were; `id`: where any were (pools_of_looks). They are
 * scaled to the time blocked, which is theirs but for what is known not to be. */
static void spread_sleeps(struct pools *pools, uint32_t rank, const struct stretch *stretch, uint32_t id,
                          double blocked_ns, struct sparse *out, struct spent *spent)
{
    const struct sparse *seen = &stretch->sleeps.seen, *unseen = &stretch->sleeps.unseen;
    double scale = blocked_ns / sleeps_sum(&stretch->sleeps);
    bool is_counted = costs_measure(pools->costs, stretch);
    for (size_t i = 0; i < seen->n; i++) {
        uint32_t step = key_low(seen->at[i].key);
        sparse_add(out, atom_key(rank, step & ~SLEEP_IS_SYNC), scale * seen->at[i].ns);
        spent->asleep_ns += step & SLEEP_IS_SYNC ? scale * seen->at[i].ns : 0;
    }
    for (size_t i = 0; i < unseen->n; i++) {
        uint32_t kind = (uint32_t)unseen->at[i].key;
        double ns = scale * unseen->at[i].ns;
        if (is_counted && spread_by_work(pools, rank, kind, ns, out, spent))
            continue;
        uint32_t of_kind = pools_of_sleep(pools, rank, stretch, kind), from = of_kind == INTERN_NONE ? id : of_kind;
        spent->asleep_ns += spread_unseen(pools, rank, from, is_counted, ns, out);
        spent->noise_ns2 += ns * ns / (of_kind == INTERN_NONE ? 1 : pools->at[from].n_samples);
    }
}

/* How many samples the shares are worth; 0 = exact, or nothing is known. `asleep`: the pool that tells where it slept,
 * if its own samples do not. */
static double spread_by_knowledge(struct pools *pools, uint32_t rank, const struct stretch *stretch, uint32_t asleep,
                                  const double *measured, struct sparse *out)
{
    uint32_t n_own = stretch_n_samples(stretch), pool = pools_of_stretch(pools, rank, stretch);
    double n_on = stretch->n_on, amounts[N_AMOUNTS];
    memcpy(amounts, measured, sizeof amounts);
    if (asleep != INTERN_NONE) {
        sparse_add(out, atom_key(rank, atom_of_pool(pools, asleep, OFF_BLOCKED)), amounts[OFF_BLOCKED]);
        amounts[OFF_BLOCKED] = 0;
    }
    double fit = spread_counted(pools, rank, stretch, pool, amounts, out);
    if (fit > 0)
        return n_on > 0 ? (fit + n_on) * (fit + n_on) / n_on : 0;
    if (n_own >= POOL_SAMPLES_OWN) {
        spread_own(pools, rank, stretch, &stretch->on, amounts, out);
        return n_own;
    }
    if (pool == INTERN_NONE) {
        spread_unknown(pools, rank, stretch, amounts, out);
        return 0;
    }
    for (int amount = 0; amount < N_AMOUNTS; amount++)
        if (amounts[amount] != 0)
            sparse_add(out, atom_key(rank, atom_of_pool(pools, pool, amount)), amounts[amount]);
    return pools->at[pool].is_of_all_ranks ? 1 : pools->at[pool].n_samples;
}

/* It sleeps where it waits for another thread, as far as looks tell. */
static bool waits_for_thread(const struct pools *pools, uint32_t looks)
{
    return looks != INTERN_NONE && pools->at[looks].n_sync > pools->at[looks].n_blocked;
}

/* A thread that waits for others, which run for most of that, waits for them all the time: the rest is handing over. */
static double gaps_of_handing_over(double ran_ns, double left_ns)
{
    return ran_ns > left_ns ? left_ns : 0;
}

static void add_others(struct pools *pools, uint32_t rank, uint32_t looks, struct others_did others, struct sparse *to)
{
    sparse_add(to, atom_key(rank, atom_of_pool(pools, looks, BY_OTHERS)), others.ran_ns);
    sparse_add(to, atom_key(rank, atom_of_pool(pools, looks, OTHERS_LACK)), others.lacked_ns);
}

/* Others that call MPI have their own time. While this thread waits for them, its way leads through what they do, which
 * is no time of its own: `lent` is what the way has instead of this thread's sleep. Time of workers is its own, and is
 * returned. */
static struct others_did lend(struct pools *pools, uint32_t rank, const struct stretch *stretch, uint32_t looks,
                              double asleep_ns, struct sparse *out, struct sparse *lent)
{
    struct others_did others = stretch_others(stretch, OFF_BLOCKED, asleep_ns);
    double left_ns = asleep_ns - others.ran_ns - others.lacked_ns;
    others.ran_ns += gaps_of_handing_over(others.ran_ns + others.lacked_ns, left_ns);
    const struct pool *pool = &pools->at[looks];
    double own = fmin(1, pool->by_workers_ns / sparse_sum(&pool->beside));
    struct others_did of_workers = {own * others.ran_ns, own * others.lacked_ns},
                      of_callers = {others.ran_ns - of_workers.ran_ns, others.lacked_ns - of_workers.lacked_ns};
    add_others(pools, rank, looks, of_workers, out);
    add_others(pools, rank, looks, of_callers, lent);
    sparse_add(lent, atom_key(rank, atom_of_pool(pools, looks, OFF_BLOCKED)),
               -(of_callers.ran_ns + of_callers.lacked_ns));
    return of_workers;
}

/* Of time while workers ran, how much they spun. */
static double idle_share(struct pools *pools, uint32_t rank, const struct stretch *stretch)
{
    if (stretch_n_samples(stretch) >= POOL_SAMPLES_OWN) {
        struct pool own = pool_of_own(stretch, &stretch->on);
        return pool_team_idle(&own);
    }
    uint32_t pool = pools_of_stretch(pools, rank, stretch);
    return pool == INTERN_NONE ? 0 : pool_team_idle(&pools->at[pool]);
}

/* The stretch is exactly known by regions, and what lies outside them all is not. */
static void spread_paths(struct pools *pools, uint32_t rank, struct stretch *stretch, struct sparse *out)
{
    sparse_pack(&stretch->paths);
    double rest[N_AMOUNTS] = {[ON_CPU] = (double)stretch_length(stretch) - sparse_sum(&stretch->paths)};
    for (size_t i = 0; i < stretch->paths.n; i++)
        sparse_add(out, atom_key(rank, (uint32_t)stretch->paths.at[i].key), stretch->paths.at[i].ns);
    spread_unknown(pools, rank, stretch, rest, out);
}

/* Until another thread of the process woke it, of the time that it slept, by what looks found. */
static double asleep_for_threads(const struct pools *pools, uint32_t looks, double asleep_ns)
{
    const struct pool *pool = looks == INTERN_NONE ? NULL : &pools->at[looks];
    double sync_ns = pool ? sparse_sum(&pool->sync) : 0;
    return sync_ns > 0 ? asleep_ns * sync_ns / (sync_ns + sparse_sum(&pool->blocked)) : 0;
}

/* By samples, looks and counts. */
static void spread_sampled(struct pools *pools, uint32_t rank, const struct stretch *stretch, double amounts[N_AMOUNTS],
                           struct sparse *out, struct sparse *lent, struct spent *spent)
{
    uint32_t looks = amounts[OFF_BLOCKED] > 0 ? pools_of_looks(pools, rank, stretch) : INTERN_NONE;
    bool waits = waits_for_thread(pools, looks);
    double gaps_ns = waits ? gaps_of_handing_over(amounts[BY_TEAM], amounts[OFF_BLOCKED]) : 0;
    amounts[BY_TEAM] += gaps_ns;
    amounts[OFF_BLOCKED] -= gaps_ns;
    double spun_ns = amounts[BY_TEAM] > 0 ? amounts[BY_TEAM] * idle_share(pools, rank, stretch) : 0;
    bool lends = waits && !stretch->is_alone && lent && pools->at[looks].beside.n;
    struct others_did of_workers = {0};
    if (lends)
        of_workers = lend(pools, rank, stretch, looks, amounts[OFF_BLOCKED], out, lent);
    amounts[OFF_BLOCKED] -= of_workers.ran_ns + of_workers.lacked_ns;
    *spent = (struct spent){.on_ns = amounts[ON_CPU] + amounts[BY_TEAM] - spun_ns + of_workers.ran_ns,
                            .off_ns = {amounts[OFF_PREEMPTED] + of_workers.lacked_ns, amounts[OFF_BLOCKED] + spun_ns},
                            .led_by = waits ? stretch->led_by : 0,
                            .led_until_ns = stretch->led_until_ns};
    bool has_own = (stretch->n_blocked || stretch->n_sync) && pools_of_stretch(pools, rank, stretch) != INTERN_NONE;
    uint32_t asleep = has_own && !lends ? INTERN_NONE : looks;
    if (looks != INTERN_NONE && !lends && amounts[OFF_BLOCKED] > 0 && sleeps_sum(&stretch->sleeps) > 0) {
        spread_sleeps(pools, rank, stretch, looks, amounts[OFF_BLOCKED], out, spent);
        amounts[OFF_BLOCKED] = 0;
    } else {
        spent->asleep_ns = asleep_for_threads(pools, looks, amounts[OFF_BLOCKED]);
    }
    double n_samples = spread_by_knowledge(pools, rank, stretch, asleep, amounts, out);
    double sampled_ns = amounts[ON_CPU] + amounts[OFF_BLOCKED] + amounts[BY_TEAM];
    spent->noise_ns2 += n_samples ? sampled_ns * sampled_ns / n_samples : 0;
}

void spread_stretch(struct pools *pools, uint32_t rank, struct stretch *stretch, struct sparse *out,
                    struct sparse *lent, struct spent *spent)
{
    double amounts[N_AMOUNTS], length_ns = (double)stretch_length(stretch);
    if (stretch->is_off) {
        uint32_t step = steps_put(pools->sites->steps, STEP_UNKNOWN, WHAT_OFF, 0, TRACE_NONE);
        sparse_add(out, atom_key(rank, step), length_ns);
        *spent = (struct spent){.unrecorded_ns = length_ns};
    } else if (stretch->paths.n) {
        spread_paths(pools, rank, stretch, out);
        *spent = (struct spent){.on_ns = length_ns, .led_until_ns = stretch->led_until_ns};
    } else {
        stretch_split(stretch, amounts);
        spread_sampled(pools, rank, stretch, amounts, out, lent, spent);
    }
}
