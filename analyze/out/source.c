/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file's lines get marks: what its loops make others wait (at their first line, a bar along the others) and what is
 * waited at its calls. Lines near a mark are printed. Sources are read as original.h has them.
 */
#include "analyze/out/source.h"
#include "analyze/constants/readers.h"
#include "analyze/words/amount.h"
#include "analyze/words/label.h"
#include "analyze/out/original.h"
#include "analyze/out/page.h"
#include "wrap/base/err.h"
#include "wrap/base/containers.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { WAYS_COLUMNS = 8, TAB = 8 };

struct mark {
    uint32_t line_first, line_last;
    double cause_ns; /* waiting that this loop causes */
    double site_ns;  /* waiting at this call */
};

struct marked_file {
    const char *path;
    double total_ns;
    struct file_facts facts;
    VEC(struct mark) marks; /* of the lines that are shown */
    bool has_causes, has_sites;
};

struct source {
    const struct analysis *analysis;
    const struct source_options *options;
    struct page page;
    struct arena arena;
    uint64_t built_ns;
    VEC(struct marked_file) files;
    uint32_t n_cut;
};

static bool source_wants(const struct source *source, const char *path)
{
    const char *only = source->options->only_file;
    if (!path || !only)
        return path != NULL;
    size_t length = strlen(path), only_length = strlen(only);
    return length >= only_length && !strcmp(path + length - only_length, only);
}

static struct marked_file *file_put(struct source *source, const char *path)
{
    for (size_t i = 0; i < source->files.n; i++)
        if (!strcmp(source->files.at[i].path, path))
            return &source->files.at[i];
    struct marked_file *file = vec_push(&source->files);
    file->path = file->facts.path = path;
    return file;
}

static void source_mark(struct source *source, const char *path, struct mark mark)
{
    double ns = mark.cause_ns + mark.site_ns;
    bool is_asked = source->options->line_first > 0;
    if (!source_wants(source, path) || !mark.line_first ||
        ns < (is_asked ? 1 : NEGLIGIBLE_SHARE * source->analysis->waiting_ns))
        return;
    struct marked_file *file = file_put(source, path);
    if (mark.line_last < mark.line_first)
        mark.line_last = mark.line_first;
    if (is_asked && (mark.line_last < source->options->line_first || mark.line_first > source->options->line_last))
        return;
    file->total_ns += ns;
    file->has_causes |= mark.cause_ns > 0;
    file->has_sites |= mark.site_ns > 0;
    *vec_push(&file->marks) = mark;
}

static int by_falling_total(const void *a, const void *b)
{
    const struct marked_file *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return strcmp(x->path, y->path);
}

/* Lines are asked for of a file in which nothing is marked: one that has code that was seen, or of that name here. */
static void source_find_asked(struct source *source)
{
    struct code *code = source->analysis->code;
    for (uint32_t i = 0; code && i < code_n_places(code); i++)
        if (source_wants(source, code_place(code, i)->file))
            file_put(source, code_place(code, i)->file);
    if (!source->files.n && source->options->only_file)
        file_put(source, source->options->only_file);
}

static void source_collect(struct source *source)
{
    const struct analysis *analysis = source->analysis;
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        for (uint32_t k = 0; k < analysis->causes[i].n_parts; k++) {
            const struct cause_part *part = &analysis->causes[i].parts[k];
            const struct step *step = &analysis->steps[part->step];
            if (part->own_ns > 0)
                source_mark(source, step->file,
                            (struct mark){step->line_first, step->line_last, .cause_ns = part->own_ns});
        }
    for (uint32_t i = 0; i < analysis->n_sites; i++) {
        const struct wait_site *site = &analysis->sites[i];
        source_mark(source, site->file, (struct mark){site->line, site->line, .site_ns = site->waiting_ns});
    }
    if (source->options->line_first)
        source_find_asked(source);
    if (source->files.n)
        qsort(source->files.at, source->files.n, sizeof *source->files.at, by_falling_total);
}

struct line_sums {
    double cause_ns, site_ns; /* of marks that begin here */
    bool is_inside, is_near;
};

static struct line_sums line_sums(const struct marked_file *file, uint32_t line, const struct source_options *options)
{
    struct line_sums sums = {.is_near =
                                 options->line_first && line >= options->line_first && line <= options->line_last};
    for (size_t i = 0; i < file->marks.n; i++) {
        const struct mark *mark = &file->marks.at[i];
        bool is_in = line >= mark->line_first && line <= mark->line_last;
        sums.is_inside |= is_in && mark->cause_ns > 0;
        sums.is_near |= !options->line_first && (uint64_t)line + options->n_context >= mark->line_first &&
                        line <= (uint64_t)mark->line_last + options->n_context;
        sums.cause_ns += line == mark->line_first ? mark->cause_ns : 0;
        sums.site_ns += line == mark->line_first ? mark->site_ns : 0;
    }
    return sums;
}

