/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/result/names.h"
#include "analyze/code/origin.h"
#include "wrap/base/containers.h"
#include <stdlib.h>
#include <string.h>

const char *wait_kind_name(enum wait_kind kind)
{
    static const char *const names[WAIT_N_KINDS] = {
        [WAIT_BARRIER] = "wait at barrier",
        [WAIT_NXN] = "wait at N x N",
        [WAIT_LATE_SENDER] = "late sender",
        [WAIT_LATE_RECEIVER] = "late receiver",
        [WAIT_LATE_BROADCAST] = "late broadcast",
        [WAIT_EARLY_REDUCE] = "early reduce",
        [WAIT_EARLY_SCAN] = "early scan",
        [WAIT_LATE_MEMBER] = "late member",
        [WAIT_NEIGHBOR] = "wait at neighborhood collective",
        [WAIT_ICOLL] = "completion of non-blocking collective",
        [WAIT_RMA] = "wait at RMA synchronisation",
        [WAIT_LOCK] = "lock contention",
        [WAIT_PROGRESS] = "wait for progress",
        [WAIT_CREATE] = "creation or freeing",
        [WAIT_FINALIZE] = "wait at MPI_Finalize",
        [WAIT_IO] = "wait at collective I/O",
    };
    return kind < WAIT_N_KINDS ? names[kind] : "unknown";
}

const char *wait_kind_meaning(enum wait_kind kind)
{
    static const char *const meanings[WAIT_N_KINDS] = {
        [WAIT_BARRIER] = "no rank goes on before the last one comes",
        [WAIT_NXN] = "each rank needs data from all, so all wait for the last one",
        [WAIT_LATE_SENDER] = "a receive waits for a message that is sent late",
        [WAIT_LATE_RECEIVER] = "a send waits for a receive that is called late",
        [WAIT_LATE_BROADCAST] = "the others need data from the root, and the root comes late",
        [WAIT_EARLY_REDUCE] = "the root needs data from the others, and one of them comes late",
        [WAIT_EARLY_SCAN] = "a rank needs data from the ranks below it, and one of them comes late",
        [WAIT_LATE_MEMBER] = "data passes from rank to rank, and one on the way comes late",
        [WAIT_NEIGHBOR] = "a rank needs data from its neighbours, and one of them comes late",
        [WAIT_ICOLL] = "the operation ends only when others have started it too, and one of them does so late",
        [WAIT_RMA] = "the other side opens or closes its window late",
        [WAIT_LOCK] = "another rank holds the lock of the window",
        [WAIT_PROGRESS] = "the partner computes, and the transfer goes on only when it calls MPI again",
        [WAIT_CREATE] = "ranks make or free something together, and one of them comes late",
        [WAIT_FINALIZE] = "ranks leave MPI together, and one of them comes late",
        [WAIT_IO] = "ranks use a file together, and one of them comes late",
    };
    return kind < WAIT_N_KINDS ? meanings[kind] : "unknown";
}

const char *advice_name(enum advice advice)
{
#define ADVICE_NAME(name, text) [ADVICE_##name] = text,
    static const char *const names[] = {ADVICE_LIST(ADVICE_NAME)};
#undef ADVICE_NAME
    return names[advice];
}

const char *reason_name(enum reason_kind kind)
{
#define REASON_NAME(name, text) [REASON_##name] = text,
    static const char *const names[] = {REASON_LIST(REASON_NAME)};
#undef REASON_NAME
    return names[kind];
}

const char *cause_kind_name(enum cause_kind kind)
{
    static const char *const names[KIND_N] = {"more-work", "slower", "descheduled", "blocked", "transfer", "more-time"};
    return kind < KIND_N ? names[kind] : "unknown";
}

const char *remedy_name(enum remedy remedy)
{
    static const char *const names[] = {
        [REMEDY_NONE] = "none", [REMEDY_SHARE] = "share", [REMEDY_AS_OTHERS] = "as-others"};
    return names[remedy];
}

