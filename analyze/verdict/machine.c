/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/verdict/machine.h"
#include "analyze/constants/constants.h"

static bool was_stopped(const struct machine *machine, uint32_t rank)
{
    for (uint32_t i = 0; i < machine->n_stops; i++)
        if (machine->stops[i].rank == rank && machine->stops[i].is_most)
            return true;
    return false;
}

/* A rank that carries most of the machine's row was there, and was not stopped. */
static bool lacked_cpus(const struct machine *machine, const struct machine_host *host)
{
    for (uint32_t i = 0; i < machine->n_late; i++)
        for (uint32_t k = 0; k < host->n_ranks; k++)
            if (host->ranks[k] == machine->ranks[i].rank && !was_stopped(machine, host->ranks[k]))
                return true;
    return false;
}

static bool has_more_threads(const struct machine_host *host)
{
    return host->n_cpus && host->n_busy_threads > host->n_cpus && host->n_busy_threads > host->n_ranks;
}

/* Where ranks or their threads are more than CPUs, they take them from each other: computing, or not. */
static unsigned taken_by_ranks(const struct machine_host *host)
{
    bool are_many = host->n_crowds || has_more_threads(host) || host->n_large_teams;
    if (!are_many || !(host->cpus_of_ranks > 0))
        return 0;
    return LACKS_RANKS | (host->cpus_beside > (NOTABLY_LONGER - 1) * host->n_cpus ? LACKS_BESIDE : 0);
}

static unsigned lacks_of(const struct machine_host *host)
{
    return (host->n_crowds ? LACKS_CROWDS : 0) | (has_more_threads(host) ? LACKS_THREADS : 0) |
           (host->n_large_teams ? LACKS_TEAMS : 0) | (host->throttled_ns > 0 ? LACKS_LIMIT : 0) |
           (host->cpus_of_others > (NOTABLY_LONGER - 1) * host->n_cpus ? LACKS_OTHERS : 0) |
           (host->cpus_stolen > (NOTABLY_LONGER - 1) * host->n_cpus ? LACKS_STOLEN : 0) | taken_by_ranks(host);
}

void machine_judge(struct machine *machine)
{
    machine->is_stopped = machine->n_late > 0;
    for (uint32_t i = 0; i < machine->n_late; i++)
        machine->is_stopped &= was_stopped(machine, machine->ranks[i].rank);
    for (uint32_t i = 0; i < machine->n_hosts; i++) {
        struct machine_host *host = &machine->hosts[i];
        host->lacks = lacked_cpus(machine, host) ? lacks_of(host) : 0;
    }
    machine->is_open = !machine->is_stopped && !machine_is_short(machine) && machine->share >= WORTH_SAYING;
}

bool machine_is_short(const struct machine *machine)
{
    unsigned lacks = 0;
    for (uint32_t i = 0; i < machine->n_hosts; i++)
        lacks |= machine->hosts[i].lacks;
    return lacks != 0;
}

bool machine_has_more_threads(const struct machine *machine)
{
    for (uint32_t i = 0; i < machine->n_hosts; i++)
        if (has_more_threads(&machine->hosts[i]))
            return true;
    return false;
}
