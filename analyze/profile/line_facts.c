/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/profile/line_facts.h"
#include "wrap/base/keys.h"
#include <stdlib.h>
#include <string.h>

/* The files are one: their paths are the same, or one is the end of the other (a compiler may have been given less). */
static bool line_facts_same_file(const char *path, const char *other)
{
    size_t n = strlen(path), n_other = strlen(other);
    const char *longer = n > n_other ? path : other, *end = n > n_other ? other : path;
    size_t n_longer = n > n_other ? n : n_other, n_end = n > n_other ? n_other : n;
    return n_end && !strcmp(longer + n_longer - n_end, end) &&
           (n_longer == n_end || longer[n_longer - n_end - 1] == '/' || *end == '/');
}

static struct file_facts *file_find(struct file_facts *files, size_t n, const char *path)
{
    for (size_t i = 0; path && i < n; i++)
        if (line_facts_same_file(files[i].path, path))
            return &files[i];
    return NULL;
}

enum { LINES_MOST = 10000000 };
static struct line_facts *line_put(struct file_facts *file, uint32_t line)
{
    if (!line || line > LINES_MOST)
        line = 0;
    if (line >= file->lines.n)
        vec_resize(&file->lines, (size_t)line + 1);
    return &file->lines.at[line];
}

/* Code of a header that is not shown counts where it was called from. False when it is of no file that is. */
static bool add_time(struct file_facts *files, size_t n, const struct analysis *analysis,
                     const struct trace_frame *frame, double ns)
{
    struct code_spot spot =
        code_spot_at(analysis->code, frame->module, trace_code_address(frame->address, frame->is_return));
    struct file_facts *file = file_find(files, n, spot.file);
    uint32_t line = spot.line;
    if (!file) {
        file = file_find(files, n, spot.call_file);
        line = spot.call_line;
    }
    if (!file)
        return false;
    line_put(file, line)->time_ns += ns;
    file->has_time = true;
    return true;
}

/* The time of run-time libraries and of a script's packages belongs to the line that calls them. */
static void gather_time(struct file_facts *files, size_t n, const struct analysis *analysis)
{
    const struct trace *trace = analysis->trace;
    for (uint32_t i = 0; i < analysis->profile.n_stacks && analysis->code; i++) {
        const struct profile_stack *stack = &analysis->profile.stacks[i];
        trace_walk (trace, at, stack->frame) {
            uint32_t module = trace->frames[at].module;
            if (module >= trace->n_modules || add_time(files, n, analysis, &trace->frames[at], stack->ns))
                break;
            enum code_role role = code_module_role(analysis->code, module);
            if (!code_module_is_runtime(analysis->code, module) && role != CODE_ROLE_INSTALLED &&
                role != CODE_ROLE_MADE)
                break;
        }
    }
}

/* One rank's executions of a line; lines that a rank's modules have both add up before. */
static void add_rank(struct file_facts *file, uint32_t line, uint64_t executions)
{
    struct line_facts *facts = line_put(file, line);
    facts->least = !facts->is_counted || executions < facts->least ? executions : facts->least;
    facts->most = executions > facts->most ? executions : facts->most;
    facts->sum += (double)executions;
    facts->is_counted = file->has_counts = true;
}

static void add_way(struct file_facts *file, const struct counts_branch *branch)
{
    struct line_facts *facts = line_put(file, branch->line);
    struct line_way *way = NULL;
    for (size_t i = 0; i < facts->ways.n && !way; i++)
        if (facts->ways.at[i].function == branch->number && facts->ways.at[i].block == branch->block &&
            facts->ways.at[i].way == branch->way)
            way = &facts->ways.at[i];
    if (!way) {
        way = vec_push(&facts->ways);
        *way = (struct line_way){.function = branch->number, .block = branch->block, .way = branch->way};
    }
    way->taken += (double)branch->taken;
    way->executions += (double)branch->executions;
    file->has_ways |= branch->executions > 0;
}

static void gather_counts(struct file_facts *files, size_t n, struct coverage *coverage)
{
    for (uint32_t module = 0; module < coverage->trace->n_modules; module++)
        for (uint32_t rank = 0; coverage->counts[module] && rank < coverage->trace->n_ranks; rank++) {
            struct coverage_listing listing;
            struct file_facts *file = NULL;
            coverage_rank(coverage, rank, module, &listing);
            for (size_t i = 0; i < listing.n_lines; i++) {
                const struct counts_line_count *line = &listing.lines[i];
                if (i == 0 || strcmp(line->file, line[-1].file) != 0)
                    file = file_find(files, n, line->file);
                if (file)
                    add_rank(file, line->line, line->executions);
            }
            for (size_t i = 0; i < listing.n_branches; i++) {
                const struct counts_branch *branch = &listing.branches[i];
                if (i == 0 || strcmp(branch->file, branch[-1].file) != 0)
                    file = file_find(files, n, branch->file);
                if (file)
                    add_way(file, branch);
            }
            arena_release(&listing.arena);
        }
}

static int loop_compare(const void *a, const void *b)
{
    const struct line_loop *left = a, *right = b;
    return order_of(left->first, right->first) ?: order_of(right->last, left->last);
}

/* Loops of the code that was looked at: where time was spent, or a call was made. */
static void gather_loops(struct file_facts *file, struct code *code)
{
    VEC(uint32_t) around = {0}; /* last lines of the loops around */
    for (uint32_t i = 0; i < code_n_places(code); i++) {
        const struct code_place *place = code_place(code, i);
        if (place->is_loop && place->source == place->id && place->file && place->line_first &&
            line_facts_same_file(file->path, place->file))
            *vec_push(&file->loops) = (struct line_loop){.first = place->line_first, .last = place->line_last};
    }
    vec_sort(&file->loops, loop_compare);
    size_t n_kept = 0;
    for (size_t i = 0; i < file->loops.n; i++) {
        struct line_loop loop = file->loops.at[i];
        if (n_kept && loop.first == file->loops.at[n_kept - 1].first && loop.last == file->loops.at[n_kept - 1].last)
            continue;
        while (around.n && around.at[around.n - 1] < loop.first)
            around.n--;
        loop.depth = (uint32_t)around.n;
        *vec_push(&around) = loop.last;
        file->n_deep = file->n_deep > around.n ? file->n_deep : (uint32_t)around.n;
        file->loops.at[n_kept++] = loop;
    }
    file->loops.n = n_kept;
    vec_release(&around);
}

void line_facts_gather(struct file_facts *files, size_t n, const struct analysis *analysis, struct coverage *coverage)
{
    gather_time(files, n, analysis);
    if (coverage)
        gather_counts(files, n, coverage);
    for (size_t i = 0; i < n && analysis->code; i++)
        gather_loops(&files[i], analysis->code);
}

void line_facts_release(struct file_facts *file)
{
    for (size_t i = 0; i < file->lines.n; i++)
        vec_release(&file->lines.at[i].ways);
    vec_release(&file->lines);
    vec_release(&file->loops);
}
