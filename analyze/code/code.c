/* SPDX-License-Identifier: BSD-3-Clause */
/* The code model as others see it: modules and the packages they are from, places, spots. */
#include "analyze/code/code.h"
#include "analyze/code/interpreters.h"
#include "analyze/code/loop_lines.h"
#include "analyze/code/modules.h"
#include "analyze/code/origin.h"
#include "analyze/code/places.h"
#include "analyze/code/routines.h"
#include "analyze/code/script.h"
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct code *code_open(void)
{
    /* libdwfl asks servers of debug information where the user has set any (DEBUGINFOD_URLS). One that does not answer
     * shall cost seconds a module. Its own limits are 90 s, asked three times, and none. The user's settings win. */
    setenv("DEBUGINFOD_TIMEOUT", "4", 0);
    setenv("DEBUGINFOD_RETRY_LIMIT", "0", 0);
    setenv("DEBUGINFOD_MAXTIME", "120", 0);
    struct code *code = memory_new(1, sizeof *code);
    return code;
}

void code_close(struct code *code)
{
    if (code == NULL)
        return;
    for (size_t i = 0; i < code->modules.n; i++) {
        struct module *module = code->modules.at[i];
        debug_close(&module->debug);
        intern_release(&module->sources);
        intern_release(&module->instances);
        vec_release(&module->source_places);
        map_release(&module->calls);
        map_release(&module->callees);
        vec_release(&module->blocks);
        vec_release(&module->named);
        decoder_close(module->decoder);
        if (module->has_image)
            image_close(&module->image);
    }
    vec_release(&code->modules);
    vec_release(&code->places);
    vec_release(&code->notes);
    arena_release(&code->arena);
    free(code);
}

/* "mpi4py/MPI.cpython-311-x86_64-linux-gnu.so", wherever it was built. */
static bool is_messenger(const char *path)
{
    return strstr(path, "/mpi4py/MPI.") != NULL;
}

uint32_t code_add_module(struct code *code, const char *path, const uint8_t *build_id, size_t build_id_bytes)
{
    struct module *module = arena_new(&code->arena, struct module);
    module->path = module->file = arena_strdup(&code->arena, path != NULL ? path : "");
    if (build_id != NULL && build_id_bytes > 0) {
        module->build_id = arena_copy(&code->arena, build_id, build_id_bytes);
        module->build_id_bytes = build_id_bytes;
    }
    module->is_runtime = runtime_is_library(module->path);
    module->language = interpreter_language(module->path);
    module->is_extension = extension_name(&code->arena, module->path) != NULL;
    module->role = is_messenger(module->path) ? CODE_ROLE_MESSENGER : CODE_ROLE_NONE;
    *vec_push(&code->modules) = module;
    return (uint32_t)code->modules.n - 1;
}

uint32_t code_add_script(struct code *code, const char *path, const char *source)
{
    struct module *module = arena_new(&code->arena, struct module);
    module->path = arena_strdup(&code->arena, path);
    module->file = source ? arena_strdup(&code->arena, source) : NULL;
    module->is_script = code->has_scripts = true;
    module->is_runtime = script_is_built_in(path);
    module->role = script_role(path);
    *vec_push(&code->modules) = module;
    return (uint32_t)code->modules.n - 1;
}

void code_name_routine(struct code *code, uint32_t module, uint64_t address, const char *name)
{
    struct module *m = code->modules.at[module];
    uint64_t lo = address & ~(uint64_t)(SCRIPT_LINES - 1);
    if (m->is_script && !m->is_open)
        *vec_push(&m->named) = (struct routine){.lo = lo, .hi = lo + SCRIPT_LINES, .name = name};
}

/* Sentences about modules that are known less well than others. Each names the modules it is true of. */
enum degradation {
    DEGRADED_MISSING,
    DEGRADED_FOREIGN,
    DEGRADED_CHANGED,
    DEGRADED_MACHINE,
    DEGRADED_SYMBOLS,
    DEGRADED_UNREAD,
    DEGRADED_DEBUG,
    NOT_DEGRADED
};

