/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run for KCachegrind and callgrind_annotate: by routine and source line the time spent there, the waiting on other
 * ranks that it is blamed for, and how often it was executed (of programs that were built to count), ranks and runs
 * added up.
 *
 * Time and blame come with call stacks: a level of a stack is a call, which costs what is below it. A call that
 * recursion passes again counts once a stack. All calls of one routine from a line are one record, with the number that
 * is known: that of the profile's arc, told at the line with the most time.
 */
#include "analyze/export/export.h"
#include "analyze/export/stack.h"
#include "analyze/counts/coverage.h"
#include "analyze/words/label.h"
#include "analyze/out/page.h"
#include "wrap/base/containers.h"
#include "wrap/base/keys.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum measure { MEASURE_TIME, MEASURE_BLAME, MEASURE_EXECUTIONS, N_MEASURES };

struct function {
    const char *name, *file; /* file NULL = unknown */
};

/* Costs of a line itself, or of what it calls: keys of `keys`. */
struct cost_key {
    uint32_t function, line, callee; /* callee TRACE_NONE: the line itself */
    uint32_t file;                   /* number in `files` of where the line stands, when that is not the function's */
};
struct cost {
    struct cost_key key;
    double value[N_MEASURES];
    uint64_t calls;
    uint32_t last_stack; /* that has been added, from 1 */
};

struct callgrind {
    const struct analysis *analysis;
    struct arena arena;
    struct intern names, files, keys;
    struct map head_of; /* number of "basename:line" in `heads` -> function + 1 */
    struct intern heads;
    VEC(struct function) functions;
    VEC(struct cost) costs;
    uint32_t n_stacks;
};

/* A head at the same line of a file of the same name is the same routine, whoever names it. */
static uint32_t function_put(struct callgrind *callgrind, const char *name, const char *file, uint32_t head)
{
    struct arena scratch = {0};
    uint64_t *of_head = NULL;
    if (file && head)
        of_head =
            map_put(&callgrind->head_of,
                    intern_text(&callgrind->heads, arena_printf(&scratch, "%s:%u", label_base_name(file), head)), NULL);
    uint32_t number = of_head && *of_head
                          ? (uint32_t)*of_head - 1
                          : intern_text(&callgrind->names, arena_printf(&scratch, "%s\n%s", name, file ? file : ""));
    arena_release(&scratch);
    if (number == callgrind->functions.n)
        *vec_push(&callgrind->functions) = (struct function){arena_strdup(&callgrind->arena, name),
                                                             file ? arena_strdup(&callgrind->arena, file) : NULL};
    if (of_head)
        *of_head = number + 1;
    return number;
}

static struct cost *cost_put(struct callgrind *callgrind, uint32_t function, const char *file, uint32_t line,
                             uint32_t callee)
{
    const char *own = callgrind->functions.at[function].file;
    bool is_own = !file || !line || (own && !strcmp(label_base_name(own), label_base_name(file)));
    struct cost_key key = {function, line, callee, is_own ? TRACE_NONE : intern_text(&callgrind->files, file)};
    uint32_t number = intern_put(&callgrind->keys, &key, sizeof key);
    if (number == callgrind->costs.n)
        *vec_push(&callgrind->costs) = (struct cost){.key = key};
    return &callgrind->costs.at[number];
}

