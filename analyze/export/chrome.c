/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run for Perfetto and chrome://tracing: JSON of trace events, one a line, in the order of time.
 *
 * A rank is a process with two tracks a thread. On the first, what it did: code (by the cause that acts in it, where
 * one does), waits, transfer, off the CPU. An arrow leads from what released a wait to its end. On the second its
 * calls. One more process has a counter a cause: how many ranks are in it at a time.
 *
 * States come from the timeline, which is bounded. Calls from the events, which are read once more. Streams are merged
 * by time, so that nothing but the timeline and the open calls is held.
 */
#include "analyze/export/export.h"
#include "analyze/out/json.h"
#include "analyze/words/label.h"
#include "wrap/base/err.h"
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

/* Counters: so many values over the run, of so many causes. */
enum { BINS = 1000, CAUSES_COUNTED = 32 };

/* Facts that a call said of itself while it was open. */
struct open_calls {
    uint32_t depth;
    uint64_t bytes;
};

struct chrome {
    FILE *out;
    const struct analysis *analysis;
    const struct timeline *timeline;
    struct arena arena;
    struct label_book book;
    const char **kind_names, **site_names; /* as JSON, by kind and site; made when first asked for */
    struct heap heap;                      /* of streams, see below */
    size_t *cell, *part;                   /* by row: the next one */
    struct open_calls *calls;              /* by location */
    float *acting;                         /* [bin * n_causes + cause]: ranks in it, on average */
    uint32_t n_causes, bin;
    uint64_t n_flows;
    bool has_events;
};

/*
 * Streams of the heap, by number: by row where a cell begins, its arrow, where it ends; then the counters. A row has
 * one of them in the heap at a time, so that an arrow's ends come behind the beginnings of the cells that they lie in.
 */
enum stream { STREAM_BEGIN, STREAM_ARROW, STREAM_END, STREAM_COUNTERS };

static void push_stream(struct chrome *chrome, enum stream stream, uint32_t row, uint64_t time_ns)
{
    heap_push(&chrome->heap, time_ns, stream * (uint32_t)chrome->timeline->rows.n + row);
}

static const char *json_quoted(struct arena *arena, const char *text)
{
    json_t *value = json_text(text);
    char *dumped = json_dumps(value, JSON_ENCODE_ANY);
    const char *copy = dumped ? arena_strdup(arena, dumped) : "\"\"";
    free(dumped);
    json_decref(value);
    return copy;
}

