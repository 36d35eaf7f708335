/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One source loop may be many loops of the machine code: vector body and remainder, peeled, unrolled, unswitched and
 * distributed copies, several inlined copies. They get one place, so that what is blamed on the loop adds up:
 *   - a loop with the same first line as its outer loop, in the same source routine, is that loop, if it closes or ends
 * on the same line as well;
 *   - so is what is left of a loop with two entries without one of them;
 *   - so are loops side by side with the same closing line, or of which one's lines lie within the other's: two
 *     different loops of a source do not share lines unless one is inside the other;
 *   - and a loop beside one whose lines hold it, but which has an inner loop with the same closing line, is that inner
 *     loop: the outer one was peeled.
 * Copies of a place in several routines (inlined, or in several units) are then joined by where they stand in the
 * source; instances of a template stay apart, since each does a work of its own.
 *
 * Outer loops are placed before inner ones, longer ranges before shorter. Quadratic in the loops of one routine at
 * worst, of which programs have dozens; beyond MAX_SIDE the search for a loop's kin looks at its latest neighbours
 * only.
 */
#include "analyze/code/places.h"
#include "analyze/code/origin.h"
#include "analyze/code/routines.h"
#include "wrap/base/keys.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_SIDE = 2000 };

struct code_place *place_new(struct code *code)
{
    struct code_place *place = arena_new(&code->arena, struct code_place);
    place->id = place->source = (uint32_t)code->places.n;
    *vec_push(&code->places) = place;
    return place;
}

struct code_place *place_new_within(struct code *code, uint32_t around, uint64_t address)
{
    struct code_place *place = place_new(code);
    uint32_t id = place->id;
    *place = *code->places.at[around];
    place->id = place->source = id;
    place->parent = around;
    place->address = address;
    return place;
}

/* Facts about a place of this routine beyond those that everybody sees. */
struct kin {
    uint32_t place, loop;
    uint32_t file, head_line;
    uint64_t origin;
    uint32_t scope;   /* in whose source the loop stands */
    uint32_t n_loops; /* as in a key */
};

struct maker {
    struct code *code;
    const struct loop_context *c;
    struct unit *unit;
    struct debug *debug;
    struct module *module;
    uint32_t module_id, routine_place;
    struct loop_source *sources; /* by loop */
    uint32_t *place_of;          /* by loop; CODE_NONE = not yet */
    VEC(struct kin) kin;
};

static struct code_place *place_at(const struct maker *m, uint32_t place)
{
    return m->code->places.at[place];
}

static bool same_source(const struct kin *kin, const struct loop_source *s)
{
    return s->file != INTERN_NONE && kin->file == s->file && kin->origin == s->origin;
}

static void widen(struct code_place *place, uint32_t first, uint32_t last)
{
    if (first < place->line_first)
        place->line_first = first;
    if (last > place->line_last)
        place->line_last = last;
}

/* An inner loop of `outer` (or itself, or any depth below) that closes on the same line. */
static uint32_t find_same_line(const struct maker *m, uint32_t outer, const struct loop_source *s)
{
    for (size_t i = m->kin.n, left = MAX_SIDE; i-- > 0 && left-- > 0;) {
        const struct kin *kin = &m->kin.at[i];
        if (!same_source(kin, s) || kin->head_line != s->head_line)
            continue;
        uint32_t around = kin->place;
        while (around != CODE_NONE && around != outer)
            around = place_at(m, around)->parent;
        if (around == outer)
            return kin->place;
    }
    return CODE_NONE;
}

static bool lines_within(uint32_t first, uint32_t last, uint32_t outer_first, uint32_t outer_last)
{
    return outer_first <= first && last <= outer_last;
}

/*
 * A source loop with two ways to go round may be two loops, one in the other. They begin on the same line, and close on
 * the same, or end there: the way past a step that is unlike the others goes back from the line that asks for it. A
 * loop that only closes on the line of its inner one has lost its own line.
 */
static bool is_parent_again(const struct maker *m, uint32_t parent, const struct loop_source *s)
{
    const struct code_place *place = place_at(m, parent);
    for (size_t i = m->kin.n; place->is_loop && i-- > 0;)
        if (m->kin.at[i].place == parent)
            return same_source(&m->kin.at[i], s) && place->line_first == s->line_first &&
                   (m->kin.at[i].head_line == s->head_line || place->line_last == s->line_last);
    return false;
}

