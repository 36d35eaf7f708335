/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gprof's listing of the graph. An entry has a routine with its number on its own line, who calls it above and what it
 * calls below. On its own line stand its time and that of its callees; on a caller's, what of both falls to that
 * caller; on a callee's, what of the callee's falls to this routine. Calls are "n/m": n of the m that come from outside
 * of the callee's cycle; "m+r" on the own line: r by itself. A cycle is an entry as a whole, with its members below.
 */
#include "analyze/words/amount.h"
#include "analyze/out/routines.h"
#include <stdlib.h>
#include <string.h>

enum { SHARE_END = 12, SELF_END = 22, BELOW_END = 32, CALLS_END = 48, NAME_AT = 50, NAME_INDENT = 4, NAME_LEAST = 20 };

struct graph {
    struct arena arena;
    struct page page;
    struct label_book book;
    const struct profile *profile;
    const struct routines_options *options;
    const char *const *names;         /* by routine */
    uint32_t *entry, *cycle_entry;    /* by routine and cycle: number of its entry; 0 = none is shown */
    uint64_t *inner_calls;            /* by routine: from others of its cycle */
    uint64_t *cycle_in, *cycle_inner; /* by cycle: calls from outside, and within it */
    double *cycle_self;
};

/* From outside of itself and its cycle. */
static uint64_t outside_calls(const struct graph *graph, uint32_t number)
{
    const struct routine_profile *routine = &graph->profile->routines[number];
    uint64_t inner = routine->calls_by_itself + graph->inner_calls[number];
    return routine->calls > inner ? routine->calls - inner : 0;
}

/* A line of an entry: what does not apply is empty. */
struct graph_line {
    const char *share, *calls, *name;
    double self, below;
    uint32_t entry; /* stands first, on an entry's own line */
    uint32_t of;    /* the entry of who is named; 0 = none is shown */
};

static void print_line(struct graph *graph, const struct graph_line *line)
{
    struct page *page = &graph->page;
    if (line->entry)
        page_put(page, "[%u]", line->entry);
    page_right(page, SHARE_END, line->share ? line->share : "");
    page_right(page, SELF_END, routines_amount(&graph->arena, graph->profile, line->self));
    page_right(page, BELOW_END, routines_amount(&graph->arena, graph->profile, line->below));
    page_right(page, CALLS_END, line->calls ? line->calls : "");
    page_tab(page, NAME_AT + (line->entry ? 0 : NAME_INDENT));
    const char *number = line->of ? arena_printf(&graph->arena, " [%u]", line->of) : "";
    size_t used = page->column + strlen(number);
    size_t room = page->width > used + NAME_LEAST ? page->width - used : NAME_LEAST;
    page_put(page, "%s%s", text_cut_middle(&graph->arena, text_escape(&graph->arena, line->name), room), number);
    page_end(page);
}

static const char *label(const struct graph *graph, uint32_t number)
{
    return routines_label(&graph->book, graph->profile, graph->names, number);
}

/* "180/1,320"; within a cycle nothing falls to anybody, and there is no whole. */
static const char *calls_text(struct graph *graph, uint64_t n, uint32_t callee, bool is_inner)
{
    if (!n)
        return "";
    const char *text = arena_strdup(&graph->arena, amount_count(n).text);
    if (is_inner)
        return text;
    return arena_printf(&graph->arena, "%s/%s", text, amount_count(outside_calls(graph, callee)).text);
}

/* Arcs by rising time for callers, as they stand above, and by falling time for callees. */
struct graph_arc {
    const struct routine_arc *arc;
    bool is_caller;
};

static int arc_compare(const void *a, const void *b)
{
    const struct graph_arc *left = a, *right = b;
    int sign = left->is_caller ? 1 : -1;
    double difference = left->arc->self_ns + left->arc->below_ns - right->arc->self_ns - right->arc->below_ns;
    if (difference != 0)
        return difference > 0 ? sign : -sign;
    if (left->arc->calls != right->arc->calls)
        return left->arc->calls > right->arc->calls ? sign : -sign;
    return (left->arc > right->arc) - (left->arc < right->arc);
}

typedef VEC(struct graph_arc) graph_arcs;