double cause_usual_ns(const struct cause *cause)
{
    double sum_ns = 0;
    uint32_t n = cause->n_ranks - cause->n_late + cause->n_others;
    for (uint32_t i = cause->n_late; i < cause->n_ranks; i++)
        sum_ns += cause->ranks[i].time_ns;
    for (uint32_t i = 0; i < cause->n_others; i++)
        sum_ns += cause->others[i].time_ns;
    return n ? sum_ns / n : 0;
}

static const struct trace_frame *context_frame(const struct context *context, struct trace_frame *frame)
{
    *frame = (struct trace_frame){.module = context->module,
                                  .address = trace_code_address(context->address, context->is_return)};
    return frame;
}

static struct code_spot context_spot(const struct sites *sites, uint32_t context)
{
    const struct context *at = sites_context_at(sites, context);
    struct trace_frame frame;
    if (at->module == TRACE_NONE) {
        const struct trace *trace = sites->trace;
        const char *name = at->region < trace->n_regions ? trace->regions[at->region].name : NULL;
        return (struct code_spot){.host_routine = name, .routine = name};
    }
    context_frame(at, &frame);
    return code_spot_at(sites->code, frame.module, frame.address);
}

static const char *routine_call(struct arena *arena, const char *routine)
{
    return arena_printf(arena, "%s%s", routine, strchr(routine, '(') ? "" : "()");
}

/* "solve()"; where no line tells its calls apart, "solve()+0x1a3", the address that the call returns to. NULL without a
 * name. */
static const char *caller_text(const struct sites *sites, struct arena *arena, uint32_t context)
{
    struct code_spot spot = context_spot(sites, context);
    const char *routine = spot.host_routine ? spot.host_routine : spot.routine;
    uint64_t address = sites_context_at(sites, context)->address;
    if (!routine)
        return NULL;
    const char *text = routine_call(arena, routine);
    if (spot.file || !spot.routine_address || address <= spot.routine_address)
        return text;
    return arena_printf(arena, "%s+0x%llx", text, (unsigned long long)(address - spot.routine_address));
}

/* A routine on a call path. */
struct path_part {
    struct context at;
    uint32_t nth;      /* of the routines of one frame: those inlined come first */
    const char *name;  /* with the line of its call; NULL = none */
    bool is_unusual;   /* shown only where it tells two paths apart */
    bool is_own;       /* of the program or a library that it uses; not of a run-time library */
    bool tells;        /* it does */
    bool has_namesake; /* and there its name is not enough */
};

/* The innermost first. */
struct call_path {
    VEC(struct path_part) parts;
    bool is_nameless; /* its inner end is code without names: what there is of that is all that there is to say there */
};

enum { NAMED_INNER_MOST = 8, NAMED_OUTER_MOST = 3, NAMELESS_MOST = 6 };

/* The routines of one frame, those inlined into it first: the innermost and the outermost with the line of their call,
 * since a routine may make several. The line of the site itself stands before its path. `part` is what they share. */
static void path_add_frame(struct call_path *path, const struct sites *sites, struct arena *arena, uint32_t context,
                           bool is_site, struct path_part part)
{
    enum { INLINED_MOST = 8 };
    const struct context *at = &part.at;
    struct code_spot spot = context_spot(sites, context);
    struct code_routine inlined[INLINED_MOST];
    bool is_known = at->module != TRACE_NONE && spot.host_routine, is_inlined = false;
    uint32_t n = is_known ? code_routines_at(sites->code, at->module, trace_code_address(at->address, at->is_return),
                                             inlined, INLINED_MOST)
                          : 0;
    for (uint32_t i = 0; i + 1 < n; i++) {
        if (!inlined[i].name)
            continue;
        const char *name = routine_call(arena, inlined[i].name);
        if (!i && !is_site && spot.line)
            name = arena_printf(arena, "%s:%u", name, spot.line);
        part.nth = i;
        part.name = name;
        *vec_push(&path->parts) = part;
        is_inlined = true;
    }
    const char *name = caller_text(sites, arena, context);
    uint32_t line = spot.call_file ? spot.call_line : spot.file ? spot.line : 0;
    if (name && line && (!is_site || is_inlined))
        name = arena_printf(arena, "%s:%u", name, line);
    if (!name && at->module >= sites->trace->n_modules)
        return;
    part.nth = n;
    part.name = name;
    part.is_unusual |= !name && !path->is_nameless;
    *vec_push(&path->parts) = part;
}

