/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/html/sources.h"
#include "analyze/out/json.h"
#include "analyze/out/original.h"
#include "wrap/base/err.h"
#include <stdlib.h>
#include <string.h>

/* Lines around what is marked; files shorter than that are shown whole; and what a page has room for. */
enum { CONTEXT = 25, WHOLE = 400, MOST_FILES = 40, MOST_BYTES = 1 << 20, LONGEST_LINE = 2000 };

struct span {
    uint32_t first, last;
};

struct source {
    const char *file;
    double ns; /* waiting that it causes or at which it waits */
    VEC(struct span) spans;
};

struct sources {
    const struct analysis *analysis;
    const char *directory;
    VEC(struct source) files;
    size_t n_bytes;
};

static void mark(struct sources *sources, const char *file, uint32_t first, uint32_t last, double ns)
{
    struct source *source = NULL;
    if (!file || !first)
        return;
    for (size_t i = 0; i < sources->files.n && !source; i++)
        if (!strcmp(sources->files.at[i].file, file))
            source = &sources->files.at[i];
    if (!source) {
        source = vec_push(&sources->files);
        source->file = file;
    }
    source->ns += ns;
    *vec_push(&source->spans) = (struct span){first, last < first ? first : last};
}

static int by_falling_waiting(const void *a, const void *b)
{
    const struct source *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return strcmp(x->file, y->file);
}

static bool is_near(const struct source *source, uint32_t line)
{
    for (size_t i = 0; i < source->spans.n; i++)
        if (line + CONTEXT >= source->spans.at[i].first && line <= source->spans.at[i].last + CONTEXT)
            return true;
    return false;
}

/* [[first line, text, text ...] ...] */
static json_t *read_pieces(struct sources *sources, const struct source *source, FILE *file, bool is_whole)
{
    json_t *pieces = json_array(), *piece = NULL;
    char *text = NULL;
    size_t size = 0;
    ssize_t n;
    for (uint32_t line = 1; (n = getline(&text, &size, file)) > 0 && sources->n_bytes < MOST_BYTES; line++) {
        if (!is_whole && !is_near(source, line)) {
            piece = NULL;
            continue;
        }
        if (!piece) {
            piece = json_pack("[i]", (int)line);
            json_array_append_new(pieces, piece);
        }
        text[strcspn(text, "\r\n")] = '\0';
        if (n > LONGEST_LINE)
            text[LONGEST_LINE] = '\0';
        json_array_append_new(piece, json_text(text));
        sources->n_bytes += strlen(text) + 4;
    }
    free(text);
    return pieces;
}

static bool is_short(FILE *file)
{
    int lines = 0;
    for (int c; lines <= WHOLE && (c = getc_unlocked(file)) != EOF;)
        lines += c == '\n';
    rewind(file);
    return lines <= WHOLE;
}

static json_t *read_source(struct sources *sources, const struct source *source, uint64_t built_ns)
{
    static const char *const states[] = {"same", "changed", "unknown", "missing"};
    struct original original = original_open(sources->analysis, source->file, sources->directory, built_ns);
    const char *warning = original_warning(original.state);
    json_t *object = json_pack("{s:o, s:s, s:s?}", "file", json_text(source->file), "state", states[original.state],
                               "warning", warning);
    if (!original.file) {
        json_object_update_new(object, json_pack("{s:s, s:[]}", "reason", strerror(original.reason), "pieces"));
        return object;
    }
    json_object_set_new(object, "pieces", read_pieces(sources, source, original.file, is_short(original.file)));
    fclose(original.file);
    return object;
}

json_t *sources_read(const struct analysis *analysis, const char *directory)
{
    struct sources sources = {.analysis = analysis, .directory = directory};
    json_t *files = json_array();
    uint64_t built_ns = original_built_ns(analysis);
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        for (uint32_t k = 0; k < analysis->causes[i].n_parts; k++) {
            const struct cause_part *part = &analysis->causes[i].parts[k];
            const struct step *step = &analysis->steps[part->step];
            mark(&sources, step->file, step->line_first, step->line_last, part->own_ns);
        }
    for (uint32_t i = 0; i < analysis->n_sites; i++)
        mark(&sources, analysis->sites[i].file, analysis->sites[i].line, analysis->sites[i].line,
             analysis->sites[i].waiting_ns);
    if (sources.files.n)
        qsort(sources.files.at, sources.files.n, sizeof *sources.files.at, by_falling_waiting);
    for (size_t i = 0; i < sources.files.n; i++) {
        if (i < MOST_FILES)
            json_array_append_new(files, read_source(&sources, &sources.files.at[i], built_ns));
        vec_release(&sources.files.at[i].spans);
    }
    vec_release(&sources.files);
    return files;
}
