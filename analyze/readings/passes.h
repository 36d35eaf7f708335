/* SPDX-License-Identifier: BSD-3-Clause */
/* All passes of both readings, and what they give to those that follow. */
#pragma once
#include "analyze/blame/blame.h"
#include "analyze/blame/causes.h"
#include "analyze/blame/classes.h"
#include "analyze/blame/occurrences.h"
#include "analyze/profile/details.h"
#include "analyze/profile/thread_use.h"
#include "analyze/profile/facts.h"
#include "analyze/readings/wanted.h"
#include "analyze/sections/index.h"
#include "analyze/sections/sections.h"
#include "analyze/steps/services.h"
#include "analyze/waits/calls.h"

struct passes {
    struct trace *trace;
    /* Steps: what ran between two calls, and how long each part of it took. */
    struct steps steps;
    struct sites sites;
    struct lanes lanes;
    struct executions executions;
    struct work work;
    struct costs costs;
    struct pools pools;
    struct survey survey;
    struct cpu_use cpu_use;
    struct services services;
    struct thread_use thread_use;
    struct call_steps call_steps;
    struct calls calls;
    /* Waits: who waited for whom. */
    struct links links;
    struct messages messages;
    struct gatherings gatherings;
    struct locks locks;
    struct replay replay;
    struct reader reader;
    /* Blame. */
    struct occurrences occurrences;
    struct classes classes;
    struct measures measures;
    struct sparse critical; /* the critical path */
    struct cause_times acting;
    struct keyed_sums file_use, traffic;
    struct exchanges exchanges;
    struct wanted wanted;
    struct time_sink times; /* takes what each location did when, or nobody does */
    uint64_t n_events;
    uint32_t n_sections, last_turn;
    struct sections_index index; /* where this process begins to read them */
    bool is_in_sections;         /* the first reading is, too */
    VEC(uint32_t) cut_sites;     /* by location: of the call in which the present section has begun; TRACE_NONE */
};

void passes_begin(struct passes *passes, struct trace *trace, struct code *code);
void passes_release(struct passes *passes);
/* Those that find the waits of one section of the run. The error of clocks is known. */
void passes_begin_waits(struct passes *passes, uint64_t begin_ns);
void passes_release_waits(struct passes *passes);

/* This process's sections of the run. False where it has none, or after error(). */
struct deal;
bool passes_begin_sections(struct passes *passes, struct sections *sections, const struct deal *deal);
/* After its last one a process reads on only where others' sections may follow that are its own. */
bool passes_go_on(const struct passes *passes, struct sections *sections, const struct deal *deal, bool was_mine);