/* Where columns end; those of which nothing is known have no room. */
struct layout {
    size_t cause, bar, site, time, least, mean, most, ways, number, loops;
};

static struct layout layout_of(const struct marked_file *file)
{
    enum { CAUSE = 11, BAR = 2, SITE = 11, TIME = 9, COUNT = 7, WAYS = 9, NUMBER = 7 };
    const struct file_facts *facts = &file->facts;
    struct layout layout = {.cause = file->has_causes ? CAUSE : 0};
    layout.bar = layout.cause + (file->has_causes ? BAR : 0);
    layout.site = layout.bar + (file->has_sites ? SITE : 0);
    layout.time = layout.site + (facts->has_time ? TIME : 0);
    layout.least = layout.time + (facts->has_counts ? COUNT + 2 : 0);
    layout.mean = layout.least + (facts->has_counts ? COUNT : 0);
    layout.most = layout.mean + (facts->has_counts ? COUNT : 0);
    layout.ways = layout.most + (facts->has_ways ? WAYS : 0);
    layout.number = layout.ways + NUMBER;
    layout.loops = layout.number + 2 + (facts->n_deep ? facts->n_deep + 1u : 0);
    return layout;
}

const char *source_ways(struct arena *arena, const struct line_facts *facts)
{
    const char *text = "";
    for (size_t i = 0; i < facts->ways.n; i++) {
        const struct line_way *way = &facts->ways.at[i];
        const char *between = i == 0                                                             ? ""
                              : way[-1].function == way->function && way[-1].block == way->block ? "/"
                                                                                                 : " ";
        if (way->executions > 0)
            text = arena_printf(arena, "%s%s%.0f", text, *text ? between : "", 100 * way->taken / way->executions);
    }
    return text;
}

/* Least, mean and most on a rank; where all ranks are alike the mean says it. */
static void source_counts(struct source *source, const struct layout *layout, const struct line_facts *facts)
{
    struct page *page = &source->page;
    double mean = facts->sum / source->analysis->trace->n_ranks;
    bool are_alike =
        (double)facts->least >= (1 - NEGLIGIBLE_SHARE) * mean && (double)facts->most <= (1 + NEGLIGIBLE_SHARE) * mean;
    page_style(page, facts->most ? STYLE_PLAIN : STYLE_QUIET);
    if (!are_alike)
        page_right(page, layout->least, amount_brief((double)facts->least).text);
    page_right(page, layout->mean, amount_brief(mean).text);
    if (!are_alike)
        page_right(page, layout->most, amount_brief((double)facts->most).text);
    page_style(page, STYLE_PLAIN);
}

/* Brackets around nested loops, the outer to the left. */
static const char *loops_text(const struct source *source, struct arena *arena, const struct file_facts *facts,
                              uint32_t line)
{
    static const char *const ascii[] = {" ", "/", "|", "\\", "-"};
    static const char *const blocks[] = {" ", "\u250c", "\u2502", "\u2514", "\u2576"};
    const char *const *signs = source->options->look.drawing == DRAW_UTF8 ? blocks : ascii;
    int *sign = arena_array(arena, int, facts->n_deep);
    for (size_t i = 0; i < facts->loops.n; i++) {
        const struct line_loop *loop = &facts->loops.at[i];
        if (line >= loop->first && line <= loop->last)
            sign[loop->depth] = loop->first == loop->last ? 4 : line == loop->first ? 1 : line == loop->last ? 3 : 2;
    }
    const char *text = "";
    for (uint32_t depth = 0; depth < facts->n_deep; depth++)
        text = arena_printf(arena, "%s%s", text, signs[sign[depth]]);
    return text;
}

/* The line as it looks in an editor: tabs expanded, no line end. */
static const char *expanded(struct arena *arena, const char *text)
{
    char *line = arena_alloc(arena, strlen(text) * TAB + 1), *to = line;
    for (; *text && *text != '\n' && *text != '\r'; text++) {
        if (*text != '\t') {
            *to++ = *text;
            continue;
        }
        do
            *to++ = ' ';
        while ((to - line) % TAB);
    }
    return text_escape(arena, line);
}