/*
 * A loop that can be entered in its middle, where the test at its begin has been made before, is two here: what is left
 * of it without its head goes round as well, entered from where the whole is.
 */
static bool is_around_again(const struct maker *m, uint32_t loop)
{
    const struct cfg *cfg = &m->c->graph->cfg;
    const struct cfg_loop *l = &m->c->loops->at[loop];
    if (l->parent == CFG_NONE || !m->c->loops->at[l->parent].is_irreducible)
        return false;
    for (uint32_t b = 0; b < l->n_blocks; b++)
        for (uint32_t e = cfg->in_at[l->blocks[b]]; e < cfg->in_at[l->blocks[b] + 1]; e++) {
            uint32_t from = cfg->edges.at[cfg->in[e]].from;
            if (m->c->loops->order.number[from] != CFG_NONE && !cfg_loop_contains(m->c->loops, l->parent, from))
                return true;
        }
    return false;
}

/* A loop directly inside `parent` whose lines hold these, or the other way round. */
static uint32_t find_overlap(const struct maker *m, uint32_t parent, const struct loop_source *s)
{
    for (size_t i = m->kin.n, left = MAX_SIDE; i-- > 0 && left-- > 0;) {
        const struct code_place *place = place_at(m, m->kin.at[i].place);
        if (place->parent != parent || !same_source(&m->kin.at[i], s))
            continue;
        if (lines_within(s->line_first, s->line_last, place->line_first, place->line_last) ||
            lines_within(place->line_first, place->line_last, s->line_first, s->line_last))
            return place->id;
    }
    return CODE_NONE;
}

static const char *file_text(const struct maker *m, uint32_t file)
{
    return file != INTERN_NONE ? intern_get(&m->debug->files, file) : NULL;
}

static bool spins(const struct maker *m, uint32_t loop)
{
    return m->module->decoder &&
           graph_loop_spins(m->c->graph, m->module->decoder, &m->module->image, &m->c->loops->at[loop]);
}

static uint32_t new_loop(struct maker *m, uint32_t loop, uint32_t parent)
{
    const struct loop_source *s = &m->sources[loop];
    const struct code_place *around = place_at(m, parent);
    const struct code_place *routine = place_at(m, m->routine_place);
    struct code_place *place = place_new(m->code);
    place->module = m->module_id;
    place->is_loop = true;
    place->is_spinning = spins(m, loop);
    place->parent = parent;
    place->depth = around->depth + 1;
    place->file = file_text(m, s->file);
    place->is_system = place->file != NULL && source_is_system(place->file);
    place->line_first = s->line_first;
    place->line_last = s->line_last;
    place->host_routine = routine->host_routine;
    place->routine = s->scope != SCOPE_NONE ? debug_scope_name(m->debug, m->unit, s->scope) : NULL;
    if (place->routine == NULL)
        place->routine = place->host_routine;
    place->routine_address = routine->routine_address;
    place->address = m->c->graph->blocks.at[m->c->loops->at[loop].head].lo;
    *vec_push(&m->kin) = (struct kin){place->id, loop, s->file, s->head_line, s->origin, s->scope, 1};
    return place->id;
}

/* The place of a loop that is known by its lines; CODE_NONE when it must wait for the loops inside `parent`'s others.
 */
static uint32_t choose(struct maker *m, uint32_t loop, uint32_t parent, bool may_wait)
{
    const struct loop_source *s = &m->sources[loop];
    if (is_around_again(m, loop))
        return parent;
    if (s->file == INTERN_NONE || s->line_first == 0)
        return new_loop(m, loop, parent);
    uint32_t beside = is_parent_again(m, parent, s) ? parent : find_overlap(m, parent, s);
    if (beside == CODE_NONE)
        return new_loop(m, loop, parent);
    uint32_t inner = beside == parent ? parent : find_same_line(m, beside, s);
    if (inner == CODE_NONE && may_wait)
        return CODE_NONE;
    struct code_place *place = place_at(m, inner != CODE_NONE ? inner : beside);
    widen(place, s->line_first, s->line_last);
    place->is_spinning &= spins(m, loop);
    return place->id;
}

