/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stacks become routines and arcs. Then every rank's graph is solved and added up. Keys of sparse vectors are
 * key_pair(rank, routine or arc).
 */
#include "analyze/profile/profile.h"
#include "analyze/code/origin.h"
#include "analyze/result/names.h"
#include "analyze/profile/callgraph.h"
#include "analyze/blame/classes.h"
#include "wrap/base/err.h"
#include "wrap/base/keys.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_TEXT = 128 };

struct arc_key {
    uint32_t from, to;
};

struct stack_key {
    uint32_t frame, mpi, step;
};

/* The routines that a frame passes through: inlined ones, then their host. */
enum { LINEAGE_MOST = 8 };
struct lineage {
    uint32_t n; /* 0 = not asked yet */
    uint32_t routines[LINEAGE_MOST];
};

struct builder {
    const struct profile_input *input;
    struct intern names; /* "module name" of a routine */
    struct intern arcs;  /* struct arc_key */
    struct intern keys;  /* struct stack_key */
    VEC(struct profile_stack) stacks;
    struct map exported; /* by number of a bare name in `plain`: routine + 1 */
    struct map ran;      /* functions of the tables of counters */
    struct map ran_blocks;
    struct intern ran_lines; /* line_text */
    struct intern plain;
    VEC(struct routine_profile) routines;
    VEC(struct lineage) frame_lineage; /* by frame */
    VEC(uint32_t) arc_seen;            /* by arc: the last stack that it was met in */
    uint32_t n_stacks;
    struct sparse self;            /* time of a routine itself */
    struct sparse through;         /* time of the stacks that an arc is in */
    struct sparse top;             /* time of the stacks that begin in a routine */
    struct sparse calls, executed; /* exact: calls of an arc, executions of a routine */
    struct sparse by_pointer;      /* exact: calls by a routine of nobody knows whom */
    struct sparse recursive;       /* exact: of itself, which no arc has */
    struct sparse mpi_calls;       /* calls of an arc to an MPI function */
    double left_out_ns;
};

static uint64_t key_of(uint32_t rank, uint32_t number)
{
    return key_pair(rank, number);
}

/* The number of a routine; `at` is where it is declared when that is known. */
static uint32_t routine_put(struct builder *builder, uint32_t module, const struct code_routine *at)
{
    struct arena scratch = {0}, *arena = builder->input->arena;
    uint32_t id = intern_text(
        &builder->names, arena_printf(&scratch, "%u %s %u %s", module, at->name, at->line, at->file ? at->file : ""));
    arena_release(&scratch);
    if (id < builder->routines.n)
        return id;
    *vec_push(&builder->routines) = (struct routine_profile){.name = arena_strdup(arena, at->name),
                                                             .file = at->file ? arena_strdup(arena, at->file) : NULL,
                                                             .line = at->line};
    uint64_t *slot = map_put(&builder->exported, intern_text(&builder->plain, at->name), NULL);
    if (!*slot)
        *slot = id + 1;
    return id;
}

static uint32_t nameless_put(struct builder *builder, uint32_t module, const char *instead)
{
    uint32_t id = routine_put(builder, module, &(struct code_routine){.name = instead});
    builder->routines.at[id].is_nameless = true;
    return id;
}

/* The routines around an address, innermost first. */
static struct lineage lineage_at(struct builder *builder, uint32_t module, uint64_t address)
{
    struct lineage lineage;
    struct code_routine routines[LINEAGE_MOST];
    struct arena scratch = {0};
    lineage.n = code_routines_at(builder->input->code, module, address, routines, LINEAGE_MOST);
    for (uint32_t i = 0; i < lineage.n; i++) {
        if (routines[i].name) {
            lineage.routines[i] = routine_put(builder, module, &routines[i]);
            continue;
        }
        /* "(in libfoo.so)" where not even is known where it begins. */
        const struct trace *trace = builder->input->trace;
        const struct trace_frame entry = {.module = module, .address = routines[i].address};
        lineage.routines[i] = nameless_put(
            builder, module,
            entry.address ? names_nameless(builder->input->code, trace, &scratch, &entry, true)
                          : arena_printf(&scratch, "(in %s)", library_name(&scratch, trace->modules[module].path)));
    }
    arena_release(&scratch);
    return lineage;
}

