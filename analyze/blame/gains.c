/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/gains.h"
#include <math.h>

void gain_add_class(double *waits_ns, const struct path_class *class, double blame_ns)
{
    if (!(class->waiting_ns > 0))
        return;
    double longer_ns = class->longer_ns * (blame_ns / class->waiting_ns);
    double share = fmin(1, longer_ns / class->waiting_ns);
    for (size_t i = 0; i < class->waits.n; i++)
        waits_ns[class->waits.at[i].key] += share * class->waits.at[i].ns;
}

/* The least over the ranks, and whose it is. */
static double bound_by_rank(const struct gain_input *input, uint32_t *last_rank)
{
    double least_ns = INFINITY;
    for (uint32_t rank = 0; rank < input->n_ranks; rank++) {
        double unknown_ns = input->ranks[rank].ended_ns + input->ranks[rank].mpi_ns,
               bound_ns = input->waits_ns[rank] + sparse_get(input->times, rank) + unknown_ns;
        if (bound_ns < least_ns)
            *last_rank = rank;
        least_ns = fmin(least_ns, bound_ns);
    }
    return least_ns;
}

struct gain gain_of(const struct gain_input *input)
{
    const struct efficiency *efficiency = input->efficiency;
    struct gain gain = {.last_rank = TRACE_NONE};
    gain.if_gone_ns = fmin(bound_by_rank(input, &gain.last_rank), input->critical_ns);
    double mean_ns = efficiency->all_ns > 0 ? input->waiting_ns * (efficiency->wall_ns / efficiency->all_ns) : 0;
    gain.if_balanced_ns = fmin(mean_ns, gain.if_gone_ns);
    if (mean_ns <= gain.if_gone_ns)
        gain.last_rank = TRACE_NONE;
    return gain;
}
