/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/code/routines.h"
#include "analyze/code/script.h"
#include "analyze/constants/constants.h"
#include "analyze/profile/details.h"
#include "analyze/profile/expression.h"
#include "wrap/base/keys.h"
#include "wrap/base/sparse.h"
#include <math.h>
#include <string.h>

/* Of the rank most to blame, by place: samples on a CPU, and time, also asleep. By place and library, loop or routine
 * of a package, line, or frame at an expression. */
struct insides {
    struct sites *sites;
    struct map asked; /* by place: that rank + 1 */
    struct intern expressions;
    VEC(uint32_t) frames; /* by expression: the first at it */
    struct sparse n, all, libraries, loops, routines, lines, at;
};

/* By place, the key with most of it. */
struct most {
    const struct sparse *of;
    struct map by_place; /* 1 + index */
};

/* It is slower, in a library, or a line of a script, which may call anything. */
static bool is_asked_about(const struct analysis *analysis, const struct cause *cause)
{
    const struct code_place *place =
        analysis->code ? code_place(analysis->code, analysis->steps[cause->step].place) : NULL;
    bool is_script = place && code_module_is_script(analysis->code, place->module);
    return place && cause->n_ranks &&
           (is_script || cause->is_in_library || cause->kind_ns[KIND_SLOWER] >= cause->waiting_ns / 4);
}

/* The library that user code called, whatever that called in turn; TRACE_NONE for user code itself. A line of a script
 * calls none of the C library: its interpreter does, to make and free objects and to compute. */
static uint32_t library_of(struct sites *sites, uint32_t frame)
{
    const struct trace *trace = sites->trace;
    uint32_t library = TRACE_NONE, user = TRACE_NONE;
    trace_walk (trace, at, frame) {
        user = trace->frames[at].module;
        if (sites_frame_place(sites, at) != CODE_NONE)
            break;
        library = code_module_is_script(sites->code, user) ? TRACE_NONE : user;
    }
    bool is_interpreter = library != TRACE_NONE && code_module_is_script(sites->code, user) &&
                          runtime_is_base(trace->modules[library].path);
    return is_interpreter ? TRACE_NONE : library;
}

static uint32_t routine_of(struct code *code, uint32_t place)
{
    while (code_place(code, place)->parent != CODE_NONE)
        place = code_place(code, place)->parent;
    return place;
}

/* Installed code that a line of the program, at `caller`, has called: the innermost loop, and the routine. A function
 * of the program that it calls in turn says more than its own. */
static void add_package(struct insides *insides, uint32_t place, uint32_t frame, uint32_t caller, double ns)
{
    struct sites *sites = insides->sites;
    uint32_t loop = CODE_NONE, routine = CODE_NONE;
    trace_walk (sites->trace, at, frame) {
        uint32_t here = at == caller ? CODE_NONE : sites_frame_place(sites, at);
        if (at == caller)
            break;
        uint32_t module = sites->trace->frames[at].module;
        if (here == CODE_NONE || code_module_role(sites->code, module) == CODE_ROLE_MADE)
            continue;
        routine = routine_of(sites->code, here);
        if (!sites_module_is_given(sites, module))
            break;
        loop = loop == CODE_NONE && code_place(sites->code, here)->is_loop ? here : loop;
    }
    if (loop != CODE_NONE)
        sparse_add(&insides->loops, key_pair(place, loop), ns);
    if (routine != CODE_NONE)
        sparse_add(&insides->routines, key_pair(place, routine), ns);
}

/* The number of the expression under way at a frame, whoever called that. */
static uint32_t expression_of(struct insides *insides, uint32_t frame)
{
    const struct trace_frame *at = &insides->sites->trace->frames[frame];
    struct {
        uint64_t address;
        uint32_t module, columns;
    } key = {trace_code_address(at->address, at->is_return), at->module, at->columns};
    uint32_t number = intern_put(&insides->expressions, &key, sizeof key);
    if (number == insides->frames.n)
        *vec_push(&insides->frames) = frame;
    return number;
}

static void take_entry(struct insides *insides, const struct survey_entry *entry)
{
    struct sites *sites = insides->sites;
    uint32_t step = entry->n_samples || entry->blocked_ns ? sites_sample_step(sites, entry->frame) : TRACE_NONE;
    const struct step_key *key = step == TRACE_NONE ? NULL : steps_key(sites->steps, step);
    const uint64_t *rank = key && key->what == WHAT_PLACE ? map_get(&insides->asked, key->id) : NULL;
    if (!rank || *rank != entry->rank + 1)
        return;
    uint32_t place = key->id, library = library_of(sites, entry->frame);
    double n = (double)entry->n_samples, ns = (double)(entry->sampled_ns + entry->blocked_ns);
    sparse_add(&insides->n, place, n);
    sparse_add(&insides->all, place, ns);
    if (library != TRACE_NONE)
        sparse_add(&insides->libraries, key_pair(place, library), n);
    if (!code_module_is_script(sites->code, code_place(sites->code, place)->module))
        return;
    uint32_t caller = sites_sample_frame(sites, entry->frame);
    const struct trace_frame *from = &sites->trace->frames[caller];
    add_package(insides, place, entry->frame, caller, ns);
    sparse_add(&insides->lines, key_pair(place, script_line(trace_code_address(from->address, from->is_return))), ns);
    if (from->columns)
        sparse_add(&insides->at, key_pair(place, expression_of(insides, caller)), ns);
}