/* What a script calls that has no lines, or is the interpreter's own: the script's line has them. */
static bool is_below_scripts(const struct code *code, const struct module *module)
{
    const char *slash = strrchr(module->path, '/');
    bool is_own = module->language || strstr(module->path, "/lib-dynload/");
    bool has_lines = module->state == CODE_FULL || !strstr(slash ? slash : module->path, ".so");
    return code->has_scripts && !module->is_script && (is_own || !has_lines);
}

static enum degradation module_degradation(const struct code *code, const struct module *module)
{
    if (!module->is_open || module->is_runtime || module->is_script || is_below_scripts(code, module) ||
        (module->language && module->has_image))
        return NOT_DEGRADED;
    if (module->fault || module->debug.fault)
        return module->has_image ? DEGRADED_DEBUG : DEGRADED_UNREAD;
    if (module->state == CODE_MISSING)
        return access(module->path, F_OK) != 0 ? DEGRADED_MISSING : DEGRADED_FOREIGN;
    if (module->state == CODE_CHANGED)
        return DEGRADED_CHANGED;
    if (module->decoder == NULL)
        return DEGRADED_MACHINE;
    return module->state == CODE_SYMBOLS ? DEGRADED_SYMBOLS : NOT_DEGRADED;
}

/* Packages. */

static const char *module_package(struct code *code, struct module *module)
{
    if (!module->is_package_sought)
        module->package = package_of_file(&code->arena, "/var/lib/dpkg/info", module->path);
    module->is_package_sought = true;
    return module->package;
}

bool code_module_is_given(struct code *code, uint32_t module)
{
    struct module *at = module_get(code, module);
    return file_is_given(at->path) || module_package(code, at);
}

/* "; or, of packages, install nwchem-openmpi-dbgsym": what the first of the modules without lines are from; "" where
 * no package has them, or the system offers none of these. */
static const char *packages_text(struct code *code)
{
    enum { PACKAGES_SOUGHT = 3 };
    const char *text = "";
    int n = package_offers_debug("/var/lib/apt/lists") ? 0 : PACKAGES_SOUGHT;
    for (size_t i = 0; i < code->modules.n && n < PACKAGES_SOUGHT; i++) {
        if (module_degradation(code, code->modules.at[i]) != DEGRADED_SYMBOLS)
            continue;
        const char *package = module_package(code, code->modules.at[i]);
        if (package && !strstr(text, package))
            text = arena_printf(&code->arena, "%s%s%s-dbgsym", text, *text ? ", " : "", package);
        n++;
    }
    if (!*text)
        return "";
    return arena_printf(&code->arena, "; or, of packages, install %s", text);
}

static void note_degradation(struct code *code, enum degradation which)
{
    static const char *const one[] = {
        "cannot be read (it is not there any more): its code is named by address only",
        "cannot be read as an ELF file: its code is named by address only",
        "has been rebuilt since the run: its loops are named by address only",
        "is neither x86-64 nor aarch64 code: its loops are not known",
        "has no debug information: its loops are named by address",
        "could not be opened, though it is there: its code is named by address only",
        "has debug information that could not be opened: names and lines are missing",
    };
    static const char *const several[] = {
        "cannot be read (they are not there any more): their code is named by address only",
        "cannot be read as ELF files: their code is named by address only",
        "have been rebuilt since the run: their loops are named by address only",
        "are neither x86-64 nor aarch64 code: their loops are not known",
        "have no debug information: their loops are named by address",
        "could not be opened, though they are there: their code is named by address only",
        "have debug information that could not be opened: names and lines are missing",
    };
    /* "a, b and 3 more" */
    enum { NAMED = 3 };
    const char *text = "";
    size_t n = 0;
    bool is_given = which == DEGRADED_SYMBOLS;
    for (size_t i = 0; i < code->modules.n; i++) {
        if (module_degradation(code, code->modules.at[i]) != which)
            continue;
        is_given = is_given && file_is_given(code->modules.at[i]->path);
        if (n++ < NAMED)
            text = arena_printf(&code->arena, "%s%s%s", text, n > 1 ? ", " : "", code->modules.at[i]->path);
    }
    if (n > NAMED)
        text = arena_printf(&code->arena, "%s and %zu more", text, n - NAMED);
    if (n)
        *vec_push(&code->notes) =
            arena_printf(&code->arena, "%s %s%s%s", text, n == 1 ? one[which] : several[which],
                         which == DEGRADED_SYMBOLS && !is_given ? "; compile with -g for lines" : "",
                         which == DEGRADED_SYMBOLS ? packages_text(code) : "");
}

