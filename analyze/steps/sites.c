/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/sites.h"
#include "analyze/code/script.h"
#include "analyze/constants/constants.h"
#include "analyze/steps/errands.h"
#include "analyze/steps/steps.h"
#include "wrap/base/containers.h"
#include <stdlib.h>
#include <string.h>

enum { STEP_NOWHERE = UINT32_MAX - 1 }; /* asked, nothing known */

static uint32_t *numbers_unknown(uint32_t n)
{
    uint32_t *numbers = NULL;
    size_t cap = 0;
    vec_grow((void **)&numbers, &cap, n + 1, sizeof *numbers);
    memset(numbers, 0xff, (n + 1) * sizeof *numbers);
    return numbers;
}

static bool path_is_threading(const char *path)
{
    static const char *const runtimes[] = {"libgomp", "libomp", "libiomp"};
    const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;
    for (size_t i = 0; name && i < sizeof runtimes / sizeof *runtimes; i++)
        if (!strncmp(name, runtimes[i], strlen(runtimes[i])))
            return true;
    return false;
}

/* The call of a return address is the instruction before it. */
uint32_t sites_frame_place(struct sites *sites, uint32_t at)
{
    const struct trace_frame *frame = &sites->trace->frames[at];
    if (!sites->code || frame->module == TRACE_NONE || code_module_is_runtime(sites->code, frame->module))
        return CODE_NONE;
    return code_place_at(sites->code, frame->module, trace_code_address(frame->address, frame->is_return));
}

/* A loop that calls MPI goes on across the waits: it cannot be what differs between two of them. */
static bool place_spans_waits(const struct sites *sites, uint32_t place)
{
    return place < sites->calls_mpi.n && sites->calls_mpi.at[place];
}

/* By the name in the call; false for calls through pointers. */
static bool frame_calls_mpi(const struct sites *sites, const struct trace_frame *frame)
{
    struct code_callee callee;
    if (frame->module == TRACE_NONE || code_module_is_runtime(sites->code, frame->module) ||
        !code_callee_at(sites->code, frame->module, frame->address, &callee) || !callee.name)
        return false;
    const char *name = callee.name + (callee.name[0] == 'P' || callee.name[0] == 'p');
    return !strncmp(name, "MPI_", 4) || !strncmp(name, "mpi_", 4);
}

/* Packages that make MPI calls are parts of the program. The time of others is for the code that calls them. */
static void find_given(struct sites *sites, const bool *calls_mpi)
{
    const struct trace *trace = sites->trace;
    struct map parts = {0}; /* by the number of a package */
    struct intern packages = {0};
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < trace->n_modules; i++) {
            size_t n = code_module_is_script(sites->code, i) ? script_package_bytes(trace->modules[i].path) : 0;
            uint32_t package = n ? intern_put(&packages, trace->modules[i].path, n) : INTERN_NONE;
            if (n && calls_mpi[i])
                *map_put(&parts, package, NULL) = 1;
            bool is_standard = code_module_is_script(sites->code, i) && script_is_standard(trace->modules[i].path);
            sites->module_is_given[i] = is_standard || (n && !map_get(&parts, package));
        }
    intern_release(&packages);
    map_release(&parts);
}

/* Its time belongs to whoever called it. */
static bool is_for_caller(const struct sites *sites, const struct code_place *place)
{
    return place->is_system || sites_module_is_given(sites, place->module);
}

bool sites_module_is_given(const struct sites *sites, uint32_t module)
{
    return module < sites->trace->n_modules && sites->module_is_given[module];
}

/*
 * Everything that leads to an MPI call. The stack of a call ends in a return address that nothing was called from. A
 * sample's ends in the instruction itself. Only a sample on the way into MPI, before the call is seen to begin, or out
 * of it lies below the same return address, and that in code without a place. A script calls MPI through an extension
 * module, so a stack that ends in a line of it is a sample's.
 */