static const struct lineage *lineage_of_frame(struct builder *builder, uint32_t number)
{
    struct lineage *known = &builder->frame_lineage.at[number];
    if (known->n)
        return known;
    const struct trace_frame *frame = &builder->input->trace->frames[number];
    if (frame->module < builder->input->trace->n_modules)
        *known = lineage_at(builder, frame->module, trace_code_address(frame->address, frame->is_return));
    else
        *known = (struct lineage){.n = 1, .routines = {nameless_put(builder, TRACE_NONE, "(unknown)")}};
    return known;
}

static uint32_t arc_put(struct builder *builder, uint32_t from, uint32_t to)
{
    struct arc_key key = {from, to};
    uint32_t id = intern_put(&builder->arcs, &key, sizeof key);
    if (id == builder->arc_seen.n)
        (void)vec_push(&builder->arc_seen);
    return id;
}

static struct profile_stack *stack_put(struct builder *builder, struct stack_key key)
{
    uint32_t id = intern_put(&builder->keys, &key, sizeof key);
    if (id == builder->stacks.n)
        *vec_push(&builder->stacks) = (struct profile_stack){.frame = key.frame, .mpi = key.mpi, .step = key.step};
    return &builder->stacks.at[id];
}

/* Time of a rank in a stack, in the MPI function called from its frame, if any, else in the frame's own innermost
 * routine. */
static struct profile_stack *add_stack(struct builder *builder, uint32_t rank, struct stack_key key, double ns)
{
    uint32_t leaf = key.mpi, frame = key.frame, routine = leaf;
    struct profile_stack *stack = stack_put(builder, key);
    stack->ns += ns;
    builder->n_stacks++;
    sparse_add(&builder->self, key_of(rank, leaf == TRACE_NONE ? lineage_of_frame(builder, frame)->routines[0] : leaf),
               ns);
    trace_walk (builder->input->trace, at, frame) {
        const struct lineage *lineage = lineage_of_frame(builder, at);
        for (uint32_t i = 0; i < lineage->n; i++) {
            uint32_t caller = lineage->routines[i];
            if (caller != routine && routine != TRACE_NONE) {
                /* An arc that recursion passes again counts once. */
                uint32_t arc = arc_put(builder, caller, routine);
                if (builder->arc_seen.at[arc] != builder->n_stacks)
                    sparse_add(&builder->through, key_of(rank, arc), ns);
                builder->arc_seen.at[arc] = builder->n_stacks;
            }
            routine = caller;
        }
    }
    sparse_add(&builder->top, key_of(rank, routine), ns);
    return stack;
}

static void add_times(struct builder *builder)
{
    for (size_t i = 0; i < builder->input->survey->entries.n; i++) {
        const struct survey_entry *entry = &builder->input->survey->entries.at[i];
        if (entry->frame >= builder->input->trace->n_frames)
            continue;
        if (entry->sampled_ns)
            add_stack(builder, entry->rank, (struct stack_key){entry->frame, TRACE_NONE, TRACE_NONE},
                      (double)entry->sampled_ns);
        if (!entry->n_calls)
            continue;
        const char *name = entry->region < builder->input->trace->n_regions
                               ? builder->input->trace->regions[entry->region].name
                               : "MPI";
        uint32_t mpi = routine_put(builder, TRACE_NONE, &(struct code_routine){.name = name});
        builder->routines.at[mpi].is_mpi = true;
        add_stack(builder, entry->rank, (struct stack_key){entry->frame, mpi, TRACE_NONE}, (double)entry->in_mpi_ns)
            ->calls += entry->n_calls;
        uint32_t arc = arc_put(builder, lineage_of_frame(builder, entry->frame)->routines[0], mpi);
        sparse_add(&builder->mpi_calls, key_of(entry->rank, arc), (double)entry->n_calls);
    }
}

static uint32_t entry_step(struct builder *builder, const struct survey_entry *entry)
{
    struct sites *sites = builder->input->sites;
    uint32_t step = entry->sampled_ns ? sites_sample_step(sites, entry->frame) : TRACE_NONE;
    return step == TRACE_NONE ? step : steps_base(sites->steps, step);
}

