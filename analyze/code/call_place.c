/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The place of a call. std::sort is partly inlined into its caller, and partly not; which loops are where is the
 * compiler's affair. Those that are inlined have the line of the call in the first routine outside system headers
 * (loop_home.c). Those that are called get the same place from the address of the call.
 */
#include "analyze/code/places.h"

/* Where the call stands in the source of the innermost routine that is not of a system header. */
static struct loop_source source_of_call(struct debug *debug, const struct unit *unit, uint64_t address)
{
    const struct line_row *row = debug_row_at(unit, address);
    struct loop_source source = {.scope = debug_scope_at(unit, address), .file = INTERN_NONE};
    if (row == NULL || source.scope == SCOPE_NONE)
        return source;
    source.file = row->file;
    source.head_line = row->line;
    while (unit->scopes.at[source.scope].parent != SCOPE_NONE && source.file != INTERN_NONE &&
           source_is_system(intern_get(&debug->files, source.file))) {
        const struct scope *scope = &unit->scopes.at[source.scope];
        source.file = scope->call_file;
        source.head_line = scope->call_line;
        source.scope = scope->parent;
    }
    return source;
}

static uint32_t call_make(struct code *code, struct module *module, uint32_t around, uint64_t address, bool is_loop)
{
    struct unit *unit = debug_unit_at(&module->debug, address);
    struct loop_source source = {.scope = SCOPE_NONE};
    if (unit != NULL && around != CODE_NONE)
        source = source_of_call(&module->debug, unit, address);
    if (source.scope == SCOPE_NONE || source.file == INTERN_NONE || source.head_line == 0)
        return CODE_NONE;
    struct code_place *place = place_new(code);
    uint32_t id = place->id;
    *place = *code->places.at[around];
    place->id = place->source = id;
    place->is_loop = is_loop;
    place->parent = around;
    place->address = address;
    place->file = intern_get(&module->debug.files, source.file);
    place->is_system = source_is_system(place->file);
    place->line_first = place->line_last = source.head_line;
    const char *routine = debug_scope_name(&module->debug, unit, source.scope);
    place->routine = routine != NULL ? routine : place->host_routine;
    uint32_t routine_line = unit->scopes.at[source.scope].line;
    place_settle(code, module, place, (struct source_key){source.file, source.head_line, routine_line, is_loop});
    return place->source;
}

uint32_t code_place_of_call(struct code *code, uint32_t module_id, uint64_t address, bool is_loop)
{
    bool is_new;
    uint32_t around = code_place_at(code, module_id, address);
    struct module *module = module_get(code, module_id);
    uint64_t *slot = map_put(&module->calls, address, &is_new);
    if (is_new)
        *slot = call_make(code, module, around, address, is_loop);
    return (uint32_t)*slot;
}

uint32_t code_known_call(struct code *code, uint32_t module, uint64_t address)
{
    const uint64_t *place = map_get(&module_get(code, module)->calls, address);
    return place != NULL ? (uint32_t)*place : CODE_NONE;
}
