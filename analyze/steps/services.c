/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/services.h"
#include "analyze/constants/constants.h"
#include <math.h>

void services_begin(struct services *services, const struct trace *trace)
{
    *services = (struct services){.trace = trace};
    services->sums = memory_lines(trace->n_locations + 1, sizeof *services->sums);
    services->serves = memory_lines(trace->n_locations + 1, sizeof *services->serves);
}

void services_release(struct services *services)
{
    vec_free(services->sums);
    vec_free(services->serves);
}

void services_take(struct services *services, const struct lane *lane, const struct event *event)
{
    struct thread_sums *sums = &services->sums[event->loc];
    const struct stretch *stretch = &lane->stretch;
    if (lane->is_worker)
        return;
    sums->end_ns = event->time_ns;
    sums->begin_ns = sums->begin_ns ? sums->begin_ns : event->time_ns;
    sums->outside_ns += stretch_length(stretch);
    sums->off_ns += stretch->off_ns[OFF_PREEMPTED] + stretch->off_ns[OFF_BLOCKED];
    sums->blocked_ns += stretch->off_ns[OFF_BLOCKED];
    sums->n_sync += stretch->n_sync;
    sums->n_blocked += stretch->n_blocked;
}

void services_pack(const struct services *services, struct packing *packing)
{
    pack_bytes(packing, services->sums, services->trace->n_locations * sizeof *services->sums);
}

void services_unpack(struct services *services, struct unpacking *unpacking)
{
    for (uint32_t i = 0; i < services->trace->n_locations; i++) {
        struct thread_sums *sums = &services->sums[i], later;
        unpack_value(unpacking, &later);
        sums->outside_ns += later.outside_ns;
        sums->off_ns += later.off_ns;
        sums->blocked_ns += later.blocked_ns;
        sums->n_sync += later.n_sync;
        sums->n_blocked += later.n_blocked;
        sums->begin_ns = sums->begin_ns ? sums->begin_ns : later.begin_ns;
        sums->end_ns = later.end_ns ? later.end_ns : sums->end_ns;
    }
}

static double asleep_for_thread(const struct thread_sums *sums)
{
    double n = (double)(sums->n_sync + sums->n_blocked);
    return n > 0 ? (double)sums->blocked_ns * (double)sums->n_sync / n : 0;
}

static double at_work(const struct thread_sums *sums)
{
    return (double)sums->outside_ns - asleep_for_thread(sums);
}

/* The most that another thread of the process was at work. */
static double others_at_work(const struct services *services, uint32_t location)
{
    const struct trace_location *locations = services->trace->locations;
    double most_ns = 0;
    for (uint32_t i = 0; i < services->trace->n_locations; i++)
        if (i != location && locations[i].rank == locations[location].rank && services->sums[i].end_ns)
            most_ns = fmax(most_ns, at_work(&services->sums[i]));
    return most_ns;
}

static bool is_service(const struct services *services, uint32_t location)
{
    const struct thread_sums *sums = &services->sums[location];
    const struct trace *trace = services->trace;
    if (!trace->locations[location].thread || sums->end_ns <= sums->begin_ns)
        return false;
    double on_ns = (double)sums->outside_ns - (double)sums->off_ns, life_ns = (double)(sums->end_ns - sums->begin_ns);
    double may_wait_ns = life_ns - on_ns - asleep_for_thread(sums);
    double idle_ns = (double)(trace->end_ns - trace->start_ns) - others_at_work(services, location);
    return on_ns * OFF_FOR_LONG < life_ns && may_wait_ns > 0 && idle_ns < may_wait_ns / 2;
}

void services_complete(struct services *services)
{
    for (uint32_t i = 0; i < services->trace->n_locations; i++)
        services->serves[i] = services->sums[i].end_ns && is_service(services, i);
}
