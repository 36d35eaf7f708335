/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/html/sources.h"
#include "analyze/out/json.h"
#include "analyze/out/original.h"
#include "analyze/out/source.h"
#include "analyze/profile/line_facts.h"
#include "wrap/base/err.h"
#include "wrap/base/keys.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lines around what is marked; files shorter than that are shown whole; and what a page has room for. */
enum { CONTEXT = 25, WHOLE = 400, MOST_FILES = 40, MOST_BYTES = 1 << 20, LONGEST_LINE = 2000 };

struct span {
    uint32_t first, last;
};

struct source {
    const char *file;
    double ns; /* waiting that it causes or at which it waits */
    VEC(struct span) spans;
    struct file_facts facts;
};

struct sources {
    const struct analysis *analysis;
    const char *directory;
    VEC(struct source) files;
    size_t n_bytes;
    bool are_cut;
};

static void mark(struct sources *sources, const char *file, uint32_t first, uint32_t last, double ns)
{
    struct source *source = NULL;
    if (!file || !first)
        return;
    for (size_t i = 0; i < sources->files.n && !source; i++)
        if (!strcmp(sources->files.at[i].file, file))
            source = &sources->files.at[i];
    if (!source) {
        source = vec_push(&sources->files);
        source->file = source->facts.path = file;
    }
    source->ns += ns;
    *vec_push(&source->spans) = (struct span){first, last < first ? first : last};
}

static int by_falling_waiting(const void *a, const void *b)
{
    const struct source *x = a, *y = b;
    return order_of(y->ns, x->ns) ?: strcmp(x->file, y->file);
}

static bool is_near(const struct source *source, uint32_t line)
{
    for (size_t i = 0; i < source->spans.n; i++)
        if (line + CONTEXT >= source->spans.at[i].first && line <= (uint64_t)source->spans.at[i].last + CONTEXT)
            return true;
    return false;
}

/* [[first line, text, text ...] ...] */
static json_t *read_pieces(struct sources *sources, const struct source *source, FILE *file, bool is_whole)
{
    json_t *pieces = json_array(), *piece = NULL;
    char *text = NULL;
    size_t size = 0;
    ssize_t n;
    for (uint32_t line = 1; (n = getline(&text, &size, file)) > 0 && sources->n_bytes < MOST_BYTES; line++) {
        if (!is_whole && !is_near(source, line)) {
            piece = NULL;
            continue;
        }
        if (!piece) {
            piece = json_pack("[i]", (int)line);
            json_array_append_new(pieces, piece);
        }
        text[strcspn(text, "\r\n")] = '\0';
        if (n > LONGEST_LINE)
            text[LONGEST_LINE] = '\0';
        json_array_append_new(piece, json_text(text));
        sources->n_bytes += strlen(text) + 4;
    }
    free(text);
    return pieces;
}

static bool is_short(FILE *file)
{
    int lines = 0;
    for (int c; lines <= WHOLE && (c = getc_unlocked(file)) != EOF;)
        lines += c == '\n';
    return lines <= WHOLE;
}

/* [[line, ns, and of a line that is counted its executions on a rank: least, mean, most; ways] ...] */
static json_t *facts_of(const struct source *source, uint32_t n_ranks, bool is_whole)
{
    json_t *lines = json_array();
    struct arena scratch = {0};
    for (uint32_t line = 1; line < source->facts.lines.n; line++) {
        const struct line_facts *facts = &source->facts.lines.at[line];
        if ((facts->time_ns < 0.5 && !facts->is_counted) || !(is_whole || is_near(source, line)))
            continue;
        json_int_t time_ns = (json_int_t)llround(facts->time_ns);
        json_t *fact = facts->is_counted
                           ? json_pack("[i, I, I, f, I, s]", (int)line, time_ns, (json_int_t)facts->least,
                                       facts->sum / n_ranks, (json_int_t)facts->most, source_ways(&scratch, facts))
                           : json_pack("[i, I]", (int)line, time_ns);
        json_array_append_new(lines, fact);
    }
    arena_release(&scratch);
    return lines;
}