/* From `context` outwards. The inside of `site`, where that is another one, is shown only where it parts two paths, as
 * are frames of run-time libraries and without a name, and those around main(). All are only read when asked for. */
static void path_read(struct call_path *path, const struct sites *sites, struct arena *arena, uint32_t context,
                      uint32_t site, bool wants_all)
{
    bool is_inside = true, is_around = false;
    for (; context != TRACE_NONE; context = sites_context_at(sites, context)->parent) {
        is_inside &= context != site;
        bool is_own = sites_user_context(sites, context) == context;
        bool is_unusual = is_inside || is_around || (!is_own && !path->is_nameless);
        if (is_unusual && !wants_all)
            continue;
        const struct context *at = sites_context_at(sites, context);
        path_add_frame(path, sites, arena, context, context == site,
                       (struct path_part){.at = *at, .is_unusual = is_unusual, .is_own = is_own});
        const char *routine = context_spot(sites, context).host_routine;
        is_around |= routine && (!strcmp(routine, "main") || !strcmp(routine, "MAIN__"));
        if (!wants_all && is_around)
            break;
    }
}

const char *names_nameless(struct code *code, const struct trace *trace, struct arena *arena,
                           const struct trace_frame *at, bool with_library)
{
    const char *library = at->module < trace->n_modules ? library_name(arena, trace->modules[at->module].path) : "";
    uint32_t number = code ? code_routine_number(code, at->module, at->address) : 0;
    if (!number)
        return arena_printf(arena, "%s+0x%llx", with_library ? library : "", (unsigned long long)at->address);
    uint64_t entry = code_routine_address(code, at->module, number - 1);
    const char *text = arena_printf(arena, "routine %u", number);
    if (at->address != entry) /* an out-of-line part may lie before it */
        text = arena_printf(arena, "%s%c0x%llx", text, at->address < entry ? '-' : '+',
                            (unsigned long long)(at->address < entry ? entry - at->address : at->address - entry));
    return with_library ? arena_printf(arena, "%s of %s", text, library) : text;
}

static const char *module_address(const struct sites *sites, struct arena *arena, uint32_t module, uint64_t address)
{
    return names_nameless(sites->code, sites->trace, arena, &(struct trace_frame){.module = module, .address = address},
                          true);
}

/* `module`: the last one that was named. */
static const char *part_text(const struct sites *sites, struct arena *arena, const struct path_part *part,
                             uint32_t module)
{
    const struct trace *trace = sites->trace;
    const char *text = part->name;
    if (!text)
        text = names_nameless(sites->code, trace, arena,
                              &(struct trace_frame){.module = part->at.module, .address = part->at.address},
                              part->at.module != module);
    if (!part->has_namesake)
        return text;
    if (part->at.module < trace->n_modules)
        return arena_printf(arena, "%s at %s+0x%llx", text, trace->modules[part->at.module].path,
                            (unsigned long long)trace_code_address(part->at.address, part->at.is_return));
    const struct trace_region *region = &trace->regions[part->at.region];
    if (region->file)
        text = arena_printf(arena, "%s at %s:%u", text, region->file, region->line_first);
    return arena_printf(arena, "%s (region %u)", text, part->at.region);
}

/*
 * "solve() <- step():71 <- main():85"; of a long path the middle is left out: its two ends tell most. Code without
 * names is told at the inner end only: "BI_Srecv() <- Cdgerv2d() <- routine 9+0x1c8 of app <- routine 7+0x4a". A
 * library is named once for all routines that follow each other.
 */
