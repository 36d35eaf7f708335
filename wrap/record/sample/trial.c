/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/sample/trial.h"

enum { GAP_NS = 1200 };

void trial_step(struct trial *trial, uint64_t now_ns, bool has_sample, uint64_t n_switches)
{
    uint64_t step_ns = now_ns - trial->before_ns;
    if (has_sample) {
        uint64_t took_ns = step_ns > trial->last_ns ? step_ns : trial->last_ns;
        bool stayed = n_switches == trial->n_switches;
        if (stayed && (trial->least_ns == 0 || took_ns < trial->least_ns))
            trial->least_ns = took_ns;
        trial->n_switches = n_switches;
    } else if (step_ns < GAP_NS)
        trial->looped_ns += step_ns;
    trial->before_ns = now_ns;
    trial->last_ns = step_ns;
}
