/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/sample/wake.h"

enum {
    WORTH_TELLING_NS = 20000, /* an idle processor takes some microseconds to wake up */
    /* Shorter stops are not told from a busy machine: virtual CPUs are away for some ten milliseconds, each at its own
     * time. */
    STOP_LEAST_NS = 100000000,
};

void wake_take_absence(struct wake *wake, bool was_asleep, uint64_t off_ns)
{
    *(was_asleep ? &wake->asleep_ns : &wake->preempted_ns) += off_ns;
}

void wake_take_count(struct wake *wake, uint64_t ready_ns, bool is_whole)
{
    uint64_t known_ns = wake->ready_ns + wake->preempted_ns, woken_ns = ready_ns > known_ns ? ready_ns - known_ns : 0;
    double share = woken_ns < wake->asleep_ns ? (double)woken_ns / (double)wake->asleep_ns : 1;
    *wake = (struct wake){.ready_ns = ready_ns, .share = is_whole && wake->asleep_ns > 0 ? share : 0};
}

uint64_t wake_ready_ns(const struct wake *wake, uint64_t asleep_ns)
{
    uint64_t ready_ns = (uint64_t)((double)asleep_ns * wake->share);
    return ready_ns < WORTH_TELLING_NS ? 0 : ready_ns;
}

struct stop stop_between(uint64_t began_ns, uint64_t due_ns, uint64_t now_ns, uint64_t ready_ns)
{
    uint64_t latest_ns = due_ns + ready_ns + STOP_LEAST_NS;
    return now_ns > latest_ns ? (struct stop){began_ns, now_ns - ready_ns} : (struct stop){0, 0};
}

uint64_t stop_within(const struct stop *stop, uint64_t from_ns, uint64_t until_ns)
{
    uint64_t first_ns = from_ns > stop->from_ns ? from_ns : stop->from_ns;
    uint64_t last_ns = until_ns < stop->until_ns ? until_ns : stop->until_ns;
    uint64_t common_ns = last_ns > first_ns ? last_ns - first_ns : 0;
    return common_ns > (stop->until_ns - stop->from_ns) / 2 ? common_ns : 0;
}
