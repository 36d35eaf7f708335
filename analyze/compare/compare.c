/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/compare/compare.h"
#include "analyze/compare/counterparts.h"
#include "analyze/compare/noise.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* That anything at all is called a change although nothing has changed. */
static const double CHANCE = 0.05;
/* Its parts: of the run time, of all waiting, of the causes in proportion to their waiting, of each cause alike. */
static const double RUN_TIME_PART = 0.1, WAITING_PART = 0.1, CAUSES_PART = 0.65, EACH_PART = 0.15;

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* Where a name has no lines of its own: the numbers behind ':' and '+0x' in it, the first and the last of them. They
 * are blanked. */
static void lines_of_name(char *name, uint32_t *first, uint32_t *last)
{
    *first = *last = 0;
    for (char *at = name; *at; at++) {
        bool is_line = *at == ':' && isdigit((unsigned char)at[1]), is_offset = !strncmp(at, "+0x", 3);
        if (!is_line && !is_offset)
            continue;
        char *end, *digits = at + (is_offset ? 3 : 1);
        *last = (uint32_t)strtoul(digits, &end, is_offset ? 16 : 10);
        *first = *first ? *first : *last;
        memset(digits, '#', (size_t)(end - digits));
        at = end - 1;
    }
}

static const char *kind_text(struct arena *arena, const struct compare_row *row)
{
    return arena_printf(arena, "%d %d", row->state, row->is_loop);
}

/* The row as counterparts.h wants it; texts are in `arena`. */
static struct stand stand_of(struct arena *arena, const struct compare_row *row)
{
    struct stand stand = {.file = row->file,
                          .routine = row->routine,
                          .build = row->build,
                          .line_first = row->line_first,
                          .line_last = row->line_last,
                          .is_after = row->is_in[true]};
    const char *kind = kind_text(arena, row);
    if (row->file && row->line_first) {
        stand.alike = arena_printf(arena, "%s %s %s", kind, row->file, row->routine ? row->routine : "");
        stand.renamed = row->routine ? arena_printf(arena, "%s %s", kind, row->file) : NULL;
        return stand;
    }
    char *name = arena_strdup(arena, row->name);
    lines_of_name(name, &stand.line_first, &stand.line_last);
    stand.alike = arena_printf(arena, "%s %s", kind, name);
    return stand;
}

static void row_add(struct comparison *comparison, struct compare_row *row, double ns)
{
    size_t run = comparison->is_after.n - 1;
    if (row->ns.n <= run)
        vec_resize(&row->ns, run + 1);
    row->ns.at[run] += ns;
    row->is_in[comparison->is_after.at[run]] = true;
}

/* The row of one side that stands there; both sides' are put together at the end. */
static struct compare_row *row_of(struct comparison *comparison, const struct compare_row *wanted)
{
    struct arena *arena = &comparison->arena;
    bool is_after = comparison->is_after.at[comparison->is_after.n - 1];
    struct stand stand = stand_of(arena, wanted);
    const char *key = arena_printf(arena, "%d %u %u %s", is_after, stand.line_first, stand.line_last, stand.alike);
    size_t at = COMPARE_FIRST_CAUSE + intern_text(&comparison->keys, key);
    if (at < comparison->rows.n) {
        comparison->rows.at[at].name = comparison->rows.at[at].name ? comparison->rows.at[at].name
                                       : wanted->name               ? arena_strdup(arena, wanted->name)
                                                                    : NULL;
        return &comparison->rows.at[at];
    }
    struct compare_row *row = vec_push(&comparison->rows);
    *row = *wanted;
    row->name = wanted->name ? arena_strdup(arena, wanted->name) : NULL;
    row->file = wanted->file ? arena_strdup(arena, wanted->file) : NULL;
    row->routine = wanted->routine ? arena_strdup(arena, wanted->routine) : NULL;
    return row;
}

