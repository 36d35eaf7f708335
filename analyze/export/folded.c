/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folded stacks for flame graphs: a line a call path, outermost routine first, then the cause, with the waiting that is
 * blamed on it there, in microseconds. They sum to all waiting, rounded.
 */
#include "analyze/export/export.h"
#include "analyze/export/stack.h"
#include "analyze/words/amount.h"
#include "analyze/result/whole.h"
#include "analyze/words/label.h"
#include "analyze/out/page.h"
#include "wrap/base/containers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One level as readers of folded stacks take it: ';' divides levels. */
static const char *level_text(struct arena *arena, const char *name)
{
    char *text = text_escape(arena, name);
    for (char *at = text; *at; at++)
        if (*at == ';')
            *at = ':';
    return text;
}

/* The cause. If its callers stand before it, they are not written again. */
static const char *leaf_text(const struct label_book *book, uint32_t number)
{
    const struct step *step = &book->analysis->steps[number];
    const char *text = label_step(book, number);
    if (step->caller < book->analysis->n_steps && step->routine)
        text = step->file ? arena_printf(book->arena, "%s %s", label_routine(book, step->routine),
                                         label_lines(book, step->file, step->line_first, step->line_last))
                          : label_routine(book, step->routine);
    return level_text(book->arena, text);
}

struct line {
    const char *text;
    double ns;
};

static int line_compare(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

int export_folded(FILE *out, const struct analysis *analysis)
{
    const struct profile *profile = &analysis->blame_profile;
    struct arena arena = {0};
    struct label_book book = {&arena, analysis, false, true};
    struct stack_levels stack = {0};
    struct intern texts = {0};
    VEC(struct line) lines = {0};
    for (uint32_t i = 0; i < profile->n_stacks; i++) {
        const char *text = leaf_text(&book, profile->stacks[i].step);
        stack_read(&stack, analysis, profile, &profile->stacks[i]);
        for (size_t k = 0; k < stack.levels.n; k++)
            text = arena_printf(&arena, "%s;%s", level_text(&arena, stack.levels.at[k].name), text);
        uint32_t number = intern_text(&texts, text);
        struct line *line = number < lines.n ? &lines.at[number] : vec_push(&lines);
        line->text = text;
        line->ns += profile->stacks[i].ns;
    }
    vec_sort(&lines, line_compare);
    double *values = arena_array(&arena, double, lines.n), sum = 0;
    int64_t *us = arena_array(&arena, int64_t, lines.n);
    for (size_t i = 0; i < lines.n; i++)
        sum += values[i] = fmax(lines.at[i].ns, 0) / 1000;
    whole_apportion(values, (uint32_t)lines.n, llround(sum), us);
    for (size_t i = 0; i < lines.n; i++)
        if (us[i] > 0)
            fprintf(out, "%s %lld\n", lines.at[i].text, (long long)us[i]);
    intern_release(&texts);
    vec_release(&lines);
    stack_release(&stack);
    arena_release(&arena);
    return 0;
}
