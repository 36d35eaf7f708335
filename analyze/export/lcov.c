/* SPDX-License-Identifier: BSD-3-Clause */
/* Executions by source line and rank, and the ways that conditions went, in formats that line-coverage tools read. */
#include "analyze/export/export.h"
#include "analyze/counts/coverage.h"
#include "analyze/out/page.h"
#include "wrap/base/err.h"
#include <jansson.h>
#include <string.h>

/* The functions of a file begin at *at, where it was left after the file before. */
static size_t heads_of(const struct coverage_listing *listing, const char *file, size_t *at)
{
    size_t n = 0;
    while (*at < listing->n_heads && strcmp(listing->heads[*at].file, file) < 0)
        ++*at;
    while (*at + n < listing->n_heads && strcmp(listing->heads[*at + n].file, file) == 0)
        n++;
    return n;
}

/* The branches of a line begin at *at, where it was left after the line before. */
static size_t branches_of(const struct coverage_listing *listing, const struct counts_line_count *line, size_t *at)
{
    size_t n = 0;
    const struct counts_branch *branches = listing->branches;
    for (; *at < listing->n_branches; ++*at) {
        int by_file = strcmp(branches[*at].file, line->file);
        if (by_file > 0 || (by_file == 0 && branches[*at].line >= line->line))
            break;
    }
    while (*at + n < listing->n_branches && branches[*at + n].line == line->line &&
           strcmp(branches[*at + n].file, line->file) == 0)
        n++;
    return n;
}

static void print_lcov(FILE *out, uint32_t rank, struct coverage_listing *listing)
{
    const struct counts_line_count *lines = listing->lines;
    size_t at_head = 0, at_branch = 0;
    for (size_t i = 0; i < listing->n_lines; i++) {
        if (i == 0 || strcmp(lines[i].file, lines[i - 1].file) != 0) {
            fprintf(out, "%sTN:rank_%u\nSF:%s\n", i ? "end_of_record\n" : "", rank,
                    text_escape(&listing->arena, lines[i].file));
            size_t n = heads_of(listing, lines[i].file, &at_head);
            const struct counts_head *heads = listing->heads + at_head;
            for (size_t k = 0; k < n; k++)
                fprintf(out, "FN:%u,%s\n", heads[k].line, text_escape(&listing->arena, heads[k].name));
            for (size_t k = 0; k < n; k++)
                fprintf(out, "FNDA:%llu,%s\n", (unsigned long long)heads[k].calls,
                        text_escape(&listing->arena, heads[k].name));
        }
        /* Conditions of a line are numbered from 0. */
        unsigned condition = 0;
        size_t n = branches_of(listing, &lines[i], &at_branch);
        for (const struct counts_branch *branch = listing->branches + at_branch; n-- > 0; branch++) {
            fprintf(out, "BRDA:%u,%u,%u,", lines[i].line, condition, branch->way);
            if (branch->executions)
                fprintf(out, "%llu\n", (unsigned long long)branch->taken);
            else
                fprintf(out, "-\n");
            condition += n > 0 && branch[1].way == 0;
        }
        fprintf(out, "DA:%u,%llu\n", lines[i].line, (unsigned long long)lines[i].executions);
    }
    if (listing->n_lines)
        fprintf(out, "end_of_record\n");
}

/* The lines of the file that begins at *at, which moves behind it. */
static json_t *json_lines(struct coverage_listing *listing, size_t *at, size_t *at_branch)
{
    json_t *array = json_array();
    const struct counts_line_count *lines = listing->lines;
    for (const char *file = lines[*at].file; *at < listing->n_lines && strcmp(lines[*at].file, file) == 0; ++*at) {
        json_t *branches = json_array();
        size_t n = branches_of(listing, &lines[*at], at_branch);
        for (const struct counts_branch *branch = listing->branches + *at_branch; n-- > 0; branch++)
            json_array_append_new(branches, json_pack("{s:I, s:b, s:b}", "count", (json_int_t)branch->taken,
                                                      "fallthrough", 0, "throw", 0));
        json_array_append_new(array, json_pack("{s:i, s:I, s:s, s:b, s:o}", "line_number", (int)lines[*at].line,
                                               "count", (json_int_t)lines[*at].executions, "function_name",
                                               text_escape(&listing->arena, lines[*at].function), "unexecuted_block",
                                               lines[*at].executions == 0, "branches", branches));
    }
    return array;
}

