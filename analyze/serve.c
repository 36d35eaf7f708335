/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/serve.h"
#include "analyze/engine/call.h"
#include "analyze/engine/launched.h"
#include "analyze/pipeline.h"
#include "analyze/readings/first.h"
#include "analyze/readings/second.h"
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
    if (!trace) /* it has not returned */
        return;
    trace->meter.is_silent = true;
    struct timeline timeline = {.n_most = task.n_most_of_timeline};
    struct passes passes = {.wanted = {.threshold = task.threshold,
                                       .facts = task.wants_facts,
                                       .timeline = task.n_most_of_timeline ? &timeline : NULL}};
    if (first_reading(&passes, trace, trace->n_modules ? load_code(trace) : NULL, engine))
        engine_give_up(engine);
    second_reading(&passes, engine);
}

_Noreturn void serve_analyses(void)
{
    launcher_leave_core();
    call_serve(launched_engine(), take_part);
}
