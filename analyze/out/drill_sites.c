/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of MPI at which ranks wait: all of them; one with who waits there, why, and what it moves; their classes.
 * And those at which it asks for memory. */
#include "analyze/out/drill.h"
#include "analyze/constants/readers.h"
#include "analyze/words/amount.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The items of each list that are shown unless everything is asked for. */
enum { RANKS_SHOWN = 12, CLASSES_SHOWN = 2, STEPS_SHOWN = 6 };

void drill_wait_kind(struct drill *drill, enum wait_kind kind)
{
    if (!drill->is_told[kind])
        page_paragraph(&drill->page, DRILL_HANG, DRILL_HANG + 2,
                       arena_printf(&drill->arena, "%s: %s", wait_kind_name(kind), wait_kind_meaning(kind)));
    drill->is_told[kind] = true;
}

void report_sites(FILE *out, const struct analysis *analysis, const struct report_options *options)
{
    static const struct page_column columns[] = {
        {"  where ranks wait", PAGE_WRAP, STYLE_PLAIN}, {"kind", PAGE_LEFT, STYLE_PLAIN},
        {"waiting", PAGE_RIGHT, STYLE_PLAIN},           {"of all", PAGE_RIGHT, STYLE_PLAIN},
        {"calls with waits", PAGE_RIGHT, STYLE_PLAIN},
    };
    struct page_table table = {.columns = columns, .n_columns = sizeof columns / sizeof *columns};
    struct drill drill;
    drill_init(&drill, out, analysis, options);
    unsigned n = options->n_top && options->n_top < analysis->n_sites ? options->n_top : analysis->n_sites;
    n = options->all ? analysis->n_sites : n;
    for (unsigned i = 0; i < n; i++) {
        const struct wait_site *site = &analysis->sites[i];
        page_cell(&table, "%u %s", i + 1, label_site(&drill.book, i));
        page_cell(&table, "%s", wait_kind_name(site->kind));
        page_cell(&table, "%s", amount_duration(site->waiting_ns).text);
        page_cell(&table, "%s",
                  amount_share(analysis->waiting_ns > 0 ? site->waiting_ns / analysis->waiting_ns : 0).text);
        page_cell(&table, "%s", amount_count(site->n_calls).text);
    }
    if (!n)
        page_line(&drill.page, "No rank waits for another.");
    else
        page_table(&drill.page, &table);
    drill_say_more(&drill, 0, analysis->n_sites - n, "call", "calls");
    for (unsigned i = 0; i < n; i++)
        drill_wait_kind(&drill, analysis->sites[i].kind);
    arena_release(&drill.arena);
}

/* Classes and their steps. */

/* Steps of one rank that read the same, because the compiler has made several loops of one, are one row a side. */
struct step_row {
    const char *text;
    uint32_t rank;
    double dur_ns, blame_ns;
    int64_t executions;
};

/* Returns how many rows there are; *n_left: steps that are not shown unless asked for. */
static uint32_t gather_steps(struct drill *drill, const struct class_steps *steps, struct step_row *rows,
                             uint32_t *n_left)
{
    uint32_t n = 0;
    *n_left = 0;
    for (uint32_t i = 0; i < steps->n; i++) {
        const struct class_step *step = &steps->at[i];
        if (!drill->options->all_steps && step->is_redundant) {
            ++*n_left;
            continue;
        }
        const char *text = arena_printf(&drill->arena, "%s%s", label_step(&drill->book, step->step),
                                        step->is_long_term ? " (through another rank's wait)" : "");
        uint32_t at = 0;
        while (at < n && (rows[at].rank != step->rank || (rows[at].dur_ns < 0) != (step->dur_ns < 0) ||
                          strcmp(rows[at].text, text)))
            at++;
        if (at == n)
            rows[n++] = (struct step_row){.text = text, .rank = step->rank};
        rows[at].dur_ns += step->dur_ns;
        rows[at].blame_ns += step->blame_ns;
        rows[at].executions += step->executions;
    }
    return n;
}

