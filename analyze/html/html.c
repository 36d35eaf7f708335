/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/html/html.h"
#include "analyze/html/cells.h"
#include "analyze/html/pack.h"
#include "analyze/html/sources.h"
#include "analyze/html/view.h"
#include "analyze/out/difference.h"
#include "analyze/out/json_report.h"
#include "analyze/out/page.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int written(struct html *html, bool ok)
{
    if (!ok && !html->status)
        html->status = error("cannot write the page: %s", strerror(errno));
    return html->status;
}

/* Data of the page, which its script finds by this name. */
static int put_data(struct html *html, const char *name, const void *bytes, size_t n)
{
    if (html->status)
        return html->status;
    bool ok = fprintf(html->out, "<script type=\"application/octet-stream\" id=\"%s\">", name) > 0 &&
              !pack_write(html->out, bytes, n) && fputs("</script>\n", html->out) != EOF;
    return written(html, ok);
}

static int put_json(struct html *html, const char *name, json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    json_decref(value);
    if (!text)
        err_out_of_memory(1);
    int status = put_data(html, name, text, strlen(text));
    free(text);
    return status;
}

int html_begin(struct html *html, FILE *out, const char *title)
{
    *html = (struct html){.out = out};
    fwrite(view_head, 1, view_head_bytes, out);
    fputs("<title>", out);
    struct arena scratch = {0};
    for (const char *text = text_escape(&scratch, title); *text; text++) {
        if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '&')
            fputs("&amp;", out);
        else
            putc(*text, out);
    }
    arena_release(&scratch);
    fputs(" - whywait</title>\n", out);
    fwrite(view_body, 1, view_body_bytes, out);
    return written(html, !ferror(out));
}

static void note_held(struct html *html, const json_t *files)
{
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *file = json_array_get(files, i);
        if (json_array_size(json_object_get(file, "pieces")))
            intern_text(&html->held, json_string_value(json_object_get(file, "file")));
    }
}

int html_run(struct html *html, const struct analysis *analysis, const struct timeline *timeline,
             const struct html_sources *sources)
{
    char name[64], *text = NULL;
    size_t n = 0;
    FILE *memory = open_memstream(&text, &n);
    if (!memory)
        err_out_of_memory(1);
    html->status = html->status ? html->status : json_print(memory, analysis, &(struct json_options){0});
    fclose(memory);
    snprintf(name, sizeof name, "report-%u", html->n_runs);
    put_data(html, name, text, n);
    free(text);
    struct bytes streams = {0};
    snprintf(name, sizeof name, "cells-%u", html->n_runs);
    json_t *head = cells_encode(analysis, timeline, &streams);
    put_data(html, name, streams.all.at, streams.all.n);
    vec_release(&streams.all);
    snprintf(name, sizeof name, "timeline-%u", html->n_runs);
    put_json(html, name, head);
    snprintf(name, sizeof name, "sources-%u", html->n_runs);
    html->n_runs++;
    json_t *files = sources->are_left_out
                        ? json_array()
                        : sources_read(analysis, sources->directory, sources->coverage, &html->are_sources_cut);
    note_held(html, files);
    return put_json(html, name, json_pack("{s:o, s:o}", "files", files, "bare", sources_bare(analysis)));
}

int html_comparison(struct html *html, const struct comparison *comparison)
{
    char *text = NULL;
    size_t n = 0;
    FILE *memory = open_memstream(&text, &n);
    if (!memory)
        err_out_of_memory(1);
    html->status = html->status ? html->status : difference_print_json(memory, comparison);
    fclose(memory);
    put_data(html, "comparison", text, n);
    free(text);
    return html->status;
}

int html_end(struct html *html)
{
    if (!html->status)
        fwrite(view_tail, 1, view_tail_bytes, html->out);
    return written(html, !fflush(html->out) && !ferror(html->out));
}

void html_release(struct html *html)
{
    intern_release(&html->held);
}
