/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/words/shortage.h"
#include "analyze/verdict/machine.h"
#include "analyze/words/amount.h"
#include <string.h>

static const char *join(struct arena *arena, const char *text, const char *more)
{
    return *text ? arena_printf(arena, "%s; %s", text, more) : more;
}

/* "8 ranks share 2 CPUs", "ranks 0,1 may use only CPU 3" */
static const char *crowd_text(struct arena *arena, const struct machine_host *host, const struct machine_crowd *crowd)
{
    if (crowd->n_ranks == host->n_ranks && crowd->cpus.n >= host->n_cpus)
        return arena_printf(arena, "%u ranks share %u %s", crowd->n_ranks, crowd->cpus.n,
                            crowd->cpus.n == 1 ? "CPU" : "CPUs");
    /* Numbers of CPUs are told like those of ranks, without the word. */
    return arena_printf(arena, "%s may use only %s%s", amount_ranks(arena, crowd->ranks, crowd->n_ranks),
                        crowd->cpus.n == 1 ? "CPU " : "CPUs ",
                        strchr(amount_ranks(arena, crowd->cpus.at, crowd->cpus.n), ' ') + 1);
}

/* "at times 18 threads of 4 ranks shared 8 CPUs (ranks 2,3 had 8 each)": the most that were ready at once. */
static const char *threads_text(struct arena *arena, const struct machine_host *host)
{
    const char *most = "";
    if (host->n_busiest)
        most = arena_printf(arena, " (%s had %u%s)", amount_ranks(arena, host->busiest, host->n_busiest),
                            host->n_threads_most, host->n_busiest == 1 ? "" : " each");
    return arena_printf(arena, "at times %u threads of %u %s shared %u CPUs%s", host->n_busy_threads, host->n_ranks,
                        host->n_ranks == 1 ? "rank" : "ranks", host->n_cpus, most);
}

/* Why ranks there lacked CPUs; "" where none did, or nothing speaks for it. */
static const char *host_text(struct arena *arena, const struct machine_host *host)
{
    enum { CROWDS_TOLD = 3 };
    const char *text = "";
    uint32_t n_told = host->lacks & LACKS_CROWDS ? host->n_crowds : 0;
    for (uint32_t i = 0; i < n_told && i < CROWDS_TOLD; i++)
        text = join(arena, text, crowd_text(arena, host, &host->crowds[i]));
    if (n_told > CROWDS_TOLD)
        text = join(arena, text, arena_printf(arena, "%u more like these", n_told - CROWDS_TOLD));
    if (host->lacks & LACKS_THREADS)
        text = join(arena, text, threads_text(arena, host));
    if (host->lacks & LACKS_TEAMS)
        text = join(arena, text,
                    arena_printf(arena, "%s %s more busy threads than CPUs that %s may use",
                                 amount_ranks(arena, host->large_teams, host->n_large_teams),
                                 host->n_large_teams == 1 ? "has" : "have", host->n_large_teams == 1 ? "it" : "they"));
    if (host->lacks & LACKS_LIMIT)
        text = join(arena, text,
                    arena_printf(arena, "a limit of %.3g CPUs kept them from running for %s", host->cpu_limit,
                                 amount_duration(host->throttled_ns).text));
    if (host->lacks & LACKS_OTHERS)
        text = join(arena, text,
                    arena_printf(arena, "other processes used %.2g of %u CPUs", host->cpus_of_others, host->n_cpus));
    if (host->lacks & LACKS_STOLEN)
        text = join(arena, text,
                    arena_printf(arena, "the host of this virtual machine took away %.2g of %u CPUs", host->cpus_stolen,
                                 host->n_cpus));
    return text;
}

/* Hosts of which the same is to be said, but for how much their ranks used: of that the sums. One that is alone names
 * the rank. */
struct alike {
    const char *text;
    const struct machine_host *first;
    double used, beside; /* CPUs */
    uint32_t n;
};

