/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/words/label.h"
#include "analyze/code/origin.h"
#include "analyze/constants/readers.h"
#include "analyze/words/amount.h"
#include "analyze/words/brief.h"
#include "analyze/result/names.h"
#include <string.h>

const char *label_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static bool tail_is_shared(const struct analysis *analysis, const char *file, unsigned n)
{
    for (uint32_t i = 0; i < analysis->n_files; i++)
        if (strcmp(file, analysis->files[i]) &&
            !strcmp(names_path_tail(file, n), names_path_tail(analysis->files[i], n)))
            return true;
    return false;
}

/* "jacobi.c": the last components of a path that no other file of the analysis shares. */
static const char *label_file(const struct label_book *book, const char *file)
{
    if (book->full_paths)
        return file;
    unsigned n = 1;
    while (tail_is_shared(book->analysis, file, n) && names_path_tail(file, n) != file)
        n++;
    return names_path_tail(file, n);
}

const char *label_lines(const struct label_book *book, const char *file, uint32_t first, uint32_t last)
{
    const char *name = label_file(book, file);
    if (!first)
        return name;
    if (last <= first)
        return arena_printf(book->arena, "%s:%u", name, first);
    return arena_printf(book->arena, "%s:%u-%u", name, first, last);
}

static const char *brief_if_asked(const struct label_book *book, const char *text)
{
    return book->short_names ? brief_text(book->arena, text) : text;
}

static const char *with_parentheses(struct arena *arena, const char *name)
{
    return arena_printf(arena, "%s%s", name, brief_has_parentheses(name) ? "" : "()");
}

const char *label_routine(const struct label_book *book, const char *routine)
{
    return with_parentheses(book->arena, brief_if_asked(book, routine));
}

/* Instances of a template that read the same when they are brief keep what tells them apart. */
static const char *routine_apart(const struct label_book *book, const char *routine)
{
    const struct analysis *analysis = book->analysis;
    const char *brief = brief_if_asked(book, routine);
    bool is_shorter = strcmp(brief, routine) != 0;
    size_t n_common = strcspn(routine, "<");
    struct arena scratch = {0};
    VEC(const char *) others = {0};
    for (uint32_t i = 0; is_shorter && i < analysis->n_steps; i++) {
        const char *other = analysis->steps[i].routine;
        if (other && !strncmp(other, routine, n_common) && strcmp(other, routine) &&
            !strcmp(brief_text(&scratch, other), brief))
            *vec_push(&others) = other;
    }
    const char *text = others.n ? brief_apart(book->arena, routine, others.at, others.n) : brief;
    vec_release(&others);
    arena_release(&scratch);
    return with_parentheses(book->arena, text);
}

/* "relax()+0x1c in libfoo.so": what is left to say without debug information. */
static const char *label_offset(const struct label_book *book, const struct step *step)
{
    struct code *code = book->analysis->code;
    const struct code_place *place = code && step->place != CODE_NONE ? code_place(code, step->place) : NULL;
    const char *routine = routine_apart(book, step->routine);
    const struct trace *trace = book->analysis->trace;
    if (!place || place->module >= trace->n_modules)
        return routine;
    const char *language = code_module_language(code, place->module);
    if (language)
        routine = arena_printf(book->arena, "%s code", language);
    else if (place->address > place->routine_address)
        routine = arena_printf(book->arena, "%s+0x%llx", routine,
                               (unsigned long long)(place->address - place->routine_address));
    return arena_printf(book->arena, "%s in %s", routine,
                        library_name(book->arena, trace->modules[place->module].path));
}

static const char *label_place(const struct label_book *book, const struct step *step)
{
    if (step->is_call && step->file) {
        const char *lines = label_lines(book, step->file, step->line_first, step->line_last);
        return arena_printf(book->arena, "%s %s", step->routine, lines);
    }
    if (!step->file && !step->routine)
        return step->label ? brief_if_asked(book, step->label) : "unknown code";
    if (!step->file)
        return arena_printf(book->arena, "%s%s", step->is_loop ? "loop at " : "", label_offset(book, step));
    const char *lines = label_lines(book, step->file, step->line_first, step->line_last);
    if (!step->routine)
        return arena_printf(book->arena, "%s%s", step->is_loop ? "loop " : "", lines);
    const char *routine = routine_apart(book, step->routine);
    if (step->is_loop)
        return arena_printf(book->arena, "loop %s in %s", lines, routine);
    return arena_printf(book->arena, "%s %s", routine, lines);
}

static const char *state_prefix(enum step_state state)
{
    switch (state) {
    case STEP_DESCHEDULED:
        return "without a CPU in ";
    case STEP_BLOCKED:
        return "blocked in ";
    case STEP_TRANSFER:
        return "transfer in ";
    case STEP_MPI:
        return "inside ";
    case STEP_COMPUTING:
    case STEP_UNKNOWN:
        break;
    }
    return "";
}

/* The place, and which named code it serves where it has no name. */
static const char *label_place_below(const struct label_book *book, const struct step *step)
{
    const char *place = label_place(book, step);
    return step->below ? arena_printf(book->arena, "%s, below %s%s", place, brief_if_asked(book, step->below),
                                      step->is_below_others ? " and others" : "")
                       : place;
}

