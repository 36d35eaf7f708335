/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The graph of routines for Graphviz. A routine's shade is its share of the whole, a call's width what falls to the
 * caller of what it calls; routines that call each other in a circle stand in one box.
 */
#include "analyze/export/export.h"
#include "analyze/words/amount.h"
#include "analyze/words/label.h"
#include "analyze/out/page.h"
#include "analyze/profile/sum.h"
#include "wrap/base/err.h"
#include <math.h>

/* Text within quotes; what could steer a terminal is escaped first, and what Graphviz reads as its own after it. */
static void write_text(FILE *out, const char *text)
{
    struct arena scratch = {0};
    for (const char *at = text_escape(&scratch, text); *at; at++) {
        if (*at == '"' || *at == '\\')
            fputc('\\', out);
        fputc(*at, out);
    }
    arena_release(&scratch);
}

static void write_node(FILE *out, const struct label_book *book, const struct profile *profile, uint32_t number)
{
    const struct routine_profile *routine = &profile->routines[number];
    double share = profile->time_ns > 0 ? fmin(routine->total_ns / profile->time_ns, 1) : 0;
    double own = profile->time_ns > 0 ? routine->self_ns / profile->time_ns : 0;
    fprintf(out, "  n%u [label=\"", number);
    write_text(out, routine->is_mpi || routine->is_nameless ? routine->name : label_routine(book, routine->name));
    fputs("\\n", out);
    if (routine->file) {
        write_text(out, label_lines(book, routine->file, routine->line, routine->line));
        fputs("\\n", out);
    }
    fprintf(out, "%s (%s), self %s (%s)", amount_duration(routine->total_ns).text, amount_share(share).text,
            amount_duration(routine->self_ns).text, amount_share(own).text);
    if (routine->calls)
        fprintf(out, "\\n%s calls", amount_count(routine->calls).text);
    fprintf(out, "\", fillcolor=\"%.3f %.3f 1.000\"];\n", 0.11 * (1 - share), 0.05 + 0.6 * share);
}

static void write_arc(FILE *out, const struct profile *profile, const struct routine_arc *arc)
{
    double ns = arc->self_ns + arc->below_ns;
    uint64_t all = profile->routines[arc->to].calls;
    fprintf(out, "  n%u -> n%u [label=\"", arc->from, arc->to);
    if (ns >= 0.5)
        fputs(amount_duration(ns).text, out);
    if (arc->calls)
        fprintf(out, "%s%s/%s", ns >= 0.5 ? "\\n" : "", amount_count(arc->calls).text, amount_count(all).text);
    fprintf(out, "\", penwidth=%.2f];\n", 1 + 6 * (profile->time_ns > 0 ? fmin(ns / profile->time_ns, 1) : 0));
}

int export_dot(FILE *out, const struct export_run *runs, size_t n_runs, bool only_causing, double least)
{
    struct arena arena = {0};
    const struct analysis *first = runs[0].analysis;
    struct label_book book = {&arena, first, false, true};
    const struct profile **profiles = arena_array(&arena, const struct profile *, n_runs);
    for (size_t i = 0; i < n_runs; i++)
        profiles[i] = only_causing ? &runs[i].analysis->blame_profile : &runs[i].analysis->profile;
    const struct profile sum = profile_sum(&arena, profiles, n_runs), *profile = &sum;
    if (!profile->n_routines) {
        arena_release(&arena);
        return error("%s has no samples of call stacks: there is no graph of routines", first->trace->path);
    }
    bool *is_shown = arena_array(&arena, bool, profile->n_routines);
    for (uint32_t i = 0; i < profile->n_routines; i++) {
        const struct routine_profile *routine = &profile->routines[i];
        double ns = routine->cycle ? profile->cycle_total_ns[routine->cycle] : routine->total_ns;
        is_shown[i] = ns >= 0.5 && ns >= least * profile->time_ns;
    }
    fputs("digraph routines {\n  graph [label=\"", out);
    write_text(out, trace_title(first->trace));
    fprintf(out, ": %s %s", amount_duration(profile->time_ns).text,
            only_causing ? "of waiting caused" : "of all ranks, on a CPU or in MPI");
    if (n_runs > 1)
        fprintf(out, ", of %zu runs", n_runs);
    fputs("\", labelloc=t];\n", out);
    fputs("  node [shape=box, style=filled, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n", out);
    for (uint32_t cycle = 0; cycle <= profile->n_cycles; cycle++) {
        if (cycle)
            fprintf(out, "  subgraph cluster_%u {\n  label=\"cycle %u, %s\";\n", cycle, cycle,
                    amount_duration(profile->cycle_total_ns[cycle]).text);
        for (uint32_t i = 0; i < profile->n_routines; i++)
            if (is_shown[i] && profile->routines[i].cycle == cycle)
                write_node(out, &book, profile, i);
        if (cycle)
            fputs("  }\n", out);
    }
    for (uint32_t i = 0; i < profile->n_arcs; i++)
        if (is_shown[profile->arcs[i].from] && is_shown[profile->arcs[i].to])
            write_arc(out, profile, &profile->arcs[i]);
    fputs("}\n", out);
    arena_release(&arena);
    return 0;
}