static void mark_places_that_call_mpi(struct sites *sites)
{
    enum { IS_CALLER = 1, IS_MARKED = 2, CALLS_ELSEWHERE = 4 };
    const struct trace *trace = sites->trace;
    VEC(uint8_t) state = {0};
    VEC(bool) module_calls = {0};
    vec_resize(&state, trace->n_frames);
    vec_resize(&module_calls, trace->n_modules);
    for (uint32_t frame = 0; frame < trace->n_frames; frame++)
        if (trace->frames[frame].parent < trace->n_frames)
            state.at[trace->frames[frame].parent] |=
                IS_CALLER | (sites_frame_place(sites, frame) == CODE_NONE ? CALLS_ELSEWHERE : 0);
    for (uint32_t frame = 0; frame < trace->n_frames; frame++) {
        bool is_leaf = !(state.at[frame] & IS_CALLER);
        bool may_call = is_leaf || (state.at[frame] & CALLS_ELSEWHERE && frame_calls_mpi(sites, &trace->frames[frame]));
        if (!may_call || !trace->frames[frame].is_return ||
            code_module_is_script(sites->code, trace->frames[frame].module))
            continue;
        bool is_called = false;
        trace_walk (trace, at, frame) {
            if (state.at[at] & IS_MARKED)
                break;
            state.at[at] |= IS_MARKED;
            uint32_t place = sites_frame_place(sites, at);
            if (place != CODE_NONE && !is_called && trace->frames[at].module < trace->n_modules)
                module_calls.at[trace->frames[at].module] = true;
            is_called |= place != CODE_NONE;
            for (; place != CODE_NONE && !place_spans_waits(sites, place);
                 place = code_place(sites->code, place)->parent) {
                if (place >= sites->calls_mpi.n)
                    vec_resize(&sites->calls_mpi, place + 1);
                sites->calls_mpi.at[place] = true;
            }
        }
    }
    find_given(sites, module_calls.at);
    vec_release(&module_calls);
    vec_release(&state);
}

void sites_begin(struct sites *sites, const struct trace *trace, struct code *code, struct steps *steps)
{
    *sites = (struct sites){.trace = trace, .code = code, .steps = steps};
    sites->frame_context = numbers_unknown(trace->n_frames);
    sites->frame_step = numbers_unknown(trace->n_frames);
    size_t cap = 0;
    vec_grow((void **)&sites->module_is_threading, &cap, trace->n_modules + 1, sizeof *sites->module_is_threading);
    cap = 0;
    vec_grow((void **)&sites->module_is_given, &cap, trace->n_modules + 1, sizeof *sites->module_is_given);
    for (uint32_t i = 0; i < trace->n_modules; i++)
        sites->module_is_threading[i] = path_is_threading(trace->modules[i].path);
    if (code)
        mark_places_that_call_mpi(sites);
}

bool sites_sample_is_idle(const struct sites *sites, uint32_t frame)
{
    uint32_t module = frame < sites->trace->n_frames ? sites->trace->frames[frame].module : TRACE_NONE;
    return module < sites->trace->n_modules && sites->module_is_threading[module];
}

void sites_release(struct sites *sites)
{
    vec_free(sites->frame_context);
    vec_free(sites->frame_step);
    vec_free(sites->module_is_threading);
    vec_free(sites->module_is_given);
    vec_release(&sites->hosts);
    vec_release(&sites->calls_mpi);
    intern_release(&sites->contexts);
    intern_release(&sites->sites);
    intern_release(&sites->pairs);
    intern_release(&sites->lines);
    map_release(&sites->wrappers);
    intern_release(&sites->entries);
    vec_release(&sites->line_address);
}

/* The place of two numbers among those that were asked for lately. Its id is 0 when others were there last. */
static struct recent *recent_at(struct recent *recent, uint32_t a, uint32_t b)
{
    struct recent *slot = &recent[(a * 0x9e3779b1u ^ b * 0x85ebca6bu) >> 8 & (RECENT - 1)];
    if (slot->a != a || slot->b != b)
        *slot = (struct recent){a, b, 0};
    return slot;
}

uint32_t sites_enter(struct sites *sites, uint32_t parent, uint32_t region)
{
    struct recent *slot = recent_at(sites->recent_contexts, parent, region);
    if (!slot->id_plus_1) {
        struct context context = {.parent = parent, .module = TRACE_NONE, .region = region};
        slot->id_plus_1 = 1 + intern_put(&sites->contexts, &context, sizeof context);
    }
    return slot->id_plus_1 - 1;
}

static bool is_interpreted(const struct sites *sites, uint32_t module)
{
    return sites->code && module != TRACE_NONE && code_module_language(sites->code, module);
}