/* Blame of steps without samples: at the call that a step is about, where it is about one. */
static void add_unsampled(struct builder *builder, const struct sparse *sampled)
{
    const struct sites *sites = builder->input->sites;
    VEC(uint32_t) call_frame = {0}; /* by context: a frame of it, plus 1 */
    vec_resize(&call_frame, sites->contexts.n);
    for (uint32_t frame = 0; frame < sites->trace->n_frames; frame++) {
        uint32_t context = sites->frame_context[frame];
        if (context < call_frame.n && !call_frame.at[context])
            call_frame.at[context] = frame + 1;
    }
    for (size_t i = 0; i < builder->input->blame->n; i++) {
        const struct term *term = &builder->input->blame->at[i];
        uint32_t step = key_atom(term->key), frame = TRACE_NONE;
        const struct step_key *key = steps_key(sites->steps, step);
        if (sparse_get(sampled, term->key) > 0)
            continue;
        if (key->what == WHAT_SITE && sites_at(sites, key->id)->context < call_frame.n)
            frame = call_frame.at[sites_at(sites, key->id)->context] - 1;
        stack_put(builder, (struct stack_key){frame, TRACE_NONE, step})->ns += term->ns;
    }
    vec_release(&call_frame);
}

/* A step's blame on a rank is shared among the stacks that were sampled in it there. */
static void add_blame(struct builder *builder)
{
    const struct survey *survey = builder->input->survey;
    struct sparse sampled = {0};
    double placed_ns = 0;
    size_t n_entries = builder->input->code ? survey->entries.n : 0; /* of a foreign archive no stack is known */
    for (size_t i = 0; i < n_entries; i++) {
        uint32_t step = entry_step(builder, &survey->entries.at[i]);
        if (step != TRACE_NONE)
            sparse_add(&sampled, atom_key(survey->entries.at[i].rank, step), (double)survey->entries.at[i].sampled_ns);
    }
    sparse_pack(&sampled);
    for (size_t i = 0; i < n_entries; i++) {
        const struct survey_entry *entry = &survey->entries.at[i];
        uint32_t step = entry_step(builder, entry);
        double all_ns = step == TRACE_NONE ? 0 : sparse_get(&sampled, atom_key(entry->rank, step));
        double ns = all_ns > 0 ? sparse_get(builder->input->blame, atom_key(entry->rank, step)) *
                                     ((double)entry->sampled_ns / all_ns)
                               : 0;
        if (ns > 0)
            add_stack(builder, entry->rank, (struct stack_key){entry->frame, TRACE_NONE, step}, ns);
        placed_ns += ns;
    }
    add_unsampled(builder, &sampled);
    builder->left_out_ns = sparse_sum(builder->input->blame) - placed_ns;
    sparse_release(&sampled);
}

/* The routine of the symbol table that begins at an address. */
static uint32_t host_at(struct builder *builder, uint32_t module, uint64_t address)
{
    struct lineage lineage = lineage_at(builder, module, address);
    return lineage.routines[lineage.n - 1];
}

/* The functions of the tables that ran. */
static uint64_t key_of_function(const struct counts_function *function)
{
    return (uint64_t)(uintptr_t)function;
}

/* Exact executions of one rank. */
struct counting {
    struct builder *builder;
    uint32_t rank;
    bool is_arcs; /* the second visit */
};

static uint32_t callee_routine(struct builder *builder, uint32_t module, const struct code_callee *callee)
{
    if (callee->address)
        return host_at(builder, module, callee->address);
    uint32_t name = callee->name ? intern_find(&builder->plain, callee->name, strlen(callee->name)) : INTERN_NONE;
    const uint64_t *routine = name == INTERN_NONE ? NULL : map_get(&builder->exported, name);
    return routine && *routine ? (uint32_t)*routine - 1 : TRACE_NONE;
}

/* A call that a block's code has at this address. */
static bool is_call_of(const struct counts_function *function, uint32_t i, uint32_t block)
{
    return function->addresses[i].block == block && function->addresses[i].what != POINTS_CODE;
}

/*
 * The stretch of a block's code with most of its calls, as indices of addresses [*first, *end). Compilers lay copies of
 * a block between others (at both ends of a loop): each has the calls of the block, which its executions count once.
 */
