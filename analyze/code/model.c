/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds the model of one routine: its parts, graph, loops, places.
 *
 * Compilers move cold code out of line: "f.cold" lies elsewhere, but its loops are f's. A part is known by its name, or
 * (stripped files) because control goes back from it into the middle of the routine that jumped there. If that jumps
 * into the middle of the part as well, the part is the one whose beginning is jumped to: a routine's is called.
 */
#include "analyze/code/model.h"
#include "analyze/code/graph.h"
#include "analyze/code/loop_lines.h"
#include "analyze/code/modules.h"
#include "analyze/code/origin.h"
#include "analyze/code/places.h"
#include "analyze/code/routines.h"
#include "analyze/code/script_model.h"
#include <string.h>

enum { MAX_PART_BYTES = 1 << 16, MAX_PART_TESTS = 64, MAX_LOOP_BLOCKS = 100000000 };

/* The routine into whose middle the first such jump of `part` leads; ROUTINE_NONE. `only`: look for this one. */
static uint32_t jumps_into(struct module *module, uint32_t part, uint32_t only)
{
    const struct routine *r = &module->routines.at[part];
    insns list = {0};
    uint32_t found = ROUTINE_NONE;
    if (r->hi - r->lo <= MAX_PART_BYTES)
        decoder_read(module->decoder, &module->image, r->lo, r->hi, &list);
    for (size_t i = 0; i < list.n && found == ROUTINE_NONE; i++) {
        const struct insn *in = &list.at[i];
        if ((in->flow != FLOW_JUMP && in->flow != FLOW_BRANCH) || (in->target >= r->lo && in->target < r->hi))
            continue;
        uint32_t to = routines_find(&module->routines, in->target);
        if (to != ROUTINE_NONE && module->routines.at[to].lo != in->target && (only == ROUTINE_NONE || to == only))
            found = to;
    }
    vec_release(&list);
    return found;
}

/* Does a jump lead from `from` to the first instruction of `to`, or an exception? */
static bool leads_to_begin(struct module *module, uint32_t from, uint32_t to)
{
    const struct routine *r = &module->routines.at[from];
    const uint64_t begin = module->routines.at[to].lo;
    insns list = {0};
    eh_pads pads = {0};
    bool found = false;
    decoder_read(module->decoder, &module->image, r->lo, r->hi, &list);
    for (size_t i = 0; i < list.n && !found; i++)
        found = (list.at[i].flow == FLOW_JUMP || list.at[i].flow == FLOW_BRANCH) && list.at[i].target == begin;
    const struct eh_routine unwound = {.lo = r->lo, .hi = r->hi, .lsda = r->lsda};
    if (!found && r->lsda)
        eh_read_pads(&module->image, &unwound, &pads);
    for (size_t i = 0; i < pads.n && !found; i++)
        found = pads.at[i].pad == begin;
    vec_release(&list);
    vec_release(&pads);
    return found;
}

/* Two routines without names; control goes back from a part into the middle of its owner. */
static bool is_part_of(struct module *module, uint32_t part, uint32_t owner)
{
    return jumps_into(module, part, owner) == owner &&
           (jumps_into(module, owner, part) != part || leads_to_begin(module, owner, part));
}

/* "f.cold", "f.constprop.0.cold" <-> "f", "f.constprop.0" */
static bool is_cold_of(const char *cold, const char *name)
{
    const char *suffix = cold != NULL ? strstr(cold, ".cold") : NULL;
    return suffix != NULL && name != NULL && strlen(name) == (size_t)(suffix - cold) &&
           strncmp(cold, name, strlen(name)) == 0;
}

/* The routine itself and the parts that it jumps to; returns their number. */
static size_t find_parts(struct module *module, const struct graph *graph, uint32_t *parts)
{
    size_t n = 1, n_tests = 0;
    for (size_t i = 0; i < graph->escapes.n && n < MAX_PARTS && n_tests < MAX_PART_TESTS; i++) {
        uint32_t part = routines_find(&module->routines, graph->escapes.at[i]);
        bool is_known = part == ROUTINE_NONE;
        for (size_t k = 0; k < n && !is_known; k++)
            is_known = parts[k] == part;
        if (is_known)
            continue;
        n_tests++;
        const struct routine *p = &module->routines.at[part], *owner = &module->routines.at[parts[0]];
        if (p->name != NULL && !p->is_cold && owner->name != NULL)
            continue;
        if (is_cold_of(p->name, owner->name) || is_part_of(module, part, parts[0]))
            parts[n++] = part;
    }
    return n;
}