/* "; the ranks used 1.4 of 2 CPUs, 0.55 of that inside MPI" */
static const char *use_text(struct arena *arena, const struct alike *alike)
{
    const struct machine_host *host = alike->first;
    if (!(host->lacks & LACKS_RANKS))
        return "";
    const char *used = arena_printf(arena, "; the ranks used %.2g of %u %s", alike->used / alike->n, host->n_cpus,
                                    host->n_cpus == 1 ? "CPU" : "CPUs");
    if (!(host->lacks & LACKS_BESIDE))
        return used;
    const char *whose = alike->n == 1 && host->beside_rank != TRACE_NONE
                            ? arena_printf(arena, ", mostly on rank %u", host->beside_rank)
                            : "";
    return arena_printf(arena, "%s, %.2g of that inside MPI%s%s", used, alike->beside / alike->n,
                        host->n_busy_threads > host->n_ranks ? " or in threads that do not call MPI" : "", whose);
}

/* Of those that carry most of the machine's row: the first few, and how many more. */
static void add_stops(struct arena *arena, const struct machine *machine, struct sentences *sentences)
{
    enum { STOPS_SHOWN = 4 };
    uint32_t n_more = 0;
    for (uint32_t i = 0; i < machine->n_stops; i++) {
        const struct machine_stop *stop = &machine->stops[i];
        if (!stop->is_most)
            continue;
        if (sentences->n == STOPS_SHOWN)
            n_more++;
        else
            sentences->at[sentences->n++] =
                arena_printf(arena, "rank %u was stopped for %s, by a signal or with its machine", stop->rank,
                             amount_duration(stop->stopped_ns).text);
    }
    if (n_more)
        sentences->at[sentences->n - 1] = arena_printf(arena, "%s; so %s %u more", sentences->at[sentences->n - 1],
                                                       n_more == 1 ? "was" : "were", n_more);
}

struct sentences shortage_reasons(const struct label_book *book)
{
    const struct machine *machine = &book->analysis->machine;
    struct arena *arena = book->arena;
    VEC(struct alike) all = {0};
    for (uint32_t i = 0; i < machine->n_hosts; i++) {
        const struct machine_host *host = &machine->hosts[i];
        const char *text = host_text(arena, host);
        size_t at = 0;
        while (at < all.n && (strcmp(all.at[at].text, text) || all.at[at].first->lacks != host->lacks ||
                              all.at[at].first->n_cpus != host->n_cpus))
            at++;
        if (!*text)
            continue;
        if (at == all.n)
            *vec_push(&all) = (struct alike){.text = text, .first = host};
        all.at[at].used += host->cpus_of_ranks;
        all.at[at].beside += host->cpus_beside;
        all.at[at].n++;
    }
    struct sentences sentences = {.at = arena_array(arena, const char *, all.n + machine->n_stops + 1)};
    add_stops(arena, machine, &sentences);
    for (size_t i = 0; i < all.n; i++)
        sentences.at[sentences.n++] =
            all.at[i].n == 1
                ? arena_printf(arena, "on %s: %s%s", all.at[i].first->name, all.at[i].text, use_text(arena, &all.at[i]))
                : arena_printf(arena, "on %s and %u more %s, each: %s%s", all.at[i].first->name, all.at[i].n - 1,
                               all.at[i].n > 2 ? "hosts" : "host", all.at[i].text, use_text(arena, &all.at[i]));
    vec_release(&all);
    if (!machine->is_open)
        return sentences;
    if (machine->n_hosts)
        sentences.at[sentences.n++] =
            "there were CPUs enough for all ranks, and others used few of them: look for what "
            "takes a CPU for moments, such as services of the system";
    else
        sentences.at[sentences.n++] =
            "look for more ranks or threads than CPUs, ranks bound to the same CPU, and other processes there";
    return sentences;
}

const char *shortage_ranks(const struct label_book *book)
{
    const struct trace *trace = book->analysis->trace;
    const struct machine *machine = &book->analysis->machine;
    uint32_t *ranks = arena_array(book->arena, uint32_t, machine->n_late), n_there = 0;
    const char *host = NULL;
    bool is_shared = true;
    for (uint32_t i = 0; i < machine->n_late; i++) {
        const struct trace_location *location = trace_main_thread(trace, machine->ranks[i].rank);
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
