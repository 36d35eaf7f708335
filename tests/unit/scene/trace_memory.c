/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace of tests: definitions and events are appended to vectors; the events are sorted on the first reading. */
#include "tests/unit/scene/trace_memory.h"
#include "analyze/archive/archive.h"
#include "analyze/trace/source.h"
#include "wrap/base/err.h"
#include "wrap/base/containers.h"
#include <stdlib.h>
#include <string.h>

struct memory_event {
    struct event event;
    size_t order; /* ties: as added */
};

struct memory {
    struct trace_source source;
    VEC(struct memory_event) events;
    VEC(struct trace_region) regions;
    VEC(struct trace_comm) comms;
    VEC(struct trace_module) modules;
    VEC(struct trace_frame) frames;
    size_t next;
    bool is_sorted;
};

static struct memory *memory_of(struct trace *trace)
{
    return (struct memory *)trace->source;
}

static int by_time(const void *left, const void *right)
{
    const struct memory_event *a = left, *b = right;
    if (a->event.time_ns != b->event.time_ns)
        return a->event.time_ns < b->event.time_ns ? -1 : 1;
    if (a->event.loc != b->event.loc)
        return a->event.loc < b->event.loc ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static void memory_sort(struct memory *memory)
{
    if (memory->events.n)
        qsort(memory->events.at, memory->events.n, sizeof *memory->events.at, by_time);
    memory->is_sorted = true;
}

static int memory_rewind(struct trace *trace)
{
    memory_of(trace)->next = 0;
    return 0;
}

static void memory_read(struct trace *trace, struct event_block *block)
{
    struct memory *memory = memory_of(trace);
    if (!memory->is_sorted)
        memory_sort(memory);
    for (block->n = 0; block->n < EVENTS_READY && memory->next < memory->events.n;)
        block->at[block->n++] = &memory->events.at[memory->next++].event;
}

static void memory_close(struct trace *trace)
{
    struct memory *memory = memory_of(trace);
    vec_release(&memory->events);
    vec_release(&memory->regions);
    vec_release(&memory->comms);
    vec_release(&memory->modules);
    vec_release(&memory->frames);
    free(memory);
}

struct trace *trace_memory(uint32_t n_ranks)
{
    struct trace *trace = calloc(1, sizeof *trace);
    struct memory *memory = calloc(1, sizeof *memory);
    if (!trace || !memory)
        err_out_of_memory(sizeof *memory);
    memory->source = (struct trace_source){.rewind = memory_rewind, .read = memory_read, .close = memory_close};
    trace->source = &memory->source;
    trace->path = trace->program = trace->command = "memory";
    trace->recorder = "whywait";
    trace->is_ours = true;
    trace->n_ranks = trace->n_locations = n_ranks;
    trace->locations = arena_array(&trace->arena, struct trace_location, n_ranks);
    trace->processes = arena_array(&trace->arena, struct trace_process, n_ranks);
    uint32_t *world = arena_array(&trace->arena, uint32_t, n_ranks);
    for (uint32_t rank = 0; rank < n_ranks; rank++) {
        trace->locations[rank] = (struct trace_location){.rank = rank, .host = "memory", .end_how = WW_END_FINALIZE};
        world[rank] = rank;
    }
    trace_memory_comm(trace, world, n_ranks);
    return trace;
}

uint32_t trace_memory_region(struct trace *trace, const char *name, bool is_mpi, enum ww_class class, enum ww_coll coll)
{
    struct memory *memory = memory_of(trace);
    *vec_push(&memory->regions) = (struct trace_region){
        .name = arena_strdup(&trace->arena, name), .is_mpi = is_mpi, .class = class, .coll = coll};
    for (uint32_t call = 1; is_mpi && call < WW_N_CALLS; call++)
        if (!strcmp(call_info(call)->name, name))
            memory->regions.at[trace->n_regions].call = call;
    trace->regions = memory->regions.at;
    return trace->n_regions++;
}

uint32_t trace_memory_comm(struct trace *trace, const uint32_t *ranks, uint32_t n)
{
    struct memory *memory = memory_of(trace);
    *vec_push(&memory->comms) = (struct trace_comm){
        .name = trace->n_comms ? arena_printf(&trace->arena, "comm %u", trace->n_comms) : "MPI_COMM_WORLD",
        .parent = trace->n_comms ? 0 : TRACE_NONE,
        .n = n,
        .ranks = arena_copy(&trace->arena, ranks, n * sizeof *ranks)};
    trace->comms = memory->comms.at;
    return trace->n_comms++;
}

uint32_t trace_memory_module(struct trace *trace, const char *path)
{
    struct memory *memory = memory_of(trace);
    vec_push(&memory->modules)->path = arena_strdup(&trace->arena, path);
    trace->modules = memory->modules.at;
    return trace->n_modules++;
}

uint32_t trace_memory_frame(struct trace *trace, struct trace_frame frame)
{
    struct memory *memory = memory_of(trace);
    *vec_push(&memory->frames) = frame;
    trace->frames = memory->frames.at;
    return trace->n_frames++;
}

void trace_memory_event(struct trace *trace, struct event event)
{
    struct memory *memory = memory_of(trace);
    if (event_n_bins(&event))
        event.bins = arena_copy(&trace->arena, event.bins, event.n_bins * sizeof *event.bins);
    *vec_push(&memory->events) = (struct memory_event){event, memory->events.n - 1};
    memory->is_sorted = false;
    struct trace_location *location = &trace->locations[event.loc];
    if (memory->events.n == 1 || event.time_ns < trace->start_ns)
        trace->start_ns = event.time_ns;
    if (event.time_ns > trace->end_ns)
        trace->end_ns = event.time_ns;
    if (event.time_ns > location->end_ns)
        location->end_ns = event.time_ns;
}
