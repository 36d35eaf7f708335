/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file of kept runs, which somebody else may have written or changed: compared with itself in every order, as a
 * series, and summed up, as `whywait diff`, `trend` and `report` do. The input is the file. Text has no control
 * characters, and JSON is valid.
 */
#include "analyze/files/paths.h"
#include "analyze/compare/kept.h"
#include "analyze/out/difference.h"
#include "analyze/out/series.h"
#include "tests/fuzz/fuzz.h"
#include <jansson.h>
#include <stdlib.h>

enum { MOST_RUNS = 6 };

struct printed {
    char *text;
    size_t n_bytes;
    FILE *out;
};

static FILE *begin(struct printed *printed)
{
    *printed = (struct printed){0};
    printed->out = open_memstream(&printed->text, &printed->n_bytes);
    fuzz_must(printed->out != NULL);
    return printed->out;
}

static void end_text(struct printed *printed)
{
    fclose(printed->out);
    for (size_t i = 0; i < printed->n_bytes; i++) {
        unsigned char c = (unsigned char)printed->text[i];
        fuzz_must(c == '\n' || (c >= ' ' && c != 0x7f));
    }
    free(printed->text);
}

static void end_json(struct printed *printed)
{
    fclose(printed->out);
    json_t *root = json_loadb(printed->text, printed->n_bytes, 0, NULL);
    fuzz_must(json_is_object(root));
    json_decref(root);
    free(printed->text);
}

static void compare_sides(struct run **runs, const uint32_t *side_of, size_t n, uint32_t n_sides)
{
    static const struct difference_options options = {.width = 110, .parts = true};
    struct comparison comparison;
    struct printed printed;
    compare_make(&comparison, runs, side_of, n, n_sides);
    if (n_sides == 1) {
        summary_print(begin(&printed), &comparison, &(struct series_options){.width = 110});
        end_text(&printed);
        fuzz_must(summary_print_json(begin(&printed), &comparison) == 0);
        end_json(&printed);
    } else {
        difference_print(begin(&printed), &comparison, &options);
        end_text(&printed);
        difference_print_markdown(begin(&printed), &comparison, &options);
        end_text(&printed);
        fuzz_must(difference_print_json(begin(&printed), &comparison) == 0);
        end_json(&printed);
    }
    compare_release(&comparison);
}

static void make_series(struct run **runs, size_t n, bool in_order)
{
    static const struct series_options options = {.width = 110};
    struct series series;
    struct printed printed;
    uint32_t n_points = series_make(&series, runs, n, in_order);
    if (in_order || n_points > 1) {
        fuzz_must(series_print_json(begin(&printed), &series) == 0);
        end_json(&printed);
        (in_order ? series_print_trend : series_print)(begin(&printed), &series, &options);
        end_text(&printed);
    }
    series_release(&series);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    char *dir = fuzz_dir_new(), *path = path_format("%s/kept.json", dir);
    struct arena arena = {0};
    run_list runs = {0};
    static const uint32_t alternating[MOST_RUNS] = {0, 1, 0, 1, 0, 1}, one_side[MOST_RUNS] = {0};
    fuzz_must(fuzz_file_write(dir, "kept.json", data, n_bytes));
    if (kept_is(path) && kept_read(&arena, path, &runs) == 0 && runs.n >= 2) {
        size_t n = runs.n < MOST_RUNS ? runs.n : MOST_RUNS;
        compare_sides(runs.at, alternating, n, 2);
        compare_sides(runs.at, one_side, n, 1);
        make_series(runs.at, n, true);
        make_series(runs.at, n, false);
    }
    vec_release(&runs);
    arena_release(&arena);
    free(path);
    fuzz_dir_remove(dir);
    return 0;
}