struct turn {
    uint32_t loop, depth, line_first, line_last;
};

static int turn_order(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    int order = order_of(x->depth, y->depth) ?: order_of(x->line_first, y->line_first);
    return order ?: order_of(y->line_last, x->line_last) ?: order_of(x->loop, y->loop);
}

/* The lines of the routine: from its declaration to the last line that any of its own instructions has. */
static void set_routine_lines(struct maker *m, struct code_place *place, uint32_t scope)
{
    const struct scope *s = &m->unit->scopes.at[scope];
    place->file = file_text(m, s->file);
    place->line_first = place->line_last = s->line;
    for (size_t i = 0; i < m->c->graph->insns.n; i++) {
        uint32_t file, line;
        if (!source_in_scope(m->unit, scope, &m->c->sources[i], &file, &line) ||
            (s->file != INTERN_NONE && file != s->file))
            continue;
        if (place->file == NULL)
            place->file = file_text(m, file);
        if (place->line_first == 0 || line < place->line_first)
            place->line_first = line;
        if (line > place->line_last)
            place->line_last = line;
    }
}

static void make_routine(struct maker *m, uint32_t routine, uint32_t scope)
{
    const struct routine *r = &m->module->routines.at[routine];
    struct code_place *place = place_new(m->code);
    place->module = m->module_id;
    place->parent = CODE_NONE;
    place->routine_address = place->address = r->lo;
    if (scope != SCOPE_NONE) {
        place->host_routine = debug_scope_name(m->debug, m->unit, scope);
        set_routine_lines(m, place, scope);
        place->is_system = place->file != NULL && source_is_system(place->file);
    }
    if (place->host_routine == NULL)
        place->host_routine = name_readable(&m->code->arena, r->name);
    place->routine = place->host_routine;
    m->routine_place = place->id;
}

static uint32_t instance_of(struct module *module, struct unit *unit, uint32_t scope)
{
    const char *instance = debug_scope_instance(&module->debug, unit, scope);
    return instance != NULL ? intern_text(&module->instances, instance) : INTERN_NONE;
}

struct source_key source_key_of_routine(struct module *module, struct unit *unit, uint32_t scope)
{
    const struct scope *s = &unit->scopes.at[scope];
    return (struct source_key){.file = s->file, .line = s->line, .instance = instance_of(module, unit, scope)};
}

struct source_key source_key_within(struct module *module, struct unit *unit, uint32_t scope, struct source_key key)
{
    key.routine_line = unit != NULL && scope != SCOPE_NONE ? unit->scopes.at[scope].line : 0;
    key.instance = unit != NULL && scope != SCOPE_NONE ? instance_of(module, unit, scope) : INTERN_NONE;
    return key;
}

void place_settle(struct code *code, struct module *module, struct code_place *place, struct source_key key)
{
    if (place->parent != CODE_NONE) {
        place->parent = code->places.at[place->parent]->source;
        place->depth = code->places.at[place->parent]->depth + 1;
    }
    if (key.file == INTERN_NONE || key.line == 0)
        return;
    uint32_t number = intern_put(&module->sources, &key, sizeof key);
    if (number == module->source_places.n) {
        *vec_push(&module->source_places) = place->id;
        return;
    }
    place->source = module->source_places.at[number];
    struct code_place *first = code->places.at[place->source];
    widen(first, place->line_first, place->line_last);
    first->is_spinning &= place->is_spinning;
}

static bool is_around(const struct maker *m, uint32_t place, uint32_t inner)
{
    while (inner != CODE_NONE && inner != place)
        inner = place_at(m, inner)->parent;
    return inner == place;
}

/* True when whatever closes the outer loop lies in the inner one. */
static bool closes_within(const struct maker *m, uint32_t outer, uint32_t inner)
{
    const struct cfg *cfg = &m->c->graph->cfg;
    uint32_t head = m->c->loops->at[outer].head;
    for (uint32_t e = cfg->in_at[head]; e < cfg->in_at[head + 1]; e++) {
        uint32_t from = cfg->edges.at[cfg->in[e]].from;
        if (cfg_loop_contains(m->c->loops, outer, from) && !cfg_loop_contains(m->c->loops, inner, from))
            return false;
    }
    return true;
}