static const char *path_text(const struct sites *sites, struct arena *arena, const struct call_path *path)
{
    const char *text = "";
    uint32_t module = TRACE_NONE;
    size_t n_usual = 0, n_seen = 0, n_left_out = 0, inner_most = path->is_nameless ? NAMELESS_MOST : NAMED_INNER_MOST;
    for (size_t i = 0; i < path->parts.n; i++)
        n_usual += !path->parts.at[i].is_unusual;
    for (size_t i = 0; i < path->parts.n; i++) {
        const struct path_part *part = &path->parts.at[i];
        bool is_outer = n_seen + NAMED_OUTER_MOST >= n_usual && (!path->is_nameless || (part->name && part->is_own));
        bool is_end = n_seen < inner_most || is_outer;
        n_seen += !part->is_unusual;
        if (!part->tells && (part->is_unusual || !is_end)) {
            n_left_out += !part->is_unusual;
            continue;
        }
        if (n_left_out)
            text = arena_printf(arena, "%s <- (%zu more)", text, n_left_out);
        text = arena_printf(arena, "%s%s%s", text, *text ? " <- " : "", part_text(sites, arena, part, module));
        module = part->at.module;
        n_left_out = 0;
    }
    return text;
}

/* A routine by its name, or by where it begins. */
static const char *wrapper_text(const struct sites *sites, struct arena *arena, uint32_t context)
{
    const char *name = caller_text(sites, arena, context);
    struct code_spot spot = context_spot(sites, context);
    uint32_t module = sites_context_at(sites, context)->module;
    return name || module >= sites->trace->n_modules ? name
                                                     : module_address(sites, arena, module, spot.routine_address);
}

/* The callee there, "pdsyevr_()", if it is not MPI itself: a run-time library, which calls MPI. If the call has a line,
 * that says it, and may have other calls. NULL = nothing to say. */
static const char *library_call(const struct sites *sites, struct arena *arena, uint32_t context, const char *mpi)
{
    const struct context *at = sites_context_at(sites, context);
    struct code_callee callee;
    if (!sites->code || at->module == TRACE_NONE || !at->is_return || context_spot(sites, context).file ||
        !code_callee_at(sites->code, at->module, at->address, &callee) || !callee.name ||
        sites_is_named_after(callee.name, mpi))
        return NULL;
    return routine_call(arena, callee.name);
}

/* The call is on its own line, also when its routine was inlined into another; but one that was inlined from a header
 * of the system (a language binding) stands where that is called. */
static void name_site(struct sites *sites, struct arena *arena, uint32_t site, struct wait_site *out,
                      struct call_path *path, bool wants_all)
{
    const struct trace *trace = sites->trace;
    const struct site *at = sites_at(sites, site);
    out->call = at->region < trace->n_regions ? trace->regions[at->region].name : "MPI";
    out->frame = TRACE_NONE;
    out->path = "";
    out->through = NULL;
    uint32_t context = sites_user_context(sites, at->context);
    /* The caller of a wrapper, where it is known. */
    while (context != TRACE_NONE && sites_is_wrapper(sites, context)) {
        uint32_t caller = sites_user_context(sites, sites_context_at(sites, context)->parent);
        if (caller == TRACE_NONE)
            break;
        out->through = wrapper_text(sites, arena, context);
        context = caller;
    }
    struct code_spot spot = {0};
    if (context != TRACE_NONE)
        spot = context_spot(sites, context);
    if (context != TRACE_NONE && !out->through)
        out->through = library_call(sites, arena, context, out->call);
    path->is_nameless = !spot.file && !spot.routine && sites->code;
    if (!path->is_nameless && context != TRACE_NONE) {
        bool is_own = spot.file && spot.routine && (!source_is_system(spot.file) || !spot.call_file);
        out->file = is_own ? spot.file : spot.call_file;
        out->line = is_own ? spot.line : spot.call_line;
        out->routine = is_own || !spot.host_routine ? spot.routine : spot.host_routine;
    }
    if (path->is_nameless && context == TRACE_NONE)
        context = at->context;
    if (context != TRACE_NONE)
        path_read(path, sites, arena, at->context, context, wants_all);
    out->path = path_text(sites, arena, path);
}

void names_site(struct sites *sites, struct arena *arena, uint32_t site, struct wait_site *out)
{
    struct call_path path = {0};
    name_site(sites, arena, site, out, &path, false);
    vec_release(&path.parts);
}