static void add_stacks(struct callgrind *callgrind, const struct profile *profile, enum measure measure)
{
    const struct analysis *analysis = callgrind->analysis;
    struct label_book book = {&callgrind->arena, analysis, false, true};
    struct stack_levels stack = {0};
    for (uint32_t i = 0; i < profile->n_stacks; i++) {
        const struct profile_stack *at = &profile->stacks[i];
        const struct step *step = at->step < analysis->n_steps ? &analysis->steps[at->step] : NULL;
        stack_read(&stack, analysis, profile, at);
        if (step && (step->state != STEP_COMPUTING || !stack.levels.n)) {
            /* Blamed on a call of MPI, or on something without a stack: the innermost routine. */
            bool is_call = step->state == STEP_MPI && step->routine;
            (void)vec_push(&stack.levels);
            memmove(stack.levels.at + 1, stack.levels.at, (stack.levels.n - 1) * sizeof *stack.levels.at);
            stack.levels.at[0] = (struct stack_level){.name = is_call ? step->routine : label_step(&book, at->step)};
        }
        uint32_t callee = TRACE_NONE;
        callgrind->n_stacks++;
        for (size_t j = 0; j < stack.levels.n; j++) {
            const struct stack_level *level = &stack.levels.at[j];
            uint32_t function = function_put(callgrind, level->name, level->file, level->head);
            struct cost *cost = cost_put(callgrind, function, level->at_file, level->at_line, callee);
            if (callee == TRACE_NONE || cost->last_stack != callgrind->n_stacks)
                cost->value[measure] += at->ns;
            cost->last_stack = callgrind->n_stacks;
            cost->calls += j == 1 ? (at->mpi == TRACE_NONE ? 0 : at->calls) : 0;
            callee = function;
        }
    }
    stack_release(&stack);
}

/* Exact numbers of calls, at the line of the caller that spends most in them. MPI's came with their stacks. */
static void add_calls(struct callgrind *callgrind, const struct profile *profile)
{
    struct map most = {0}; /* (caller, callee) -> cost + 1 */
    for (size_t i = 0; i < callgrind->costs.n; i++) {
        const struct cost_key *key = &callgrind->costs.at[i].key;
        uint64_t *known = map_put(&most, key_pair(key->function, key->callee), NULL);
        if (!*known || callgrind->costs.at[i].value[MEASURE_TIME] > callgrind->costs.at[*known - 1].value[MEASURE_TIME])
            *known = i + 1;
    }
    for (uint32_t i = 0; i < profile->n_arcs; i++) {
        const struct routine_arc *arc = &profile->arcs[i];
        const struct routine_profile *from = &profile->routines[arc->from], *to = &profile->routines[arc->to];
        if (!arc->calls || to->is_mpi)
            continue;
        uint32_t caller = function_put(callgrind, from->name, from->file, from->line);
        uint32_t callee = function_put(callgrind, to->name, to->file, to->line);
        const uint64_t *known = map_get(&most, key_pair(caller, callee));
        struct cost *cost = known && *known ? &callgrind->costs.at[*known - 1]
                                            : cost_put(callgrind, caller, from->file, from->line, callee);
        cost->calls += arc->calls;
    }
    map_release(&most);
}

static void add_executions(struct callgrind *callgrind, struct coverage *coverage, uint32_t rank, uint32_t module)
{
    struct coverage_listing listing;
    coverage_rank(coverage, rank, module, &listing);
    for (size_t i = 0; i < listing.n_lines; i++) {
        const struct counts_line_count *line = &listing.lines[i];
        const struct counts_function *counted = counts_function(coverage->counts[module], line->number);
        uint32_t function = function_put(callgrind, counted->source_name, counted->file, counted->line);
        cost_put(callgrind, function, line->file, line->line, TRACE_NONE)->value[MEASURE_EXECUTIONS] +=
            (double)line->executions;
    }
    arena_release(&listing.arena);
}

/* By function, then the line itself before what it calls. */
static int cost_compare(const void *a, const void *b)
{
    const struct cost_key *left = &((const struct cost *)a)->key, *right = &((const struct cost *)b)->key;
    /* The function's own file first. */
    int order = order_of(left->function, right->function) ?: order_of(left->file + 1, right->file + 1);
    return order ?: order_of(left->line, right->line) ?: order_of(left->callee + 1, right->callee + 1);
}

static void write_text(FILE *out, const char *before, const char *text)
{
    struct arena scratch = {0};
    fprintf(out, "%s%s\n", before, text_escape(&scratch, text));
    arena_release(&scratch);
}

