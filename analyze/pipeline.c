/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/pipeline.h"
#include "analyze/archive/run.h"
#include "wrap/base/err.h"
#include <stdlib.h>
#include <string.h>

struct code *pipeline_code(const struct trace *trace)
{
    struct code *code = code_open();
    if (trace->code_dir)
        code_use_kept(code, trace->code_dir);
    for (uint32_t i = 0; i < trace->n_modules; i++) {
        const struct trace_module *module = &trace->modules[i];
        const uint8_t *build_id = module->build_id_bytes ? module->build_id : NULL;
        if (code_add_module(code, module->path, build_id, module->build_id_bytes) != i)
            bug("module %u of the trace has another number in the code model", i);
    }
    return code;
}

int pipeline_run(struct pipeline *pipeline, const char *path)
{
    *pipeline = (struct pipeline){0};
    char *anchor = run_find_archive(path);
    if (anchor)
        pipeline->trace = trace_open(anchor);
    if (pipeline->trace && pipeline->trace->n_modules)
        pipeline->code = pipeline_code(pipeline->trace);
    if (pipeline->trace)
        pipeline->analysis = analysis_run(pipeline->trace, pipeline->code);
    free(anchor);
    return pipeline->analysis ? 0 : -1;
}

void pipeline_release(struct pipeline *pipeline)
{
    if (pipeline->analysis)
        analysis_free(pipeline->analysis);
    if (pipeline->code)
        code_close(pipeline->code);
    if (pipeline->trace)
        trace_close(pipeline->trace);
    *pipeline = (struct pipeline){0};
}

static bool lacks_records(const struct trace *trace)
{
    if (trace->is_damaged)
        warn("%s: the archive is damaged or cut off; the notes of the report say what is missing", trace->path);
    else if (trace->lacks_records)
        warn("%s: records of some ranks are missing; the notes of the report say which", trace->path);
    return trace->is_damaged || trace->lacks_records;
}

static bool lacks_program(const struct pipeline *pipeline)
{
    const struct trace *trace = pipeline->trace;
    for (uint32_t i = 0; pipeline->code && i < trace->n_modules; i++) {
        const char *path = trace->modules[i].path, *slash = strrchr(path, '/');
        if (!trace->program || strcmp(slash ? slash + 1 : path, trace->program) != 0)
            continue;
        enum code_state state = code_module_state(pipeline->code, i);
        if (state == CODE_MISSING || state == CODE_CHANGED) {
            warn("%s %s since it was recorded: its loops cannot be named; bring back the recorded build", path,
                 state == CODE_MISSING ? "has gone" : "has changed");
            return true;
        }
    }
    return false;
}

bool pipeline_is_degraded(const struct pipeline *pipeline)
{
    bool has_gaps = lacks_records(pipeline->trace);
    return lacks_program(pipeline) || has_gaps;
}
