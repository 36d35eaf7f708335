/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/serve.h"
#include "analyze/engine/call.h"
#include "analyze/engine/launched.h"
#include "analyze/pipeline.h"
#include "analyze/task.h"
#include "wrap/launcher.h"
#include <string.h>
#include <unistd.h>

static void take_part(struct engine *engine, struct parcel work)
{
    struct task task;
    char refusal[PATH_MAX + 256];
    if (work.n_bytes != sizeof task)
        _exit(1);
    memcpy(&task, work.at, sizeof task);
    struct trace *trace = task_open(&task, refusal, sizeof refusal);
    call_answer(engine, trace ? NULL : refusal);
    trace->meter.is_silent = true;
    analysis_take_part(trace, trace->n_modules ? load_code(trace) : NULL, task.threshold, task.wants_facts, engine);
}

_Noreturn void serve_analyses(void)
{
    launcher_leave_core();
    call_serve(launched_engine(), take_part);
}