void code_use_kept(struct code *code, const char *dir)
{
    code->kept_dir = arena_strdup(&code->arena, dir);
}

enum code_state code_module_state(struct code *code, uint32_t module)
{
    return module_get(code, module)->state;
}

int code_module_fault(struct code *code, uint32_t module, const char **file)
{
    const struct module *at = module_get(code, module);
    *file = at->fault ? at->unread : at->debug.unread;
    return at->fault ? at->fault : at->debug.fault;
}

bool code_module_is_read(const struct code *code, uint32_t module)
{
    return module < code->modules.n && code->modules.at[module]->is_open;
}

const char *code_module_file(struct code *code, uint32_t module)
{
    return module_get(code, module)->file;
}

const char *code_module_compiler(struct code *code, uint32_t module)
{
    return debug_producer(&module_get(code, module)->debug);
}

const char *code_module_package(struct code *code, uint32_t module)
{
    return module_package(code, module_get(code, module));
}

bool code_module_is_runtime(struct code *code, uint32_t module)
{
    if (module >= code->modules.n || code->modules.at[module]->is_runtime ||
        code->modules.at[module]->role == CODE_ROLE_MESSENGER)
        return true;
    return code->has_scripts && is_below_scripts(code, module_get(code, module));
}

bool code_has_scripts(const struct code *code)
{
    return code->has_scripts;
}

bool code_module_is_script(const struct code *code, uint32_t module)
{
    return module < code->modules.n && code->modules.at[module]->is_script;
}

enum code_role code_module_role(const struct code *code, uint32_t module)
{
    return module < code->modules.n ? (enum code_role)code->modules.at[module]->role : CODE_ROLE_NONE;
}

bool code_module_is_extension(const struct code *code, uint32_t module)
{
    return module < code->modules.n && code->modules.at[module]->is_extension;
}

const char *code_module_language(const struct code *code, uint32_t module)
{
    return module < code->modules.n ? code->modules.at[module]->language : NULL;
}

/* Differences that do not count. */
static void note_interpreters(struct code *code)
{
    const char *last = NULL;
    for (size_t i = 0; i < code->modules.n && !code->has_scripts; i++) {
        const struct module *module = code->modules.at[i];
        if (!module->is_open || !module->has_image || !module->language ||
            (last != NULL && !strcmp(last, module->language)))
            continue;
        last = module->language;
        *vec_push(&code->notes) = arena_printf(&code->arena,
                                               "%s runs %s code, whose lines are not known here: the code is one place "
                                               "in this report, and MPI calls that differ by such lines alone are one",
                                               module->path, module->language);
    }
}

const char *const *code_notes(struct code *code, size_t *n_notes)
{
    code->notes.n = 0;
    for (int which = 0; which < NOT_DEGRADED; which++)
        note_degradation(code, (enum degradation)which);
    note_interpreters(code);
    *n_notes = code->notes.n;
    return code->notes.at;
}

uint32_t code_place_at(struct code *code, uint32_t module, uint64_t address)
{
    const struct model *model = model_at(code, module, address);
    if (model == NULL)
        return CODE_NONE;
    const struct model_block *block = model_block_at(model, address);
    return block != NULL ? block->place : model->place;
}

uint32_t code_loops_at(struct code *code, uint32_t module, uint64_t address, uint32_t *places, uint32_t most)
{
    const struct model *model = model_at(code, module, address);
    const struct model_block *block = model != NULL ? model_block_at(model, address) : NULL;
    uint32_t n = 0;
    for (uint32_t loop = block != NULL ? block->loop : CODE_NONE; loop != CODE_NONE; loop = model->loops[loop].parent) {
        uint32_t place = model->loops[loop].place;
        if (n == 0 || places[n - 1] != place)
            places[n < most ? n++ : most - 1] = place;
    }
    return n;
}