/* Of the module that the code lies in; where that is not known (calls of MPI), of the program. */
static uint64_t build_of(const struct analysis *analysis, const struct step *step)
{
    const struct trace *trace = analysis->trace;
    if (!analysis->code || !trace->n_modules)
        return 0;
    uint32_t module = step->place == CODE_NONE ? 0 : code_place(analysis->code, step->place)->module;
    for (uint32_t i = 0; step->place == CODE_NONE && i < trace->n_modules; i++)
        if (trace->program && !strcmp(base_name(trace->modules[i].path), trace->program))
            module = i;
    const struct trace_module *at = &trace->modules[module];
    return at->build_id_bytes ? hash_bytes(at->build_id, at->build_id_bytes) : 0;
}

static struct compare_row row_of_step(const struct analysis *analysis, const struct step *step, const char *name)
{
    return (struct compare_row){.name = name,
                                .file = base_name(step->file),
                                .routine = step->routine,
                                .state = step->state,
                                .is_loop = step->is_loop,
                                .build = build_of(analysis, step),
                                .line_first = step->line_first,
                                .line_last = step->line_last};
}

/* Loops that make nobody wait tell where those that do have gone. */
static void add_loops(struct comparison *comparison, const struct analysis *analysis)
{
    for (uint32_t i = 0; i < analysis->n_steps; i++) {
        const struct step *step = &analysis->steps[i];
        if (step->state != STEP_COMPUTING || !step->is_loop || !step->file || !step->line_first)
            continue;
        struct compare_row wanted = row_of_step(analysis, step, NULL);
        row_add(comparison, row_of(comparison, &wanted), 0);
    }
}

static void add_part(struct comparison *comparison, const struct analysis *analysis, const struct cause_part *part,
                     const char *name)
{
    struct compare_row wanted = row_of_step(analysis, &analysis->steps[part->step], name);
    row_add(comparison, row_of(comparison, &wanted), part->own_ns);
}

void compare_add(struct comparison *comparison, const struct analysis *analysis, bool is_after,
                 const char *const *names)
{
    if (!comparison->rows.n) {
        vec_push(&comparison->rows)->name = "run time";
        vec_push(&comparison->rows)->name = "all waiting";
    }
    *vec_push(&comparison->is_after) = is_after;
    row_add(comparison, &comparison->rows.at[COMPARE_RUN_TIME], analysis->efficiency.wall_ns);
    row_add(comparison, &comparison->rows.at[COMPARE_WAITING], analysis->waiting_ns);
    add_loops(comparison, analysis);
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        for (uint32_t k = 0; k < analysis->causes[i].n_parts; k++) {
            const struct cause_part *part = &analysis->causes[i].parts[k];
            if (part->own_ns > 0)
                add_part(comparison, analysis, part, names[part->step]);
        }
    if (analysis->machine.waiting_ns > 0) {
        struct compare_row machine = {.name = "the machine: no CPU", .routine = "", .state = STEP_DESCHEDULED};
        row_add(comparison, row_of(comparison, &machine), analysis->machine.waiting_ns);
    }
}

/* A routine that was renamed has both names. */
static const char *joined_name(struct arena *arena, const struct compare_row *before, const struct compare_row *after)
{
    bool is_renamed = before->routine && after->routine && strcmp(before->routine, after->routine);
    if (!before->name || !after->name || !is_renamed)
        return after->name ? after->name : before->name;
    return arena_printf(arena, "%s (before: %s)", after->name, before->name);
}

static void row_join(struct comparison *comparison, struct compare_row *before, struct compare_row *after)
{
    size_t n_runs = comparison->is_after.n;
    vec_resize(&before->ns, n_runs);
    vec_resize(&after->ns, n_runs);
    for (size_t run = 0; run < n_runs; run++)
        after->ns.at[run] += before->ns.at[run];
    after->name = joined_name(&comparison->arena, before, after);
    after->is_in[false] = true;
    vec_release(&before->ns);
}

static double row_sum(const struct compare_row *row)
{
    double sum_ns = 0;
    for (size_t run = 0; run < row->ns.n; run++)
        sum_ns += row->ns.at[run];
    return sum_ns;
}