static void drill_steps(struct drill *drill, const struct wait_class *class)
{
    static const struct page_column columns[] = {
        {"rank", PAGE_RIGHT, STYLE_PLAIN},   {"", PAGE_LEFT, STYLE_PLAIN},
        {"step", PAGE_WRAP, STYLE_PLAIN},    {"difference", PAGE_RIGHT, STYLE_PLAIN},
        {"blamed", PAGE_RIGHT, STYLE_PLAIN}, {"executions", PAGE_RIGHT, STYLE_PLAIN},
    };
    struct page_table table = {.columns = columns, .n_columns = sizeof columns / sizeof *columns, .indent = DRILL_DEEP};
    const struct class_steps steps = drill->analysis->class_steps(drill->analysis, class, &drill->arena);
    struct step_row *rows = arena_array(&drill->arena, struct step_row, steps.n + 1);
    uint32_t n_left, n = gather_steps(drill, &steps, rows, &n_left), n_shown = drill_n_shown(drill, n, STEPS_SHOWN);
    double *sizes = arena_array(&drill->arena, double, n + 1);
    for (uint32_t i = 0; i < n; i++)
        sizes[i] = fabs(rows[i].dur_ns);
    const uint32_t *order = order_falling(&drill->arena, sizes, n);
    for (uint32_t i = 0; i < n_shown; i++) {
        const struct step_row *row = &rows[order[i]];
        page_cell(&table, "%u", row->rank);
        page_cell(&table, "%s", row->dur_ns < 0 ? "waits" : "late");
        page_cell(&table, "%s", row->text);
        page_cell(&table, "%s", amount_change(row->dur_ns).text);
        page_cell(&table, "%s", row->blame_ns > 0 ? amount_duration(row->blame_ns).text : "");
        page_cell(&table, "%s%s",
                  row->executions > 0 ? "+"
                  : row->executions   ? "-"
                                      : "",
                  row->executions ? amount_count((uint64_t)llabs(row->executions)).text : "");
    }
    page_table(&drill->page, &table);
    drill_say_more(drill, DRILL_DEEP, n - n_shown, "step", "steps");
    if (n_left)
        page_paragraph(
            &drill->page, DRILL_DEEP, DRILL_DEEP,
            arena_printf(&drill->arena, "%u minor %s hidden (--all-steps)", n_left, n_left == 1 ? "step" : "steps"));
}

/* `of_cause`: it is shown for one cause, which may have a part of its waiting only. */
static void drill_class(struct drill *drill, const struct wait_class *class, bool of_cause)
{
    const struct trace *trace = drill->analysis->trace;
    const struct when *when = &class->when;
    double first_ns = when->first_ns > trace->start_ns ? (double)(when->first_ns - trace->start_ns) : 0;
    double last_ns = when->last_ns > trace->start_ns ? (double)(when->last_ns - trace->start_ns) : 0;
    page_tab(&drill->page, DRILL_HANG);
    page_put(&drill->page, "class %u:", class->number);
    page_put(&drill->page, " %s %s", amount_count(class->n_instances).text,
             class->n_instances == 1 ? "call" : "calls alike");
    page_piece(&drill->page, DRILL_DEEP, "%s waiting%s", amount_duration(class->waiting_ns).text,
               of_cause ? " for all causes" : "");
    if (class->n_instances == 1)
        page_piece(&drill->page, DRILL_DEEP, "at %s of the run", amount_duration(first_ns).text);
    if (class->n_instances > 1) {
        page_piece(&drill->page, DRILL_DEEP, "from %s to %s of the run",
                   arena_strdup(&drill->arena, amount_duration(first_ns).text), amount_duration(last_ns).text);
        page_piece(&drill->page, DRILL_DEEP, "%s each time +- %s (%s to %s)",
                   amount_duration(class->waiting_ns / (double)class->n_instances).text,
                   amount_duration(when->deviation_ns).text, amount_duration(when->smallest_ns).text,
                   amount_duration(when->largest_ns).text);
    }
    if (when->every)
        page_piece(&drill->page, DRILL_DEEP, "at one call in %u, regularly", when->every);
    if (class->nearest && drill->options->all)
        page_piece(&drill->page, DRILL_DEEP, "differs from class %u (distance %.2f, limit %.2f)", class->nearest,
                   class->distance, class->distance_allowed);
    page_end(&drill->page);
    drill_steps(drill, class);
}

void drill_classes(struct drill *drill, const struct wait_site *site, const struct cause_site *at)
{
    const struct wait_class **classes = arena_array(&drill->arena, const struct wait_class *, site->n_classes + 1);
    double *sizes = arena_array(&drill->arena, double, site->n_classes + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < site->n_classes; i++) {
        bool has_part = !at;
        for (uint32_t k = 0; at && k < at->n_classes; k++)
            has_part |= at->classes[k] == site->classes[i].number;
        sizes[n] = site->classes[i].waiting_ns;
        if (has_part)
            classes[n++] = &site->classes[i];
    }
    const uint32_t *order = order_falling(&drill->arena, sizes, n);
    uint32_t n_shown = drill_n_shown(drill, n, at ? CLASSES_SHOWN : 2 * CLASSES_SHOWN);
    if (n)
        page_paragraph(&drill->page, DRILL_HANG, DRILL_HANG,
                       "differences and blame: sums over the calls of a class and all ranks that wait in them");
    for (uint32_t i = 0; i < n_shown; i++)
        drill_class(drill, classes[order[i]], at != NULL);
    drill_say_more(drill, DRILL_HANG, n - n_shown, "class", "classes");
}