struct code_run code_run_at(struct code *code, uint32_t module_id, uint64_t address, uint64_t end)
{
    enum { INSTRUCTION_BYTES = 4 }; /* of most machines */
    struct code_run run = {.end = address, .place = CODE_NONE};
    const struct model *model = model_at(code, module_id, address);
    if (model == NULL)
        return run;
    const struct module *module = module_get(code, module_id);
    const struct model_block *block = model_block_at(model, address);
    run.routine_end = module->routines.at[routines_find(&module->routines, address)].hi;
    uint64_t hi = block != NULL ? block->hi : run.routine_end;
    run.end = end < hi ? end : hi;
    run.basic = block != NULL ? block->lo : address;
    run.place = block != NULL ? block->place : model->place;
    run.depth = block != NULL ? block->depth : 0;
    if (module->decoder == NULL)
        run.n_instructions = (uint32_t)((run.end - address) / INSTRUCTION_BYTES);
    else {
        insns list = {0};
        decoder_read(module->decoder, &module->image, address, run.end, &list);
        for (size_t i = 0; i < list.n; i++)
            run.n_instructions += list.at[i].flow != FLOW_NOP;
        vec_release(&list);
    }
    return run;
}

const struct code_place *code_place(struct code *code, uint32_t place)
{
    return place < code->places.n ? code->places.at[place] : NULL;
}

enum code_language code_place_language(struct code *code, uint32_t place)
{
    const struct code_place *at = code_place(code, place);
    struct module *module = at ? module_get(code, at->module) : NULL;
    const struct unit *unit = module ? debug_unit_at(&module->debug, at->address) : NULL;
    switch (unit ? debug_language(unit) : -1) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
        return CODE_LANGUAGE_CXX;
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08:
        return CODE_LANGUAGE_FORTRAN;
    default:
        return CODE_LANGUAGE_OTHER;
    }
}

uint32_t code_n_places(const struct code *code)
{
    return (uint32_t)code->places.n;
}

static struct code_spot script_spot(struct code *code, uint32_t module_id, uint64_t address)
{
    struct code_spot spot = {0};
    const struct model *model = model_at(code, module_id, address);
    const struct module *module = code->modules.at[module_id];
    if (model == NULL)
        return spot;
    const struct model_block *block = model_block_at(model, address);
    spot.block = block != NULL ? block->lo : 0;
    spot.file = spot.call_file = module->path;
    spot.line = spot.call_line = script_line(address);
    spot.routine = spot.host_routine = module->routines.at[model->routine].name;
    spot.routine_address = module->routines.at[model->routine].lo;
    return spot;
}

struct code_spot code_spot_at(struct code *code, uint32_t module_id, uint64_t address)
{
    struct code_spot spot = {0};
    struct module *module = module_get(code, module_id);
    if (module->is_script)
        return script_spot(code, module_id, address);
    const struct model *model = model_at(code, module_id, address);
    const struct model_block *block = model != NULL ? model_block_at(model, address) : NULL;
    struct unit *unit = debug_unit_at(&module->debug, address);
    const struct line_row *row = unit != NULL ? debug_statement_at(unit, address) : NULL;
    spot.block = block != NULL ? block->lo : 0;
    if (row != NULL && row->line != 0) {
        spot.file = spot.call_file = intern_get(&module->debug.files, row->file);
        spot.line = spot.call_line = row->line;
    }
    if (unit != NULL) {
        /* The names of the innermost and outermost routine, and the outermost line. */
        uint32_t scope = debug_scope_at(unit, address);
        if (scope != SCOPE_NONE) {
            spot.routine = debug_scope_name(&module->debug, unit, scope);
            for (; unit->scopes.at[scope].parent != SCOPE_NONE; scope = unit->scopes.at[scope].parent) {
                const struct scope *s = &unit->scopes.at[scope];
                spot.call_file = s->call_file != INTERN_NONE ? intern_get(&module->debug.files, s->call_file) : NULL;
                spot.call_line = s->call_line;
            }
            spot.host_routine = debug_scope_name(&module->debug, unit, scope);
        }
    }
    if (spot.host_routine == NULL && model != NULL) {
        spot.host_routine = code->places.at[model->place]->host_routine;
        spot.routine_address = code->places.at[model->place]->routine_address;
    }
    if (spot.routine == NULL)
        spot.routine = spot.host_routine;
    return spot;
}

uint64_t code_script_hash(struct code *code, uint32_t module)
{
    struct module *m = module_get(code, module);
    if (m->is_script && !m->hash)
        m->hash = script_hash(m->file);
    return m->hash;
}