/* The address that stands for all copies of this call's source line, or for an interpreter. Copies of a routine that
 * was inlined are told apart by where it was called, unless the call stands alone. */
static uint64_t call_address(struct sites *sites, const struct context *call, bool is_alone)
{
    if (!sites->code || call->module == TRACE_NONE)
        return call->address;
    if (is_interpreted(sites, call->module))
        return call->is_return;
    struct code_spot spot = code_spot_at(sites->code, call->module, trace_code_address(call->address, call->is_return));
    if (!spot.file || !spot.line)
        return call->address;
    struct arena scratch = {0};
    const char *line = arena_printf(&scratch, "%u %s:%u", call->module, spot.file, spot.line);
    if (!is_alone)
        line = arena_printf(&scratch, "%s %s:%u %s", line, spot.call_file ? spot.call_file : "", spot.call_line,
                            spot.host_routine ? spot.host_routine : "");
    uint32_t id = intern_text(&sites->lines, line);
    arena_release(&scratch);
    if (id == sites->line_address.n)
        *vec_push(&sites->line_address) = call->address;
    return sites->line_address.at[id];
}

static bool module_is_runtime(const struct sites *sites, uint32_t module)
{
    return module != TRACE_NONE && (!sites->code || code_module_is_runtime(sites->code, module));
}

uint32_t sites_user_context(const struct sites *sites, uint32_t context)
{
    while (context != TRACE_NONE && module_is_runtime(sites, sites_context_at(sites, context)->module))
        context = sites_context_at(sites, context)->parent;
    return context;
}

static uint32_t context_of_frame(struct sites *sites, const struct trace_frame *frame)
{
    uint32_t parent = frame->parent == TRACE_NONE ? TRACE_NONE : sites->frame_context[frame->parent];
    if (module_is_runtime(sites, frame->module) && sites_user_context(sites, parent) != TRACE_NONE)
        return parent;
    if (parent != TRACE_NONE && is_interpreted(sites, frame->module) &&
        sites_context_at(sites, parent)->module == frame->module)
        return parent;
    struct context context = {.parent = parent,
                              .module = frame->module,
                              .address = frame->address,
                              .region = frame->module == TRACE_NONE ? frame->region : TRACE_NONE,
                              .is_return = frame->is_return};
    context.address = call_address(sites, &context, false);
    return intern_put(&sites->contexts, &context, sizeof context);
}

uint32_t sites_context(struct sites *sites, uint32_t frame)
{
    const struct trace *trace = sites->trace;
    if (frame >= trace->n_frames)
        return TRACE_NONE;
    VEC(uint32_t) open = {0};
    trace_walk (trace, at, frame) {
        if (sites->frame_context[at] != TRACE_NONE)
            break;
        *vec_push(&open) = at;
    }
    while (open.n) {
        uint32_t at = open.at[--open.n];
        sites->frame_context[at] = context_of_frame(sites, &trace->frames[at]);
    }
    vec_release(&open);
    return sites->frame_context[frame];
}

static uint32_t recent_put(struct recent *recent, struct intern *all, uint32_t a, uint32_t b)
{
    struct recent *slot = recent_at(recent, a, b);
    const uint32_t both[2] = {a, b};
    if (!slot->id_plus_1)
        slot->id_plus_1 = 1 + intern_put(all, both, sizeof both);
    return slot->id_plus_1 - 1;
}

uint32_t sites_put(struct sites *sites, uint32_t context, uint32_t region)
{
    return recent_put(sites->recent_sites, &sites->sites, context, region);
}

const struct context *sites_context_at(const struct sites *sites, uint32_t context)
{
    return sites->contexts.items[context].bytes;
}

const struct site *sites_at(const struct sites *sites, uint32_t site)
{
    return sites->sites.items[site].bytes;
}

bool sites_step_is_spinning(const struct sites *sites, uint32_t step)
{
    const struct step_key *key = steps_key(sites->steps, step);
    if (key->what == WHAT_PLACE && step_state_is_code((enum step_state)key->state) && sites->code)
        return code_place(sites->code, key->id)->is_spinning;
    if (key->what != WHAT_SITE)
        return false;
    uint32_t region = sites_at(sites, key->id)->region;
    return region != TRACE_NONE && sites->trace->regions[region].call == WW_ID_Win_sync;
}