/* Those with most time, and the others together: at the top of the callers, below the callees. Lets go of them. */
static void print_arc_lines(struct graph *graph, graph_arcs *arcs, bool is_caller)
{
    const struct profile *profile = graph->profile;
    if (!arcs->n)
        return;
    size_t n_left = arcs->n - routines_n_shown(graph->options, arcs->n, ENTRY_ARCS_SHOWN);
    size_t from = is_caller ? n_left : 0, to = is_caller ? arcs->n : arcs->n - n_left;
    struct graph_line left = {.name = arena_printf(&graph->arena, "(%zu more: --all)", n_left)};
    qsort(arcs->at, arcs->n, sizeof *arcs->at, arc_compare);
    for (size_t i = 0; i < arcs->n; i++) {
        bool is_shown = i >= from && i < to;
        left.self += is_shown ? 0 : arcs->at[i].arc->self_ns;
        left.below += is_shown ? 0 : arcs->at[i].arc->below_ns;
    }
    if (n_left && is_caller)
        print_line(graph, &left);
    for (size_t i = from; i < to; i++) {
        const struct routine_arc *arc = arcs->at[i].arc;
        uint32_t cycle = profile->routines[arc->from].cycle, partner = is_caller ? arc->from : arc->to;
        bool is_inner = cycle && cycle == profile->routines[arc->to].cycle;
        print_line(graph, &(struct graph_line){.calls = calls_text(graph, arc->calls, arc->to, is_inner),
                                               .name = label(graph, partner),
                                               .of = graph->entry[partner],
                                               .self = arc->self_ns,
                                               .below = arc->below_ns});
    }
    if (n_left && !is_caller)
        print_line(graph, &left);
    vec_release(arcs);
}

static void print_arcs(struct graph *graph, uint32_t number, bool is_caller)
{
    const struct profile *profile = graph->profile;
    const struct routine_profile *routine = &profile->routines[number];
    uint64_t unknown = is_caller ? routine->calls_from_unknown : routine->calls_to_unknown;
    graph_arcs arcs = {0};
    for (uint32_t i = 0; i < profile->n_arcs; i++) {
        const struct routine_arc *arc = &profile->arcs[i];
        bool is_inner = routine->cycle && profile->routines[arc->from].cycle == profile->routines[arc->to].cycle;
        if ((is_caller ? arc->to : arc->from) == number &&
            (arc->self_ns + arc->below_ns >= 0.5 || arc->calls || is_inner))
            *vec_push(&arcs) = (struct graph_arc){arc, is_caller};
    }
    if (is_caller && !arcs.n && !unknown)
        print_line(graph, &(struct graph_line){.name = "(no caller is known)"});
    if (is_caller && unknown)
        print_line(graph, &(struct graph_line){.calls = calls_text(graph, unknown, number, false),
                                               .name = "(through pointers, or from code that is not counted)"});
    print_arc_lines(graph, &arcs, is_caller);
    if (!is_caller && unknown)
        print_line(graph, &(struct graph_line){.calls = amount_count(unknown).text, .name = "(through pointers)"});
}

static void print_routine(struct graph *graph, uint32_t number)
{
    const struct routine_profile *routine = &graph->profile->routines[number];
    uint64_t calls = routine->calls - routine->calls_by_itself;
    const char *text = calls ? arena_strdup(&graph->arena, amount_count(calls).text) : "";
    if (routine->calls_by_itself)
        text = arena_printf(&graph->arena, "%s+%s", text, amount_count(routine->calls_by_itself).text);
    print_arcs(graph, number, true);
    print_line(graph, &(struct graph_line){.entry = graph->entry[number],
                                           .share = routines_share(&graph->arena, graph->profile, routine->total_ns),
                                           .self = routine->self_ns,
                                           .below = routine->total_ns - routine->self_ns,
                                           .calls = text,
                                           .name = label(graph, number),
                                           .of = graph->entry[number]});
    print_arcs(graph, number, false);
}

/* Its callers from outside, then its members, those with most time first. */
static void print_cycle(struct graph *graph, uint32_t cycle)
{
    const struct profile *profile = graph->profile;
    double total = profile->cycle_total_ns[cycle];
    graph_arcs callers = {0};
    for (uint32_t i = 0; i < profile->n_arcs; i++) {
        const struct routine_arc *arc = &profile->arcs[i];
        if (profile->routines[arc->to].cycle == cycle && profile->routines[arc->from].cycle != cycle &&
            (arc->self_ns + arc->below_ns >= 0.5 || arc->calls))
            *vec_push(&callers) = (struct graph_arc){arc, true};
    }
    print_arc_lines(graph, &callers, true);
    const char *calls = "";
    if (graph->cycle_in[cycle] || graph->cycle_inner[cycle])
        calls = arena_printf(&graph->arena, "%s+%s", amount_count(graph->cycle_in[cycle]).text,
                             amount_count(graph->cycle_inner[cycle]).text);
    print_line(graph, &(struct graph_line){.entry = graph->cycle_entry[cycle],
                                           .share = routines_share(&graph->arena, profile, total),
                                           .self = graph->cycle_self[cycle],
                                           .below = total - graph->cycle_self[cycle],
                                           .calls = calls,
                                           .name = arena_printf(&graph->arena, "<cycle %u as a whole>", cycle)});
    double *sizes = arena_array(&graph->arena, double, profile->n_routines);
    size_t n_members = 0;
    for (uint32_t i = 0; i < profile->n_routines; i++) {
        bool is_member = profile->routines[i].cycle == cycle;
        sizes[i] = is_member ? profile->routines[i].total_ns : -1;
        n_members += is_member;
    }
    const uint32_t *order = order_falling(&graph->arena, sizes, profile->n_routines);
    size_t n = routines_n_shown(graph->options, n_members, ENTRY_ARCS_SHOWN);
    for (size_t i = 0; i < n; i++) {
        const struct routine_profile *routine = &profile->routines[order[i]];
        print_line(graph, &(struct graph_line){.calls = routine->calls ? amount_count(routine->calls).text : "",
                                               .name = label(graph, order[i]),
                                               .of = graph->entry[order[i]],
                                               .self = routine->self_ns,
                                               .below = routine->total_ns - routine->self_ns});
    }
    if (n < n_members)
        print_line(graph,
                   &(struct graph_line){.name = arena_printf(&graph->arena, "(%zu more of it: --all)", n_members - n)});
}