/* [[first line, last line, depth] ...], the outer first. */
static json_t *loops_of(const struct source *source)
{
    json_t *loops = json_array();
    for (size_t i = 0; i < source->facts.loops.n; i++) {
        const struct line_loop *loop = &source->facts.loops.at[i];
        json_array_append_new(loops, json_pack("[i, i, i]", (int)loop->first, (int)loop->last, (int)loop->depth));
    }
    return loops;
}

static json_t *read_source(struct sources *sources, const struct source *source, uint64_t built_ns)
{
    static const char *const states[] = {"same", "changed", "unknown", "missing"};
    struct original original = original_open(sources->analysis, source->file, sources->directory, built_ns);
    const char *warning = original_warning(original.state);
    sources->are_cut |= original.lacks_kept;
    json_t *object = json_pack("{s:o, s:s, s:s?}", "file", json_text(source->file), "state", states[original.state],
                               "warning", warning);
    if (!original.file) {
        json_object_update_new(object, json_pack("{s:s, s:[]}", "reason", original.reason, "pieces"));
        return object;
    }
    bool is_whole = is_short(original.file), is_read = !ferror(original.file) && !fseek(original.file, 0, SEEK_SET);
    json_object_update_new(
        object, json_pack("{s:o, s:o, s:o}", "facts", facts_of(source, sources->analysis->trace->n_ranks, is_whole),
                          "loops", loops_of(source), "pieces", read_pieces(sources, source, original.file, is_whole)));
    if (!is_read || ferror(original.file)) {
        warn("cannot read all of %s: the page has a part of it", source->file);
        sources->are_cut = true;
    }
    fclose(original.file);
    return object;
}

static void gather_facts(struct sources *sources, size_t n, struct coverage *coverage)
{
    struct file_facts facts[MOST_FILES];
    for (size_t i = 0; i < n; i++)
        facts[i] = sources->files.at[i].facts;
    line_facts_gather(facts, n, sources->analysis, coverage);
    for (size_t i = 0; i < n; i++)
        sources->files.at[i].facts = facts[i];
}

json_t *sources_read(const struct analysis *analysis, const char *directory, struct coverage *coverage, bool *are_cut)
{
    struct sources sources = {.analysis = analysis, .directory = directory};
    json_t *files = json_array();
    uint64_t built_ns = original_built_ns(analysis);
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        for (uint32_t k = 0; k < analysis->causes[i].n_parts; k++) {
            const struct cause_part *part = &analysis->causes[i].parts[k];
            const struct step *step = &analysis->steps[part->step];
            mark(&sources, step->file, step->line_first, step->line_last, part->own_ns);
        }
    for (uint32_t i = 0; i < analysis->n_sites; i++)
        mark(&sources, analysis->sites[i].file, analysis->sites[i].line, analysis->sites[i].line,
             analysis->sites[i].waiting_ns);
    vec_sort(&sources.files, by_falling_waiting);
    size_t n_shown = sources.files.n < MOST_FILES ? sources.files.n : MOST_FILES;
    gather_facts(&sources, n_shown, coverage);
    for (size_t i = 0; i < sources.files.n; i++) {
        struct source *source = &sources.files.at[i];
        if (i < n_shown)
            json_array_append_new(files, read_source(&sources, source, built_ns));
        line_facts_release(&source->facts);
        vec_release(&source->spans);
    }
    vec_release(&sources.files);
    *are_cut |= sources.are_cut;
    return files;
}

/*
 * Where there is no source: the loops of the machine code in the routines that are blamed, as they lie in each other.
 */

struct bare {
    const struct analysis *analysis;
    VEC(struct bare_routine {
        uint32_t module;
        uint64_t address;
        double ns; /* waiting that it causes */
    })
    routines;
    uint32_t n_places;        /* when it was collected: who asks for an address may add some, of other routines */
    double *time_ns, *own_ns; /* by place */
    uint32_t *cause;          /* by place with own_ns: that which has most of it */
};