/*
 * If the test of an inner loop goes on with the outer one, that has no closing line of its own, but the line on which
 * the inner one begins. Two ways to go round in one loop close where both of them end.
 */
static bool has_lost_line(const struct maker *m, const struct kin *outer, const struct kin *inner)
{
    const struct loop_source *around = &m->sources[outer->loop], *s = &m->sources[inner->loop];
    return same_source(outer, s) && outer->head_line == s->head_line && s->line_first == s->head_line &&
           around->line_first < s->line_first && is_around(m, outer->place, inner->place) &&
           closes_within(m, outer->loop, inner->loop);
}

static void count_loops(struct maker *m)
{
    for (size_t i = m->kin.n; i-- > 0;)
        for (size_t k = i; k-- > 0;)
            if (m->kin.at[k].n_loops <= m->kin.at[i].n_loops && has_lost_line(m, &m->kin.at[k], &m->kin.at[i]))
                m->kin.at[k].n_loops = m->kin.at[i].n_loops + 1;
}

static void settle_all(struct maker *m, uint32_t routine_scope)
{
    struct source_key key = {.file = INTERN_NONE};
    if (routine_scope != SCOPE_NONE)
        key = source_key_of_routine(m->module, m->unit, routine_scope);
    count_loops(m);
    place_settle(m->code, m->module, place_at(m, m->routine_place), key);
    for (size_t i = 0; i < m->kin.n; i++) {
        const struct kin *kin = &m->kin.at[i];
        key = (struct source_key){.file = kin->file, .line = kin->head_line, .n_loops = kin->n_loops};
        key = source_key_within(m->module, m->unit, kin->scope, key);
        place_settle(m->code, m->module, place_at(m, kin->place), key);
    }
}

uint32_t *places_make(struct code *code, uint32_t module, uint32_t routine, struct unit *unit,
                      const struct loop_context *context, struct arena *scratch, uint32_t *routine_place)
{
    struct module *owner = code->modules.at[module];
    struct maker m = {.code = code, .c = context, .unit = unit, .debug = &owner->debug, .module = owner};
    m.module_id = module;
    if (context->sources == NULL)
        m.unit = NULL;
    /* The routine itself, not what was inlined at its entry. */
    uint32_t scope = m.unit != NULL ? debug_scope_at(m.unit, owner->routines.at[routine].lo) : SCOPE_NONE;
    while (scope != SCOPE_NONE && m.unit->scopes.at[scope].parent != SCOPE_NONE)
        scope = m.unit->scopes.at[scope].parent;
    make_routine(&m, routine, scope);
    m.sources = arena_array(scratch, struct loop_source, context->loops->n + 1);
    m.place_of = arena_array(scratch, uint32_t, context->loops->n + 1);
    for (uint32_t l = 0; l < context->loops->n; l++) {
        m.sources[l] = loop_source_find(context, l);
        m.place_of[l] = CODE_NONE;
    }
    loop_sources_part(context, m.sources);
    /* First those whose place is certain; then, outer ones first again, those that waited. */
    uint32_t n = m.c->loops->n;
    struct turn *turns = arena_array(scratch, struct turn, n + 1);
    for (uint32_t l = 0; l < n; l++)
        turns[l] = (struct turn){l, m.c->loops->at[l].depth, m.sources[l].line_first, m.sources[l].line_last};
    qsort(turns, n, sizeof *turns, turn_order);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < n; i++) {
            uint32_t loop = turns[i].loop;
            uint32_t outer = m.c->loops->at[loop].parent;
            uint32_t parent = outer != CFG_NONE ? m.place_of[outer] : m.routine_place;
            if (m.place_of[loop] == CODE_NONE && parent != CODE_NONE)
                m.place_of[loop] = choose(&m, loop, parent, pass == 0);
        }
    settle_all(&m, scope);
    vec_release(&m.kin);
    for (uint32_t l = 0; l < context->loops->n; l++)
        m.place_of[l] = place_at(&m, m.place_of[l])->source;
    *routine_place = place_at(&m, m.routine_place)->source;
    return m.place_of;
}
