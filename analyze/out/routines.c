/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Totals answer "what is below it", self times "what is spent there", and the last column, which no sum over ranks can,
 * "who spends it": the rank with the most and how many times the mean of all ranks that is.
 */
#include "analyze/out/routines.h"
#include "analyze/words/amount.h"
#include "analyze/words/brief.h"
#include "analyze/words/label.h"
#include "analyze/out/page.h"
#include "wrap/base/err.h"
#include "wrap/base/containers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HANG = 4 };

struct line {
    double weight_ns, second_ns; /* what it is sorted by */
    uint32_t arc;
};

struct table {
    struct arena arena;
    struct page page;
    struct label_book book;
    const struct analysis *analysis;
    const struct profile *profile;
    const struct routines_options *options;
    struct routine_row *routines;
    const char *const *names; /* of the profile's routines */
};

static int line_compare(const void *a, const void *b)
{
    const struct line *left = a, *right = b;
    if (left->weight_ns != right->weight_ns)
        return left->weight_ns > right->weight_ns ? -1 : 1;
    if (left->second_ns != right->second_ns)
        return left->second_ns > right->second_ns ? -1 : 1;
    return (left->arc > right->arc) - (left->arc < right->arc);
}

static void table_begin(struct table *table, FILE *out, const struct analysis *analysis, const struct profile *profile,
                        const struct routines_options *options)
{
    *table = (struct table){.page = {.out = out, .width = options->text.width, .look = options->text.look},
                            .analysis = analysis,
                            .profile = profile,
                            .options = options};
    table->book =
        (struct label_book){.arena = &table->arena, .analysis = analysis, .full_paths = options->text.full_paths};
    table->names = routines_names(&table->book, profile);
}

const char *const *routines_names(const struct label_book *book, const struct profile *profile)
{
    uint32_t n = profile->n_routines;
    const char **names = arena_array(book->arena, const char *, n + 1);
    uint32_t *brief_of = arena_array(book->arena, uint32_t, n + 1), *first = arena_array(book->arena, uint32_t, n + 1);
    bool *is_shared = arena_array(book->arena, bool, n + 1); /* by brief name */
    struct intern briefs = {0};
    for (uint32_t i = 0; i < n; i++) {
        names[i] = brief_text(book->arena, profile->routines[i].name);
        uint32_t brief = brief_of[i] = intern_text(&briefs, names[i]);
        first[brief] = first[brief] ? first[brief] : i + 1;
        is_shared[brief] |= strcmp(profile->routines[i].name, profile->routines[first[brief] - 1].name) != 0;
    }
    for (uint32_t i = 0; i < n; i++)
        names[i] = book->full_paths || is_shared[brief_of[i]] ? profile->routines[i].name : names[i];
    intern_release(&briefs);
    return names;
}

const char *routines_label(const struct label_book *book, const struct profile *profile, const char *const *names,
                           uint32_t number)
{
    const struct routine_profile *routine = &profile->routines[number];
    bool is_plain = routine->is_mpi || routine->is_nameless;
    const char *text = is_plain ? routine->name : label_routine(book, names[number]);
    if (routine->file)
        text = arena_printf(book->arena, "%s %s", text, label_lines(book, routine->file, routine->line, routine->line));
    return routine->cycle ? arena_printf(book->arena, "%s <cycle %u>", text, routine->cycle) : text;
}

size_t routines_n_shown(const struct routines_options *options, size_t n, size_t most)
{
    return !options->text.n_top || n < most ? n : most;
}

static const char *routines_count(struct arena *arena, uint64_t count)
{
    return count ? arena_strdup(arena, amount_count(count).text) : "-";
}

const char *routines_share(struct arena *arena, const struct profile *profile, double ns)
{
    return ns > 0 && profile->time_ns > 0 ? arena_strdup(arena, amount_share(ns / profile->time_ns).text) : "-";
}

const char *routines_amount(struct arena *arena, const struct profile *profile, double ns)
{
    if (ns < 0.5)
        return "-";
    return arena_strdup(arena, profile->is_bytes ? amount_bytes(ns).text : amount_duration(ns).text);
}

