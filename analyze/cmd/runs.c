/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/cmd/runs.h"
#include "analyze/cmd/cmd.h"
#include "analyze/words/ending.h"
#include "analyze/words/label.h"
#include "analyze/trace/part.h"
#include "wrap/base/err.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct run *runs_make(struct arena *arena, const struct loaded *loaded, const char *path)
{
    struct arena scratch = {0};
    const struct analysis *analysis = loaded->analysis;
    struct label_book book = {.arena = &scratch, .analysis = analysis};
    const char **names = arena_array(&scratch, const char *, analysis->n_steps + 1);
    const char **keys = arena_array(&scratch, const char *, analysis->n_steps + 1);
    for (uint32_t i = 0; i < analysis->n_nodes; i++) {
        uint32_t step = analysis->nodes[i].step;
        if (!names[step]) {
            names[step] = label_step(&book, step);
            keys[step] = label_step_alone(&book, step);
        }
    }
    bool is_whole = true;
    for (uint32_t rank = 0; rank < loaded->trace->n_ranks; rank++)
        is_whole &= ending_is_orderly(loaded->trace, trace_main_thread(loaded->trace, rank));
    struct run *run = run_make(arena, analysis, path, (struct run_texts){names, keys}, is_whole);
    arena_release(&scratch);
    return run;
}

int runs_add(struct arena *arena, const char *path, run_list *runs)
{
    struct loaded loaded;
    if (kept_is(path))
        return kept_read(arena, path, runs);
    int status = load_analysis_with_facts(&loaded, path, false);
    if (status == 0) {
        *vec_push(runs) = runs_make(arena, &loaded, path);
        status = load_is_degraded(&loaded) ? STATUS_DEGRADED : 0;
    }
    load_release(&loaded);
    return status;
}

bool runs_are_same(const struct run *a, const struct run *b)
{
    struct stat at_a, at_b;
    if (!stat(a->path, &at_a) && !stat(b->path, &at_b))
        return at_a.st_dev == at_b.st_dev && at_a.st_ino == at_b.st_ino;
    return a->realtime_ns && a->realtime_ns == b->realtime_ns && !strcmp(a->command, b->command);
}

int runs_add_windows(struct arena *arena, const char *path, run_list *runs)
{
    struct loaded loaded;
    struct trace_window *windows = NULL;
    int status = load_trace(&loaded, path);
    size_t n = status == 0 ? part_windows(loaded.trace, &windows) : 0;
    if (status == 0 && loaded.trace->has_failed)
        status = -1;
    if (status == 0 && n == 1)
        status = error("%s has one window: there is nothing to compare it with", loaded.trace->path);
    else if (status == 0 && n < 1)
        status = error("%s was not recorded in windows (whywait record --window): else it takes two runs at least",
                       loaded.trace->path);
    else if (status == 0)
        status = trace_set_parts(loaded.trace, windows, n);
    for (size_t i = 0; i < n && status >= 0; i++) {
        double begin_s = (double)windows[i].begin_ns / 1e9, end_s = (double)windows[i].end_ns / 1e9;
        const char *name = windows[i].end_ns < UINT64_MAX
                               ? arena_printf(arena, "window %zu (%.1f to %.1f s)", i + 1, begin_s, end_s)
                               : arena_printf(arena, "window %zu (from %.1f s)", i + 1, begin_s);
        if (i)
            trace_next_part(loaded.trace);
        status = load_present_part(&loaded);
        if (status == 0)
            *vec_push(runs) = runs_make(arena, &loaded, name);
    }
    if (status == 0 && load_is_degraded(&loaded)) /* which is said once */
        status = STATUS_DEGRADED;
    load_release(&loaded);
    free(windows);
    return status;
}

int runs_report(char *const *paths, int n_paths, bool is_json, const struct series_options *print,
                const struct terminal_options *terminal)
{
    struct arena arena = {0};
    run_list runs = {0};
    int status = 0;
    for (int i = 0; i < n_paths && status >= 0; i++) {
        int added = runs_add(&arena, paths[i], &runs);
        status = added ? added : status;
    }
    if (status >= 0) {
        struct comparison comparison;
        uint32_t *side_of = arena_array(&arena, uint32_t, runs.n + 1);
        compare_make(&comparison, runs.at, side_of, runs.n, 1);
        int pager = pager_begin(terminal);
        if (is_json && summary_print_json(stdout, &comparison))
            status = -1;
        else if (!is_json)
            summary_print(stdout, &comparison, print);
        if (fflush(stdout) && status >= 0)
            status = error("cannot write the report: %s", strerror(errno));
        pager_end(pager);
        compare_release(&comparison);
    }
    vec_release(&runs);
    arena_release(&arena);
    return status < 0 ? 1 : status;
}
