/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins at a rate at which stopping and starting the timer takes one percent, and ends far below, since each change of
 * the period costs some microseconds as well. */
#include "wrap/record/sample/storm.h"

enum { WINDOW_NS = 50000000, BEGINS_PER_S = 10000, ENDS_PER_S = 2500 };

bool storm_has_changed(struct storm *storm, uint64_t now_ns)
{
    uint64_t took_ns = now_ns - storm->since_ns;
    if (took_ns < WINDOW_NS)
        return false;
    double per_s = (double)storm->n_switches / ((double)took_ns * 1e-9);
    bool was_on = storm->is_on;
    storm->is_on = per_s >= (was_on ? ENDS_PER_S : BEGINS_PER_S);
    storm->since_ns = now_ns;
    storm->n_switches = 0;
    return storm->is_on != was_on;
}
