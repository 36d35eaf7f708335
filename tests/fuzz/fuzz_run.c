/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run directory or an archive, from its files to the reports: what `whywait report` does. The input is a bundle
 * (bundle.h). Whatever is in it, the report is text without control characters, the JSON is valid, and the blame of the
 * causes adds up to the waiting.
 */
#include "analyze/out/difference.h"
#include "analyze/out/json_report.h"
#include "analyze/words/label.h"
#include "analyze/out/report.h"
#include "analyze/out/routines.h"
#include "analyze/out/source.h"
#include "analyze/pipeline.h"
#include "tests/fuzz/bundle.h"
#include "tests/fuzz/fuzz.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void check_text(const char *text, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        fuzz_must(text[i] == '\n' || ((unsigned char)text[i] >= ' ' && text[i] != 0x7f));
}

static void check_reports(const struct analysis *analysis)
{
    static const struct report_options options = {.width = 110, .all_steps = true};
    static const struct source_options source = {.n_context = 3, .width = 110};
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(&text, &n_bytes);
    fuzz_must(out != NULL);
    report_overview(out, analysis, &options);
    report_sites(out, analysis, &options);
    for (uint32_t i = 0; i < analysis->n_causes && i < 5; i++)
        report_cause(out, analysis, i, &options);
    for (uint32_t i = 0; i < analysis->n_sites && i < 5; i++)
        report_site(out, analysis, i, &options);
    if (analysis->profile.n_routines)
        report_routines(out, analysis, &analysis->profile, &(struct routines_options){.text = options});
    if (analysis->blame_profile.n_routines)
        report_routines(out, analysis, &analysis->blame_profile, &(struct routines_options){.text = options});
    report_space(out, analysis, &options);
    source_print(out, analysis, &source);
    fclose(out);
    check_text(text, n_bytes);
    free(text);
}

static void check_json(const struct analysis *analysis, bool all)
{
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(&text, &n_bytes);
    fuzz_must(out != NULL);
    fuzz_must(json_print(out, analysis, &(struct json_options){.all = all}) == 0);
    fclose(out);
    json_t *root = json_loadb(text, n_bytes, 0, NULL);
    fuzz_must(json_is_object(root));
    json_decref(root);
    free(text);
}

/* With itself, which is told in the same ways. */
static void check_comparison(const struct analysis *analysis)
{
    struct arena scratch = {0};
    struct comparison comparison = {0};
    struct label_book book = {.arena = &scratch, .analysis = analysis};
    const char **names = arena_array(&scratch, const char *, analysis->n_steps + 1);
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(&text, &n_bytes);
    fuzz_must(out != NULL);
    for (uint32_t i = 0; i < analysis->n_steps; i++)
        names[i] = label_step(&book, i);
    struct run *runs[2];
    const uint32_t side_of[2] = {0, 1};
    for (int side = 0; side < 2; side++)
        runs[side] = run_make(&scratch, analysis, "run", (struct run_texts){names, names}, true);
    compare_make(&comparison, runs, side_of, 2, 2);
    difference_print(out, &comparison, &(struct difference_options){.width = 110, .parts = true});
    fclose(out);
    check_text(text, n_bytes);
    compare_release(&comparison);
    arena_release(&scratch);
    free(text);
}

static void check_sums(const struct analysis *analysis)
{
    double blamed_ns = analysis->machine.waiting_ns, waited_ns = 0, tolerance_ns = 1e-6 * analysis->waiting_ns + 1000;
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        blamed_ns += analysis->causes[i].waiting_ns;
    for (uint32_t i = 0; i < analysis->n_sites; i++)
        waited_ns += analysis->sites[i].waiting_ns;
    fuzz_must(fabs(blamed_ns - analysis->waiting_ns) <= tolerance_ns);
    fuzz_must(fabs(waited_ns - analysis->waiting_ns) <= tolerance_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    struct loaded loaded;
    char *dir = fuzz_dir_new();
    bundle_unpack(data, n_bytes, dir);
    if (load_analysis(&loaded, dir, true) == 0) {
        check_reports(loaded.analysis);
        check_json(loaded.analysis, false);
        check_json(loaded.analysis, true);
        check_sums(loaded.analysis);
        check_comparison(loaded.analysis);
    }
    load_release(&loaded);
    fuzz_dir_remove(dir);
    return 0;
}
