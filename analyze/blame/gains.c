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

static double bound_of_rank(const struct gain_input *input, uint32_t rank)
{
    double unknown_ns = input->ranks[rank].ended_ns + input->ranks[rank].mpi_ns;
    return input->waits_ns[rank] + sparse_get(input->times, rank) + unknown_ns;
}

struct gain gain_of(const struct gain_input *input)
{
    const struct efficiency *efficiency = input->efficiency;
    struct gain gain = {.last_rank = TRACE_NONE, .if_gone_ns = INFINITY, .among_ns = INFINITY};
    for (uint32_t rank = 0; rank < input->n_ranks; rank++) {
        double bound_ns = bound_of_rank(input, rank);
        if (bound_ns < gain.if_gone_ns)
            gain.last_rank = rank;
        gain.if_gone_ns = fmin(gain.if_gone_ns, bound_ns);
        gain.among_ns = input->takes_part[rank] ? fmin(gain.among_ns, bound_ns) : gain.among_ns;
    }
    gain.if_gone_ns = fmin(gain.if_gone_ns, input->critical_ns);
    double mean_ns = efficiency->all_ns > 0 ? input->waiting_ns * (efficiency->wall_ns / efficiency->all_ns) : 0;
    gain.if_balanced_ns = fmin(mean_ns, gain.if_gone_ns);
    if (mean_ns <= gain.if_gone_ns)
        gain.last_rank = TRACE_NONE;
    return gain;
}

uint32_t gains_count_contradictions(const struct analysis *analysis)
{
    static const double LARGE = 0.2, MOST = 0.5, NOTHING = 0.05;
    const struct efficiency *efficiency = &analysis->efficiency;
    uint32_t n = 0;
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        const struct cause *cause = &analysis->causes[i];
        double mean_ns = efficiency->all_ns > 0 ? cause->waiting_ns * (efficiency->wall_ns / efficiency->all_ns) : 0;
        n += cause->share > LARGE && cause->inferred_ns > MOST * cause->waiting_ns &&
             cause->among_ns < NOTHING * mean_ns;
    }
    return n;
}
