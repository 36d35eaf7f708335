/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/cpu_use.h"
#include <math.h>

/* A main thread's use of CPUs. */
enum { USER_NONE, USER_ON, USER_LACKS };

struct host {
    double n_ranks, n_cpus, limit; /* 0 = unknown */
};

/* The number of ranks that can run at once. A host of which nothing is known holds up none. */
static double count_at_once(const struct trace *trace)
{
    struct intern names = {0}, cpus = {0};
    struct arena scratch = {0};
    struct host *hosts = arena_array(&scratch, struct host, trace->n_locations + 1);
    double n_at_once = 0;
    for (uint32_t i = 0; i < trace->n_locations; i++) {
        const struct trace_location *location = &trace->locations[i];
        if (location->thread)
            continue;
        const struct trace_process *process = &trace->processes[location->rank];
        uint32_t at = intern_text(&names, location->host ? location->host : "");
        struct host *host = &hosts[at];
        host->n_ranks++;
        for (uint32_t k = 0; k < process->cpus.n; k++) {
            uint32_t key[] = {at, process->cpus.at[k]};
            size_t n_before = cpus.n;
            host->n_cpus += intern_put(&cpus, key, sizeof key) == n_before;
        }
        host->n_cpus = process->cpus.n ? host->n_cpus : fmax(host->n_cpus, (double)process->machine.n_cpus);
        host->limit = process->machine.limit_milli ? (double)process->machine.limit_milli / 1000 : host->limit;
    }
    for (size_t i = 0; i < names.n; i++) {
        double most = hosts[i].n_cpus > 0 ? fmin(hosts[i].n_ranks, hosts[i].n_cpus) : hosts[i].n_ranks;
        n_at_once += hosts[i].limit > 0 ? fmin(most, hosts[i].limit) : most;
    }
    intern_release(&names);
    intern_release(&cpus);
    arena_release(&scratch);
    return n_at_once;
}

struct crew *crews_of(const struct trace *trace, struct arena *arena)
{
    struct crew *crews = arena_array(arena, struct crew, trace->n_ranks + 1);
    for (uint32_t i = 0; i < trace->n_locations; i++)
        if (trace->locations[i].rank < trace->n_ranks)
            crews[trace->locations[i].rank].n_threads++;
    for (uint32_t rank = 0; rank < trace->n_ranks; rank++) {
        uint32_t n_cpus = trace->processes ? trace->processes[rank].cpus.n : 0, n = crews[rank].n_threads;
        crews[rank].n_at_once = n_cpus && n_cpus < n ? n_cpus : n;
    }
    return crews;
}

void cpu_use_begin(struct cpu_use *use, const struct trace *trace)
{
    double n_at_once = trace->processes ? count_at_once(trace) : trace->n_ranks;
    *use = (struct cpu_use){.trace = trace};
    if (n_at_once >= trace->n_ranks || trace->end_ns <= trace->start_ns)
        return;
    use->n_at_once = n_at_once;
    use->on_ns = arena_array(&use->arena, double, CPU_USE_PARTS);
    use->off_ns = arena_array(&use->arena, double, CPU_USE_PARTS);
    use->counts_ns = arena_array(&use->arena, double, CPU_USE_PARTS + 1);
    use->users = arena_array(&use->arena, struct cpu_user, trace->n_locations);
    for (uint32_t i = 0; i < trace->n_locations; i++)
        use->users[i].since_ns = trace->start_ns;
}

void cpu_use_release(struct cpu_use *use)
{
    arena_release(&use->arena);
}

static double part_ns(const struct cpu_use *use)
{
    return (double)(use->trace->end_ns - use->trace->start_ns) / CPU_USE_PARTS;
}

/* Parts of the run before a moment. */
static double parts_until(const struct cpu_use *use, uint64_t time_ns)
{
    double since_ns = time_ns > use->trace->start_ns ? (double)(time_ns - use->trace->start_ns) : 0;
    return fmin(since_ns / part_ns(use), CPU_USE_PARTS);
}

static void add(const struct cpu_use *use, double *by_part, uint64_t from_ns, uint64_t to_ns)
{
    double from = parts_until(use, from_ns), to = parts_until(use, to_ns);
    for (int part = (int)from; part < to; part++)
        by_part[part] += part_ns(use) * (fmin(to, part + 1) - fmax(from, part));
}

void cpu_use_feed(struct cpu_use *use, const struct lane *lane, const struct event *event)
{
    if (use->n_at_once <= 0 || use->trace->locations[event->loc].thread)
        return;
    struct cpu_user *user = &use->users[event->loc];
    int state = lane->is_ended || lane->depth     ? USER_NONE
                : !lane->is_off_cpu               ? USER_ON
                : lane->off_kind == OFF_PREEMPTED ? USER_LACKS
                                                  : USER_NONE;
    if (state == user->state)
        return;
    if (user->state != USER_NONE)
        add(use, user->state == USER_ON ? use->on_ns : use->off_ns, user->since_ns, event->time_ns);
    *user = (struct cpu_user){event->time_ns, state};
}

/* Nothing is kept where it counts for nothing. */
static size_t kept_bytes(const struct cpu_use *use)
{
    return use->n_at_once > 0 ? CPU_USE_PARTS * sizeof *use->on_ns : 0;
}

void cpu_use_pack(const struct cpu_use *use, struct packing *packing)
{
    pack_bytes(packing, use->on_ns, kept_bytes(use));
    pack_bytes(packing, use->off_ns, kept_bytes(use));
}

static void parts_unpack(const struct cpu_use *use, double *by_part, struct unpacking *unpacking)
{
    double later[CPU_USE_PARTS];
    unpack_bytes(unpacking, later, kept_bytes(use));
    for (int part = 0; part < CPU_USE_PARTS && use->n_at_once > 0; part++)
        by_part[part] += later[part];
}

void cpu_use_unpack(struct cpu_use *use, struct unpacking *unpacking)
{
    parts_unpack(use, use->on_ns, unpacking);
    parts_unpack(use, use->off_ns, unpacking);
}

void cpu_use_complete(struct cpu_use *use)
{
    double n_ranks = use->trace->n_ranks, n_at_once = use->n_at_once;
    for (int part = 0; part < CPU_USE_PARTS && n_at_once > 0; part++) {
        /* If switches are not known, more ranks than can run seem to. */
        double n_on = fmin(use->on_ns[part] / part_ns(use), n_at_once);
        double n_need = (use->on_ns[part] + use->off_ns[part]) / part_ns(use);
        double idle = 1 - n_on / n_at_once, waiting = fmax(0, 1 - n_need / n_ranks);
        use->counts_ns[part + 1] = use->counts_ns[part] + part_ns(use) * (idle < waiting ? idle / waiting : 1);
    }
}

static double counts_until(const struct cpu_use *use, uint64_t time_ns)
{
    double parts = parts_until(use, time_ns);
    int part = (int)fmin(parts, CPU_USE_PARTS - 1);
    return use->counts_ns[part] + (parts - part) * (use->counts_ns[part + 1] - use->counts_ns[part]);
}

double cpu_use_share(const struct cpu_use *use, uint64_t from_ns, uint64_t to_ns)
{
    if (use->n_at_once <= 0 || to_ns <= from_ns)
        return 1;
    return fmin(1, (counts_until(use, to_ns) - counts_until(use, from_ns)) / (double)(to_ns - from_ns));
}