void routines_print_head(struct page *page, const struct analysis *analysis, const struct profile *profile)
{
    struct arena scratch = {0};
    const char *program = trace_title(analysis->trace);
    if (profile->is_bytes)
        page_line(page, "%s by routine: %s asked for by all ranks", program, amount_bytes(profile->time_ns).text);
    else if (profile != &analysis->blame_profile)
        page_line(page, "%s by routine: %s of all ranks, on a CPU or in MPI", program,
                  amount_duration(profile->time_ns).text);
    else
        page_line(page, "%s by the routines that make ranks wait: %s of %s waiting", program,
                  amount_duration(profile->time_ns).text, amount_duration(analysis->waiting_ns).text);
    /* Shares of no routine: first the machine's part, then the program's. */
    double machine_ns = fmin(analysis->machine.waiting_ns, profile->left_out_ns);
    if (!profile->is_bytes && machine_ns >= 0.5)
        page_paragraph(page, HANG, HANG,
                       arena_printf(&scratch,
                                    "%s more, %s of all, is the machine's: ranks were ready to run but had no CPU",
                                    amount_duration(machine_ns).text, amount_share(analysis->machine.share).text));
    if (!profile->is_bytes && profile->left_out_ns - machine_ns >= 0.5)
        page_paragraph(
            page, HANG, HANG,
            arena_printf(&scratch,
                         "%s more is caused by what has no samples: communication, and stretches too short for any",
                         amount_duration(profile->left_out_ns - machine_ns).text));
    arena_release(&scratch);
}

void routines_print_uncalled(struct page *page, const struct label_book *book)
{
    enum { NAMED = 12 };
    const struct profile *profile = &book->analysis->profile;
    const char *text = NULL;
    for (uint32_t i = 0; i < profile->n_uncalled && i < NAMED; i++) {
        const struct uncalled_routine *routine = &profile->uncalled[i];
        text =
            arena_printf(book->arena, "%s%s%s", text ? text : "", text ? ", " : "", label_routine(book, routine->name));
        if (routine->file)
            text = arena_printf(book->arena, "%s %s", text,
                                label_lines(book, routine->file, routine->line, routine->line));
    }
    if (profile->n_uncalled > NAMED)
        text = arena_printf(book->arena, "%s and %u more", text, profile->n_uncalled - NAMED);
    if (text)
        page_paragraph(page, 0, HANG, arena_printf(book->arena, "never called: %s", text));
}

/* "PairLJCut::compute()" means "LAMMPS_NS::PairLJCut::compute". */
static bool ends_as(const char *name, const char *wanted)
{
    size_t length = strlen(name), wanted_length = strlen(wanted);
    if (wanted_length > 2 && !strcmp(wanted + wanted_length - 2, "()") &&
        strcmp(name + (length > 2 ? length - 2 : 0), "()"))
        wanted_length -= 2;
    if (length < wanted_length || strncmp(name + length - wanted_length, wanted, wanted_length) != 0)
        return false;
    return length == wanted_length ||
           (length >= wanted_length + 2 && !strncmp(name + length - wanted_length - 2, "::", 2));
}

/* As it is, or as it is shown. */
static bool name_fits(struct arena *arena, const char *name, const char *wanted)
{
    return ends_as(name, wanted) || ends_as(brief_text(arena, name), wanted);
}

static int no_such_routine(const char *name)
{
    return error("no routine \"%s\" was seen in this run: `whywait report --routines --top 0` lists them", name);
}

/* Leaves those that `name` leads to (or that lead to it), itself among them. */
static int keep_reached(struct arena *arena, const struct profile *profile, const char *name, bool upwards,
                        bool *is_chosen)
{
    bool *is_marked = arena_array(arena, bool, profile->n_routines), is_found = false;
    for (uint32_t i = 0; i < profile->n_routines; i++)
        is_found |= is_marked[i] = name_fits(arena, profile->routines[i].name, name);
    if (!is_found)
        return no_such_routine(name);
    /* Marks what can be reached from the marked routines: callees, or callers. */
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (uint32_t i = 0; i < profile->n_arcs; i++) {
            const struct routine_arc *arc = &profile->arcs[i];
            bool is_used = arc->calls || arc->self_ns + arc->below_ns > 0 || profile->routines[arc->from].cycle;
            uint32_t from = upwards ? arc->to : arc->from, to = upwards ? arc->from : arc->to;
            if (is_used && is_marked[from] && !is_marked[to])
                is_marked[to] = has_changed = true;
        }
    }
    for (uint32_t i = 0; i < profile->n_routines; i++)
        is_chosen[i] &= is_marked[i];
    return 0;
}

/* A row with what it is sorted by. */
struct weighed {
    struct routine_row row;
    double weight, second;
    const char *name; /* when names count */
};