static const char *step_text(const struct label_book *book, uint32_t index,
                             const char *(*place_text)(const struct label_book *book, const struct step *step))
{
    const struct analysis *analysis = book->analysis;
    const struct step *step = &analysis->steps[index];
    const char *text = arena_printf(book->arena, "%s%s", state_prefix(step->state), place_text(book, step));
    /* Steps that differ by their caller or by the call only are told apart by it; one level is enough to read. */
    if (step->caller != TRACE_NONE && step->caller < analysis->n_steps)
        text = arena_printf(book->arena, "%s, called from %s", text, place_text(book, &analysis->steps[step->caller]));
    if (step->call_file)
        text = arena_printf(book->arena, "%s, called at %s", text,
                            label_lines(book, step->call_file, step->call_line, step->call_line));
    return text;
}

const char *label_step(const struct label_book *book, uint32_t step)
{
    return step_text(book, step, label_place_below);
}

const char *label_step_alone(const struct label_book *book, uint32_t step)
{
    return step_text(book, step, label_place);
}

/* `label` is of that step; states have an "in" of their own. */
static const char *within(const struct label_book *book, uint32_t step, const char *label)
{
    return *state_prefix(book->analysis->steps[step].state) ? label : arena_printf(book->arena, "in %s", label);
}

const char *label_within(const struct label_book *book, uint32_t step)
{
    return within(book, step, label_step(book, step));
}

/* The innermost routine on the way to a node, itself included: a loop stands in it. */
static uint32_t routine_around(const struct analysis *analysis, uint32_t node)
{
    while (node < analysis->n_nodes && analysis->steps[analysis->nodes[node].step].is_loop &&
           !analysis->nodes[node].call_line)
        node = analysis->nodes[node].parent;
    return node;
}

/* Where a node of the tree was called: the routine around it, and the line there. */
struct call {
    uint32_t routine, line; /* routine: a node; TRACE_NONE around the outermost */
};

static struct call call_of(const struct analysis *analysis, uint32_t node)
{
    struct call call = {analysis->nodes[node].parent, analysis->nodes[node].call_line};
    while (call.routine < analysis->n_nodes && analysis->steps[analysis->nodes[call.routine].step].is_loop)
        call.routine = analysis->nodes[call.routine].parent;
    return call;
}

static uint32_t step_of_node(const struct analysis *analysis, uint32_t node)
{
    return node < analysis->n_nodes ? analysis->nodes[node].step : TRACE_NONE;
}

/* How many calls outwards from two nodes the first one is that differs; 0 also where none does. */
static uint32_t calls_in_common(const struct analysis *analysis, uint32_t node, uint32_t other)
{
    for (uint32_t n = 0; node < analysis->n_nodes && other < analysis->n_nodes && node != other; n++) {
        struct call call = call_of(analysis, node), its = call_of(analysis, other);
        if (call.line != its.line || step_of_node(analysis, call.routine) != step_of_node(analysis, its.routine))
            return n;
        node = call.routine;
        other = its.routine;
    }
    return 0;
}

/* " <- velocity():18": the call so many levels out from the one at which `node` was entered. */
static const char *label_call_outwards(const struct label_book *book, uint32_t node, uint32_t n_levels)
{
    const struct analysis *analysis = book->analysis;
    for (uint32_t i = 0; i < n_levels && node < analysis->n_nodes; i++)
        node = call_of(analysis, node).routine;
    struct call call = node < analysis->n_nodes ? call_of(analysis, node) : (struct call){TRACE_NONE, 0};
    uint32_t step = step_of_node(analysis, call.routine);
    const struct step *caller = step == TRACE_NONE ? NULL : &analysis->steps[step];
    if (!caller || !caller->routine)
        return "";
    const char *text =
        arena_printf(book->arena, "%s%s", n_levels > 1 ? " <- ... <- " : " <- ", label_routine(book, caller->routine));
    return call.line ? arena_printf(book->arena, "%s:%u", text, call.line) : text;
}

static bool is_same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* Outwards to where another routine makes the call: threads enter parts of a routine by calls within it. */
static uint32_t entered_by_another(const struct analysis *analysis, uint32_t step, uint32_t node)
{
    const char *routine = analysis->steps[step].routine;
    uint32_t at = node;
    while (routine && at < analysis->n_nodes && analysis->nodes[at].parent < analysis->n_nodes &&
           is_same_text(analysis->steps[analysis->nodes[analysis->nodes[at].parent].step].routine, routine))
        at = routine_around(analysis, analysis->nodes[at].parent);
    return at < analysis->n_nodes && analysis->nodes[at].parent < analysis->n_nodes ? at : node;
}

