/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/compare/run.h"
#include "analyze/constants/constants.h"
#include "wrap/base/containers.h"
#include <math.h>
#include <string.h>

static const char *copy_text(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

/* The module that the code lies in. If that is not known (calls of MPI), the program's. TRACE_NONE without any. */
static uint32_t module_of(const struct analysis *analysis, uint32_t place)
{
    const struct trace *trace = analysis->trace;
    if (!analysis->code || !trace->n_modules)
        return TRACE_NONE;
    uint32_t module = place == CODE_NONE ? 0 : code_place(analysis->code, place)->module;
    for (uint32_t i = 0; place == CODE_NONE && i < trace->n_modules; i++)
        if (trace->program && !strcmp(base_name(trace->modules[i].path), trace->program))
            module = i;
    return module;
}

static uint64_t build_of_module(const struct analysis *analysis, uint32_t module)
{
    const struct trace_module *at = module == TRACE_NONE ? NULL : &analysis->trace->modules[module];
    if (at && at->is_script)
        return code_script_hash(analysis->code, module);
    return at && at->build_id_bytes ? hash_bytes(at->build_id, at->build_id_bytes) : 0;
}

/* Which module a script's calls of MPI stand in is not known, and one of the interpreter says nothing of them. */
static uint64_t build_of_place(const struct analysis *analysis, uint32_t place)
{
    return place == CODE_NONE && analysis->trace->title ? 0 : build_of_module(analysis, module_of(analysis, place));
}

/* Of the program; where that is an interpreter, with the script that it was started with. */
static uint64_t build_of_program(const struct analysis *analysis)
{
    const struct trace *trace = analysis->trace;
    struct {
        uint64_t program, script;
    } both = {.program = build_of_module(analysis, module_of(analysis, CODE_NONE))};
    const char *behind = trace->title ? strrchr(trace->title, ' ') : NULL; /* "app.py (python3.11)" */
    size_t n = behind ? (size_t)(behind - trace->title) : 0;
    for (uint32_t i = 0; n && i < trace->n_modules && !both.script; i++) {
        const char *name = base_name(trace->modules[i].path);
        if (trace->modules[i].is_script && !strncmp(name, trace->title, n) && !name[n])
            both.script = build_of_module(analysis, i);
    }
    return both.script ? hash_bytes(&both, sizeof both) : both.program;
}

/* Its name and version, and of its flags those that say for which machine and how much it optimised. */
static const char *compiler_of(struct arena *arena, const struct analysis *analysis)
{
    uint32_t module = module_of(analysis, CODE_NONE);
    const char *producer = module == TRACE_NONE ? NULL : code_module_compiler(analysis->code, module), *text = "";
    for (const char *at = producer ? producer : ""; *at; at += strspn(at, " ")) {
        size_t n = strcspn(at, " ");
        if (*at != '-' || !strncmp(at, "-O", 2) || !strncmp(at, "-march", 6))
            text = arena_printf(arena, "%s%s%.*s", text, *text ? " " : "", (int)n, at);
        at += n;
    }
    return text;
}

/* A node's waiting, all kinds. */
static double run_node_waiting(const struct run_node *node)
{
    double ns = 0;
    for (int kind = 0; kind < KIND_N; kind++)
        ns += node->kind_ns[kind];
    return ns;
}

static void node_add(struct run_node *to, const struct run_node *from)
{
    for (int kind = 0; kind < KIND_N; kind++)
        to->kind_ns[kind] += from->kind_ns[kind];
    to->time_ns += from->time_ns;
    to->longest_ns += from->longest_ns;
    to->on_path_ns += from->on_path_ns;
}

/* The nodes that are worth one, with numbers of their own; places are those of steps. */
static void make_nodes(struct arena *arena, struct run *run, const struct analysis *analysis)
{
    struct arena scratch = {0};
    uint32_t n = analysis->n_nodes, *number = arena_array(&scratch, uint32_t, n + 1);
    struct run_node *nodes = arena_array(&scratch, struct run_node, n + 1);
    bool *is_kept = arena_array(&scratch, bool, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const struct code_node *from = &analysis->nodes[i];
        nodes[i] = (struct run_node){.parent = from->parent,
                                     .place = from->step,
                                     .cause = from->cause,
                                     .time_ns = from->time_ns,
                                     .longest_ns = from->longest_ns,
                                     .on_path_ns = from->on_path_ns};
        memcpy(nodes[i].kind_ns, from->kind_ns, sizeof nodes[i].kind_ns);
    }
    for (uint32_t i = n; i-- > 0;) {
        uint32_t parent = nodes[i].parent;
        is_kept[i] |= run_node_waiting(&nodes[i]) > NEGLIGIBLE_SHARE * NEGLIGIBLE_SHARE * run->waiting_ns ||
                      nodes[i].time_ns > NEGLIGIBLE_SHARE * NEGLIGIBLE_SHARE * run->all_ns ||
                      nodes[i].on_path_ns > NEGLIGIBLE_SHARE * NEGLIGIBLE_SHARE * run->wall_ns || parent == TRACE_NONE;
        if (parent != TRACE_NONE && is_kept[i])
            is_kept[parent] = true;
        else if (parent != TRACE_NONE)
            node_add(&nodes[parent], &nodes[i]);
    }
    run->nodes = arena_array(arena, struct run_node, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        if (!is_kept[i])
            continue;
        number[i] = run->n_nodes;
        run->nodes[run->n_nodes] = nodes[i];
        struct run_node *made = &run->nodes[run->n_nodes++];
        if (made->parent != TRACE_NONE)
            made->parent = number[made->parent];
        for (int kind = 0; kind < KIND_N; kind++)
            made->kind_ns[kind] = rint(made->kind_ns[kind]);
        made->time_ns = rint(made->time_ns);
        made->longest_ns = rint(made->longest_ns);
        made->on_path_ns = rint(made->on_path_ns);
    }
    arena_release(&scratch);
}

/* Places of the nodes, each once. */
static void make_places(struct arena *arena, struct run *run, const struct analysis *analysis, struct run_texts texts)
{
    struct map number = {0}; /* step -> 1 + place */
    run->places = arena_array(arena, struct run_place, run->n_nodes + 1);
    for (uint32_t i = 0; i < run->n_nodes; i++) {
        uint32_t at = run->nodes[i].place;
        const struct step *step = &analysis->steps[at];
        uint64_t *slot = map_put(&number, at, NULL);
        if (!*slot) {
            run->places[run->n_places] = (struct run_place){
                .name = copy_text(arena, texts.names[at]),
                .key = strcmp(texts.names[at], texts.keys[at]) != 0 ? arena_strdup(arena, texts.keys[at]) : NULL,
                .file = copy_text(arena, base_name(step->file)),
                .routine = copy_text(arena, step->routine),
                .state = step->state,
                .is_loop = step->is_loop,
                .build = build_of_place(analysis, step->place),
                .line_first = step->line_first,
                .line_last = step->line_last};
            *slot = ++run->n_places;
        }
        run->nodes[i].place = (uint32_t)*slot - 1;
    }
    map_release(&number);
}

static void make_hosts(struct arena *arena, struct run *run, const struct trace *trace)
{
    enum { HOSTS_NAMED = 4 };
    struct intern hosts = {0};
    run->hosts = "";
    for (uint32_t i = 0; i < trace->n_locations; i++) {
        const char *host = trace->locations[i].host ? trace->locations[i].host : "";
        uint32_t n = (uint32_t)hosts.n;
        if (intern_text(&hosts, host) == n && n < HOSTS_NAMED)
            run->hosts = arena_printf(arena, "%s%s%s", run->hosts, n ? "," : "", host);
    }
    run->n_hosts = (uint32_t)hosts.n;
    intern_release(&hosts);
}

struct run *run_make(struct arena *arena, const struct analysis *analysis, const char *path, struct run_texts texts,
                     bool is_whole)
{
    const struct trace *trace = analysis->trace;
    const struct efficiency *efficiency = &analysis->efficiency;
    struct run *run = arena_new(arena, struct run);
    *run = (struct run){.path = copy_text(arena, path),
                        .program = arena_strdup(arena, trace->program ? trace_title(trace) : ""),
                        .command = arena_strdup(arena, trace->command ? trace->command : ""),
                        .mpi = arena_strdup(arena, trace->mpi ? trace->mpi : ""),
                        .n_ranks = trace->n_ranks,
                        .build = build_of_program(analysis),
                        .realtime_ns = trace->realtime_ns,
                        .is_counted = trace->is_counted,
                        .is_whole = is_whole,
                        .wall_ns = rint(efficiency->wall_ns),
                        .waiting_ns = rint(analysis->waiting_ns),
                        .machine_ns = rint(analysis->machine.waiting_ns),
                        .path_off_cpu_ns = rint(analysis->path_off_cpu_ns),
                        .all_ns = rint(efficiency->all_ns),
                        .compute_ns = rint(efficiency->compute_ns),
                        .transfer_ns = rint(efficiency->transfer_ns),
                        .mpi_ns = rint(efficiency->mpi_ns),
                        .descheduled_ns = rint(efficiency->descheduled_ns),
                        .blocked_ns = rint(efficiency->blocked_ns)};
    run->compiler = compiler_of(arena, analysis);
    make_hosts(arena, run, trace);
    make_nodes(arena, run, analysis);
    make_places(arena, run, analysis, texts);
    run->facts = arena_array(arena, struct fact, analysis->n_facts + 1);
    run->n_facts = analysis->n_facts;
    for (uint32_t i = 0; i < run->n_facts; i++) {
        struct fact *fact = &run->facts[i];
        *fact = analysis->facts[i];
        fact->file = copy_text(arena, base_name(fact->file));
        fact->routine = copy_text(arena, fact->routine);
        fact->counts = arena_copy(arena, fact->counts, fact->n_counts * sizeof *fact->counts);
    }
    return run;
}