static int weighed_compare(const void *a, const void *b)
{
    const struct weighed *left = a, *right = b;
    int by_name = left->name && right->name ? strcmp(left->name, right->name) : 0;
    if (by_name)
        return by_name;
    if (left->weight != right->weight)
        return left->weight > right->weight ? -1 : 1;
    if (left->second != right->second)
        return left->second > right->second ? -1 : 1;
    if (left->row.is_cycle != right->row.is_cycle)
        return left->row.is_cycle ? -1 : 1;
    return (left->row.number > right->row.number) - (left->row.number < right->row.number);
}

static struct weighed weigh(const struct routine_profile *routine, uint32_t number, enum routines_order order)
{
    struct weighed weighed = {.row = {.number = number}, .weight = routine->total_ns, .second = routine->self_ns};
    if (order == ROUTINES_BY_SELF)
        weighed = (struct weighed){weighed.row, routine->self_ns, routine->total_ns, NULL};
    else if (order == ROUTINES_BY_CALLS)
        weighed = (struct weighed){weighed.row, (double)routine->calls, routine->total_ns, NULL};
    else if (order == ROUTINES_BY_NAME)
        weighed.name = routine->name;
    return weighed;
}

int routines_choose(struct arena *arena, const struct profile *profile, const struct routines_options *options,
                    bool with_cycles, struct routine_row **rows)
{
    bool *is_chosen = arena_array(arena, bool, profile->n_routines);
    struct weighed *weighed = arena_array(arena, struct weighed, profile->n_routines + profile->n_cycles + 1);
    struct weighed *cycles = arena_array(arena, struct weighed, profile->n_cycles + 1);
    size_t n = 0;
    for (uint32_t i = 0; i < profile->n_routines; i++) {
        const struct routine_profile *routine = &profile->routines[i];
        double ns = routine->cycle && with_cycles ? profile->cycle_total_ns[routine->cycle] : routine->total_ns;
        is_chosen[i] = ns >= 0.5 && (!options->match || strstr(routine->name, options->match));
    }
    if (options->below && keep_reached(arena, profile, options->below, false, is_chosen))
        return -1;
    if (options->above && keep_reached(arena, profile, options->above, true, is_chosen))
        return -1;
    for (uint32_t i = 0; i < profile->n_routines; i++) {
        const struct routine_profile *routine = &profile->routines[i];
        if (!is_chosen[i])
            continue;
        weighed[n++] = weigh(routine, i, options->order);
        cycles[routine->cycle].weight += weighed[n - 1].weight;
        if (!cycles[routine->cycle].name)
            cycles[routine->cycle].name = weighed[n - 1].name;
        cycles[routine->cycle].row = (struct routine_row){routine->cycle, true};
    }
    for (uint32_t i = 1; i <= profile->n_cycles && with_cycles; i++)
        if (cycles[i].row.is_cycle) {
            if (options->order == ROUTINES_BY_TOTAL)
                cycles[i].weight = profile->cycle_total_ns[i];
            cycles[i].second = INFINITY; /* before its members */
            weighed[n++] = cycles[i];
        }
    if (!n && options->match)
        return error("no routine with \"%s\" in its name has any time; `whywait report --routines` lists them",
                     options->match);
    if (n)
        qsort(weighed, n, sizeof *weighed, weighed_compare);
    *rows = arena_array(arena, struct routine_row, n);
    for (size_t i = 0; i < n; i++)
        (*rows)[i] = weighed[i].row;
    return (int)n;
}

static void print_cycles(struct table *table)
{
    const struct profile *profile = table->profile;
    for (uint32_t cycle = 1; cycle <= profile->n_cycles; cycle++) {
        const char *text = NULL;
        size_t n = 0;
        for (uint32_t i = 0; i < profile->n_routines; i++) {
            n += profile->routines[i].cycle == cycle;
            if (profile->routines[i].cycle == cycle && n <= routines_n_shown(table->options, n, ARCS_SHOWN))
                text = arena_printf(&table->arena, "%s%s%s", text ? text : "", text ? ", " : "",
                                    profile->routines[i].name);
        }
        size_t n_left = n - routines_n_shown(table->options, n, ARCS_SHOWN);
        if (n_left)
            text = arena_printf(&table->arena, "%s and %zu more (--all)", text, n_left);
        if (text && profile->cycle_total_ns[cycle] >= 0.5)
            page_paragraph(&table->page, 0, HANG,
                           arena_printf(&table->arena, "cycle %u, %s in all: %s call each other in a circle", cycle,
                                        amount_duration(profile->cycle_total_ns[cycle]).text, text));
    }
}