/* A step, and the call that entered its routine, which is a node; `has_other_ways`: others did as well. */
static const char *label_entered(const struct label_book *book, uint32_t step, uint32_t node, bool has_other_ways)
{
    const struct analysis *analysis = book->analysis;
    const char *label = label_step(book, step), *elsewhere = has_other_ways ? " and elsewhere" : "";
    node = entered_by_another(analysis, step, node);
    uint32_t around = node < analysis->n_nodes ? analysis->nodes[node].parent : TRACE_NONE;
    if (around >= analysis->n_nodes)
        return label;
    uint32_t line = analysis->nodes[node].call_line;
    const struct step *caller = &analysis->steps[analysis->nodes[around].step];
    if (!caller->file || !line)
        return arena_printf(book->arena, "%s, called from %s%s", label, label_step(book, analysis->nodes[around].step),
                            elsewhere);
    const char *routine = caller->routine ? label_routine(book, caller->routine) : "";
    return arena_printf(book->arena, "%s, called at %s%s%s%s", label, label_lines(book, caller->file, line, line),
                        *routine ? " in " : "", routine, elsewhere);
}

/* ", called from advance() app.c:33": the nearest code with lines on the way to a node without; "" where none is. */
static const char *label_called_from(const struct label_book *book, uint32_t node)
{
    const struct analysis *analysis = book->analysis;
    uint32_t line = 0;
    for (; node < analysis->n_nodes; node = analysis->nodes[node].parent) {
        const struct step *step = &analysis->steps[analysis->nodes[node].step];
        if (step->file && step->routine && line)
            return arena_printf(book->arena, ", called from %s %s", label_routine(book, step->routine),
                                label_lines(book, step->file, line, line));
        line = step->is_loop ? line : analysis->nodes[node].call_line;
    }
    return "";
}

/* True of one place, and of instances of a template whose names are the same. */
static bool read_alike(const struct analysis *analysis, uint32_t a, uint32_t b)
{
    const struct step *one = &analysis->steps[a], *other = &analysis->steps[b];
    return a == b || (one->file && one->line_first == other->line_first && one->line_last == other->line_last &&
                      one->state == other->state && one->is_loop == other->is_loop &&
                      is_same_text(one->file, other->file) && is_same_text(one->routine, other->routine));
}

const char *label_cause(const struct label_book *book, uint32_t number)
{
    const struct analysis *analysis = book->analysis;
    const struct cause *cause = &analysis->causes[number];
    uint32_t node = routine_around(analysis, cause->node), n_levels = 0;
    bool is_shared = cause->is_elsewhere;
    for (uint32_t i = 0; i < analysis->n_causes; i++) {
        if (i == number || !read_alike(analysis, analysis->causes[i].step, cause->step))
            continue;
        is_shared = true;
        uint32_t n = calls_in_common(analysis, node, routine_around(analysis, analysis->causes[i].node));
        n_levels = n > n_levels ? n : n_levels;
    }
    const char *text = label_step(book, cause->step);
    if (!analysis->steps[cause->step].file)
        return arena_printf(book->arena, "%s%s", text, label_called_from(book, cause->node));
    if (!is_shared)
        return text;
    text = label_entered(book, cause->step, node, cause->has_other_ways);
    if (n_levels && !cause->has_other_ways)
        text = arena_printf(book->arena, "%s%s", text, label_call_outwards(book, node, n_levels));
    return text;
}

static const char *and_more(const struct label_book *book, const char *text, uint32_t n)
{
    return n ? arena_printf(book->arena, "%s and %u more place%s", text, n, n == 1 ? "" : "s") : text;
}

const char *label_cause_and_beside(const struct label_book *book, uint32_t number)
{
    return and_more(book, label_cause(book, number), book->analysis->causes[number].n_beside);
}

const char *label_answer_within(const struct label_book *book)
{
    const struct analysis *analysis = book->analysis;
    uint32_t number = analysis->answer.number;
    const struct cause *cause = &analysis->causes[number];
    const char *label = label_cause(book, number);
    return within(book, cause->step, and_more(book, label, cause->n_beside + analysis->answer.n_like));
}

const char *label_call(const struct label_book *book, const char *call, const char *file, uint32_t line,
                       const char *path)
{
    const char *text = call ? call : "";
    if (file)
        text = arena_printf(book->arena, "%s%s%s", text, call ? " at " : "", label_lines(book, file, line, line));
    if (path && *path)
        text = arena_printf(book->arena, "%s%sin %s", text, *text ? " " : "", path);
    return brief_if_asked(book, text);
}

const char *label_site(const struct label_book *book, uint32_t index)
{
    const struct wait_site *site = &book->analysis->sites[index];
    const char *text = site->call;
    if (site->file)
        text = arena_printf(book->arena, "%s %s", text, label_lines(book, site->file, site->line, site->line));
    if (site->path && *site->path)
        text = arena_printf(book->arena, "%s in %s", text, site->path);
    else if (site->routine)
        text = arena_printf(book->arena, "%s in %s", text, label_routine(book, site->routine));
    if (site->through)
        text = arena_printf(book->arena, "%s, through %s", text, site->through);
    return brief_if_asked(book, text);
}

const char *label_kind_words(enum cause_kind kind)
{
    static const char *const words[KIND_N] = {"more work", "slower", "no CPU", "blocked", "transfer", "more time"};
    return kind < KIND_N ? words[kind] : "unknown";
}