/* A site whose text is also that of others. */
struct namesake {
    uint32_t index; /* of the site in the analysis */
    struct call_path path;
    uint32_t group;        /* sites that went the same way so far */
    uint32_t branch, text; /* of its next part */
    bool is_first;         /* of its branch */
};
struct namesakes {
    VEC(struct namesake) all;
    size_t n_longest; /* path */
};

static struct path_part *namesake_part(const struct namesake *namesake, size_t depth)
{
    return depth < namesake->path.parts.n ? &namesake->path.parts.at[depth] : NULL;
}

/* One step outwards: where sites of a group go different ways, this step tells which. */
static void namesakes_part(struct namesakes *namesakes, const struct sites *sites, size_t depth)
{
    struct arena scratch = {0};
    struct intern branches = {0}, texts = {0};
    size_t n = namesakes->all.n;
    uint32_t *n_branches = arena_array(&scratch, uint32_t, n), *n_alike = arena_array(&scratch, uint32_t, n);
    for (size_t i = 0; i < n; i++) {
        struct namesake *one = &namesakes->all.at[i];
        const struct path_part *part = namesake_part(one, depth);
        struct {
            uint32_t group, nth;
            struct context at;
        } way = {.group = one->group, .nth = part ? part->nth : UINT32_MAX};
        if (part)
            way.at = part->at;
        way.at.parent = TRACE_NONE;
        size_t n_before = branches.n;
        one->branch = intern_put(&branches, &way, sizeof way);
        one->is_first = branches.n > n_before;
        n_branches[one->group] += one->is_first;
    }
    for (size_t i = 0; i < n; i++) {
        struct namesake *one = &namesakes->all.at[i];
        struct path_part *part = namesake_part(one, depth);
        if (!part || n_branches[one->group] == 1)
            continue;
        part->tells = true;
        one->text = intern_text(
            &texts, arena_printf(&scratch, "%u %s", one->group, part_text(sites, &scratch, part, TRACE_NONE)));
        n_alike[one->text] += one->is_first;
    }
    for (size_t i = 0; i < n; i++) {
        struct namesake *one = &namesakes->all.at[i];
        struct path_part *part = namesake_part(one, depth);
        if (part && part->tells)
            part->has_namesake = n_alike[one->text] > 1;
        one->group = one->branch;
    }
    intern_release(&branches);
    intern_release(&texts);
    arena_release(&scratch);
}

/* Those whose text another place has as well, with whole paths. */
static void namesakes_find(struct namesakes *namesakes, struct sites *sites, struct arena *arena,
                           const struct analysis *analysis, const uint32_t *of)
{
    struct intern texts = {0};
    uint32_t *text = arena_array(arena, uint32_t, analysis->n_sites + 1),
             *first = arena_array(arena, uint32_t, analysis->n_sites + 1);
    bool *is_shared = arena_array(arena, bool, analysis->n_sites + 1);
    for (uint32_t i = 0; i < analysis->n_sites; i++) {
        const struct wait_site *site = &analysis->sites[i];
        size_t n_before = texts.n;
        text[i] = intern_text(&texts, arena_printf(arena, "%s %s:%u %s %s %s", site->call, site->file ? site->file : "",
                                                   site->line, site->routine ? site->routine : "", site->path,
                                                   site->through ? site->through : ""));
        if (texts.n > n_before)
            first[text[i]] = of[i];
        is_shared[text[i]] |= first[text[i]] != of[i]; /* not: another kind of waiting at the same place */
    }
    uint32_t *group = arena_array(arena, uint32_t, texts.n + 1), n_groups = 0; /* from 1, by text */
    for (uint32_t i = 0; i < analysis->n_sites; i++) {
        if (!is_shared[text[i]])
            continue;
        if (!group[text[i]])
            group[text[i]] = ++n_groups;
        struct namesake *one = vec_push(&namesakes->all);
        struct wait_site named = {0};
        *one = (struct namesake){.index = i, .group = group[text[i]] - 1};
        name_site(sites, arena, of[i], &named, &one->path, true);
        if (one->path.parts.n > namesakes->n_longest)
            namesakes->n_longest = one->path.parts.n;
    }
    intern_release(&texts);
}