static void print_table(struct table *table, unsigned n)
{
    static const struct page_column columns[] = {
        {"  routine", PAGE_WRAP, STYLE_CAUSE},     {"total", PAGE_RIGHT, STYLE_NUMBER},
        {"of all", PAGE_RIGHT, STYLE_PLAIN},       {"self", PAGE_RIGHT, STYLE_PLAIN},
        {"of all", PAGE_RIGHT, STYLE_PLAIN},       {"calls", PAGE_RIGHT, STYLE_PLAIN},
        {"most on rank", PAGE_RIGHT, STYLE_PLAIN},
    };
    struct page_table cells = {.columns = columns, .n_columns = sizeof columns / sizeof *columns};
    const struct profile *profile = table->profile;
    for (unsigned i = 0; i < n; i++) {
        const struct routine_profile *routine = &profile->routines[table->routines[i].number];
        uint32_t n_ranks = table->analysis->trace->n_ranks, most = 0;
        for (uint32_t rank = 1; rank < n_ranks; rank++)
            most = routine->rank_total_ns[rank] > routine->rank_total_ns[most] ? rank : most;
        page_cell(&cells, "%s", routines_label(&table->book, profile, table->names, table->routines[i].number));
        page_cell(&cells, "%s", routines_amount(&table->arena, profile, routine->total_ns));
        page_cell(&cells, "%s", routines_share(&table->arena, profile, routine->total_ns));
        page_cell(&cells, "%s", routines_amount(&table->arena, profile, routine->self_ns));
        page_cell(&cells, "%s", routines_share(&table->arena, profile, routine->self_ns));
        page_cell(&cells, "%s", routines_count(&table->arena, routine->calls));
        if (n_ranks < 2 || routine->total_ns < 0.5)
            page_cell(&cells, "-");
        else
            page_cell(&cells, "%u: %.1f x mean", most, routine->rank_total_ns[most] * n_ranks / routine->total_ns);
    }
    page_table(&table->page, &cells);
}

int report_routines(FILE *out, const struct analysis *analysis, const struct profile *profile,
                    const struct routines_options *options)
{
    struct table table;
    table_begin(&table, out, analysis, profile, options);
    int n_chosen = routines_choose(&table.arena, profile, options, false, &table.routines), n = n_chosen;
    if (n > 0 && options->text.n_top && (unsigned)n > options->text.n_top)
        n = (int)options->text.n_top;
    if (n >= 0)
        routines_print_head(&table.page, analysis, profile);
    if (n > 0) {
        page_end(&table.page);
        print_table(&table, (unsigned)n);
    }
    if (n < n_chosen)
        page_line(&table.page, "and %d more %s (--top 0)", n_chosen - n, n_chosen - n == 1 ? "routine" : "routines");
    if (n >= 0)
        print_cycles(&table);
    if (n > 0) {
        routines_print_uncalled(&table.page, &table.book);
        page_end(&table.page);
        page_paragraph(&table.page, 0, 0,
                       arena_printf(&table.arena,
                                    "total: with what it calls; most on rank: who %s most in it, against the mean of "
                                    "all ranks; --routine NAME: callers and callees; --graph: those of all routines",
                                    table.profile->is_bytes ? "asks for" : "spends"));
    }
    arena_release(&table.arena);
    return n < 0 ? -1 : 0;
}

