/* SPDX-License-Identifier: BSD-3-Clause */
/* The chain of routines around an address, from the scopes of the debug information. */
#include "analyze/code/loop_lines.h"
#include "analyze/code/model.h"

static struct code_routine routine_of_scope(struct debug *debug, struct unit *unit, uint32_t number)
{
    const struct scope *scope = &unit->scopes.at[number];
    return (struct code_routine){.name = debug_scope_name(debug, unit, number),
                                 .file = scope->file != INTERN_NONE ? intern_get(&debug->files, scope->file) : NULL,
                                 .line = scope->line};
}

uint32_t code_routines_at(struct code *code, uint32_t module_id, uint64_t address, struct code_routine *chain,
                          uint32_t most)
{
    struct module *module = module_get(code, module_id);
    struct unit *unit = debug_unit_at(&module->debug, address);
    uint32_t scope = unit ? debug_scope_at(unit, address) : SCOPE_NONE, n = 0;
    for (; scope != SCOPE_NONE; scope = unit->scopes.at[scope].parent) {
        struct code_routine routine = routine_of_scope(&module->debug, unit, scope);
        bool is_host = unit->scopes.at[scope].parent == SCOPE_NONE;
        if (!is_host && (!routine.name || (routine.file && source_is_system(routine.file))))
            continue;
        chain[n < most ? n++ : most - 1] = routine;
    }
    if (n)
        return n;
    const struct model *model = model_at(code, module_id, address);
    const struct code_place *place = model ? code->places.at[model->place] : NULL;
    chain[0] = place ? (struct code_routine){.name = place->host_routine, .address = place->routine_address}
                     : (struct code_routine){.name = NULL};
    return 1;
}
