/* SPDX-License-Identifier: BSD-3-Clause */
/* What every trace has, wherever its events come from. */
#include "analyze/trace/trace.h"
#include "analyze/trace/source.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int trace_rewind(struct trace *trace)
{
    return trace->source->rewind(trace);
}

const struct event *trace_next(struct trace *trace)
{
    return trace->source->next(trace);
}

void trace_close(struct trace *trace)
{
    if (trace->source)
        trace->source->close(trace);
    struct arena arena = trace->arena;
    arena_release(&arena);
    free(trace);
}

/* Notes are few: the array grows by one, old ones stay in the arena. */
void trace_note(struct trace *trace, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (uint32_t i = 0; i < trace->n_notes; i++)
        if (!strcmp(trace->notes[i], text))
            return;
    const char **notes = arena_array(&trace->arena, const char *, trace->n_notes + 1);
    if (trace->n_notes)
        memcpy(notes, trace->notes, trace->n_notes * sizeof *notes);
    notes[trace->n_notes++] = arena_strdup(&trace->arena, text);
    trace->notes = notes;
}
