/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/code/script_model.h"
#include "analyze/code/places.h"
#include "analyze/code/script.h"
#include "wrap/base/keys.h"
#include <stdlib.h>
#include <string.h>

/* The block that is the routine; SCRIPT_NONE = the file is, or there is none. A lambda or a generator expression has
 * the comprehension around its first line. */
static uint32_t block_of_routine(const struct module *module, const struct routine *routine)
{
    uint32_t first_line = script_first_line(routine->lo), around = SCRIPT_NONE;
    for (uint32_t i = 0; i < module->blocks.n; i++) {
        const struct script_block *block = &module->blocks.at[i];
        if (block->kind == SCRIPT_ROUTINE && block->first == first_line)
            return i;
        if (block->kind == SCRIPT_COMPREHENSION && block->first <= first_line && first_line <= block->last)
            around = i;
    }
    return around;
}

/* The routine's own block that encloses one: not another routine's. */
static bool is_loop_of(const struct module *module, uint32_t loop, uint32_t routine)
{
    const struct script_block *at = &module->blocks.at[loop];
    if (at->kind == SCRIPT_ROUTINE)
        return false;
    for (uint32_t i = loop; i != routine; i = at->parent) {
        if (i == SCRIPT_NONE)
            return false;
        at = &module->blocks.at[i];
        if (at->kind == SCRIPT_ROUTINE)
            return false;
    }
    return true;
}

static struct code_place *place_of(struct code *code, uint32_t module, const struct routine *routine)
{
    struct code_place *place = place_new(code);
    place->module = module;
    place->parent = CODE_NONE;
    place->file = code->modules.at[module]->path;
    place->is_system = script_is_standard(place->file);
    place->routine = place->host_routine = routine->name;
    place->routine_address = place->address = routine->lo;
    place->line_first = place->line_last = script_first_line(routine->lo);
    return place;
}

struct found_loop {
    uint32_t block;
    struct model_loop loop;
};
typedef VEC(struct found_loop) found_loops;

static uint32_t loop_of_block(const found_loops *loops, const struct module *module, uint32_t block)
{
    for (; block != SCRIPT_NONE; block = module->blocks.at[block].parent)
        for (size_t i = 0; i < loops->n; i++)
            if (loops->at[i].block == block)
                return (uint32_t)i;
    return CODE_NONE;
}

static void find_loops(struct code *code, uint32_t module_id, const struct model *model, uint32_t routine_block,
                       found_loops *loops)
{
    const struct module *module = code->modules.at[module_id];
    const struct routine *routine = &module->routines.at[model->routine];
    for (uint32_t i = 0; i < module->blocks.n; i++) {
        const struct script_block *block = &module->blocks.at[i];
        if (!is_loop_of(module, i, routine_block) && !(i == routine_block && block->kind != SCRIPT_ROUTINE))
            continue;
        uint32_t parent = loop_of_block(loops, module, block->parent);
        const struct model_loop *around = parent == CODE_NONE ? NULL : &loops->at[parent].loop;
        struct code_place *place = place_of(code, module_id, routine);
        place->is_loop = true;
        place->parent = around ? around->place : model->place;
        place->depth = around ? around->depth + 1 : 1;
        place->line_first = block->first;
        place->line_last = block->last;
        place->address = routine->lo + block->first;
        *vec_push(loops) = (struct found_loop){i, {.place = place->id, .parent = parent, .depth = place->depth}};
    }
}

/* The lines between two at which a loop begins or ends are a block. */
static void cut_blocks(struct code *code, const struct module *module, struct model *model, const found_loops *loops)
{
    VEC(uint64_t) cuts = {0};
    *vec_push(&cuts) = 0;
    *vec_push(&cuts) = SCRIPT_LINES;
    for (size_t i = 0; i < loops->n; i++) {
        *vec_push(&cuts) = module->blocks.at[loops->at[i].block].first;
        *vec_push(&cuts) = (uint64_t)module->blocks.at[loops->at[i].block].last + 1;
    }
    vec_sort(&cuts, key_order_u64);
    model->blocks = arena_array(&code->arena, struct model_block, cuts.n);
    uint64_t lo = module->routines.at[model->routine].lo;
    for (size_t i = 0; i + 1 < cuts.n; i++) {
        if (cuts.at[i] == cuts.at[i + 1])
            continue;
        struct model_block block = {
            .lo = lo + cuts.at[i], .hi = lo + cuts.at[i + 1], .place = model->place, .loop = CODE_NONE};
        for (uint32_t k = 0; k < loops->n; k++) /* inner ones last */
            if (module->blocks.at[loops->at[k].block].first <= cuts.at[i] &&
                cuts.at[i] <= module->blocks.at[loops->at[k].block].last) {
                block.place = loops->at[k].loop.place;
                block.depth = loops->at[k].loop.depth;
                block.loop = k;
            }
        model->blocks[model->n_blocks++] = block;
    }
    vec_release(&cuts);
}

struct model *script_model_build(struct code *code, uint32_t module_id, uint32_t routine)
{
    struct module *module = code->modules.at[module_id];
    struct model *model = arena_new(&code->arena, struct model);
    struct code_place *place = place_of(code, module_id, &module->routines.at[routine]);
    bool is_file = !strcmp(place->routine, "<module>");
    uint32_t block = is_file ? SCRIPT_NONE : block_of_routine(module, &module->routines.at[routine]);
    found_loops loops = {0};
    model->routine = routine;
    model->place = place->id;
    if (block != SCRIPT_NONE) {
        place->line_first = module->blocks.at[block].first;
        place->line_last = module->blocks.at[block].last;
    }
    if (is_file || block != SCRIPT_NONE)
        find_loops(code, module_id, model, block, &loops);
    model->loops = arena_array(&code->arena, struct model_loop, loops.n + 1);
    for (size_t i = 0; i < loops.n; i++)
        model->loops[i] = loops.at[i].loop;
    cut_blocks(code, module, model, &loops);
    vec_release(&loops);
    return module->models[routine] = model;
}
