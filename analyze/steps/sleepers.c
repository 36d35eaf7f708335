/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/sleepers.h"

/* Another thread that has woken it explains its sleep, if that one had slept for most of the time in which nobody of
 * the process ran. Nobody may have looked at the sleep. It is one of these, or is where the thread was last seen asleep
 * by itself. */
static uint32_t asleep_in(const struct sleeper *sleeper, const struct ended_sleep *woke, uint64_t since_ns,
                          uint64_t now_ns, uint64_t busy_ns)
{
    uint64_t off_ns = now_ns - since_ns, quiet_ns = off_ns > busy_ns ? off_ns - busy_ns : 0;
    uint64_t begin_ns = woke->begin_ns > since_ns ? woke->begin_ns : since_ns;
    if (sleeper->n_seen > sleeper->n_sync)
        return sleeper->naps_in;
    bool explains = woke->end_ns > begin_ns && woke->end_ns - begin_ns > quiet_ns / 2;
    return explains ? woke->step : sleeper->n_seen ? 0 : sleeper->naps_in;
}

uint32_t sleeper_wakes(struct sleeper *sleeper, struct ended_sleep *woke, uint64_t since_ns, uint64_t now_ns,
                       uint64_t busy_ns)
{
    struct ended_sleep *last = &sleeper->slept;
    uint32_t step = asleep_in(sleeper, woke, since_ns, now_ns, busy_ns);
    if (!step)
        return 0;
    bool goes_on = last->step == step && since_ns < last->end_ns + (now_ns - since_ns);
    *last = (struct ended_sleep){step, goes_on ? last->begin_ns : since_ns, now_ns};
    *woke = *last;
    return step;
}