static void calls_of_block(const struct counts_function *function, uint32_t block, uint32_t *first, uint32_t *end)
{
    uint32_t most = 0;
    *first = *end = 0;
    for (uint32_t i = 0, n = 0, begin = 0; i < function->n_addresses; i++) {
        bool is_inside = function->addresses[i].block == block;
        if (is_inside && (i == 0 || function->addresses[i - 1].block != block))
            n = 0, begin = i;
        n += is_call_of(function, i, block);
        if (is_inside && n > most) {
            most = n;
            *first = begin;
            *end = i + 1;
        }
    }
}

/* Debug information names a file with its folder, and counts as the compiler was given it. */
static const char *line_text(char text[static LINE_TEXT], const char *file, uint32_t line)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    snprintf(text, LINE_TEXT, "%u:%s", line, slash ? slash + 1 : file ? file : "");
    return text;
}

static void line_put(struct intern *lines, const char *file, uint32_t line)
{
    char text[LINE_TEXT];
    intern_text(lines, line_text(text, file, line));
}

static bool has_line(const struct intern *lines, const char *file, uint32_t line)
{
    char text[LINE_TEXT];
    line_text(text, file, line);
    return intern_find(lines, text, strlen(text)) != INTERN_NONE;
}

static void visit_block(void *context, uint32_t module, const struct counts_function *function,
                        const struct counts_row *row)
{
    struct counting *counting = context;
    if (counting->is_arcs) {
        struct builder *builder = counting->builder;
        uint32_t first, end;
        calls_of_block(function, row->block, &first, &end);
        for (uint32_t i = first; i < end; i++) {
            const struct points_address *at = &function->addresses[i];
            if (!is_call_of(function, i, row->block))
                continue;
            struct code_callee known;
            bool is_known = code_callee_at(builder->input->code, module, at->address, &known);
            uint32_t callee = is_known ? callee_routine(builder, module, &known) : TRACE_NONE;
            uint32_t caller = lineage_at(builder, module, at->address - 1).routines[0];
            if (!is_known)
                sparse_add(&builder->by_pointer, key_of(counting->rank, caller), (double)row->executions);
            if (callee == caller)
                sparse_add(&builder->recursive, key_of(counting->rank, caller), (double)row->executions);
            else if (callee != TRACE_NONE && !builder->routines.at[callee].is_mpi)
                sparse_add(&builder->calls, key_of(counting->rank, arc_put(builder, caller, callee)),
                           (double)row->executions);
        }
    } else if (row->block == BLOCK_ROOT)
        sparse_add(&counting->builder->executed,
                   key_of(counting->rank, host_at(counting->builder, module, function->address)),
                   (double)row->executions);
    if (counting->is_arcs)
        return;
    const struct counts_block *block = &function->blocks[row->block];
    bool is_new;
    map_put(&counting->builder->ran, key_of_function(function), NULL);
    map_put(&counting->builder->ran_blocks, (uint64_t)(uintptr_t)block, &is_new);
    for (uint32_t i = 0; i < block->n_lines && is_new; i++)
        line_put(&counting->builder->ran_lines, block->lines[i].file, block->lines[i].line);
}

/* Counted functions first, so that calls through a linkage table find them by name. */
static void add_counts(struct builder *builder)
{
    const struct sparse *bins = builder->input->bins;
    for (int visit = 0; visit < 2; visit++)
        for (size_t i = 0, end; i < bins->n; i = end) {
            struct counting counting = {.builder = builder, .rank = key_high(bins->at[i].key), .is_arcs = visit};
            for (end = i; end < bins->n && key_high(bins->at[end].key) == counting.rank;)
                end++;
            executions_each_block(builder->input->executions, &bins->at[i], end - i, visit_block, &counting);
        }
}

/* The graph of one rank at a time. */
struct solution {
    const struct builder *builder;
    struct callgraph graph;
    double *executed, *calls_in, *by_pointer; /* by routine: exact; calls_in: from itself and through arcs */
    double *calls;                            /* by arc: exact */
    double *through_in;                       /* by routine: time of all stacks that it is in */
    double *open_ns;                          /* of these, from callers that may make more calls than are known */
};

