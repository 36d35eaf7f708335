/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/cause_sums.h"
#include "analyze/constants/constants.h"
#include "wrap/base/keys.h"
#include <math.h>

double causes_threads_beyond(const struct causes *causes, uint32_t rank, uint32_t place)
{
    const struct crew *crew = &causes->crews[rank];
    if (crew->n_threads < 2)
        return 0;
    double process_ns = fmax(sparse_get(&causes->busy_code, atom_key(rank, place)), 1);
    double at_a_time = costs_sampled_ns(causes->input->costs, rank, place) / process_ns;
    return at_a_time > MORE_THREADS * crew->n_at_once ? at_a_time : 0;
}

double causes_cost_error(const struct causes *causes, uint32_t rank, uint32_t place)
{
    double error = costs_error(causes->input->costs, rank, place), beyond = causes_threads_beyond(causes, rank, place);
    return beyond > 0 ? error + log(beyond) / SAME_DEVIATIONS : error;
}

const struct path_class *causes_class(const struct causes_input *input, uint64_t key)
{
    uint32_t site = input->measures->site_order[key_high(key)];
    return input->classes->sites.at[site].classes.at[key_low(key)];
}