bool sites_step_is_open(const struct sites *sites, uint32_t step)
{
    return steps_key(sites->steps, step)->what == WHAT_WAIT || sites_step_is_spinning(sites, step);
}

bool sites_is_start(const struct sites *sites, uint32_t site)
{
    return sites_at(sites, site)->region == TRACE_NONE;
}

uint32_t sites_innermost(struct sites *sites, uint32_t site)
{
    enum { MOST = 8 }; /* of wrappers in wrappers */
    struct site at = *sites_at(sites, site);
    uint32_t frames[MOST], n = 0, alone = TRACE_NONE;
    for (uint32_t frame = at.context; frame != TRACE_NONE && n < MOST;) {
        frames[n++] = frame;
        uint32_t user = sites_user_context(sites, frame);
        bool is_wrapped = user != TRACE_NONE && sites_is_wrapper(sites, user);
        frame = is_wrapped ? sites_context_at(sites, frame)->parent : TRACE_NONE;
    }
    while (n > 0) {
        struct context context = *sites_context_at(sites, frames[--n]);
        context.parent = alone;
        context.address = call_address(sites, &context, true);
        alone = intern_put(&sites->contexts, &context, sizeof context);
    }
    return sites_put(sites, alone, at.region);
}

uint32_t sites_pair(struct sites *sites, uint32_t from, uint32_t to)
{
    return recent_put(sites->recent_pairs, &sites->pairs, from, to);
}

void sites_cut(struct sites *sites, uint32_t n_contexts, uint32_t n_sites, uint32_t n_pairs, uint32_t n_steps)
{
    for (uint32_t frame = 0; frame < sites->trace->n_frames; frame++)
        if (sites->frame_step[frame] >= n_steps && sites->frame_step[frame] != STEP_NOWHERE)
            sites->frame_step[frame] = TRACE_NONE;
    intern_cut(&sites->contexts, n_contexts);
    intern_cut(&sites->sites, n_sites);
    intern_cut(&sites->pairs, n_pairs);
    memset(sites->recent_contexts, 0, sizeof sites->recent_contexts);
    memset(sites->recent_sites, 0, sizeof sites->recent_sites);
    memset(sites->recent_pairs, 0, sizeof sites->recent_pairs);
}

const uint32_t *sites_pair_at(const struct sites *sites, uint32_t pair)
{
    return sites->pairs.items[pair].bytes;
}

struct found_place {
    uint32_t place, frame; /* where the search may go on outwards */
    bool is_loop;          /* and between two waits */
};

/* A call from `frame` belongs to its author: a header's loop is a loop of theirs, on the line of the call.
 */
static struct found_place frame_find_call(const struct sites *sites, uint32_t frame, bool is_loop)
{
    const struct trace_frame *at = &sites->trace->frames[frame];
    uint32_t place =
        code_place_of_call(sites->code, at->module, trace_code_address(at->address, at->is_return), is_loop);
    return (struct found_place){.place = place, .frame = frame, .is_loop = is_loop};
}

/* A call from a loop or routine that goes on across the waits is a place of its own: what is around it explains
 * nothing. */
static struct found_place narrow_to_call(const struct sites *sites, struct found_place found)
{
    if (found.place == CODE_NONE || !place_spans_waits(sites, found.place) ||
        !sites->trace->frames[found.frame].is_return)
        return found;
    struct found_place call = frame_find_call(sites, found.frame, false);
    return call.place != CODE_NONE ? call : found;
}

/*
 * From `frame` outwards: the first loop that lies between two waits, else the first place of user code. Code in system
 * headers belongs to its caller: to the loop around the call, else, if it is a loop, to the call. So does what a
 * library does that is called from between the loops.
 */