static void bare_collect(struct bare *bare, struct arena *scratch)
{
    const struct analysis *analysis = bare->analysis;
    uint32_t n_places = bare->n_places = code_n_places(analysis->code);
    bare->own_ns = arena_array(scratch, double, n_places + 1);
    bare->cause = arena_array(scratch, uint32_t, n_places + 1);
    double *most_ns = arena_array(scratch, double, n_places + 1);
    for (uint32_t i = 0; i < analysis->n_causes; i++)
        for (uint32_t k = 0; k < analysis->causes[i].n_parts; k++) {
            const struct cause_part *part = &analysis->causes[i].parts[k];
            const struct step *step = &analysis->steps[part->step];
            if (step->file || step->place >= n_places || !(part->own_ns > 0))
                continue;
            const struct code_place *place = code_place(analysis->code, step->place);
            bare->own_ns[step->place] += part->own_ns;
            if (part->own_ns > most_ns[step->place]) {
                most_ns[step->place] = part->own_ns;
                bare->cause[step->place] = i;
            }
            struct bare_routine *routine = NULL;
            for (size_t r = 0; r < bare->routines.n && !routine; r++)
                if (bare->routines.at[r].module == place->module &&
                    bare->routines.at[r].address == place->routine_address)
                    routine = &bare->routines.at[r];
            if (!routine) {
                routine = vec_push(&bare->routines);
                *routine = (struct bare_routine){place->module, place->routine_address, 0};
            }
            routine->ns += part->own_ns;
        }
}

static void bare_time(struct bare *bare, struct arena *scratch)
{
    const struct analysis *analysis = bare->analysis;
    bare->time_ns = arena_array(scratch, double, bare->n_places + 1);
    for (uint32_t i = 0; i < analysis->profile.n_stacks && bare->routines.n; i++) {
        const struct profile_stack *stack = &analysis->profile.stacks[i];
        if (stack->frame >= analysis->trace->n_frames)
            continue;
        const struct trace_frame *frame = &analysis->trace->frames[stack->frame];
        if (frame->module >= analysis->trace->n_modules)
            continue;
        uint32_t place =
            code_place_at(analysis->code, frame->module, trace_code_address(frame->address, frame->is_return));
        if (place < bare->n_places)
            bare->time_ns[place] += stack->ns;
    }
}

static int by_falling_ns(const void *a, const void *b)
{
    const struct bare_routine *x = a, *y = b;
    return order_of(y->ns, x->ns) ?: order_of(x->address, y->address);
}

/* Places of one routine as [offset, depth, ns, waiting caused, cause or -1], by address: what lies inside comes behind.
 */
static json_t *bare_loops(const struct bare *bare, const struct bare_routine *routine, const char **name)
{
    struct code *code = bare->analysis->code;
    json_t *loops = json_array();
    for (uint32_t i = 0; i < bare->n_places; i++) {
        const struct code_place *place = code_place(code, i);
        if (place->module != routine->module || place->routine_address != routine->address || place->source != i)
            continue;
        *name = place->host_routine ? place->host_routine : *name;
        json_array_append_new(loops, json_pack("[I, i, I, I, i]", (json_int_t)(place->address - routine->address),
                                               (int)place->depth, (json_int_t)llround(bare->time_ns[i]),
                                               (json_int_t)llround(bare->own_ns[i]),
                                               bare->own_ns[i] > 0 ? (int)bare->cause[i] : -1));
    }
    return loops;
}

json_t *sources_bare(const struct analysis *analysis)
{
    struct bare bare = {.analysis = analysis};
    struct arena scratch = {0};
    json_t *routines = json_array();
    if (!analysis->code)
        return routines;
    bare_collect(&bare, &scratch);
    bare_time(&bare, &scratch);
    vec_sort(&bare.routines, by_falling_ns);
    for (size_t i = 0; i < bare.routines.n && i < MOST_FILES; i++) {
        const char *name = NULL;
        json_t *loops = bare_loops(&bare, &bare.routines.at[i], &name);
        const char *module = analysis->trace->modules[bare.routines.at[i].module].path;
        json_array_append_new(routines, json_pack("{s:o, s:o, s:o}", "routine", json_text(name), "module",
                                                  json_text(module), "loops", loops));
    }
    vec_release(&bare.routines);
    arena_release(&scratch);
    return routines;
}