/* "64.0 KB", "8 bytes to 1.20 MB, 310 KB on average" */
static const char *sizes(struct arena *arena, const struct moved *moved)
{
    const char *least = arena_strdup(arena, amount_bytes((double)moved->least).text);
    if (moved->least == moved->most)
        return least;
    const char *most = arena_strdup(arena, amount_bytes((double)moved->most).text);
    return arena_printf(arena, "%s to %s, %s on average", least, most,
                        amount_bytes((double)moved->bytes / (double)moved->n).text);
}

void drill_exchange(struct drill *drill, const struct site_exchange *exchange)
{
    const char *distances = ""; /* of partners: "+1, -1, +8 and others" */
    for (uint32_t i = 0; i < exchange->n_partners; i++)
        distances = arena_printf(&drill->arena, "%s%s%+lld", distances, i ? ", " : "",
                                 (long long)exchange->partners[i].distance);
    if (exchange->messages.n)
        page_paragraph(&drill->page, DRILL_HANG, DRILL_HANG + 2,
                       arena_printf(&drill->arena,
                                    "%s messages sent or received, of %s; partners at a distance in rank of %s%s",
                                    amount_count(exchange->messages.n).text, sizes(&drill->arena, &exchange->messages),
                                    distances, exchange->n_others ? " and others" : ""));
    if (exchange->collectives.n && exchange->collectives.most)
        page_paragraph(&drill->page, DRILL_HANG, DRILL_HANG + 2,
                       arena_printf(&drill->arena, "among %u ranks; per call each sends %s to all of them together",
                                    exchange->n_members, sizes(&drill->arena, &exchange->collectives)));
}

/* One site. */

/* The ranks that wait there, in order: all if they are few, else those that wait for longest. */
static void drill_site_ranks(struct drill *drill, const struct wait_site *site)
{
    uint32_t n_ranks = site->rank_waiting_ns ? drill->analysis->trace->n_ranks : 0, n = 0;
    const uint32_t *order = order_falling(&drill->arena, site->rank_waiting_ns, n_ranks);
    while (n < n_ranks && site->rank_waiting_ns[order[n]] > 0)
        n++;
    uint32_t n_shown = drill_n_shown(drill, n, RANKS_SHOWN);
    bool *is_shown = arena_array(&drill->arena, bool, n_ranks);
    for (uint32_t i = 0; i < n_shown; i++)
        is_shown[order[i]] = true;
    for (uint32_t rank = 0; rank < n_ranks; rank++)
        if (is_shown[rank])
            page_line(&drill->page, "%*srank %u waits %s", DRILL_INDENT, "", rank,
                      amount_duration(site->rank_waiting_ns[rank]).text);
    drill_say_more(drill, DRILL_INDENT, n - n_shown, "rank", "ranks");
}

/* The causes felt at a site, the largest first, those below 1 % only on request; and what of it is the machine's. */
static void drill_site_causes(struct drill *drill, uint32_t number)
{
    const struct analysis *analysis = drill->analysis;
    double *felt_ns = arena_array(&drill->arena, double, analysis->n_causes + 1);
    uint32_t n = 0, n_shown = 0;
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        felt_ns[i] = -1;
        for (uint32_t k = 0; k < analysis->causes[i].n_sites; k++)
            if (analysis->causes[i].sites[k].site == number) {
                felt_ns[i] = analysis->causes[i].sites[k].waiting_ns;
                n++;
            }
    }
    const uint32_t *order = order_falling(&drill->arena, felt_ns, analysis->n_causes); /* the felt ones come first */
    double least_ns = drill->options->all_steps ? 0 : NEGLIGIBLE_SHARE * analysis->sites[number].waiting_ns;
    uint32_t most = drill_n_shown(drill, n, RANKS_SHOWN);
    for (; n_shown < most && (felt_ns[order[n_shown]] >= least_ns || !n_shown); n_shown++)
        page_paragraph(&drill->page, DRILL_INDENT, DRILL_HANG,
                       arena_printf(&drill->arena, "%s because of %s (cause %u)",
                                    amount_duration(felt_ns[order[n_shown]]).text,
                                    label_cause(&drill->book, order[n_shown]), order[n_shown] + 1));
    drill_say_more(drill, DRILL_INDENT, n - n_shown, "cause", "causes");
    for (uint32_t i = 0; i < analysis->machine.n_sites; i++)
        if (analysis->machine.sites[i].site == number)
            page_paragraph(&drill->page, DRILL_INDENT, DRILL_HANG,
                           arena_printf(&drill->arena,
                                        "%s because ranks were ready to run but had no CPU (the machine)",
                                        amount_duration(analysis->machine.sites[i].waiting_ns).text));
}