static struct found_place frames_find_loop(struct sites *sites, uint32_t frame)
{
    struct found_place first = {.place = CODE_NONE, .frame = TRACE_NONE}, call = first;
    bool is_first_given = false, is_in_header_loop = false;
    trace_walk (sites->trace, at, errand_caller(sites->trace, sites->code, frame)) {
        uint32_t id = sites_frame_place(sites, at);
        if (id == CODE_NONE)
            continue;
        const struct code_place *place = code_place(sites->code, id);
        struct found_place here = {
            .place = id, .frame = at, .is_loop = place->is_loop && !place_spans_waits(sites, id)};
        bool is_given = is_for_caller(sites, place);
        if (here.is_loop && !is_given)
            return here;
        is_in_header_loop |= here.is_loop;
        if (is_in_header_loop && !is_given && call.place == CODE_NONE)
            call = frame_find_call(sites, at, true);
        if (first.place == CODE_NONE || (is_first_given && !is_given)) {
            first = here;
            is_first_given = is_given;
        }
    }
    return call.place != CODE_NONE ? call : narrow_to_call(sites, first);
}

static const char *routine_around(struct sites *sites, uint32_t frame)
{
    trace_walk (sites->trace, at, sites->trace->frames[frame].parent) {
        uint32_t place = sites_frame_place(sites, at);
        const char *routine = place == CODE_NONE ? NULL : code_place(sites->code, place)->routine;
        if (routine)
            return routine;
    }
    return NULL;
}

/*
 * The call, or the inlined call, by which the routine that waits has led here: a library's loop that is called before
 * one barrier and before the next is two, of which one may be uneven. TRACE_NONE in that routine's own code.
 */
static uint32_t sample_entry(struct sites *sites, uint32_t frame)
{
    trace_walk (sites->trace, at, frame) {
        const struct trace_frame *from = &sites->trace->frames[at];
        uint32_t place = sites_frame_place(sites, at);
        if (place == CODE_NONE)
            continue;
        while (code_place(sites->code, place)->parent != CODE_NONE)
            place = code_place(sites->code, place)->parent;
        if (!place_spans_waits(sites, place)) /* the routine */
            continue;
        struct code_spot spot =
            code_spot_at(sites->code, from->module, trace_code_address(from->address, from->is_return));
        bool is_own = !spot.routine || !spot.host_routine || !strcmp(spot.routine, spot.host_routine);
        if (!spot.call_file || (!from->is_return && is_own))
            break;
        struct arena scratch = {0};
        uint32_t entry = intern_text(&sites->entries,
                                     arena_printf(&scratch, "%u %s:%u", from->module, spot.call_file, spot.call_line));
        arena_release(&scratch);
        return entry;
    }
    return TRACE_NONE;
}

void sites_note_host(struct sites *sites, uint32_t id, uint32_t frame)
{
    const struct code_place *place = code_place(sites->code, id);
    const char *routine = place->routine || place->file ? NULL : routine_around(sites, frame);
    if (!routine)
        return;
    if (id >= sites->hosts.n)
        vec_resize(&sites->hosts, (size_t)id + 1);
    struct place_host *host = &sites->hosts.at[id];
    host->is_one_of_several |= host->routine && strcmp(host->routine, routine);
    host->routine = host->routine ? host->routine : routine;
}

/* Code made at run time has no frame information: by chance its callers are known, or not. */
static bool is_by_chance(const struct sites *sites, uint32_t from, uint32_t caller)
{
    trace_walk (sites->trace, at, from) {
        if (at == caller)
            break;
        if (sites->trace->frames[at].module == TRACE_NONE)
            return true;
    }
    return false;
}

static uint32_t sample_step_find(struct sites *sites, uint32_t frame)
{
    struct found_place inner = frames_find_loop(sites, frame);
    if (inner.place == CODE_NONE) {
        if (sites->trace->frames[frame].module != TRACE_NONE)
            return STEP_NOWHERE;
        return steps_put(sites->steps, STEP_COMPUTING, WHAT_PATH, sites_context(sites, frame), TRACE_NONE);
    }
    sites_note_host(sites, inner.place, inner.frame);
    uint32_t outwards = sites->trace->frames[inner.frame].parent;
    struct found_place caller = frames_find_loop(sites, outwards);
    bool has_caller = caller.is_loop && !is_by_chance(sites, outwards, caller.frame);
    return steps_put_entered(sites->steps, inner.place, has_caller ? caller.place : TRACE_NONE,
                             sample_entry(sites, inner.frame));
}

uint32_t sites_sample_step(struct sites *sites, uint32_t frame)
{
    if (frame >= sites->trace->n_frames)
        return TRACE_NONE;
    uint32_t *step = &sites->frame_step[frame];
    if (*step == TRACE_NONE)
        *step = sample_step_find(sites, frame);
    return *step == STEP_NOWHERE ? TRACE_NONE : *step;
}

