/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/out/machine.h"
#include "analyze/out/amount.h"
#include "wrap/base/containers.h"
#include <string.h>

/* Of a node's CPUs: what others may use before it is told. */
static const double WORTH_TELLING = 0.05;

static const char *join(struct arena *arena, const char *text, const char *more)
{
    return *text ? arena_printf(arena, "%s; %s", text, more) : more;
}

/* "CPU 3", "CPUs 0-3" */
static const char *cpus_text(struct arena *arena, const struct trace_cpus *cpus)
{
    return arena_printf(arena, "%s%s", cpus->n == 1 ? "CPU " : "CPUs ",
                        strchr(amount_ranks(arena, cpus->at, cpus->n), ' ') + 1);
}

/* "8 ranks share 2 CPUs", "ranks 0,1 may use only CPU 3" */
static const char *crowd_text(struct arena *arena, const struct machine_host *host, const struct machine_crowd *crowd)
{
    if (crowd->n_ranks == host->n_ranks && crowd->cpus.n >= host->n_cpus)
        return arena_printf(arena, "%u ranks share %u %s", crowd->n_ranks, crowd->cpus.n,
                            crowd->cpus.n == 1 ? "CPU" : "CPUs");
    return arena_printf(arena, "%s may use only %s", amount_ranks(arena, crowd->ranks, crowd->n_ranks),
                        cpus_text(arena, &crowd->cpus));
}

/* "" where nothing speaks for a lack of CPUs. */
static const char *host_text(struct arena *arena, const struct machine_host *host)
{
    enum { CROWDS_TOLD = 3 };
    const char *text = "";
    for (uint32_t i = 0; i < host->n_crowds && i < CROWDS_TOLD; i++)
        text = join(arena, text, crowd_text(arena, host, &host->crowds[i]));
    if (host->n_crowds > CROWDS_TOLD)
        text = join(arena, text, arena_printf(arena, "%u more like these", host->n_crowds - CROWDS_TOLD));
    if (host->n_busy_threads > host->n_cpus && host->n_busy_threads > host->n_ranks && host->n_cpus)
        text = join(arena, text,
                    arena_printf(arena, "%u busy threads of %u %s share %u CPUs", host->n_busy_threads, host->n_ranks,
                                 host->n_ranks == 1 ? "rank" : "ranks", host->n_cpus));
    if (host->n_large_teams)
        text = join(arena, text,
                    arena_printf(arena, "%s %s more busy threads than CPUs",
                                 amount_ranks(arena, host->large_teams, host->n_large_teams),
                                 host->n_large_teams == 1 ? "has" : "have"));
    if (host->throttled_ns > 0)
        text = join(arena, text,
                    arena_printf(arena, "a limit of %.3g CPUs kept them from running for %s", host->cpu_limit,
                                 amount_duration(host->throttled_ns).text));
    if (host->cpus_of_others > WORTH_TELLING * host->n_cpus)
        text = join(arena, text,
                    arena_printf(arena, "other processes used %.2g of %u CPUs", host->cpus_of_others, host->n_cpus));
    if (host->cpus_stolen > WORTH_TELLING * host->n_cpus)
        text = join(arena, text,
                    arena_printf(arena, "the host of this virtual machine took away %.2g of %u CPUs", host->cpus_stolen,
                                 host->n_cpus));
    return text;
}

static bool lacked_cpus(const struct machine *machine, const struct machine_host *host)
{
    for (uint32_t i = 0; i < machine->n_late; i++)
        for (uint32_t k = 0; k < host->n_ranks; k++)
            if (host->ranks[k] == machine->ranks[i].rank)
                return true;
    return false;
}

/* Hosts of which the same is to be said. */
struct alike {
    const char *text, *first;
    uint32_t n;
};

struct sentences machine_reasons(const struct label_book *book)
{
    const struct machine *machine = &book->analysis->machine;
    struct arena *arena = book->arena;
    VEC(struct alike) all = {0};
    for (uint32_t i = 0; i < machine->n_hosts; i++) {
        const struct machine_host *host = &machine->hosts[i];
        const char *text = lacked_cpus(machine, host) ? host_text(arena, host) : "";
        size_t at = 0;
        while (at < all.n && strcmp(all.at[at].text, text) != 0)
            at++;
        if (!*text)
            continue;
        if (at == all.n)
            *vec_push(&all) = (struct alike){text, host->name, 0};
        all.at[at].n++;
    }
    struct sentences sentences = {.at = arena_array(arena, const char *, all.n + 1)};
    for (size_t i = 0; i < all.n; i++)
        sentences.at[sentences.n++] =
            all.at[i].n == 1 ? arena_printf(arena, "on %s: %s", all.at[i].first, all.at[i].text)
                             : arena_printf(arena, "on %s and %u more %s, each: %s", all.at[i].first, all.at[i].n - 1,
                                            all.at[i].n > 2 ? "hosts" : "host", all.at[i].text);
    if (!sentences.n && machine->n_hosts)
        sentences.at[sentences.n++] =
            "there were CPUs enough for all ranks, and others used few of them: look for what "
            "takes a CPU for moments, such as services of the system";
    else if (!sentences.n)
        sentences.at[sentences.n++] =
            "look for more ranks or threads than CPUs, ranks bound to the same CPU, and other processes there";
    vec_release(&all);
    return sentences;
}

const char *machine_ranks(const struct label_book *book)
{
    const struct trace *trace = book->analysis->trace;
    const struct machine *machine = &book->analysis->machine;
    uint32_t *ranks = arena_array(book->arena, uint32_t, machine->n_late), n_there = 0;
    const char *host = NULL;
    bool is_shared = true;
    for (uint32_t i = 0; i < machine->n_late; i++) {
        const struct trace_location *location = ending_main_thread(trace, machine->ranks[i].rank);
        const char *its_host = location ? location->host : NULL;
        ranks[i] = machine->ranks[i].rank;
        is_shared = is_shared && its_host && (!host || !strcmp(host, its_host));
        host = its_host;
    }
    const char *text = amount_ranks(book->arena, ranks, machine->n_late);
    if (!is_shared || !host)
        return text;
    for (uint32_t i = 0; i < trace->n_locations; i++)
        n_there += !trace->locations[i].thread && trace->locations[i].host && !strcmp(trace->locations[i].host, host);
    return arena_printf(book->arena, "%s on %s (%u ranks there)", text, host, n_there);
}

bool machine_is_crowded(const struct analysis *analysis)
{
    for (uint32_t i = 0; i < analysis->machine.n_hosts; i++)
        if (analysis->machine.hosts[i].n_crowds)
            return true;
    return false;
}