static void graph_begin(struct graph *graph, const struct profile *profile, const struct routine_row *rows, uint32_t n)
{
    struct arena *arena = &graph->arena;
    graph->profile = profile;
    graph->entry = arena_array(arena, uint32_t, profile->n_routines);
    graph->cycle_entry = arena_array(arena, uint32_t, profile->n_cycles + 1);
    graph->inner_calls = arena_array(arena, uint64_t, profile->n_routines);
    graph->cycle_in = arena_array(arena, uint64_t, profile->n_cycles + 1);
    graph->cycle_inner = arena_array(arena, uint64_t, profile->n_cycles + 1);
    graph->cycle_self = arena_array(arena, double, profile->n_cycles + 1);
    for (uint32_t i = 0; i < n; i++)
        *(rows[i].is_cycle ? &graph->cycle_entry[rows[i].number] : &graph->entry[rows[i].number]) = i + 1;
    for (uint32_t i = 0; i < profile->n_arcs; i++) {
        const struct routine_arc *arc = &profile->arcs[i];
        uint32_t cycle = profile->routines[arc->to].cycle;
        if (cycle && profile->routines[arc->from].cycle == cycle)
            graph->inner_calls[arc->to] += arc->calls;
    }
    for (uint32_t i = 0; i < profile->n_routines; i++) {
        uint32_t cycle = profile->routines[i].cycle;
        graph->cycle_in[cycle] += outside_calls(graph, i);
        graph->cycle_inner[cycle] += graph->inner_calls[i] + profile->routines[i].calls_by_itself;
        graph->cycle_self[cycle] += profile->routines[i].self_ns;
    }
}

int report_routine_graph(FILE *out, const struct analysis *analysis, const struct profile *profile,
                         const struct routines_options *options)
{
    struct graph graph = {.page = {.out = out, .width = options->text.width, .look = options->text.look},
                          .options = options};
    struct routine_row *rows;
    int n_chosen = routines_choose(&graph.arena, profile, options, true, &rows), n = n_chosen;
    if (n > 0 && options->text.n_top && (unsigned)n > options->text.n_top)
        n = (int)options->text.n_top;
    if (n >= 0) {
        graph.book = (struct label_book){&graph.arena, analysis, options->text.full_paths, !options->text.full_paths};
        graph.names = routines_names(&graph.book, profile);
        graph_begin(&graph, profile, rows, (uint32_t)n);
        routines_print_head(&graph.page, analysis, profile);
        page_end(&graph.page);
        page_right(&graph.page, SHARE_END, "of all");
        page_right(&graph.page, SELF_END, "self");
        page_right(&graph.page, BELOW_END, "below");
        page_right(&graph.page, CALLS_END, "calls");
        page_tab(&graph.page, NAME_AT);
        page_line(&graph.page, "routine");
    }
    for (int i = 0; i < n; i++) {
        if (rows[i].is_cycle)
            print_cycle(&graph, rows[i].number);
        else
            print_routine(&graph, rows[i].number);
        page_end(&graph.page);
    }
    if (n >= 0 && n < n_chosen)
        page_line(&graph.page, "and %d more %s (--top 0)", n_chosen - n, n_chosen - n == 1 ? "entry" : "entries");
    if (n >= 0) {
        routines_print_uncalled(&graph.page, &graph.book);
        page_paragraph(&graph.page, 0, 0,
                       "above an entry's own line, the one with its number, stand its callers with what of it falls to "
                       "them, below it what it calls; calls: those of this pair / all of the callee; +: by itself");
    }
    arena_release(&graph.arena);
    return n < 0 ? -1 : 0;
}