/* The beginning of an event; whoever calls it writes the rest, and the brace. */
static void event_begin(struct chrome *chrome, char phase, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
    uint64_t start_ns = chrome->analysis->trace->start_ns, ns = time_ns > start_ns ? time_ns - start_ns : 0;
    fprintf(chrome->out, "%s\n{\"ph\":\"%c\",\"pid\":%u,\"tid\":%u,\"ts\":%llu.%03u", chrome->has_events ? "," : "",
            phase, pid, tid, (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
    chrome->has_events = true;
}

static void write_name(struct chrome *chrome, const char *what, uint32_t pid, uint32_t tid, const char *name)
{
    struct arena scratch = {0};
    fprintf(chrome->out, "%s\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"%s\",\"args\":{\"name\":%s}}",
            chrome->has_events ? "," : "", pid, tid, what, json_quoted(&scratch, name));
    chrome->has_events = true;
    arena_release(&scratch);
}

/* Numbers of processes and tracks begin with 1, and no two processes have a track of the same number: Perfetto takes 0
 * for the idle process, and a track's number for a thread's of the whole machine. */
static uint32_t rank_pid(uint32_t rank)
{
    return rank + 1;
}

static uint32_t causes_pid(const struct chrome *chrome)
{
    return rank_pid(chrome->analysis->trace->n_ranks);
}

/* The location's doing; its calls have the next number. */
static uint32_t state_track(uint32_t location)
{
    return 2 * location + 1;
}

static uint32_t call_track(uint32_t location)
{
    return state_track(location) + 1;
}

static uint32_t causes_track(const struct chrome *chrome)
{
    return state_track(chrome->analysis->trace->n_locations);
}

static void write_names(struct chrome *chrome)
{
    const struct trace *trace = chrome->analysis->trace;
    for (uint32_t i = 0; i < trace->n_locations; i++) {
        const struct trace_location *location = &trace->locations[i];
        struct arena scratch = {0};
        const char *thread = location->thread ? arena_printf(&scratch, "thread %u: ", location->thread) : "";
        if (!location->thread)
            write_name(chrome, "process_name", rank_pid(location->rank), state_track(i),
                       arena_printf(&scratch, "rank %u%s%s", location->rank, location->host ? " on " : "",
                                    location->host ? location->host : ""));
        if (chrome->timeline->rows.at[i].cells.n) {
            write_name(chrome, "thread_name", rank_pid(location->rank), state_track(i),
                       arena_printf(&scratch, "%swhat it did", thread));
            write_name(chrome, "thread_name", rank_pid(location->rank), call_track(i),
                       arena_printf(&scratch, "%scalls", thread));
        }
        arena_release(&scratch);
    }
    write_name(chrome, "process_name", causes_pid(chrome), causes_track(chrome), "causes: ranks in each at a time");
}

static const char *const state_names[TIMELINE_N_STATES] = {
    [STEP_COMPUTING] = "computing", [STEP_DESCHEDULED] = "no CPU", [STEP_BLOCKED] = "blocked",
    [STEP_TRANSFER] = "transfer",   [STEP_MPI] = "in MPI",         [STEP_UNKNOWN] = "not recorded",
    [TIMELINE_WAITING] = "waiting"};

static const char *kind_name(struct chrome *chrome, uint32_t number)
{
    const struct timeline_kind *kind = &chrome->timeline->kinds.at[number];
    if (!chrome->kind_names[number])
        chrome->kind_names[number] =
            json_quoted(&chrome->arena,
                        kind->step == TRACE_NONE ? state_names[kind->state] : label_step(&chrome->book, kind->step));
    return chrome->kind_names[number];
}

static const char *site_name(struct chrome *chrome, uint32_t site)
{
    if (!chrome->site_names[site])
        chrome->site_names[site] =
            json_quoted(&chrome->arena, arena_printf(&chrome->arena, "waiting: %s, %s", label_site(&chrome->book, site),
                                                     wait_kind_name(chrome->analysis->sites[site].kind)));
    return chrome->site_names[site];
}

/* The largest part of a cell; NULL when nothing is known of it. */
static const struct timeline_part *main_part(const struct timeline_cell *cell, const struct timeline_part *parts)
{
    const struct timeline_part *most = cell->n_parts ? parts : NULL;
    for (uint32_t i = 1; i < cell->n_parts; i++)
        if (parts[i].ns > most->ns)
            most = &parts[i];
    return most;
}

static const char *cell_name(struct chrome *chrome, const struct timeline_cell *cell, const struct timeline_part *most)
{
    if (!most)
        return "\"not recorded\"";
    bool is_waiting = chrome->timeline->kinds.at[most->kind].state == TIMELINE_WAITING;
    return is_waiting && cell->site != TRACE_NONE ? site_name(chrome, cell->site) : kind_name(chrome, most->kind);
}

/* The beginning of a cell, named by what most of it is. All parts stand in its arguments. Its end is an event of its
 * own: who adds a duration to a time in floating point may come out behind the beginning of the next cell. */
static void write_cell(struct chrome *chrome, uint32_t row, const struct timeline_cell *cell, uint64_t begin_ns,
                       const struct timeline_part *parts)
{
    const struct trace_location *location = &chrome->analysis->trace->locations[row];
    const struct timeline_part *most = main_part(cell, parts);
    const struct timeline_kind *kind = most ? &chrome->timeline->kinds.at[most->kind] : NULL;
    event_begin(chrome, 'B', rank_pid(location->rank), state_track(row), begin_ns);
    fprintf(chrome->out, ",\"name\":%s,\"cat\":\"%s\",\"args\":{", cell_name(chrome, cell, most),
            state_names[kind ? kind->state : (uint32_t)STEP_UNKNOWN]);
    if (kind && kind->cause != TRACE_NONE)
        fprintf(chrome->out, "\"cause\":%u,", kind->cause + 1);
    if (cell->is_inferred)
        fputs("\"inferred\":true,", chrome->out);
    if (cell->is_several)
        fputs("\"several\":true,", chrome->out);
    fputs("\"parts\":[", chrome->out);
    for (uint32_t i = 0; i < cell->n_parts; i++) {
        kind = &chrome->timeline->kinds.at[parts[i].kind];
        fprintf(chrome->out, "%s{\"state\":\"%s\",\"what\":%s,\"us\":%.3f", i ? "," : "", state_names[kind->state],
                kind_name(chrome, parts[i].kind), (double)parts[i].ns / 1000);
        if (kind->cause != TRACE_NONE)
            fprintf(chrome->out, ",\"cause\":%u", kind->cause + 1);
        fputc('}', chrome->out);
    }
    fputs("]}}", chrome->out);
}

/* True when the row tells of this moment: an arrow has to begin somewhere. */
static bool row_covers(const struct timeline_row *row, uint64_t time_ns)
{
    size_t low = 0;
    bisect(low, row->cells.n, row->cells.at[low].end_ns <= time_ns);
    return low < row->cells.n && row->cells.at[low].begin_ns <= time_ns;
}

/* The last moment of the wait. There the releasing location is still on its way to the release. */
static uint64_t arrow_time(const struct timeline_cell *cell)
{
    return cell->release_ns - 1;
}

static void write_arrow(struct chrome *chrome, uint32_t row, const struct timeline_cell *cell)
{
    const struct trace *trace = chrome->analysis->trace;
    const struct trace_location *from = &trace->locations[cell->by], *to = &trace->locations[row];
    chrome->n_flows++;
    event_begin(chrome, 's', rank_pid(from->rank), state_track(cell->by), arrow_time(cell));
    fprintf(chrome->out, ",\"id\":%llu,\"name\":\"released\",\"cat\":\"wait\"}", (unsigned long long)chrome->n_flows);
    event_begin(chrome, 'f', rank_pid(to->rank), state_track(row), arrow_time(cell));
    fprintf(chrome->out, ",\"id\":%llu,\"name\":\"released\",\"cat\":\"wait\",\"bp\":\"e\"}",
            (unsigned long long)chrome->n_flows);
}

/* Ranks in each cause over the run, evenly within a cell. */
static void count_acting(struct chrome *chrome)
{
    const struct trace *trace = chrome->analysis->trace;
    double bin_ns = fmax((double)(trace->end_ns - trace->start_ns) / BINS, 1);
    for (size_t row = 0; row < chrome->timeline->rows.n; row++) {
        const struct timeline_part *part = chrome->timeline->rows.at[row].parts.at;
        for (size_t i = 0; i < chrome->timeline->rows.at[row].cells.n; i++) {
            const struct timeline_cell *cell = &chrome->timeline->rows.at[row].cells.at[i];
            double begin = (double)(cell->begin_ns - trace->start_ns) / bin_ns;
            double end = (double)(cell->end_ns - trace->start_ns) / bin_ns;
            for (uint32_t k = 0; k < cell->n_parts; k++, part++) {
                uint32_t cause = chrome->timeline->kinds.at[part->kind].cause;
                double ranks = part->ns / fmax((double)(cell->end_ns - cell->begin_ns), 1);
                for (uint32_t bin = (uint32_t)begin; cause < chrome->n_causes && bin < BINS && bin < end; bin++)
                    chrome->acting[(size_t)bin * chrome->n_causes + cause] +=
                        (float)(ranks * (fmin(end, bin + 1.) - fmax(begin, bin)));
            }
        }
    }
}

static uint64_t bin_begin(const struct chrome *chrome, uint32_t bin)
{
    const struct trace *trace = chrome->analysis->trace;
    return trace->start_ns + (uint64_t)((double)(trace->end_ns - trace->start_ns) * bin / BINS);
}

/* Changes since the bin before. */
static void write_counters(struct chrome *chrome, uint32_t bin)
{
    for (uint32_t cause = 0; cause < chrome->n_causes; cause++) {
        float ranks = bin < BINS ? chrome->acting[(size_t)bin * chrome->n_causes + cause] : 0;
        if (bin ? ranks == chrome->acting[(size_t)(bin - 1) * chrome->n_causes + cause] : ranks == 0)
            continue;
        struct arena scratch = {0};
        event_begin(chrome, 'C', causes_pid(chrome), causes_track(chrome), bin_begin(chrome, bin));
        fprintf(chrome->out, ",\"name\":%s,\"args\":{\"ranks\":%.3f}}",
                json_quoted(&scratch, arena_printf(&scratch, "%u %s", cause + 1, label_cause(&chrome->book, cause))),
                (double)ranks);
        arena_release(&scratch);
    }
}

/* The next of a row: where it is within a cell, `stream`, and where a cell begins after it. */
static void write_state(struct chrome *chrome, enum stream stream, uint32_t row, uint64_t now_ns)
{
    const struct timeline_row *at = &chrome->timeline->rows.at[row];
    const struct timeline_cell *cell = &at->cells.at[chrome->cell[row]];
    if (stream == STREAM_BEGIN) {
        write_cell(chrome, row, cell, now_ns, at->parts.at + chrome->part[row]);
        bool has_arrow = cell->by < chrome->timeline->rows.n && cell->waited_ns > 0 &&
                         cell->release_ns > cell->begin_ns && arrow_time(cell) >= now_ns &&
                         row_covers(&chrome->timeline->rows.at[cell->by], arrow_time(cell));
        push_stream(chrome, has_arrow ? STREAM_ARROW : STREAM_END, row, has_arrow ? arrow_time(cell) : cell->end_ns);
    } else if (stream == STREAM_ARROW) {
        write_arrow(chrome, row, cell);
        push_stream(chrome, STREAM_END, row, cell->end_ns);
    } else {
        event_begin(chrome, 'E', rank_pid(chrome->analysis->trace->locations[row].rank), state_track(row), now_ns);
        const struct timeline_part *parts = at->parts.at + chrome->part[row];
        fprintf(chrome->out, ",\"name\":%s}", cell_name(chrome, cell, main_part(cell, parts)));
        /* If clocks disagree a cell may lie behind the one before. */
        do
            chrome->part[row] += at->cells.at[chrome->cell[row]++].n_parts;
        while (chrome->cell[row] < at->cells.n && at->cells.at[chrome->cell[row]].end_ns <= now_ns);
        if (chrome->cell[row] < at->cells.n) {
            uint64_t begin_ns = at->cells.at[chrome->cell[row]].begin_ns;
            push_stream(chrome, STREAM_BEGIN, row, begin_ns > now_ns ? begin_ns : now_ns);
        }
    }
}

/* Everything of the timeline up to a time, that included. */
static void write_states_until(struct chrome *chrome, uint64_t until_ns)
{
    struct heap *heap = &chrome->heap;
    uint32_t n_rows = (uint32_t)chrome->timeline->rows.n;
    while (heap->n && heap->items[0].time_ns <= until_ns) {
        uint32_t stream = heap->items[0].stream;
        uint64_t now_ns = heap->items[0].time_ns;
        heap_pop(heap);
        if (stream < STREAM_COUNTERS * n_rows) {
            write_state(chrome, stream / n_rows, stream % n_rows, now_ns);
            continue;
        }
        write_counters(chrome, chrome->bin);
        if (chrome->bin++ < BINS)
            push_stream(chrome, STREAM_COUNTERS, 0, bin_begin(chrome, chrome->bin));
    }
}

static void write_call(struct chrome *chrome, const struct event *event)
{
    const struct trace *trace = chrome->analysis->trace;
    const struct trace_location *location = &trace->locations[event->loc];
    struct open_calls *calls = &chrome->calls[event->loc];
    if (event->kind == EV_ENTER && event->region < trace->n_regions) {
        struct arena scratch = {0};
        event_begin(chrome, 'B', rank_pid(location->rank), call_track(event->loc), event->time_ns);
        fprintf(chrome->out, ",\"name\":%s}", json_quoted(&scratch, trace->regions[event->region].name));
        arena_release(&scratch);
        calls->depth++;
        calls->bytes = 0;
    } else if (event->kind == EV_LEAVE && calls->depth) {
        event_begin(chrome, 'E', rank_pid(location->rank), call_track(event->loc), event->time_ns);
        struct arena scratch = {0};
        if (event->region < trace->n_regions)
            fprintf(chrome->out, ",\"name\":%s", json_quoted(&scratch, trace->regions[event->region].name));
        fprintf(chrome->out, calls->bytes ? ",\"args\":{\"bytes\":%llu}}" : "}", (unsigned long long)calls->bytes);
        arena_release(&scratch);
        calls->depth--;
        calls->bytes = 0;
    } else if (event->kind == EV_END) {
        for (; calls->depth; calls->depth--) {
            event_begin(chrome, 'E', rank_pid(location->rank), call_track(event->loc), event->time_ns);
            fputs(",\"args\":{\"unfinished\":true}}", chrome->out);
        }
    } else if (event->kind == EV_SEND || event->kind == EV_RECV || event->kind == EV_ISEND ||
               event->kind == EV_IRECV_DONE || event->kind == EV_COLL_END || event->kind == EV_RMA) {
        calls->bytes += event->bytes + (event->kind == EV_COLL_END ? event->bytes_in : 0);
    }
}

int export_chrome(FILE *out, const struct analysis *analysis, const struct timeline *timeline)
{
    struct chrome chrome = {.out = out, .analysis = analysis, .timeline = timeline};
    struct trace *trace = analysis->trace;
    size_t n_rows = timeline->rows.n;
    const struct event *event;
    int status = trace_rewind(trace);
    chrome.book = (struct label_book){&chrome.arena, analysis, false, true};
    chrome.n_causes = analysis->n_causes < CAUSES_COUNTED ? analysis->n_causes : CAUSES_COUNTED;
    chrome.kind_names = arena_array(&chrome.arena, const char *, timeline->kinds.n);
    chrome.site_names = arena_array(&chrome.arena, const char *, analysis->n_sites);
    chrome.cell = arena_array(&chrome.arena, size_t, n_rows);
    chrome.part = arena_array(&chrome.arena, size_t, n_rows);
    chrome.calls = arena_array(&chrome.arena, struct open_calls, trace->n_locations);
    chrome.acting = arena_array(&chrome.arena, float, (size_t)BINS *chrome.n_causes);
    count_acting(&chrome);
    for (uint32_t row = 0; row < n_rows; row++)
        if (timeline->rows.at[row].cells.n)
            push_stream(&chrome, STREAM_BEGIN, row, timeline->rows.at[row].cells.at[0].begin_ns);
    push_stream(&chrome, STREAM_COUNTERS, 0, trace->start_ns);
    fprintf(out,
            "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"tool\":\"whywait " WHYWAIT_VERSION "\",\"program\":%s,"
            "\"resolution_ns\":%llu},\n\"traceEvents\":[",
            json_quoted(&chrome.arena, trace_title(trace)), (unsigned long long)timeline->resolution_ns);
    write_names(&chrome);
    while (status == 0 && (event = trace_next(trace))) {
        write_states_until(&chrome, event->time_ns);
        write_call(&chrome, event);
    }
    write_states_until(&chrome, UINT64_MAX);
    fputs("\n]}\n", out);
    heap_release(&chrome.heap);
    arena_release(&chrome.arena);
    return trace->has_failed ? -1 : status;
}