void names_sites(struct sites *sites, struct analysis *analysis, const uint32_t *of)
{
    struct arena scratch = {0};
    struct namesakes namesakes = {0};
    for (uint32_t i = 0; i < analysis->n_sites; i++)
        names_site(sites, &analysis->arena, of[i], &analysis->sites[i]);
    namesakes_find(&namesakes, sites, &scratch, analysis, of);
    for (size_t depth = 0; depth < namesakes.n_longest; depth++)
        namesakes_part(&namesakes, sites, depth);
    for (size_t i = 0; i < namesakes.all.n; i++) {
        struct namesake *one = &namesakes.all.at[i];
        analysis->sites[one->index].path = path_text(sites, &analysis->arena, &one->path);
        vec_release(&one->path.parts);
    }
    vec_release(&namesakes.all);
    arena_release(&scratch);
}

/* If no name is known of the code that calls MPI, the first one outwards says most. */
static const char *nameless_text(const struct sites *sites, struct arena *arena, const struct call_path *path)
{
    const char *text = "", *below = NULL;
    for (size_t i = path->parts.n; i-- > 1;)
        below = path->parts.at[i].name ? path->parts.at[i].name : below;
    if (path->parts.n)
        text = part_text(sites, arena, &path->parts.at[0], TRACE_NONE);
    return below && !path->parts.at[0].name ? arena_printf(arena, "%s, below %s", text, below) : text;
}

const char *names_path_tail(const char *path, unsigned n)
{
    const char *at = path + strlen(path);
    while (at > path) {
        bool is_folders = !strcmp(at, "__init__.py") || !strcmp(at, "__main__.py");
        if (at[-1] == '/' && !is_folders && --n == 0)
            break;
        at--;
    }
    return at;
}

/* Also in which file it is, if that is known. */
static const char *site_text(struct sites *sites, struct arena *arena, uint32_t site, const char **file)
{
    struct wait_site named = {0};
    struct call_path path = {0};
    *file = NULL;
    if (sites_at(sites, site)->region == TRACE_NONE)
        return sites_at(sites, site)->context == TRACE_NONE ? "the end" : "start";
    name_site(sites, arena, site, &named, &path, false);
    const char *text = path.is_nameless ? nameless_text(sites, arena, &path) : "";
    vec_release(&path.parts);
    if (!named.file && *text)
        return arena_printf(arena, "%s in %s", named.call, text);
    if (!named.file && named.routine) {
        uint32_t context = sites_user_context(sites, sites_at(sites, site)->context);
        return arena_printf(arena, "%s in %s", named.call, caller_text(sites, arena, context));
    }
    if (!named.file)
        return named.call;
    *file = named.file;
    return arena_printf(arena, "%s %s:%u", named.call, names_path_tail(named.file, 1), named.line);
}

const char *names_site_text(struct sites *sites, struct arena *arena, uint32_t site)
{
    const char *file;
    return site_text(sites, arena, site, &file);
}

static void names_place(const struct sites *sites, struct arena *arena, uint32_t id, struct step *step)
{
    const struct code_place *place = code_place(sites->code, id);
    step->place = id;
    step->is_loop = place->is_loop;
    step->file = place->file;
    step->line_first = place->line_first;
    step->line_last = place->line_last;
    step->routine = place->routine;
    if (place->file || place->routine)
        return;
    const struct place_host *host = id < sites->hosts.n ? &sites->hosts.at[id] : NULL;
    step->label = arena_printf(arena, "%s %s", place->is_loop ? "loop at" : "code in",
                               module_address(sites, arena, place->module, place->address));
    step->below = host && host->routine ? routine_call(arena, host->routine) : NULL;
    step->is_below_others = host && host->is_one_of_several;
}

