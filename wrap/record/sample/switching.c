/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/sample/switching.h"

enum {
    /* Frequent switches begin at a rate at which stopping and starting the timer takes one percent, and end far below,
     * since each change of the period costs some microseconds as well. */
    SWITCHING_WINDOW_NS = 50000000,
    SWITCHING_BEGINS_PER_S = 10000,
    SWITCHING_ENDS_PER_S = 2500,
    /* Off the CPU in a call: what takes less happens for any reason, more is told at once. */
    SHORTEST_ABSENCE_NS = 20000,
    LONGEST_ABSENCE_NS = 500000,
    PART_OF_CALL = 4,
    DELAYS_OF_CALL = 12, /* measured: 4 ranks on 2 cores with 2, 15 and 200 switches a call */
};

bool switching_changed(struct switching *switching, uint64_t now_ns)
{
    uint64_t took_ns = now_ns - switching->since_ns;
    if (took_ns < SWITCHING_WINDOW_NS)
        return false;
    double per_s = (double)switching->n_switches / ((double)took_ns * 1e-9);
    bool was_frequent = switching->is_frequent;
    switching->is_frequent = per_s >= (was_frequent ? SWITCHING_ENDS_PER_S : SWITCHING_BEGINS_PER_S);
    switching->since_ns = now_ns;
    switching->n_switches = 0;
    return switching->is_frequent != was_frequent;
}

uint64_t absence_add(struct absence *absence, uint64_t call_ns, uint64_t from_ns, uint64_t now_ns)
{
    uint64_t due_ns = (now_ns - call_ns) / PART_OF_CALL;
    if (due_ns < SHORTEST_ABSENCE_NS)
        due_ns = SHORTEST_ABSENCE_NS;
    if (due_ns > LONGEST_ABSENCE_NS)
        due_ns = LONGEST_ABSENCE_NS;
    if (call_ns == 0 || absence->call_ns != call_ns)
        *absence = (struct absence){.call_ns = call_ns};
    absence->off_ns += now_ns > from_ns ? now_ns - from_ns : 0;
    uint64_t off_ns = absence->off_ns < due_ns ? 0 : absence->off_ns;
    absence->off_ns -= off_ns;
    return off_ns;
}

bool yielding_delays(struct yielding *yielding, uint64_t call_ns)
{
    if (call_ns == 0 || yielding->call_ns != call_ns)
        *yielding = (struct yielding){.call_ns = call_ns};
    return ++yielding->n <= DELAYS_OF_CALL;
}
