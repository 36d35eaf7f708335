/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/efficiency.h"
#include <math.h>

/* The chain that ends last is the critical path. Ties: the lowest location. */
static const struct queue_of_calls *critical_lane(const struct replay *replay)
{
    const struct queue_of_calls *critical = NULL;
    for (uint32_t i = 0; i < replay->trace->n_locations; i++)
        if (!critical || replay->lanes[i].now_ns > critical->now_ns)
            critical = &replay->lanes[i];
    return critical;
}

/* Of the critical path: outside MPI, and inside it without a CPU. */
struct critical {
    double outside_ns, absent_ns;
};

static struct critical critical_of(struct pools *pools, const struct sparse *terms)
{
    struct critical critical = {0};
    for (size_t i = 0; i < terms->n; i++) {
        struct term single;
        struct shares shares = pools_expand(pools, (uint32_t)terms->at[i].key, &single);
        const struct step_key *key = shares.n ? steps_key(pools->sites->steps, (uint32_t)shares.at[0].key) : NULL;
        if (!key || (key->what != WHAT_SITE && key->what != WHAT_WAIT))
            critical.outside_ns += terms->at[i].ns;
        else if (key->state == STEP_DESCHEDULED)
            critical.absent_ns += terms->at[i].ns;
    }
    return critical;
}

void efficiency_critical_path(const struct replay *replay, struct sparse *terms)
{
    const struct queue_of_calls *lane = critical_lane(replay);
    if (lane)
        sparse_add_all(terms, &lane->open, 1);
    for (const struct chain_node *node = lane ? lane->tip : NULL; node; node = node->parent)
        sparse_add_all(terms, &node->terms, 1);
    sparse_pack(terms);
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/*
 * A thread that sleeps until another one of its process wakes it does nothing, and what the others do is counted: it
 * stands for its process only as far as those that do something do not fill the run. What is left out.
 */
static double idle_beside_ns(const struct rank_time *time)
{
    return fmin(time->asleep_ns, time->beside_ns);
}

static void add_rank(struct efficiency *efficiency, const struct rank_time *time)
{
    double idle_ns = idle_beside_ns(time);
    efficiency->all_ns += efficiency->wall_ns + time->beside_ns - idle_ns;
    efficiency->compute_ns += time->compute_ns;
    efficiency->descheduled_ns += time->descheduled_ns;
    efficiency->blocked_ns += time->blocked_ns - idle_ns;
    efficiency->mpi_ns += time->mpi_ns;
    efficiency->transfer_ns += time->transfer_ns > 0 ? time->transfer_ns : 0;
    efficiency->waiting_ns += time->waiting_ns;
    efficiency->unrecorded_ns += time->unrecorded_ns;
    efficiency->ended_ns += time->ended_ns;
}

/* Outside MPI, for one of the threads that are counted, on average. */
static double useful_ns(const struct rank_time *time, double wall_ns)
{
    double idle_ns = idle_beside_ns(time), n_threads = 1 + (time->beside_ns - idle_ns) / wall_ns;
    return wall_ns > 0 ? (time->outside_ns - idle_ns) / n_threads : 0;
}

void efficiency_write(struct analysis *analysis, const struct replay *replay, struct pools *pools,
                      const struct sparse *critical)
{
    struct efficiency *efficiency = &analysis->efficiency;
    uint32_t n_ranks = analysis->trace->n_ranks;
    double useful_sum_ns = 0, useful_max_ns = 0;
    efficiency->wall_ns = (double)(analysis->trace->end_ns - analysis->trace->start_ns);
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        double rank_useful_ns = useful_ns(&replay->ranks[rank], efficiency->wall_ns);
        add_rank(efficiency, &replay->ranks[rank]);
        useful_sum_ns += rank_useful_ns;
        useful_max_ns = fmax(useful_max_ns, rank_useful_ns);
    }
    struct critical path = critical_of(pools, critical);
    double ideal_ns = fmax(path.outside_ns, useful_max_ns), wall_ns = efficiency->wall_ns;
    double present_ns = fmax(wall_ns - path.absent_ns, fmin(ideal_ns, wall_ns));
    efficiency->parallel = ratio(useful_sum_ns / (n_ranks ? n_ranks : 1), efficiency->wall_ns);
    efficiency->load_balance = ratio(useful_sum_ns / (n_ranks ? n_ranks : 1), useful_max_ns);
    efficiency->serialisation = ratio(useful_max_ns, ideal_ns);
    efficiency->transfer = ratio(ideal_ns, present_ns);
    efficiency->processor = ratio(present_ns, wall_ns);
}