/* Those that call a routine, or that it calls. */
static void print_arcs(struct table *table, uint32_t routine, bool is_callers)
{
    const struct page_column columns[] = {
        {is_callers ? "  called by" : "  calls", PAGE_WRAP, STYLE_PLAIN},
        {"self", PAGE_RIGHT, STYLE_PLAIN},
        {"below", PAGE_RIGHT, STYLE_PLAIN},
        {"calls", PAGE_RIGHT, STYLE_PLAIN},
    };
    struct page_table cells = {.columns = columns, .n_columns = sizeof columns / sizeof *columns};
    const struct profile *profile = table->profile;
    VEC(struct line) lines = {0};
    for (uint32_t i = 0; i < profile->n_arcs; i++) {
        const struct routine_arc *arc = &profile->arcs[i];
        if ((is_callers ? arc->to : arc->from) == routine && (arc->self_ns + arc->below_ns >= 0.5 || arc->calls))
            *vec_push(&lines) = (struct line){arc->self_ns + arc->below_ns, (double)arc->calls, i};
    }
    if (lines.n)
        qsort(lines.at, lines.n, sizeof *lines.at, line_compare);
    size_t n = routines_n_shown(table->options, lines.n, ARCS_SHOWN);
    for (size_t i = 0; i < n; i++) {
        const struct routine_arc *arc = &profile->arcs[lines.at[i].arc];
        page_cell(&cells, "  %s",
                  routines_label(&table->book, profile, table->names, is_callers ? arc->from : arc->to));
        page_cell(&cells, "%s", routines_amount(&table->arena, profile, arc->self_ns));
        page_cell(&cells, "%s", routines_amount(&table->arena, profile, arc->below_ns));
        page_cell(&cells, "%s", routines_count(&table->arena, arc->calls));
    }
    double left_self_ns = 0, left_below_ns = 0;
    for (size_t i = n; i < lines.n; i++) {
        left_self_ns += profile->arcs[lines.at[i].arc].self_ns;
        left_below_ns += profile->arcs[lines.at[i].arc].below_ns;
    }
    if (n < lines.n) {
        page_cell(&cells, "  %zu more (--all)", lines.n - n);
        page_cell(&cells, "%s", routines_amount(&table->arena, profile, left_self_ns));
        page_cell(&cells, "%s", routines_amount(&table->arena, profile, left_below_ns));
        page_cell(&cells, "%s", "");
    }
    uint64_t n_rest =
        is_callers ? profile->routines[routine].calls_from_unknown : profile->routines[routine].calls_to_unknown;
    if (n_rest) {
        page_cell(&cells, "  through pointers%s", is_callers ? ", or from code that is not counted" : "");
        page_cell(&cells, "-");
        page_cell(&cells, "-");
        page_cell(&cells, "%s", routines_count(&table->arena, n_rest));
    }
    if (lines.n || n_rest)
        page_table(&table->page, &cells);
    vec_release(&lines);
}

static void print_routine(struct table *table, uint32_t number)
{
    const struct routine_profile *routine = &table->profile->routines[number];
    struct arena *arena = &table->arena;
    page_put(&table->page, "%s", routines_label(&table->book, table->profile, table->names, number));
    page_piece(&table->page, HANG, "total %s, %s", routines_amount(arena, table->profile, routine->total_ns),
               routines_share(arena, table->profile, routine->total_ns));
    page_piece(&table->page, HANG, "self %s, %s", routines_amount(arena, table->profile, routine->self_ns),
               routines_share(arena, table->profile, routine->self_ns));
    if (routine->calls)
        page_piece(&table->page, HANG, "called %s times", amount_count(routine->calls).text);
    if (routine->calls_by_itself)
        page_piece(&table->page, HANG, "%s of them by itself", amount_count(routine->calls_by_itself).text);
    page_end(&table->page);
    enum { RANKS_SHOWN = 16 };
    uint32_t n = table->analysis->trace->n_ranks, n_shown = (uint32_t)routines_n_shown(table->options, n, RANKS_SHOWN);
    page_put(&table->page, "  by rank:");
    for (uint32_t rank = 0; rank < n_shown; rank++)
        page_piece(&table->page, HANG, "%u %s", rank,
                   table->profile->is_bytes ? amount_bytes(routine->rank_total_ns[rank]).text
                                            : amount_duration(routine->rank_total_ns[rank]).text);
    if (n > n_shown)
        page_piece(&table->page, HANG, "and %u more (--all)", n - n_shown);
    page_end(&table->page);
    print_arcs(table, number, true);
    print_arcs(table, number, false);
}

int report_routine(FILE *out, const struct analysis *analysis, const struct profile *profile, const char *name,
                   const struct routines_options *options)
{
    struct table table;
    table_begin(&table, out, analysis, profile, options);
    size_t n_found = 0;
    for (uint32_t i = 0; i < profile->n_routines; i++) {
        if (!name_fits(&table.arena, profile->routines[i].name, name))
            continue;
        n_found++;
        if (n_found > routines_n_shown(options, n_found, NAMESAKES_SHOWN))
            continue;
        if (n_found > 1)
            page_end(&table.page);
        print_routine(&table, i);
    }
    size_t n_left = n_found - routines_n_shown(options, n_found, NAMESAKES_SHOWN);
    if (n_left)
        page_line(&table.page, "and %zu more %s of that name (--all)", n_left, n_left == 1 ? "routine" : "routines");
    for (uint32_t i = 0; i < analysis->profile.n_uncalled && !n_found; i++) {
        const struct uncalled_routine *routine = &analysis->profile.uncalled[i];
        if (!name_fits(&table.arena, routine->name, name))
            continue;
        page_line(&table.page, "%s %s   never called", label_routine(&table.book, routine->name),
                  routine->file ? label_lines(&table.book, routine->file, routine->line, routine->line) : "");
        n_found++;
    }
    arena_release(&table.arena);
    return n_found ? 0 : no_such_routine(name);
}
