/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/result/names.h"
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

const char *cause_kind_name(enum cause_kind kind)
{
    static const char *const names[KIND_N] = {"more-work", "slower", "descheduled", "blocked", "transfer", "more-time"};
    return kind < KIND_N ? names[kind] : "unknown";
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

enum { PATH_MOST = 64, INLINED_MOST = 8 };
struct call_path {
    const char *callers[PATH_MOST];
    int n;
};

static void path_add(struct arena *arena, struct call_path *path, const char *routine, uint32_t line)
{
    if (routine && path->n < PATH_MOST)
        path->callers[path->n++] = line ? arena_printf(arena, "%s:%u", routine, line) : routine;
}

/* "solve() <- step():71 <- main():85"; of a long path the middle is left out: its two ends tell most. */
static const char *context_path(const struct sites *sites, struct arena *arena, uint32_t context)
{
    enum { INNER_MOST = 8, OUTER_MOST = 3 };
    struct call_path path = {.n = 0};
    while (path.n < PATH_MOST && (context = sites_user_context(sites, context)) != TRACE_NONE) {
        /* The routines of one frame, those inlined into it first: the innermost and the outermost with the line of
         * their call, since a routine may make several. The line of the site itself stands before its path. */
        const struct context *at = sites_context_at(sites, context);
        struct code_spot spot = context_spot(sites, context);
        struct code_routine inlined[INLINED_MOST];
        bool is_site = !path.n, is_known = at->module != TRACE_NONE && spot.host_routine;
        uint32_t n = is_known ? code_routines_at(sites->code, at->module,
                                                 trace_code_address(at->address, at->is_return), inlined, INLINED_MOST)
                              : 0;
        for (uint32_t i = 0; i + 1 < n; i++)
            path_add(arena, &path, inlined[i].name ? routine_call(arena, inlined[i].name) : NULL,
                     i || is_site ? 0 : spot.line);
        bool is_inlined = is_site ? path.n > 0 : n > 1;
        uint32_t line = spot.call_file ? spot.call_line : spot.file ? spot.line : 0;
        path_add(arena, &path, spot.host_routine ? caller_text(sites, arena, context) : NULL,
                 is_site && !is_inlined ? 0 : line);
        const char *routine = context_spot(sites, context).host_routine;
        if (routine && (!strcmp(routine, "main") || !strcmp(routine, "MAIN__")))
            break;
        context = sites_context_at(sites, context)->parent;
    }
    const char *text = path.n ? path.callers[0] : "";
    for (int i = 1; i < path.n; i++)
        if (path.n <= INNER_MOST + OUTER_MOST || i < INNER_MOST || i >= path.n - OUTER_MOST)
            text = arena_printf(arena, "%s <- %s", text, path.callers[i]);
        else if (i == INNER_MOST)
            text = arena_printf(arena, "%s <- (%d more)", text, path.n - INNER_MOST - OUTER_MOST);
    return text;
}

const char *names_nameless(struct code *code, const struct trace *trace, struct arena *arena,
                           const struct trace_frame *at, bool with_library)
{
    const char *path = at->module < trace->n_modules ? trace->modules[at->module].path : "",
               *slash = strrchr(path, '/');
    const char *library = slash ? slash + 1 : path;
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

/* "BI_Srecv() <- Cdgerv2d() <- routine 9+0x1c8 of app <- routine 7+0x4a": where the program itself has no names to
 * offer; a library is named once for all routines that follow each other. */
static const char *context_trail(const struct sites *sites, struct arena *arena, uint32_t context)
{
    enum { FRAMES_MAX = 6 };
    const char *trail = "";
    uint32_t module = TRACE_NONE;
    for (int n = 0; n < FRAMES_MAX && context != TRACE_NONE; n++) {
        const struct context *at = sites_context_at(sites, context);
        const char *name = caller_text(sites, arena, context);
        if (!name && at->module < sites->trace->n_modules)
            name = names_nameless(sites->code, sites->trace, arena,
                                  &(struct trace_frame){.module = at->module, .address = at->address},
                                  at->module != module);
        module = at->module;
        if (name)
            trail = arena_printf(arena, "%s%s%s", trail, *trail ? " <- " : "", name);
        context = at->parent;
    }
    return trail;
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

/* An MPI call that was inlined from a header of the system (a language binding) stands where that is called. */
static bool is_users(const char *file)
{
    return strncmp(file, "/usr/include/", 13) && strncmp(file, "/usr/lib/", 9);
}

/* The call is on its own line, also when its routine was inlined into another. */
void names_site(struct sites *sites, struct arena *arena, uint32_t site, struct wait_site *out)
{
    const struct trace *trace = sites->trace;
    const struct site *at = sites_at(sites, site);
    out->call = at->region < trace->n_regions ? trace->regions[at->region].name : "MPI";
    out->frame = TRACE_NONE;
    out->path = "";
    out->through = NULL;
    uint32_t context = sites_user_context(sites, at->context);
    while (context != TRACE_NONE && sites_is_wrapper(sites, context)) {
        out->through = wrapper_text(sites, arena, context);
        context = sites_user_context(sites, sites_context_at(sites, context)->parent);
    }
    struct code_spot spot = {0};
    if (context != TRACE_NONE)
        spot = context_spot(sites, context);
    if (!spot.file && !spot.routine && sites->code) {
        out->path = context_trail(sites, arena, context == TRACE_NONE ? at->context : context);
        return;
    }
    if (context == TRACE_NONE)
        return;
    bool is_own = spot.file && spot.routine && (is_users(spot.file) || !spot.call_file);
    out->file = is_own ? spot.file : spot.call_file;
    out->line = is_own ? spot.line : spot.call_line;
    out->routine = is_own || !spot.host_routine ? spot.routine : spot.host_routine;
    out->path = context_path(sites, arena, context);
}

const char *names_site_text(struct sites *sites, struct arena *arena, uint32_t site)
{
    struct wait_site named = {0};
    if (sites_at(sites, site)->region == TRACE_NONE)
        return sites_at(sites, site)->context == TRACE_NONE ? "the end" : "start";
    names_site(sites, arena, site, &named);
    if (!named.file && !named.routine && *named.path)
        return arena_printf(arena, "%s in %s", named.call, named.path);
    if (!named.file && named.routine) {
        uint32_t context = sites_user_context(sites, sites_at(sites, site)->context);
        return arena_printf(arena, "%s in %s", named.call, caller_text(sites, arena, context));
    }
    if (!named.file)
        return named.call;
    const char *slash = strrchr(named.file, '/');
    return arena_printf(arena, "%s %s:%u", named.call, slash ? slash + 1 : named.file, named.line);
}

/* ", below VecMDot()" */
static const char *host_text(const struct sites *sites, struct arena *arena, uint32_t place)
{
    const struct place_host *host = place < sites->hosts.n ? &sites->hosts.at[place] : NULL;
    if (!host || !host->routine)
        return "";
    return arena_printf(arena, ", below %s%s", routine_call(arena, host->routine),
                        host->is_one_of_several ? " and others" : "");
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
    if (!place->file && !place->routine)
        step->label =
            arena_printf(arena, "%s %s%s", place->is_loop ? "loop at" : "code in",
                         module_address(sites, arena, place->module, place->address), host_text(sites, arena, id));
}

static void names_path(struct sites *sites, uint32_t id, struct step *step)
{
    const struct context *context = sites_context_at(sites, id);
    if (context->region >= sites->trace->n_regions) {
        step->label = "unknown region";
        return;
    }
    const struct trace_region *region = &sites->trace->regions[context->region];
    step->routine = region->name;
    step->file = region->file;
    step->line_first = region->line_first;
    step->line_last = region->line_last;
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

static struct step names_step(struct sites *sites, struct arena *arena, uint32_t id)
{
    struct step_key key = *steps_key(sites->steps, id);
    struct step step = {.state = (enum step_state)key.state, .place = CODE_NONE, .caller = TRACE_NONE};
    struct wait_site named = {0};
    switch ((enum step_what)key.what) {
    case WHAT_PLACE:
        names_place(sites, arena, key.id, &step);
        if (key.caller != TRACE_NONE)
            step.caller = steps_put(sites->steps, STEP_COMPUTING, WHAT_PLACE, key.caller, TRACE_NONE);
        break;
    case WHAT_PATH:
        names_path(sites, key.id, &step);
        break;
    case WHAT_SITE:
        names_site(sites, arena, key.id, &named);
        step.routine = named.file ? named.call : NULL; /* without a line, the label says more */
        step.is_call = step.routine != NULL;
        step.file = named.file;
        step.line_first = step.line_last = named.line;
        step.label = names_site_text(sites, arena, key.id);
        break;
    case WHAT_GAP:
        step.label = names_gap(sites, arena, key.id);
        break;
    case WHAT_START:
        step.label = "start-up of the process, before its first MPI call";
        break;
    case WHAT_OFF:
        step.label = "the time while recording was off";
        break;
    case WHAT_CLOCK:
        step.label = "clock error";
        break;
    case WHAT_WAIT:
        step.label = arena_printf(arena, "waiting in %s, for what is not known", names_site_text(sites, arena, key.id));
        break;
    }
    return step;
}

/* Naming a step may make its caller's step, so the end moves. */
/* Each once, in order of appearance: labels ask which files share the end of their path. */
static void add_file(struct intern *seen, struct analysis *analysis, const char *file)
{
    if (file && intern_put(seen, file, strlen(file) + 1) == analysis->n_files)
        analysis->files[analysis->n_files++] = file;
}

void names_steps(struct sites *sites, struct analysis *analysis)
{
    VEC(struct step) named = {0};
    struct intern seen = {0};
    while (named.n < steps_n(sites->steps)) {
        struct step step = names_step(sites, &analysis->arena, (uint32_t)named.n);
        *vec_push(&named) = step;
    }
    analysis->n_steps = (uint32_t)named.n;
    analysis->steps = arena_copy(&analysis->arena, named.at, named.n * sizeof *named.at);
    analysis->files = arena_array(&analysis->arena, const char *, analysis->n_steps + analysis->n_sites + 1);
    for (uint32_t i = 0; i < analysis->n_steps; i++)
        add_file(&seen, analysis, analysis->steps[i].file);
    for (uint32_t i = 0; i < analysis->n_sites; i++)
        add_file(&seen, analysis, analysis->sites[i].file);
    intern_release(&seen);
    vec_release(&named);
}