/* The routine whose out-of-line part this is, or the routine itself. */
static uint32_t owner_of(struct module *module, uint32_t routine)
{
    const struct routine *r = &module->routines.at[routine];
    if (r->name != NULL && !r->is_cold)
        return routine;
    uint32_t owner = jumps_into(module, routine, ROUTINE_NONE);
    if (owner != ROUTINE_NONE && (r->is_cold || is_part_of(module, routine, owner)))
        return owner;
    for (uint32_t i = 0; r->is_cold && i < module->routines.n; i++)
        if (is_cold_of(r->name, module->routines.at[i].name))
            return i;
    return routine;
}

static void fill_blocks(struct code *code, struct model *model, const struct graph *graph,
                        const struct cfg_loops *loops, const uint32_t *place_of)
{
    model->n_blocks = (uint32_t)graph->blocks.n;
    model->loops = arena_array(&code->arena, struct model_loop, loops->n + 1);
    for (uint32_t l = 0; l < loops->n; l++) {
        const struct model_loop *around = loops->at[l].parent != CFG_NONE ? &model->loops[loops->at[l].parent] : NULL;
        bool is_again = around && around->place == place_of[l];
        model->loops[l] = (struct model_loop){.place = place_of[l],
                                              .parent = around ? loops->at[l].parent : CODE_NONE,
                                              .depth = (around ? around->depth : 0) + !is_again};
    }
    model->blocks = arena_array(&code->arena, struct model_block, model->n_blocks);
    for (uint32_t b = 0; b < model->n_blocks; b++) {
        uint32_t loop = loops->innermost != NULL ? loops->innermost[b] : CFG_NONE;
        model->blocks[b] = (struct model_block){.lo = graph->blocks.at[b].lo, .hi = graph->blocks.at[b].hi};
        model->blocks[b].place = loop != CFG_NONE ? place_of[loop] : model->place;
        model->blocks[b].depth = loop != CFG_NONE ? model->loops[loop].depth : 0;
        model->blocks[b].loop = loop != CFG_NONE ? loop : CODE_NONE;
    }
}

static void build_graph(struct module *module, struct unit *unit, uint32_t *parts, size_t *n_parts, struct graph *graph)
{
    const struct intern *noreturn = unit != NULL ? &unit->noreturn : NULL;
    *n_parts = 1;
    if (!graph_build(graph, module->decoder, &module->image, &module->routines, parts, 1, noreturn))
        return;
    *n_parts = find_parts(module, graph, parts);
    if (*n_parts == 1)
        return;
    graph_release(graph);
    graph_build(graph, module->decoder, &module->image, &module->routines, parts, *n_parts, noreturn);
}

/*
 * False for code that nobody compiled: loops within loops without end, whose lists of blocks would fill the memory. The
 * number of blocks times that of jumps backwards bounds these lists.
 */
static bool is_reasonable(const struct graph *graph)
{
    uint64_t n_backward = 0;
    for (size_t e = 0; e < graph->cfg.edges.n; e++)
        n_backward += graph->cfg.edges.at[e].to <= graph->cfg.edges.at[e].from;
    return n_backward * graph->blocks.n <= MAX_LOOP_BLOCKS;
}

static struct model *build(struct code *code, uint32_t module_id, uint32_t routine)
{
    struct module *module = code->modules.at[module_id];
    struct unit *unit = debug_unit_at(&module->debug, module->routines.at[routine].lo);
    struct arena scratch = {0};
    struct graph graph = {0};
    struct cfg_loops loops = {0};
    uint32_t parts[MAX_PARTS] = {routine};
    size_t n_parts = 1;
    if (module->decoder != NULL)
        build_graph(module, unit, parts, &n_parts, &graph);
    if (graph.insns.n > 0 && is_reasonable(&graph))
        loops = cfg_find_loops(&graph.cfg);
    struct loop_context context = {&module->debug, unit, &graph, &loops, sources_of(&graph, unit, &scratch), &scratch};
    struct model *model = arena_new(&code->arena, struct model);
    model->routine = routine;
    uint32_t *place_of = places_make(code, module_id, routine, unit, &context, &scratch, &model->place);
    fill_blocks(code, model, &graph, &loops, place_of);
    for (size_t i = 0; i < n_parts; i++)
        if (module->models[parts[i]] == NULL)
            module->models[parts[i]] = model;
    graph_release(&graph);
    arena_release(&scratch);
    return model;
}

struct model *model_at(struct code *code, uint32_t module_id, uint64_t address)
{
    struct module *module = module_get(code, module_id);
    bool is_known = module->has_image || module->is_script;
    uint32_t routine = is_known ? routines_find(&module->routines, address) : ROUTINE_NONE;
    if (routine == ROUTINE_NONE)
        return NULL;
    if (module->models[routine] == NULL && module->decoder != NULL) {
        uint32_t owner = owner_of(module, routine);
        if (owner != routine && module->models[owner] == NULL)
            build(code, module_id, owner);
    }
    if (module->models[routine] == NULL && module->is_script)
        script_model_build(code, module_id, routine);
    if (module->models[routine] == NULL)
        build(code, module_id, routine);
    return module->models[routine];
}