static void fill(const struct sparse *vector, size_t *at, uint32_t rank, double *out, size_t n)
{
    memset(out, 0, n * sizeof *out);
    for (; *at < vector->n && key_high(vector->at[*at].key) == rank; ++*at)
        out[(uint32_t)vector->at[*at].key] = vector->at[*at].ns;
}

/* The next rank's begin in each vector. */
struct cursors {
    size_t self, through, top, calls, executed, by_pointer, recursive;
};

static double sample_period_ns(const struct trace *trace, uint32_t rank)
{
    const struct trace_location *location = trace_main_thread(trace, rank);
    return location ? (double)location->sample_period_ns : 0;
}

/* Calls that no arc has. */
static double missing_calls(const struct solution *solution, uint32_t routine)
{
    return fmax(solution->executed[routine] - solution->calls_in[routine], 0);
}

static bool caller_is_open(const struct solution *solution, uint32_t caller)
{
    return solution->by_pointer[caller] > 0 || !(solution->executed[caller] > 0);
}

/* The share of a caller, or of all that are not known, in a routine: by samples and, where all calls of the routine are
 * counted, by calls. Those that no arc has are shared out as the samples say. */
static double caller_weight(const struct solution *solution, uint32_t routine, double sample_ns, double through_ns,
                            double calls, bool is_open)
{
    double executed = solution->executed[routine], open_ns = solution->open_ns[routine];
    if (!(executed > 0) || solution->calls_in[routine] > executed + 0.5)
        return solution->through_in[routine] > 0 ? through_ns : calls;
    if (is_open && open_ns > 0)
        calls += missing_calls(solution, routine) * through_ns / open_ns;
    double cost_ns = solution->through_in[routine] / executed;
    return cost_ns > 0 ? callgraph_weight(through_ns, sample_ns, calls, cost_ns) : calls;
}

static void solution_fill(struct solution *solution, struct arena *scratch, uint32_t rank, struct cursors *at)
{
    const struct builder *builder = solution->builder;
    struct callgraph *graph = &solution->graph;
    size_t n = graph->n_nodes, m = graph->n_arcs;
    double *self = arena_array(scratch, double, n), *top = arena_array(scratch, double, n);
    double *through = arena_array(scratch, double, m), sample_ns = sample_period_ns(builder->input->trace, rank);
    fill(&builder->self, &at->self, rank, self, n);
    fill(&builder->top, &at->top, rank, top, n);
    fill(&builder->executed, &at->executed, rank, solution->executed, n);
    fill(&builder->by_pointer, &at->by_pointer, rank, solution->by_pointer, n);
    fill(&builder->through, &at->through, rank, through, m);
    fill(&builder->calls, &at->calls, rank, solution->calls, m);
    fill(&builder->recursive, &at->recursive, rank, solution->calls_in, n);
    memcpy(solution->through_in, top, n * sizeof(double));
    memcpy(solution->open_ns, top, n * sizeof(double));
    for (size_t i = 0; i < m; i++) {
        uint32_t to = graph->arcs[i].to;
        solution->calls_in[to] += solution->calls[i];
        solution->through_in[to] += through[i];
        solution->open_ns[to] += caller_is_open(solution, graph->arcs[i].from) ? through[i] : 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        double calls = solution->open_ns[i] > 0 ? 0 : missing_calls(solution, i);
        graph->nodes[i].self_ns = self[i];
        graph->nodes[i].unknown_callers = caller_weight(solution, i, sample_ns, top[i], calls, true);
    }
    for (size_t i = 0; i < m; i++)
        graph->arcs[i].calls = caller_weight(solution, graph->arcs[i].to, sample_ns, through[i], solution->calls[i],
                                             caller_is_open(solution, graph->arcs[i].from));
}

