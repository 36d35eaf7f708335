/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/blame/hosts.h"
#include <math.h>
#include <string.h>

/* Both sorted. */
static bool is_subset(const struct trace_cpus *part, const struct trace_cpus *whole)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < part->n; i++) {
        while (k < whole->n && whole->at[k] < part->at[i])
            k++;
        if (k == whole->n || whole->at[k] != part->at[i])
            return false;
    }
    return true;
}

static const struct trace_cpus *cpus_of(const struct analysis *analysis, const struct machine_host *host, uint32_t i)
{
    return &analysis->trace->processes[host->ranks[i]].cpus;
}

/* Sets of CPUs that too many ranks have to share; of those around the same ranks the smallest. */
static void find_crowds(struct analysis *analysis, struct machine_host *host)
{
    host->crowds = arena_array(&analysis->arena, struct machine_crowd, host->n_ranks);
    for (uint32_t i = 0; i < host->n_ranks; i++) {
        const struct trace_cpus *cpus = cpus_of(analysis, host, i);
        bool is_told = !cpus->n;
        for (uint32_t k = 0; k < i && !is_told; k++)
            is_told = cpus_of(analysis, host, k)->n == cpus->n && is_subset(cpus_of(analysis, host, k), cpus);
        if (is_told)
            continue;
        struct machine_crowd crowd = {.cpus = *cpus, .ranks = arena_array(&analysis->arena, uint32_t, host->n_ranks)};
        for (uint32_t k = 0; k < host->n_ranks; k++)
            if (cpus_of(analysis, host, k)->n && is_subset(cpus_of(analysis, host, k), cpus))
                crowd.ranks[crowd.n_ranks++] = host->ranks[k];
        if (crowd.n_ranks > cpus->n)
            host->crowds[host->n_crowds++] = crowd;
    }
}

/* CPU time of everybody and of these ranks, as the rank that watched for longest saw it. */
static void add_loads(const struct analysis *analysis, struct machine_host *host)
{
    const struct ww_machine *longest = NULL;
    double own_ns = 0;
    for (uint32_t i = 0; i < host->n_ranks; i++) {
        const struct ww_machine *machine = &analysis->trace->processes[host->ranks[i]].machine;
        own_ns += (double)machine->own_ns;
        longest = !longest || machine->watched_ns > longest->watched_ns ? machine : longest;
        host->n_cpus = machine->n_cpus > host->n_cpus ? (uint32_t)machine->n_cpus : host->n_cpus;
        host->throttled_ns = fmax(host->throttled_ns, (double)machine->throttled_ns);
        if (machine->limit_milli)
            host->cpu_limit = (double)machine->limit_milli / 1000;
        host->n_busy_threads += machine->n_busy_threads > 1 ? (uint32_t)machine->n_busy_threads : 1;
    }
    if (!longest || !longest->watched_ns)
        return;
    double watched_ns = (double)longest->watched_ns;
    host->cpus_of_others = longest->busy_ns ? fmax(0, ((double)longest->busy_ns - own_ns) / watched_ns) : 0;
    host->cpus_stolen = (double)longest->stolen_ns / watched_ns;
}

static struct machine_host *host_of(struct analysis *analysis, const char *name)
{
    struct machine *machine = &analysis->machine;
    for (uint32_t i = 0; i < machine->n_hosts; i++)
        if (!strcmp(machine->hosts[i].name, name))
            return &machine->hosts[i];
    struct machine_host *host = &machine->hosts[machine->n_hosts++];
    *host =
        (struct machine_host){.name = name, .ranks = arena_array(&analysis->arena, uint32_t, analysis->trace->n_ranks)};
    return host;
}

void hosts_write(struct analysis *analysis)
{
    const struct trace *trace = analysis->trace;
    uint32_t n_known = 0;
    for (uint32_t rank = 0; trace->processes && rank < trace->n_ranks; rank++)
        n_known += trace->processes[rank].machine.n_cpus > 0;
    if (!n_known)
        return;
    analysis->machine.hosts = arena_array(&analysis->arena, struct machine_host, trace->n_ranks);
    for (uint32_t i = 0; i < trace->n_locations; i++) {
        const struct trace_location *location = &trace->locations[i];
        if (location->thread || !location->host)
            continue;
        struct machine_host *host = host_of(analysis, location->host);
        host->ranks[host->n_ranks++] = location->rank;
    }
    for (uint32_t i = 0; i < analysis->machine.n_hosts; i++) {
        struct machine_host *host = &analysis->machine.hosts[i];
        add_loads(analysis, host);
        find_crowds(analysis, host);
        /* Ranks whose threads at work are more than the CPUs that they may use. */
        host->large_teams = arena_array(&analysis->arena, uint32_t, host->n_ranks);
        for (uint32_t j = 0; j < host->n_ranks; j++) {
            const struct trace_process *process = &analysis->trace->processes[host->ranks[j]];
            uint64_t n_cpus = process->cpus.n ? process->cpus.n : process->machine.n_cpus;
            if (n_cpus && process->machine.n_busy_threads > 1 && process->machine.n_busy_threads > n_cpus)
                host->large_teams[host->n_large_teams++] = host->ranks[j];
        }
    }
}