const struct model_block *model_block_at(const struct model *model, uint64_t address)
{
    uint32_t lo = 0;
    bisect(lo, model->n_blocks, model->blocks[lo].hi <= address);
    return lo < model->n_blocks && model->blocks[lo].lo <= address ? &model->blocks[lo] : NULL;
}

/* The graph once more: few routines are asked about, and nobody wants to keep the graphs of all. */
static const uint32_t *dominators_of(struct code *code, struct module *module, struct model *model)
{
    struct graph graph = {0};
    uint32_t parts[MAX_PARTS] = {model->routine};
    size_t n_parts = 1;
    if (model->dominators != NULL)
        return model->dominators;
    model->dominators = arena_array(&code->arena, uint32_t, model->n_blocks + 1);
    for (uint32_t b = 0; b < model->n_blocks; b++)
        model->dominators[b] = CFG_NONE;
    if (module->decoder != NULL)
        build_graph(module, debug_unit_at(&module->debug, module->routines.at[model->routine].lo), parts, &n_parts,
                    &graph);
    if (graph.insns.n > 0 && is_reasonable(&graph) && graph.blocks.n == model->n_blocks) {
        struct cfg_order order = cfg_search(&graph.cfg);
        memcpy(model->dominators, cfg_dominators(&graph.cfg, &order), model->n_blocks * sizeof *model->dominators);
    }
    graph_release(&graph);
    return model->dominators;
}

/* Block by number, and what leads there. */
static uint32_t block_number(const struct model *model, uint64_t address)
{
    const struct model_block *block = model != NULL ? model_block_at(model, address) : NULL;
    return block != NULL ? (uint32_t)(block - model->blocks) : CODE_NONE;
}

bool code_is_behind(struct code *code, uint32_t module_id, uint64_t before, uint64_t address)
{
    struct model *model = model_at(code, module_id, address);
    uint32_t block = block_number(model, address), first = block_number(model, before);
    if (first == CODE_NONE)
        return false;
    const uint32_t *dominators = dominators_of(code, module_get(code, module_id), model);
    while (block != CODE_NONE && block != first)
        block = dominators[block];
    return block != CODE_NONE;
}

uint64_t code_last_common(struct code *code, uint32_t module_id, uint64_t a, uint64_t b)
{
    struct model *model = model_at(code, module_id, a);
    uint32_t block = block_number(model, a);
    while (block != CODE_NONE && !code_is_behind(code, module_id, model->blocks[block].lo, b))
        block = dominators_of(code, module_get(code, module_id), model)[block];
    return block != CODE_NONE ? model->blocks[block].lo : 0;
}

uint32_t code_routine_number(struct code *code, uint32_t module_id, uint64_t address)
{
    const struct model *model = model_at(code, module_id, address);
    return model != NULL ? model->routine + 1 : 0;
}

/* Which routine a call goes to: the instruction that ends at the return address, decoded with the block it is in. A
 * jump there is a tail call. */

/* The target of a direct call or jump. None if neither an entry nor a name is known there. */
static struct code_callee callee_of(struct code *code, struct module *module, const struct insn *call)
{
    bool is_direct =
        call->flow == FLOW_CALL || call->flow == FLOW_JUMP || (call->flow == FLOW_INDIRECT_CALL && call->target);
    if (!is_direct)
        return (struct code_callee){0};
    uint32_t routine = routines_find(&module->routines, call->target);
    bool is_here = routine != ROUTINE_NONE && module->routines.at[routine].lo == call->target;
    const char *linked =
        is_here ? module->routines.at[routine].name : stub_name(module->decoder, &module->image, call->target);
    return (struct code_callee){.address = is_here ? call->target : 0,
                                .name = linked ? name_readable(&code->arena, linked) : NULL};
}

/* A block is decoded once: straight-line code may call thousands of times. */
static void read_callees(struct code *code, struct module *module, struct model_block *block)
{
    insns list = {0};
    block->has_callees = true;
    decoder_read(module->decoder, &module->image, block->lo, block->hi, &list);
    for (size_t i = 0; i < list.n; i++) {
        struct code_callee callee = callee_of(code, module, &list.at[i]);
        if (callee.address || callee.name)
            *map_put(&module->callees, list.at[i].address + list.at[i].size, NULL) =
                (uint64_t)(uintptr_t)arena_copy(&code->arena, &callee, sizeof callee);
    }
    vec_release(&list);
}