void report_site(FILE *out, const struct analysis *analysis, uint32_t number, const struct report_options *options)
{
    struct drill drill;
    drill_init(&drill, out, analysis, options);
    const struct wait_site *site = &analysis->sites[number];
    page_put(&drill.page, "site %u   ", number + 1);
    page_words(&drill.page, DRILL_INDENT, label_site(&drill.book, number));
    page_end(&drill.page);
    page_line(&drill.page, "  %s   %s waiting   %s %s", wait_kind_name(site->kind),
              amount_duration(site->waiting_ns).text, amount_count(site->n_calls).text,
              site->n_calls == 1 ? "call with waits" : "calls with waits");
    drill_wait_kind(&drill, site->kind);
    page_end(&drill.page);
    drill_exchange(&drill, &site->exchange);
    drill_site_ranks(&drill, site);
    drill_site_causes(&drill, number);
    drill_classes(&drill, site, NULL);
    arena_release(&drill.arena);
}

/* "src/mesh.c:40 in mesh_read() through resize()" */
static const char *asked_at(const struct label_book *book, const struct allocation *allocation)
{
    const char *routine = allocation->routine ? label_routine(book, allocation->routine) : NULL;
    if (!allocation->file)
        return routine ? routine : "a library that is not at hand";
    const char *through = allocation->through ? label_routine(book, allocation->through) : "";
    return arena_printf(book->arena, "%s%s%s%s%s",
                        label_lines(book, allocation->file, allocation->line, allocation->line), routine ? " in " : "",
                        routine ? routine : "", *through ? " through " : "", through);
}

/* As with routines, the last columns say what no sum over ranks can: which rank asked for most, and how many times the
 * mean of all ranks that is. */
void report_space(FILE *out, const struct analysis *analysis, const struct report_options *options)
{
    static const struct page_column columns[] = {
        {"  where memory is asked for", PAGE_LEFT, STYLE_PLAIN},
        {"bytes", PAGE_RIGHT, STYLE_NUMBER},
        {"of all", PAGE_RIGHT, STYLE_PLAIN},
        {"most", PAGE_RIGHT, STYLE_PLAIN},
        {"the mean", PAGE_RIGHT, STYLE_PLAIN},
    };
    struct page_table table = {.columns = columns, .n_columns = sizeof columns / sizeof *columns};
    struct page page = {.out = out, .width = options->width, .look = options->look};
    struct arena scratch = {0};
    struct label_book book = {&scratch, analysis, options->full_paths, !options->full_paths};
    unsigned n = analysis->n_allocations, n_ranks = analysis->trace->n_ranks;
    if (options->n_top && n > options->n_top)
        n = options->n_top;
    for (unsigned i = 0; i < n; i++) {
        const struct allocation *allocation = &analysis->allocations[i];
        double bytes = (double)allocation->bytes, most_bytes = 0;
        uint32_t most = 0;
        for (uint32_t rank = 1; rank < n_ranks; rank++)
            most = allocation->rank_bytes[rank] > allocation->rank_bytes[most] ? rank : most;
        most_bytes = (double)allocation->rank_bytes[most];
        page_cell(&table, "%u %s", i + 1, asked_at(&book, allocation));
        page_cell(&table, "%s", amount_bytes(bytes).text);
        page_cell(&table, "%s", amount_share(bytes / (double)analysis->allocated_bytes).text);
        page_cell(&table, "rank %u: %s", most, amount_bytes(most_bytes).text);
        page_cell(&table, "%.1f x", most_bytes / (bytes / n_ranks));
    }
    page_line(&page, "%s: %s asked for in all, at %u %s", trace_title(analysis->trace),
              amount_bytes((double)analysis->allocated_bytes).text, analysis->n_allocations,
              analysis->n_allocations == 1 ? "place" : "places");
    page_end(&page);
    page_table(&page, &table);
    if (n < analysis->n_allocations)
        page_line(&page, "and %u more (--top 0)", analysis->n_allocations - n);
    arena_release(&scratch);
}
