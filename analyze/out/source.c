/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file's lines get marks: what its loops make others wait (at their first line, a bar along the others) and what is
 * waited at its calls. Lines near a mark are printed. Sources are read from where the debug information says they were;
 * only plain files are opened, and not more of them than a person would read.
 */
#include "analyze/out/source.h"
#include "analyze/out/amount.h"
#include "analyze/out/page.h"
#include "wrap/base/plain.h"
#include "wrap/base/containers.h"
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_FILE = 64 << 20, CAUSE_COLUMN = 11, SITE_COLUMN = 24, NUMBER_COLUMN = 31, TAB = 8 };

struct mark {
    uint32_t line_first, line_last;
    double cause_ns; /* waiting that this loop causes */
    double site_ns;  /* waiting at this call */
};

struct marked_file {
    const char *path;
    double total_ns;
    VEC(struct mark) marks;
};

struct source {
    const struct analysis *analysis;
    const struct source_options *options;
    struct page page;
    struct arena arena;
    VEC(struct marked_file) files;
};

static bool source_wants(const struct source *source, const char *path)
{
    const char *only = source->options->only_file;
    if (!path || !only)
        return path != NULL;
    size_t length = strlen(path), only_length = strlen(only);
    return length >= only_length && !strcmp(path + length - only_length, only);
}

static void source_mark(struct source *source, const char *path, struct mark mark)
{
    double ns = mark.cause_ns + mark.site_ns;
    if (!source_wants(source, path) || !mark.line_first || ns < 0.01 * source->analysis->waiting_ns)
        return;
    struct marked_file *file = NULL;
    for (size_t i = 0; i < source->files.n && !file; i++)
        if (!strcmp(source->files.at[i].path, path))
            file = &source->files.at[i];
    if (!file) {
        file = vec_push(&source->files);
        file->path = path;
    }
    if (mark.line_last < mark.line_first)
        mark.line_last = mark.line_first;
    file->total_ns += ns;
    *vec_push(&file->marks) = mark;
}

static int by_falling_total(const void *a, const void *b)
{
    const struct marked_file *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return strcmp(x->path, y->path);
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
    if (source->files.n)
        qsort(source->files.at, source->files.n, sizeof *source->files.at, by_falling_total);
}

/* An empty file has nothing to show, and those of the kernel, on which reading may wait, claim to be empty. */
static FILE *open_plain(const char *path)
{
    struct stat status;
    int fd = plain_open(path, 0);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && status.st_size > 0 && status.st_size <= LARGEST_FILE)
        return fdopen(fd, "r");
    close(fd);
    errno = EFBIG;
    return NULL;
}

struct line_sums {
    double cause_ns, site_ns; /* of marks that begin here */
    bool is_inside, is_near;
};

static struct line_sums line_sums(const struct marked_file *file, uint32_t line, uint32_t n_context)
{
    struct line_sums sums = {0};
    for (size_t i = 0; i < file->marks.n; i++) {
        const struct mark *mark = &file->marks.at[i];
        bool is_in = line >= mark->line_first && line <= mark->line_last;
        sums.is_inside |= is_in && mark->cause_ns > 0;
        sums.is_near |= line + n_context >= mark->line_first && line <= mark->line_last + n_context;
        sums.cause_ns += line == mark->line_first ? mark->cause_ns : 0;
        sums.site_ns += line == mark->line_first ? mark->site_ns : 0;
    }
    return sums;
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

static void source_line(struct source *source, const struct line_sums *sums, uint32_t number, const char *text)
{
    struct page *page = &source->page;
    struct arena scratch = {0};
    if (sums->cause_ns > 0)
        page_right(page, CAUSE_COLUMN, amount_duration(sums->cause_ns).text);
    if (sums->is_inside)
        page_right(page, CAUSE_COLUMN + 2, "|");
    if (sums->site_ns > 0)
        page_right(page, SITE_COLUMN, amount_duration(sums->site_ns).text);
    page_right(page, NUMBER_COLUMN, arena_printf(&scratch, "%u", number));
    const char *line = expanded(&scratch, text);
    if (*line) {
        page_tab(page, NUMBER_COLUMN + 2);
        size_t room = page->width > page->column + 8 ? page->width - page->column : 8;
        page_put(page, "%s", text_cut(&scratch, line, room));
    }
    page_end(page);
    arena_release(&scratch);
}

/* False when it cannot be read. */
static bool source_file(struct source *source, const struct marked_file *marked)
{
    FILE *file = open_plain(marked->path);
    int why = errno;
    const char *name = strrchr(marked->path, '/'), *directory = source->options->directory;
    if (!file && directory)
        file = open_plain(arena_printf(&source->arena, "%s/%s", directory, name ? name + 1 : marked->path));
    if (!file)
        page_line(&source->page, "%s   cannot be read: %s%s", marked->path, strerror(why),
                  directory ? "" : " (--source DIR says where else to look)");
    if (!file)
        return false;
    page_line(&source->page, "%s", marked->path);
    page_right(&source->page, CAUSE_COLUMN, "causes");
    page_right(&source->page, SITE_COLUMN, "waits here");
    page_right(&source->page, NUMBER_COLUMN, "line");
    page_end(&source->page);
    char *text = NULL;
    size_t size = 0;
    uint32_t last_shown = 0;
    for (uint32_t number = 1; getline(&text, &size, file) > 0; number++) {
        struct line_sums sums = line_sums(marked, number, source->options->n_context);
        if (!sums.is_near)
            continue;
        if (last_shown && number > last_shown + 1) {
            page_right(&source->page, NUMBER_COLUMN, "...");
            page_end(&source->page);
        }
        source_line(source, &sums, number, text);
        last_shown = number;
    }
    free(text);
    fclose(file);
    return true;
}

struct source_files source_print(FILE *out, const struct analysis *analysis, const struct source_options *options)
{
    struct source source = {
        .analysis = analysis, .options = options, .page = {.out = out, .width = options->width, .look = options->look}};
    struct source_files files = {0};
    source_collect(&source);
    for (size_t i = 0; i < source.files.n; i++) {
        if (i)
            page_end(&source.page);
        bool is_shown = source_file(&source, &source.files.at[i]);
        files.n_shown += is_shown;
        files.n_unreadable += !is_shown;
        vec_release(&source.files.at[i].marks);
    }
    vec_release(&source.files);
    arena_release(&source.arena);
    return files;
}