static void solution_add(const struct solution *solution, uint32_t rank, struct profile *profile)
{
    for (uint32_t i = 0; i < profile->n_routines; i++) {
        struct routine_profile *routine = &profile->routines[i];
        const struct callgraph_node *node = &solution->graph.nodes[i];
        routine->rank_self_ns[rank] = node->self_ns;
        routine->rank_total_ns[rank] = node->total_ns;
        routine->self_ns += node->self_ns;
        routine->total_ns += node->total_ns;
        routine->calls += (uint64_t)llround(solution->executed[i]);
        routine->calls_from_unknown += (uint64_t)llround(missing_calls(solution, i));
        routine->calls_to_unknown += (uint64_t)llround(solution->by_pointer[i]);
        routine->cycle = node->cycle;
        profile->time_ns += node->self_ns;
    }
    for (uint32_t i = 0; i < profile->n_arcs; i++) {
        profile->arcs[i].calls += (uint64_t)llround(solution->calls[i]);
        profile->arcs[i].self_ns += solution->graph.arcs[i].self_ns;
        profile->arcs[i].below_ns += solution->graph.arcs[i].below_ns;
    }
    for (uint32_t i = 1; i <= profile->n_cycles; i++)
        profile->cycle_total_ns[i] += solution->graph.cycle_total_ns[i];
}

static void solve_ranks(struct builder *builder, struct profile *profile)
{
    struct arena lasting = {0};
    struct solution solution = {.builder = builder,
                                .graph = {.n_nodes = profile->n_routines, .n_arcs = profile->n_arcs},
                                .executed = arena_array(&lasting, double, profile->n_routines),
                                .calls_in = arena_array(&lasting, double, profile->n_routines),
                                .by_pointer = arena_array(&lasting, double, profile->n_routines),
                                .through_in = arena_array(&lasting, double, profile->n_routines),
                                .open_ns = arena_array(&lasting, double, profile->n_routines),
                                .calls = arena_array(&lasting, double, profile->n_arcs)};
    struct cursors at = {0};
    solution.graph.nodes = arena_array(&lasting, struct callgraph_node, profile->n_routines);
    solution.graph.arcs = arena_array(&lasting, struct callgraph_arc, profile->n_arcs);
    for (uint32_t i = 0; i < profile->n_arcs; i++)
        solution.graph.arcs[i] = (struct callgraph_arc){.from = profile->arcs[i].from, .to = profile->arcs[i].to};
    for (uint32_t rank = 0; rank < builder->input->trace->n_ranks; rank++) {
        struct arena scratch = {0};
        solution_fill(&solution, &scratch, rank, &at);
        callgraph_solve(&solution.graph);
        if (!profile->cycle_total_ns) {
            profile->n_cycles = solution.graph.n_cycles;
            profile->cycle_total_ns = arena_array(builder->input->arena, double, profile->n_cycles + 1);
        }
        solution_add(&solution, rank, profile);
        callgraph_release(&solution.graph);
        arena_release(&scratch);
    }
    arena_release(&lasting);
}

static int uncalled_compare(const void *a, const void *b)
{
    const struct uncalled_routine *left = a, *right = b;
    int by_file = strcmp(left->file ? left->file : "", right->file ? right->file : "");
    return by_file ?: order_of(left->line, right->line) ?: strcmp(left->name, right->name);
}

/* Nobody asks which routines of packaged headers were not needed. */
static bool is_of_system(const char *file)
{
    return file && !strncmp(file, "/usr/", 5);
}

/* As far as its lines tell, which inlined copies have as well. */
static bool has_run(const struct builder *builder, const struct counts_function *function)
{
    bool has = map_get(&builder->ran, key_of_function(function)) ||
               has_line(&builder->ran_lines, function->file, function->line);
    for (uint32_t i = 0; i < function->n_blocks && !has; i++)
        for (uint32_t k = 0; k < function->blocks[i].n_lines && !has; k++)
            has = has_line(&builder->ran_lines, function->blocks[i].lines[k].file, function->blocks[i].lines[k].line);
    return has;
}

/* What stands in the profile ran, be it before counting began. Counts that contradict each other say nothing. */
static void add_uncalled(struct builder *builder, struct profile *profile)
{
    struct executions *executions = builder->input->executions;
    struct arena *arena = builder->input->arena;
    VEC(struct uncalled_routine) uncalled = {0};
    for (uint32_t i = 0; i < profile->n_routines; i++)
        if (profile->routines[i].file)
            line_put(&builder->ran_lines, profile->routines[i].file, profile->routines[i].line);
    for (uint32_t m = 0; m < builder->input->trace->n_modules; m++) {
        struct counts *counts = executions_module(executions, m);
        for (uint32_t i = 0; counts && i < counts_n_functions(counts); i++) {
            const struct counts_function *function = counts_function(counts, i);
            if (!is_of_system(function->file) && !has_run(builder, function) &&
                !executions_contradict(executions, m, function))
                *vec_push(&uncalled) = (struct uncalled_routine){
                    arena_strdup(arena, function->source_name),
                    function->file ? arena_strdup(arena, function->file) : NULL, function->line};
        }
    }
    vec_sort(&uncalled, uncalled_compare);
    profile->n_uncalled = (uint32_t)uncalled.n;
    profile->uncalled = arena_copy(arena, uncalled.at, uncalled.n * sizeof *uncalled.at);
    vec_release(&uncalled);
}