static void names_path(struct sites *sites, struct arena *arena, uint32_t id, struct step *step)
{
    const struct context *context = sites_context_at(sites, id);
    const struct trace *trace = sites->trace;
    if (context->region < trace->n_regions) {
        const struct trace_region *region = &trace->regions[context->region];
        step->routine = region->name;
        step->file = region->file;
        step->line_first = region->line_first;
        step->line_last = region->line_last;
    } else {
        const char *text = wrapper_text(sites, arena, id);
        step->routine = context_spot(sites, id).host_routine;
        step->label = text ? text : "unknown region";
    }
    if (context->parent != TRACE_NONE)
        step->caller = steps_put(sites->steps, STEP_COMPUTING, WHAT_PATH, context->parent, TRACE_NONE);
}

static const char *names_gap(struct sites *sites, struct arena *arena, uint32_t pair)
{
    uint32_t from = sites_pair_at(sites, pair)[0], to = sites_pair_at(sites, pair)[1];
    const char *before = names_site_text(sites, arena, from);
    if (sites_at(sites, to)->region == TRACE_NONE)
        return arena_printf(arena, "code after %s", before);
    return arena_printf(arena, "code between %s and %s", before, names_site_text(sites, arena, to));
}

static const char *call_text(struct sites *sites, struct arena *arena, const struct step_key *key)
{
    switch ((enum step_what)key->what) {
    case WHAT_SITE:
        return names_site_text(sites, arena, key->id);
    case WHAT_GAP:
        return names_gap(sites, arena, key->id);
    case WHAT_WAIT:
        return arena_printf(arena, "waiting in %s, for what is not known", names_site_text(sites, arena, key->id));
    case WHAT_PLACE:
    case WHAT_PATH:
    case WHAT_START:
    case WHAT_OFF:
    case WHAT_CLOCK:
        break;
    }
    return NULL;
}

/* The place that a step is, entered by whatever call: its number, and which call that is. */
static uint32_t told_place(struct told *told, const struct step_key *key)
{
    const struct step_key place = {.what = key->what, .id = key->id, .caller = key->caller};
    uint32_t number = intern_put(&told->places, &place, sizeof place);
    if (number == told->entries.n)
        *vec_push(&told->entries) = key->entry;
    return number;
}

void told_begin(struct told *told, struct sites *sites)
{
    *told = (struct told){.sites = sites};
    for (uint32_t i = 0; i < steps_n(sites->steps); i++) {
        const struct step_key *key = steps_key(sites->steps, i);
        if (key->entry == TRACE_NONE)
            continue;
        uint32_t place = told_place(told, key);
        if (told->entries.at[place] != key->entry)
            told->entries.at[place] = TRACE_NONE;
    }
}

/* True where the text says which call led there. */
static bool told_is_entered(struct told *told, const struct step_key *key)
{
    if (key->entry == TRACE_NONE)
        return false;
    uint32_t place = told_place(told, key); /* which may move the entries */
    return told->entries.at[place] == TRACE_NONE;
}

/* A place with lines is what they and its routine say: two instances over lambdas may read the same. */
static const char *id_text(const struct told *told, struct arena *arena, const struct step_key *key)
{
    const struct code_place *place =
        key->what == WHAT_PLACE && told->sites->code ? code_place(told->sites->code, key->id) : NULL;
    if (!place || !place->file || !place->routine)
        return arena_printf(arena, "%u", key->id);
    return arena_printf(arena, "%d %s:%u-%u %s", place->is_loop, place->file, place->line_first, place->line_last,
                        place->routine);
}

uint32_t told_as(struct told *told, uint32_t step)
{
    bool is_new;
    uint64_t *as = map_put(&told->as, step, &is_new);
    if (is_new) {
        struct arena scratch = {0};
        const struct step_key *key = steps_key(told->sites->steps, step);
        const char *file = NULL; /* files of one name are not one */
        const char *text = key->what == WHAT_SITE ? site_text(told->sites, &scratch, key->id, &file)
                                                  : call_text(told->sites, &scratch, key);
        text = text ? arena_printf(&scratch, "%u %s %s", key->state, file ? file : "", text)
                    : arena_printf(&scratch, "%u %u %s %u %u", key->state, key->what, id_text(told, &scratch, key),
                                   key->caller, told_is_entered(told, key) ? key->entry : (uint32_t)TRACE_NONE);
        uint32_t number = intern_text(&told->texts, text);
        if (number == told->first.n)
            *vec_push(&told->first) = step;
        *as = told->first.at[number];
        arena_release(&scratch);
    }
    return (uint32_t)*as;
}