bool sites_frame_is_generated(struct sites *sites, uint32_t frame)
{
    trace_walk (sites->trace, at, frame) {
        if (sites->trace->frames[at].module == TRACE_NONE)
            return true;
        if (sites_frame_place(sites, at) != CODE_NONE)
            return false;
    }
    return false;
}

uint32_t sites_sample_frame(struct sites *sites, uint32_t frame)
{
    return frames_find_loop(sites, frame).frame;
}

bool sites_place_calls_mpi(const struct sites *sites, uint32_t place)
{
    return place_spans_waits(sites, place);
}

/* The place in the code of a context's call; NULL = unknown. */
static const struct code_place *call_place(const struct sites *sites, uint32_t context)
{
    const struct context *at = sites_context_at(sites, context);
    uint32_t place = at->module == TRACE_NONE || !sites->code
                         ? CODE_NONE
                         : code_place_at(sites->code, at->module, trace_code_address(at->address, at->is_return));
    return place == CODE_NONE ? NULL : code_place(sites->code, place);
}

static uint64_t routine_key(const struct code_place *place)
{
    return (uint64_t)place->module << 48 ^ place->routine_address;
}

bool sites_is_named_after(const char *routine, const char *mpi)
{
    const char *word = strncmp(mpi, "MPI_", 4) ? mpi : mpi + 4;
    return strcasestr(routine, word) != NULL;
}

/* Facts about a routine that calls MPI directly. */
struct wrapping {
    uint64_t routine; /* routine_key */
    const char *name; /* NULL in stripped code */
    uint32_t region;  /* of its only MPI call ... */
    uint64_t address; /* ... and where that returns to */
    struct map callers;
    uint32_t n_callers;
    bool is_none;
};

static void wrapping_add(struct sites *sites, struct wrapping *wrapping, const struct code_place *place,
                         uint32_t context, uint32_t region)
{
    const struct context *at = sites_context_at(sites, context);
    uint32_t caller = sites_user_context(sites, at->parent);
    if (!wrapping->address) {
        wrapping->region = region;
        wrapping->address = at->address;
    }
    wrapping->is_none |=
        place->is_loop || region != wrapping->region || at->address != wrapping->address || caller == TRACE_NONE;
    if (wrapping->is_none)
        return;
    const struct context *from = sites_context_at(sites, caller);
    bool is_new;
    map_put(&wrapping->callers, (uint64_t)from->module << 48 ^ from->address, &is_new);
    wrapping->n_callers += is_new;
}

void sites_find_wrappers(struct sites *sites)
{
    struct map index = {0}; /* routine -> 1 + index */
    VEC(struct wrapping) found = {0};
    for (uint32_t site = 0; sites->code && site < sites->sites.n; site++) {
        const struct site *at = sites_at(sites, site);
        uint32_t context = at->context == TRACE_NONE ? TRACE_NONE : sites_user_context(sites, at->context);
        const struct code_place *place =
            context == TRACE_NONE || at->region == TRACE_NONE ? NULL : call_place(sites, context);
        if (!place || !place->routine_address)
            continue;
        const char *name = place->host_routine ? place->host_routine : place->routine;
        uint64_t *slot = map_put(&index, routine_key(place), NULL);
        if (!*slot || !found.at) {
            *vec_push(&found) = (struct wrapping){.routine = routine_key(place), .name = name};
            *slot = found.n;
        }
        wrapping_add(sites, &found.at[*slot - 1], place, context, at->region);
    }
    for (size_t i = 0; i < found.n; i++) {
        struct wrapping *wrapping = &found.at[i];
        bool is_named =
            wrapping->name && sites_is_named_after(wrapping->name, sites->trace->regions[wrapping->region].name);
        if (!wrapping->is_none && wrapping->n_callers > (is_named ? 1 : WRAPPER_CALLERS - 1))
            *map_put(&sites->wrappers, wrapping->routine, NULL) = 1;
        map_release(&wrapping->callers);
    }
    vec_release(&found);
    map_release(&index);
}

bool sites_is_wrapper(const struct sites *sites, uint32_t context)
{
    const struct code_place *place = call_place(sites, context);
    return place && map_get(&sites->wrappers, routine_key(place));
}