static struct profile profile_layout(struct builder *builder)
{
    struct arena *arena = builder->input->arena;
    uint32_t n_ranks = builder->input->trace->n_ranks;
    struct profile profile = {.n_routines = (uint32_t)builder->routines.n,
                              .n_arcs = (uint32_t)builder->arcs.n,
                              .n_stacks = (uint32_t)builder->stacks.n,
                              .left_out_ns = builder->left_out_ns};
    profile.routines = arena_copy(arena, builder->routines.at, builder->routines.n * sizeof *profile.routines);
    profile.arcs = arena_array(arena, struct routine_arc, profile.n_arcs);
    profile.stacks = arena_copy(arena, builder->stacks.at, builder->stacks.n * sizeof *profile.stacks);
    for (uint32_t i = 0; i < profile.n_routines; i++) {
        profile.routines[i].rank_self_ns = arena_array(arena, double, n_ranks);
        profile.routines[i].rank_total_ns = arena_array(arena, double, n_ranks);
    }
    for (uint32_t i = 0; i < profile.n_arcs; i++) {
        const struct arc_key *key = builder->arcs.items[i].bytes;
        profile.arcs[i] = (struct routine_arc){.from = key->from, .to = key->to};
    }
    return profile;
}

static void builder_release(struct builder *builder)
{
    intern_release(&builder->names);
    intern_release(&builder->arcs);
    intern_release(&builder->keys);
    vec_release(&builder->stacks);
    intern_release(&builder->plain);
    map_release(&builder->exported);
    map_release(&builder->ran);
    map_release(&builder->ran_blocks);
    intern_release(&builder->ran_lines);
    vec_release(&builder->routines);
    vec_release(&builder->frame_lineage);
    vec_release(&builder->arc_seen);
    sparse_release(&builder->self);
    sparse_release(&builder->through);
    sparse_release(&builder->top);
    sparse_release(&builder->calls);
    sparse_release(&builder->executed);
    sparse_release(&builder->by_pointer);
    sparse_release(&builder->recursive);
    sparse_release(&builder->mpi_calls);
}

struct profile profile_make(const struct profile_input *input)
{
    struct builder builder = {.input = input};
    if (!input->code && !input->blame)
        return (struct profile){0};
    vec_resize(&builder.frame_lineage, input->trace->n_frames);
    if (input->blame)
        add_blame(&builder);
    else
        add_times(&builder);
    add_counts(&builder);
    sparse_pack(&builder.self);
    sparse_pack(&builder.through);
    sparse_pack(&builder.top);
    sparse_pack(&builder.calls);
    sparse_pack(&builder.executed);
    sparse_pack(&builder.by_pointer);
    sparse_pack(&builder.recursive);
    sparse_pack(&builder.mpi_calls);
    struct profile profile = profile_layout(&builder);
    solve_ranks(&builder, &profile);
    for (size_t i = 0; i < builder.mpi_calls.n; i++) {
        struct routine_arc *arc = &profile.arcs[(uint32_t)builder.mpi_calls.at[i].key];
        arc->calls += (uint64_t)llround(builder.mpi_calls.at[i].ns);
        profile.routines[arc->to].calls += (uint64_t)llround(builder.mpi_calls.at[i].ns);
    }
    for (size_t i = 0; i < builder.recursive.n; i++)
        profile.routines[(uint32_t)builder.recursive.at[i].key].calls_by_itself +=
            (uint64_t)llround(builder.recursive.at[i].ns);
    if (!input->blame && !input->trace->only)
        add_uncalled(&builder, &profile);
    builder_release(&builder);
    return profile;
}
