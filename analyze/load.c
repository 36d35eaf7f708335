/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/load.h"
#include "analyze/archive/run.h"
#include "analyze/pipeline.h"
#include "analyze/trace/part.h"
#include "wrap/base/err.h"
#include <stdlib.h>
#include <string.h>

struct code *load_code(const struct trace *trace)
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

int load_trace(struct loaded *loaded, const char *path)
{
    *loaded = (struct loaded){0};
    char *anchor = run_find_archive(path);
    if (anchor)
        loaded->trace = trace_open(anchor);
    free(anchor);
    return loaded->trace ? 0 : -1;
}

static int analyse(struct loaded *loaded, bool with_timeline)
{
    if (loaded->trace->n_modules)
        loaded->code = load_code(loaded->trace);
    loaded->timeline.n_most = timeline_budget(loaded->trace->n_ranks);
    loaded->analysis = analysis_run(loaded->trace, loaded->code, with_timeline ? &loaded->timeline : NULL);
    return loaded->analysis ? 0 : -1;
}

int load_analysis(struct loaded *loaded, const char *path, bool with_timeline)
{
    return load_trace(loaded, path) ? -1 : analyse(loaded, with_timeline);
}

int load_analysis_part(struct loaded *loaded, const char *path, uint64_t from_ns, uint64_t until_ns)
{
    if (load_trace(loaded, path))
        return -1;
    if (from_ns >= loaded->trace->end_ns)
        return error("%s: the run ends before %.3f s", loaded->trace->path, (double)from_ns / 1e9);
    return trace_set_part(loaded->trace, from_ns, until_ns) ? -1 : analyse(loaded, false);
}

void load_release(struct loaded *loaded)
{
    timeline_release(&loaded->timeline);
    if (loaded->analysis)
        analysis_free(loaded->analysis);
    if (loaded->code)
        code_close(loaded->code);
    if (loaded->trace)
        trace_close(loaded->trace);
    *loaded = (struct loaded){0};
}

static bool lacks_records(const struct trace *trace)
{
    if (trace->is_damaged)
        warn("%s: the archive is damaged or cut off; the notes of the report say what is missing", trace->path);
    else if (trace->lacks_records)
        warn("%s: records of some ranks are missing; the notes of the report say which", trace->path);
    return trace->is_damaged || trace->lacks_records;
}

static bool lacks_program(const struct loaded *loaded)
{
    const struct trace *trace = loaded->trace;
    for (uint32_t i = 0; loaded->code && i < trace->n_modules; i++) {
        const char *path = trace->modules[i].path, *slash = strrchr(path, '/');
        if (!trace->program || strcmp(slash ? slash + 1 : path, trace->program) != 0)
            continue;
        enum code_state state = code_module_state(loaded->code, i);
        if (state == CODE_MISSING || state == CODE_CHANGED) {
            warn("%s %s since it was recorded: its loops cannot be named; bring back the recorded build", path,
                 state == CODE_MISSING ? "has gone" : "has changed");
            return true;
        }
    }
    return false;
}

bool load_is_degraded(const struct loaded *loaded)
{
    bool has_gaps = lacks_records(loaded->trace);
    return lacks_program(loaded) || has_gaps;
}