static void source_line(struct source *source, const struct marked_file *file, const struct line_sums *sums,
                        uint32_t number, const char *text)
{
    struct page *page = &source->page;
    struct arena scratch = {0};
    struct layout layout = layout_of(file);
    const struct line_facts *facts = number < file->facts.lines.n ? &file->facts.lines.at[number] : NULL;
    page_style(page, STYLE_CAUSE);
    if (sums->cause_ns > 0)
        page_right(page, layout.cause, amount_duration(sums->cause_ns).text);
    if (sums->is_inside)
        page_right(page, layout.bar, "|");
    page_style(page, STYLE_NUMBER);
    if (sums->site_ns > 0)
        page_right(page, layout.site, amount_duration(sums->site_ns).text);
    page_style(page, STYLE_PLAIN);
    if (facts && facts->time_ns >= 0.5)
        page_right(page, layout.time, amount_duration(facts->time_ns).text);
    if (facts && facts->is_counted)
        source_counts(source, &layout, facts);
    if (facts && file->facts.has_ways)
        page_right(page, layout.ways, text_cut(&scratch, source_ways(&scratch, facts), WAYS_COLUMNS));
    page_style(page, STYLE_QUIET);
    page_right(page, layout.number, arena_printf(&scratch, "%u", number));
    const char *line = expanded(&scratch, text), *loops = loops_text(source, &scratch, &file->facts, number);
    if (loops[strspn(loops, " ")]) {
        page_tab(page, layout.number + 2);
        page_put(page, "%s", loops);
    }
    page_style(page, sums->cause_ns > 0 ? STYLE_HEADING : STYLE_PLAIN);
    if (*line) {
        page_tab(page, layout.loops);
        size_t room = page->width > page->column + 8 ? page->width - page->column : 8;
        page_put(page, "%s", text_cut(&scratch, line, room));
    }
    page_style(page, STYLE_PLAIN);
    page_end(page);
    arena_release(&scratch);
}

static void source_titles(struct source *source, const struct marked_file *file, const char *warning)
{
    struct page *page = &source->page;
    struct layout layout = layout_of(file);
    page_style(page, STYLE_HEADING);
    page_line(page, "%s", file->path);
    if (warning) {
        page_style(page, STYLE_WARNING);
        page_paragraph(page, 0, 2, warning);
        page_style(page, STYLE_HEADING);
    }
    if (file->has_causes)
        page_right(page, layout.cause, "causes");
    if (file->has_sites)
        page_right(page, layout.site, "waits here");
    if (file->facts.has_time)
        page_right(page, layout.time, "time");
    if (file->facts.has_counts) {
        page_right(page, layout.least, "runs min");
        page_right(page, layout.mean, "mean");
        page_right(page, layout.most, "max");
    }
    if (file->facts.has_ways)
        page_right(page, layout.ways, "ways %");
    page_right(page, layout.number, "line");
    page_end(page);
    page_style(page, STYLE_PLAIN);
}

/* Returns the number of its lines; 0 when it cannot be read. Of lines that are asked for and not there, nothing is
 * printed. */
static uint32_t source_file(struct source *source, const struct marked_file *marked, bool *is_shown)
{
    bool is_asked = source->options->line_first > 0;
    struct original original =
        original_open(source->analysis, marked->path, source->options->directory, source->built_ns);
    const char *warning = original_warning(original.state);
    source->n_cut += original.lacks_kept;
    if (!original.file) {
        page_line(&source->page, "%s   cannot be read: %s%s", marked->path, original.reason,
                  source->options->directory ? "" : " (--source DIR says where else to look)");
        return 0;
    }
    if (!is_asked)
        source_titles(source, marked, warning);
    size_t number_column = layout_of(marked).number;
    char *text = NULL;
    size_t size = 0;
    uint32_t last_shown = 0, number = 1;
    for (; getline(&text, &size, original.file) > 0; number++) {
        struct line_sums sums = line_sums(marked, number, source->options);
        if (!sums.is_near)
            continue;
        if (last_shown && number > last_shown + 1) {
            page_right(&source->page, number_column, "...");
            page_end(&source->page);
        }
        if (is_asked && !last_shown)
            source_titles(source, marked, warning);
        source_line(source, marked, &sums, number, text);
        last_shown = number;
    }
    if (ferror(original.file)) {
        warn("cannot read all of %s", marked->path);
        source->n_cut++;
    }
    free(text);
    fclose(original.file);
    *is_shown = last_shown || !is_asked;
    return number - 1;
}

struct source_files source_print(FILE *out, const struct analysis *analysis, const struct source_options *options)
{
    struct source source = {.analysis = analysis,
                            .options = options,
                            .built_ns = original_built_ns(analysis),
                            .page = {.out = out, .width = options->width, .look = options->look}};
    struct source_files files = {0};
    source_collect(&source);
    struct file_facts *facts = arena_array(&source.arena, struct file_facts, source.files.n);
    for (size_t i = 0; i < source.files.n; i++)
        facts[i] = source.files.at[i].facts;
    line_facts_gather(facts, source.files.n, analysis, options->coverage);
    for (size_t i = 0; i < source.files.n; i++) {
        source.files.at[i].facts = facts[i];
        if (i)
            page_end(&source.page);
        bool is_shown = false;
        uint32_t n_lines = source_file(&source, &source.files.at[i], &is_shown);
        files.n_shown += is_shown;
        files.n_unreadable += n_lines == 0;
        files.n_lines = n_lines > files.n_lines ? n_lines : files.n_lines;
        vec_release(&source.files.at[i].marks);
        line_facts_release(&source.files.at[i].facts);
    }
    vec_release(&source.files);
    arena_release(&source.arena);
    files.n_cut = source.n_cut;
    return files;
}