static void write_costs(FILE *out, const struct callgrind *callgrind)
{
    static const char unknown[] = "???";
    for (size_t i = 0; i < callgrind->costs.n; i++) {
        const struct cost *cost = &callgrind->costs.at[i];
        const struct cost_key *key = &cost->key, *last = i ? &callgrind->costs.at[i - 1].key : NULL;
        const struct function *function = &callgrind->functions.at[key->function];
        const char *file = function->file ? function->file : unknown;
        if (!last || last->function != key->function) {
            fputc('\n', out);
            write_text(out, "fl=", file);
            write_text(out, "fn=", function->name);
            last = NULL;
        }
        if (key->file != (last ? last->file : TRACE_NONE))
            write_text(out, "fi=", key->file == TRACE_NONE ? file : callgrind->files.items[key->file].bytes);
        if (key->callee != TRACE_NONE) {
            const struct function *callee = &callgrind->functions.at[key->callee];
            write_text(out, "cfi=", callee->file ? callee->file : unknown);
            write_text(out, "cfn=", callee->name);
            /* Readers take the cost of no call for the line's own: where the number is not known, it is 1. */
            fprintf(out, "calls=%llu 0\n", (unsigned long long)(cost->calls ? cost->calls : 1));
        }
        fprintf(out, "%u", key->line);
        for (int measure = 0; measure < N_MEASURES; measure++)
            fprintf(out, " %lld", llround(cost->value[measure]));
        fputc('\n', out);
    }
}

/* Everything of one run. Returns 0, or -1 after error(). */
static int add_run(struct callgrind *callgrind, const struct analysis *analysis)
{
    struct trace *trace = analysis->trace;
    struct coverage coverage = {0};
    int status = 0;
    callgrind->analysis = analysis;
    add_stacks(callgrind, &analysis->profile, MEASURE_TIME);
    add_stacks(callgrind, &analysis->blame_profile, MEASURE_BLAME);
    add_calls(callgrind, &analysis->profile);
    if (trace->is_counted)
        status = coverage_read(&coverage, trace, analysis->code);
    for (uint32_t module = 0; coverage.counts && status == 0 && module < trace->n_modules; module++)
        for (uint32_t rank = 0; coverage.counts[module] && rank < trace->n_ranks; rank++)
            add_executions(callgrind, &coverage, rank, module);
    coverage_release(&coverage);
    return status;
}

int export_callgrind(FILE *out, const struct export_run *runs, size_t n_runs)
{
    struct callgrind callgrind = {0};
    const struct trace *trace = runs[0].analysis->trace;
    double totals[N_MEASURES] = {0};
    int status = 0;
    for (size_t i = 0; i < n_runs && status == 0; i++)
        status = add_run(&callgrind, runs[i].analysis);
    vec_sort(&callgrind.costs, cost_compare);
    for (size_t i = 0; i < callgrind.costs.n; i++)
        for (int measure = 0; measure < N_MEASURES && callgrind.costs.at[i].key.callee == TRACE_NONE; measure++)
            totals[measure] += (double)llround(callgrind.costs.at[i].value[measure]);
    fputs("# callgrind format\nversion: 1\ncreator: whywait " WHYWAIT_VERSION "\n", out);
    write_text(out, "cmd: ", trace->command ? trace->command : trace->program ? trace->program : "unknown");
    if (n_runs > 1)
        fprintf(out, "desc: Runs: %zu, added up\n", n_runs);
    fputs("positions: line\nevent: Time : time on a CPU or in MPI (ns)\nevent: Blame : waiting that it causes (ns)\n"
          "event: Executions : executions\nevents: Time Blame Executions\n",
          out);
    fprintf(out, "summary: %lld %lld %lld\n", llround(totals[0]), llround(totals[1]), llround(totals[2]));
    write_costs(out, &callgrind);
    fprintf(out, "\ntotals: %lld %lld %lld\n", llround(totals[0]), llround(totals[1]), llround(totals[2]));
    intern_release(&callgrind.names);
    intern_release(&callgrind.files);
    intern_release(&callgrind.keys);
    intern_release(&callgrind.heads);
    map_release(&callgrind.head_of);
    vec_release(&callgrind.functions);
    vec_release(&callgrind.costs);
    arena_release(&callgrind.arena);
    return status;
}
