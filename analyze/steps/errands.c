/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/steps/errands.h"
#include <ctype.h>
#include <string.h>

const char *errand_name(enum errand errand)
{
#define ERRAND_NAME(name, text) [ERRAND_##name] = (text),
    static const char *const names[ERRAND_N] = {ERRAND_LIST(ERRAND_NAME)};
#undef ERRAND_NAME
    return names[errand];
}

static enum code_role role_of(struct code *code, const struct trace_frame *frame)
{
    return frame->module == TRACE_NONE ? CODE_ROLE_NONE : code_module_role(code, frame->module);
}

static const char *routine_of(struct code *code, const struct trace_frame *frame)
{
    return code_routine_name(code, frame->module, trace_code_address(frame->address, frame->is_return));
}

/* mpi4py's methods for buffers begin with a capital letter, those for objects do not. */
static bool passes_objects(struct code *code, const struct trace_frame *frame, const struct trace_frame *caller)
{
    if (role_of(code, frame) != CODE_ROLE_MESSENGER || role_of(code, caller) == CODE_ROLE_MESSENGER)
        return false;
    const char *method = routine_of(code, frame);
    return method && islower((unsigned char)*method);
}

/* The interpreter, whose own frames are not in stacks, waits on a condition for its lock alone. */
static bool waits_for_lock(struct code *code, const struct trace_frame *frame, const struct trace_frame *caller)
{
    bool is_of_script = code_module_is_script(code, caller->module) || role_of(code, caller) == CODE_ROLE_MESSENGER;
    if (!is_of_script || frame->module == TRACE_NONE || code_module_is_script(code, frame->module))
        return false;
    const char *routine = routine_of(code, frame);
    return routine && strstr(routine, "pthread_cond_timedwait");
}

static enum errand errand_of(const struct trace *trace, struct code *code, const struct trace_frame *frame)
{
    enum code_role role = role_of(code, frame);
    if (role == CODE_ROLE_IMPORTS)
        return ERRAND_IMPORT;
    if (role == CODE_ROLE_COLLECTS)
        return ERRAND_COLLECTOR;
    const struct trace_frame *caller = frame->parent < trace->n_frames ? &trace->frames[frame->parent] : NULL;
    if (!caller || caller->module == TRACE_NONE)
        return ERRAND_NONE;
    return passes_objects(code, frame, caller)   ? ERRAND_OBJECTS
           : waits_for_lock(code, frame, caller) ? ERRAND_INTERPRETER_LOCK
                                                 : ERRAND_NONE;
}

static bool is_of_program(struct code *code, const struct trace_frame *frame)
{
    return frame->module != TRACE_NONE && !code_module_is_runtime(code, frame->module) &&
           role_of(code, frame) != CODE_ROLE_INSTALLED && role_of(code, frame) != CODE_ROLE_MADE;
}

uint32_t errand_caller(const struct trace *trace, struct code *code, uint32_t frame)
{
    uint32_t caller = frame;
    if (!code || !code_has_scripts(code))
        return frame;
    trace_walk (trace, at, frame) {
        const struct trace_frame *here = &trace->frames[at];
        if (is_of_program(code, here))
            break;
        enum errand errand = errand_of(trace, code, here);
        if ((errand == ERRAND_IMPORT || errand == ERRAND_OBJECTS) && here->parent != TRACE_NONE)
            caller = here->parent;
    }
    return caller;
}

enum errand errand_between(const struct trace *trace, struct code *code, uint32_t frame, uint32_t caller)
{
    enum errand errand = ERRAND_NONE;
    if (!code || !code_has_scripts(code))
        return errand;
    trace_walk (trace, at, frame) {
        if (at == caller)
            break;
        enum errand here = errand_of(trace, code, &trace->frames[at]);
        errand = here ? here : errand;
    }
    return errand;
}
