/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/pass/gains.h"
#include <math.h>

void gain_add_class(struct sparse *waits, const struct path_class *class, double blame_ns)
{
    if (!(class->waiting_ns > 0))
        return;
    double longer_ns = class->longer_ns * (blame_ns / class->waiting_ns);
    sparse_add_all(waits, &class->waits, fmin(1, longer_ns / class->waiting_ns));
}

struct gain gain_bound(const struct efficiency *efficiency, const struct rank_time *ranks, uint32_t n_ranks,
                       const struct sparse *waits, const struct sparse *times, double waiting_ns)
{
    struct gain gain = {.if_gone_ns = efficiency->wall_ns};
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        double unknown_ns = ranks[rank].ended_ns + ranks[rank].mpi_ns;
        gain.if_gone_ns = fmin(gain.if_gone_ns, sparse_get(waits, rank) + sparse_get(times, rank) + unknown_ns);
    }
    double mean_ns = efficiency->all_ns > 0 ? waiting_ns * (efficiency->wall_ns / efficiency->all_ns) : 0;
    gain.if_balanced_ns = fmin(mean_ns, gain.if_gone_ns);
    return gain;
}