static void print_json(FILE *out, uint32_t rank, struct coverage_listing *listing)
{
    json_t *files = json_array();
    char name[32];
    snprintf(name, sizeof name, "rank %u", rank);
    for (size_t i = 0, at_head = 0, at_branch = 0; i < listing->n_lines;) {
        const char *file = listing->lines[i].file;
        json_t *functions = json_array(), *lines = json_lines(listing, &i, &at_branch);
        size_t n = heads_of(listing, file, &at_head);
        for (const struct counts_head *head = listing->heads + at_head; n-- > 0; head++)
            json_array_append_new(functions,
                                  json_pack("{s:s, s:s, s:i, s:I}", "name", text_escape(&listing->arena, head->name),
                                            "demangled_name", text_escape(&listing->arena, head->source_name),
                                            "start_line", (int)head->line, "execution_count", (json_int_t)head->calls));
        json_array_append_new(files, json_pack("{s:s, s:o, s:o}", "file", text_escape(&listing->arena, file),
                                               "functions", functions, "lines", lines));
    }
    json_t *all = json_pack("{s:s, s:s, s:s, s:o}", "format_version", "1", "gcc_version", "whywait " WHYWAIT_VERSION,
                            "data_file", name, "files", files);
    json_dumpf(all, out, JSON_COMPACT);
    fputc('\n', out);
    json_decref(all);
}

/* Counts of the same source in different builds do not add up: lines and blocks may have moved. */
static int check_builds(const struct trace *first, const struct trace *other)
{
    for (uint32_t i = 0; i < first->n_modules; i++)
        for (uint32_t k = 0; k < other->n_modules; k++) {
            const struct trace_module *a = &first->modules[i], *b = &other->modules[k];
            bool is_one =
                a->build_id_bytes == b->build_id_bytes && !memcmp(a->build_id, b->build_id, a->build_id_bytes);
            if (!strcmp(a->path, b->path) && !is_one)
                return error("%s ran another build of %s than %s: their counts do not add up", other->path, a->path,
                             first->path);
        }
    return 0;
}

/* Ranks and modules are those of the first run. */
int export_coverage(FILE *out, const struct coverage_run *runs, size_t n_runs, bool as_json)
{
    struct arena scratch = {0};
    struct coverage *coverage = arena_array(&scratch, struct coverage, n_runs);
    int status = 0;
    size_t n_read = 0;
    uint32_t n_counted = 0;
    for (; n_read < n_runs && status == 0; n_read++)
        status = check_builds(runs[0].trace, runs[n_read].trace)
                     ? -1
                     : coverage_read(&coverage[n_read], runs[n_read].trace, runs[n_read].code);
    for (uint32_t module = 0; status == 0 && module < runs[0].trace->n_modules; module++)
        n_counted += coverage[0].counts[module] != NULL;
    if (status == 0 && !n_counted)
        status = error("%s: no counts are left to export", runs[0].trace->path);
    for (uint32_t rank = 0; status == 0 && rank < runs[0].trace->n_ranks; rank++)
        for (uint32_t module = 0; module < runs[0].trace->n_modules; module++) {
            struct coverage_listing listing;
            coverage_rank_of_all(coverage, n_runs, rank, module, &listing);
            if (coverage[0].counts[module])
                (as_json ? print_json : print_lcov)(out, rank, &listing);
            arena_release(&listing.arena);
        }
    for (size_t i = 0; i < n_read; i++)
        coverage_release(&coverage[i]);
    arena_release(&scratch);
    return status;
}