static void join_sides(struct comparison *comparison)
{
    struct arena scratch = {0};
    struct compare_row *causes = comparison->rows.at + COMPARE_FIRST_CAUSE;
    size_t n = comparison->rows.n - COMPARE_FIRST_CAUSE, n_left = 0;
    struct stand *stands = arena_array(&scratch, struct stand, n + 1);
    uint32_t *counterpart = arena_array(&scratch, uint32_t, n + 1);
    for (size_t i = 0; i < n; i++)
        stands[i] = stand_of(&scratch, &causes[i]);
    counterparts_find(stands, (uint32_t)n, counterpart);
    for (size_t i = 0; i < n; i++)
        if (!stands[i].is_after && counterpart[i] != COUNTERPART_NONE)
            row_join(comparison, &causes[i], &causes[counterpart[i]]);
    for (size_t i = 0; i < n; i++) {
        if (row_sum(&causes[i]) > 0)
            causes[n_left++] = causes[i];
        else
            vec_release(&causes[i].ns);
    }
    comparison->rows.n = COMPARE_FIRST_CAUSE + n_left;
    arena_release(&scratch);
}

static void row_judge(struct comparison *comparison, struct compare_row *row, double weight)
{
    struct arena scratch = {0};
    size_t n_runs = comparison->is_after.n, n[2] = {0};
    double *values[2] = {arena_array(&scratch, double, n_runs), arena_array(&scratch, double, n_runs)};
    vec_resize(&row->ns, n_runs);
    for (size_t run = 0; run < n_runs; run++) {
        bool is_after = comparison->is_after.at[run];
        values[is_after][n[is_after]++] = row->ns.at[run];
    }
    for (int side = 0; side < 2; side++)
        row->mean_ns[side] = noise_mean(values[side], n[side]);
    row->noise_ns = noise_of_difference(values[0], n[0], values[1], n[1], CHANCE * weight);
    double change_ns = row->mean_ns[1] - row->mean_ns[0];
    row->verdict = isinf(row->noise_ns)               ? COMPARE_UNKNOWN
                   : fabs(change_ns) <= row->noise_ns ? COMPARE_NOISE
                   : change_ns < 0                    ? COMPARE_LESS
                                                      : COMPARE_MORE;
    arena_release(&scratch);
}

/* The chance of error is shared out over the rows: the more waiting, the more of it. */
static void judge(struct comparison *comparison)
{
    struct compare_row *rows = comparison->rows.at;
    double waiting_ns = row_sum(&rows[COMPARE_WAITING]), n_causes = (double)(comparison->rows.n - COMPARE_FIRST_CAUSE);
    row_judge(comparison, &rows[COMPARE_RUN_TIME], RUN_TIME_PART);
    row_judge(comparison, &rows[COMPARE_WAITING], WAITING_PART);
    for (size_t i = COMPARE_FIRST_CAUSE; i < comparison->rows.n; i++) {
        double share = waiting_ns > 0 ? row_sum(&rows[i]) / waiting_ns : 0;
        row_judge(comparison, &rows[i], CAUSES_PART * share + EACH_PART / n_causes);
    }
}

static int by_falling_change(const void *a, const void *b)
{
    const struct compare_row *x = a, *y = b;
    double left = fabs(x->mean_ns[1] - x->mean_ns[0]), right = fabs(y->mean_ns[1] - y->mean_ns[0]);
    if (left != right)
        return left < right ? 1 : -1;
    return strcmp(x->name, y->name);
}

void compare_finish(struct comparison *comparison)
{
    join_sides(comparison);
    judge(comparison);
    qsort(comparison->rows.at + COMPARE_FIRST_CAUSE, comparison->rows.n - COMPARE_FIRST_CAUSE,
          sizeof *comparison->rows.at, by_falling_change);
}

void compare_release(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->rows.n; i++)
        vec_release(&comparison->rows.at[i].ns);
    vec_release(&comparison->rows);
    vec_release(&comparison->is_after);
    vec_release(&comparison->notes);
    intern_release(&comparison->keys);
    arena_release(&comparison->arena);
}