void told_release(struct told *told)
{
    map_release(&told->as);
    intern_release(&told->texts);
    intern_release(&told->places);
    vec_release(&told->first);
    vec_release(&told->entries);
}

static struct step names_step(struct sites *sites, struct arena *arena, uint32_t id)
{
    struct step_key key = *steps_key(sites->steps, id);
    struct step step = {.state = (enum step_state)key.state,
                        .label = call_text(sites, arena, &key),
                        .place = CODE_NONE,
                        .caller = TRACE_NONE};
    struct wait_site named = {0};
    switch ((enum step_what)key.what) {
    case WHAT_PLACE:
        names_place(sites, arena, key.id, &step);
        if (key.caller != TRACE_NONE)
            step.caller = steps_put(sites->steps, STEP_COMPUTING, WHAT_PLACE, key.caller, TRACE_NONE);
        break;
    case WHAT_PATH:
        names_path(sites, arena, key.id, &step);
        break;
    case WHAT_SITE:
        names_site(sites, arena, key.id, &named);
        step.call = named.call;
        step.routine = named.file ? named.call : NULL; /* without a line, the label says more */
        step.is_call = step.routine != NULL;
        step.file = named.file;
        step.line_first = step.line_last = named.line;
        break;
    case WHAT_GAP:
    case WHAT_WAIT:
        break;
    case WHAT_START:
        step.is_start = true;
        step.label = key.id ? "the process, before its thread that calls MPI began"
                            : "start-up of the process, before its first MPI call";
        break;
    case WHAT_OFF:
        step.label = "the time while recording was off";
        break;
    case WHAT_CLOCK:
        step.label = "clock error";
        break;
    }
    return step;
}

/* Each once, in order of appearance: labels ask which files share the end of their path. */
static void add_file(struct intern *seen, struct analysis *analysis, const char *file)
{
    if (file && intern_put(seen, file, strlen(file) + 1) == analysis->n_files)
        analysis->files[analysis->n_files++] = file;
}

/* The call that led to a step: "MODULE FILE:LINE" (sites.h). */
static void names_entry(const struct sites *sites, struct arena *arena, uint32_t entry, struct step *step)
{
    char *file = strchr(arena_strdup(arena, sites->entries.items[entry].bytes), ' ') + 1, *colon = strrchr(file, ':');
    *colon = '\0';
    step->call_file = file;
    step->call_line = (uint32_t)strtoul(colon + 1, NULL, 10);
}

/* Naming a step may make its caller's step, so the end moves. */
void names_steps(struct sites *sites, struct analysis *analysis)
{
    VEC(struct step) named = {0};
    struct told told;
    struct intern seen = {0};
    told_begin(&told, sites);
    while (named.n < steps_n(sites->steps)) {
        uint32_t id = (uint32_t)named.n;
        struct step step = names_step(sites, &analysis->arena, id);
        step.told_as = told_as(&told, id);
        if (told_is_entered(&told, steps_key(sites->steps, id)))
            names_entry(sites, &analysis->arena, steps_key(sites->steps, id)->entry, &step);
        *vec_push(&named) = step;
    }
    analysis->n_steps = (uint32_t)named.n;
    analysis->steps = arena_copy(&analysis->arena, named.at, named.n * sizeof *named.at);
    analysis->files = arena_array(&analysis->arena, const char *, 2 * analysis->n_steps + analysis->n_sites + 1);
    for (uint32_t i = 0; i < analysis->n_steps; i++) {
        add_file(&seen, analysis, analysis->steps[i].file);
        add_file(&seen, analysis, analysis->steps[i].call_file);
    }
    for (uint32_t i = 0; i < analysis->n_sites; i++)
        add_file(&seen, analysis, analysis->sites[i].file);
    intern_release(&seen);
    told_release(&told);
    vec_release(&named);
}