const char *code_text_at(struct code *code, uint32_t module, uint64_t address, uint32_t columns, struct arena *arena)
{
    const struct module *m = module_get(code, module);
    return m->is_script && columns ? script_text_at(arena, m->file, script_line(address), columns) : NULL;
}

bool code_has_script_routine(struct code *code, const char *name, size_t n)
{
    for (uint32_t i = 0; i < code->modules.n; i++) {
        const struct module *module = code->modules.at[i]->is_script ? module_get(code, i) : NULL;
        for (uint32_t k = 0; module && k < module->routines.n; k++) {
            const char *routine = module->routines.at[k].name, *dot = strrchr(routine, '.');
            routine = dot ? dot + 1 : routine;
            if (!strncmp(routine, name, n) && !routine[n])
                return true;
        }
    }
    return false;
}

const char *code_routine_name(struct code *code, uint32_t module, uint64_t address)
{
    const struct module *m = module_get(code, module);
    uint32_t routine = routines_find(&m->routines, address);
    return routine == ROUTINE_NONE ? NULL : m->routines.at[routine].name;
}

uint32_t code_n_routines(struct code *code, uint32_t module)
{
    return module_get(code, module)->routines.n;
}

uint64_t code_routine_address(struct code *code, uint32_t module, uint32_t routine)
{
    const struct module *m = module_get(code, module);
    return routine < m->routines.n ? m->routines.at[routine].lo : 0;
}

/*
 * The place of a call. std::sort is partly inlined into its caller, and partly not; which loops are where is the
 * compiler's affair. Those that are inlined have the line of the call in the first routine outside system headers
 * (loop_find_home). Those that are called get the same place from the address of the call.
 */

/* The call in the source of the innermost routine that is not of a system header. */
static struct loop_source source_of_call(struct debug *debug, const struct unit *unit, uint64_t address)
{
    const struct line_row *row = debug_statement_at(unit, address);
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

/* Nothing is inlined into a script: the line of a call is no loop. */
static uint32_t script_call_make(struct code *code, uint32_t module_id, uint64_t address)
{
    uint32_t around = code_place_at(code, module_id, address);
    if (around == CODE_NONE)
        return CODE_NONE;
    struct code_place *place = place_new_within(code, around, address);
    place->is_loop = false;
    place->depth++;
    place->line_first = place->line_last = script_line(address);
    return place->id;
}

static uint32_t call_make(struct code *code, struct module *module, uint32_t around, uint64_t address, bool is_loop)
{
    struct unit *unit = debug_unit_at(&module->debug, address);
    struct loop_source source = {.scope = SCOPE_NONE};
    if (unit != NULL && around != CODE_NONE)
        source = source_of_call(&module->debug, unit, address);
    if (source.scope == SCOPE_NONE || source.file == INTERN_NONE || source.head_line == 0)
        return CODE_NONE;
    struct code_place *place = place_new_within(code, around, address);
    place->is_loop = is_loop;
    place->file = intern_get(&module->debug.files, source.file);
    place->is_system = source_is_system(place->file);
    place->line_first = place->line_last = source.head_line;
    const char *routine = debug_scope_name(&module->debug, unit, source.scope);
    place->routine = routine != NULL ? routine : place->host_routine;
    struct source_key key = {.file = source.file, .line = source.head_line, .n_loops = is_loop};
    place_settle(code, module, place, source_key_within(module, unit, source.scope, key));
    return place->source;
}

uint32_t code_place_of_call(struct code *code, uint32_t module_id, uint64_t address, bool is_loop)
{
    bool is_new;
    uint32_t around = code_place_at(code, module_id, address);
    struct module *module = module_get(code, module_id);
    uint64_t *slot = map_put(&module->calls, address, &is_new);
    if (is_new)
        *slot = module->is_script ? script_call_make(code, module_id, address)
                                  : call_make(code, module, around, address, is_loop);
    return (uint32_t)*slot;
}

uint32_t code_known_call(struct code *code, uint32_t module, uint64_t address)
{
    const uint64_t *place = map_get(&module_get(code, module)->calls, address);
    return place != NULL ? (uint32_t)*place : CODE_NONE;
}