static struct most most_find(const struct sparse *of, const struct sparse *all)
{
    struct most most = {.of = of};
    for (size_t i = 0; i < of->n; i++) {
        uint32_t place = key_high(of->at[i].key);
        if (of->at[i].ns > sparse_get(all, place) / 2)
            *map_put(&most.by_place, place, NULL) = i + 1;
    }
    return most;
}

/* The key with more of a place than `least`; CODE_NONE. */
static uint32_t most_of(const struct most *most, uint32_t place, double least)
{
    const uint64_t *found = map_get(&most->by_place, place);
    return found && most->of->at[*found - 1].ns > least ? key_low(most->of->at[*found - 1].key) : CODE_NONE;
}

struct mosts {
    struct most library, loop, routine, line, at;
};

/* A call of a script's own routine has a frame for it: the C code beside it, as where a result is freed, is not that.
 */
static bool calls_script(struct code *code, const char *name)
{
    size_t n = strlen(name);
    const char *dot = strrchr(name, '.');
    const char *last = dot ? dot + 1 : name;
    return n > 2 && !strcmp(name + n - 2, "()") && code_has_script_routine(code, last, (size_t)(name + n - 2 - last));
}

static const char *expression_told(const struct insides *insides, struct analysis *analysis, uint32_t number)
{
    if (number == CODE_NONE)
        return NULL;
    const struct trace_frame *at = &insides->sites->trace->frames[insides->frames.at[number]];
    const char *text = code_text_at(analysis->code, at->module, trace_code_address(at->address, at->is_return),
                                    at->columns, &analysis->arena);
    const char *name = text ? expression_name(&analysis->arena, text, strlen(text)) : NULL;
    return name && !calls_script(analysis->code, name) ? name : NULL;
}

static void tell_cause(const struct insides *insides, const struct mosts *mosts, struct analysis *analysis,
                       struct cause *cause)
{
    uint32_t place = analysis->steps[cause->step].place;
    double half_ns = fmax(sparse_get(&insides->all, place), cause->ranks[0].time_ns) / 2;
    uint32_t library = most_of(&mosts->library, place, 0), loop = most_of(&mosts->loop, place, half_ns);
    uint32_t inside = loop != CODE_NONE ? loop : most_of(&mosts->routine, place, half_ns);
    if (sparse_get(&insides->n, place) < POOL_SAMPLES_MIN)
        return;
    cause->library = library != CODE_NONE ? insides->sites->trace->modules[library].path : NULL;
    cause->inside = inside != CODE_NONE ? code_place(analysis->code, inside) : NULL;
    cause->expression = expression_told(insides, analysis, most_of(&mosts->at, place, half_ns));
    const struct code_place *at = code_place(analysis->code, place);
    /* Under its head a loop may have but one line. */
    bool is_long = at->line_last > at->line_first + 1,
         is_loop = at->is_loop && !cause->library && !cause->inside && !cause->expression;
    uint32_t line = is_long && !is_loop ? most_of(&mosts->line, place, half_ns) : CODE_NONE;
    cause->main_line = line != CODE_NONE ? line : 0;
}

void insides_add_to_causes(struct analysis *analysis, struct sites *sites, const struct survey *survey)
{
    struct insides insides = {.sites = sites};
    struct sparse *sums[] = {&insides.n,        &insides.all,   &insides.libraries, &insides.loops,
                             &insides.routines, &insides.lines, &insides.at};
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        if (is_asked_about(analysis, &analysis->causes[i]))
            *map_put(&insides.asked, analysis->steps[analysis->causes[i].step].place, NULL) =
                analysis->causes[i].ranks[0].rank + 1;
    for (size_t i = 0; i < survey->entries.n; i++)
        take_entry(&insides, &survey->entries.at[i]);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        sparse_pack(sums[i]);
    struct mosts mosts = {most_find(&insides.libraries, &insides.n), most_find(&insides.loops, &insides.all),
                          most_find(&insides.routines, &insides.all), most_find(&insides.lines, &insides.all),
                          most_find(&insides.at, &insides.all)};
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        if (is_asked_about(analysis, &analysis->causes[i]))
            tell_cause(&insides, &mosts, analysis, &analysis->causes[i]);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        sparse_release(sums[i]);
    map_release(&mosts.library.by_place);
    map_release(&mosts.loop.by_place);
    map_release(&mosts.routine.by_place);
    map_release(&mosts.line.by_place);
    map_release(&mosts.at.by_place);
    intern_release(&insides.expressions);
    vec_release(&insides.frames);
    map_release(&insides.asked);
}