bool code_callee_at(struct code *code, uint32_t module_id, uint64_t return_address, struct code_callee *callee)
{
    struct module *module = module_get(code, module_id);
    struct model *model = model_at(code, module_id, return_address - 1);
    const struct model_block *block = model ? model_block_at(model, return_address - 1) : NULL;
    if (!block || !module->decoder)
        return false;
    if (!block->has_callees)
        read_callees(code, module, &model->blocks[block - model->blocks]);
    const uint64_t *found = map_get(&module->callees, return_address);
    if (found)
        *callee = *(const struct code_callee *)(uintptr_t)*found;
    return found != NULL;
}

/* The chain of routines around an address, from the scopes of the debug information. */

static struct code_routine routine_of_scope(struct debug *debug, struct unit *unit, uint32_t number)
{
    const struct scope *scope = &unit->scopes.at[number];
    return (struct code_routine){.name = debug_scope_name(debug, unit, number),
                                 .file = scope->file != INTERN_NONE ? intern_get(&debug->files, scope->file) : NULL,
                                 .line = scope->line,
                                 .call_line = scope->call_line};
}

/* A scope of the chain, and the line in its own code at which the address is, or what is inlined there was called. */
struct link {
    uint32_t scope, line;
};

static uint32_t links_at(struct debug *debug, struct unit *unit, uint64_t address, struct link *chain, uint32_t most)
{
    const struct line_row *row = unit ? debug_statement_at(unit, address) : NULL;
    uint32_t scope = unit ? debug_scope_at(unit, address) : SCOPE_NONE, n = 0, line = row ? row->line : 0;
    for (; scope != SCOPE_NONE; scope = unit->scopes.at[scope].parent) {
        struct code_routine routine = routine_of_scope(debug, unit, scope);
        bool is_host = unit->scopes.at[scope].parent == SCOPE_NONE;
        if (is_host || (routine.name && !(routine.file && source_is_system(routine.file))))
            chain[n < most ? n++ : most - 1] = (struct link){scope, line};
        line = routine.call_line;
    }
    return n;
}

uint32_t code_routines_at(struct code *code, uint32_t module_id, uint64_t address, struct code_routine *chain,
                          uint32_t most)
{
    struct module *module = module_get(code, module_id);
    struct unit *unit = debug_unit_at(&module->debug, address);
    struct arena scratch = {0};
    struct link *links = arena_array(&scratch, struct link, most);
    uint32_t n = links_at(&module->debug, unit, address, links, most);
    for (uint32_t i = 0; i < n; i++) {
        chain[i] = routine_of_scope(&module->debug, unit, links[i].scope);
        chain[i].at_line = links[i].line;
        chain[i].call_line = i + 1 < n ? links[i + 1].line : 0;
    }
    arena_release(&scratch);
    if (n)
        return n;
    const struct model *model = model_at(code, module_id, address);
    const struct code_place *place = model ? code->places.at[model->place] : NULL;
    chain[0] = place ? (struct code_routine){.name = place->host_routine, .address = place->routine_address}
                     : (struct code_routine){.name = NULL};
    const struct line_row *row = unit ? debug_statement_at(unit, address) : NULL;
    chain[0].at_line = module->is_script ? script_line(address) : row ? row->line : 0;
    if (place && module->is_script) {
        chain[0].file = module->path;
        chain[0].line = place->line_first;
    }
    return 1;
}

static uint32_t scope_place_make(struct code *code, struct module *module, struct unit *unit, uint32_t number,
                                 const struct model *model, uint64_t address)
{
    const struct scope *scope = &unit->scopes.at[number];
    if (scope->file == INTERN_NONE || scope->line == 0)
        return CODE_NONE;
    struct source_key key = source_key_of_routine(module, unit, number);
    uint32_t known = intern_find(&module->sources, &key, sizeof key);
    if (known != INTERN_NONE)
        return module->source_places.at[known];
    struct code_place *place = place_new(code);
    uint32_t id = place->id;
    *place = *code->places.at[model->place];
    place->id = place->source = id;
    place->address = address;
    place->file = intern_get(&module->debug.files, scope->file);
    place->line_first = place->line_last = scope->line;
    place->routine = debug_scope_name(&module->debug, unit, number);
    place_settle(code, module, place, key);
    return place->source;
}

uint32_t code_place_of_routine(struct code *code, uint32_t module_id, uint64_t address, uint32_t which, uint32_t most)
{
    struct module *module = module_get(code, module_id);
    const struct model *model = model_at(code, module_id, address);
    struct unit *unit = debug_unit_at(&module->debug, address);
    struct arena scratch = {0};
    struct link *links = arena_array(&scratch, struct link, most);
    uint32_t n = links_at(&module->debug, unit, address, links, most);
    uint32_t place = model ? model->place : CODE_NONE;
    if (model && which + 1 < n)
        place = scope_place_make(code, module, unit, links[which].scope, model, address);
    arena_release(&scratch);
    return place;
}
