/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places of events: call paths, MPI call sites, and the step that a sample belongs to.
 *
 * A context is a call stack (recorded frames) or, where an archive has none, a call path of entered regions. A site is
 * an MPI function called from a context. Equal stacks of different processes are one context, and so are stacks that
 * differ only in which copy of a source line they pass through: compilers duplicate calls when they unroll loops or
 * specialise paths, and nobody wants to read of two barriers where the source has one. A run-time library that the
 * program calls from one line has no path of its own inside either.
 */
#pragma once
#include "analyze/code/code.h"
#include "analyze/steps/steps.h"
#include "wrap/base/containers.h"

/* The first routine outwards that has a name, in the stacks of a place without one. */
struct place_host {
    const char *routine; /* NULL = none */
    bool is_one_of_several;
};

enum { RECENT = 256 };

struct sites {
    const struct trace *trace;
    struct code *code;
    struct steps *steps;
    uint32_t *frame_context; /* context of each recorded frame; TRACE_NONE = not asked yet */
    uint32_t *frame_step;    /* step of a sample with this frame; TRACE_NONE = not asked yet */
    bool *module_is_threading;
    bool *module_is_given;        /* of a package that was installed, or made at run time, without MPI calls */
    VEC(struct place_host) hosts; /* by code place, where that has no name */
    VEC(bool) calls_mpi;          /* by code place: an MPI call is made in it, directly or not */
    struct intern contexts, sites, pairs;
    struct recent {
        uint32_t a, b, id_plus_1;
    } recent_contexts[RECENT], recent_sites[RECENT], recent_pairs[RECENT]; /* what was asked for lately, by hash */
    struct map wrappers;        /* routines that only pass a call on to MPI (sites_find_wrappers) */
    struct intern lines;        /* source lines of calls */
    struct intern entries;      /* likewise, of those from code that waits */
    VEC(uint64_t) line_address; /* by line: the address that stands for it */
};

struct context {
    uint32_t parent; /* context; TRACE_NONE */
    uint32_t module; /* TRACE_NONE: a region */
    uint64_t address;
    uint32_t region;
    uint32_t is_return;
};

struct site {
    uint32_t context; /* TRACE_NONE = unknown */
    uint32_t region;  /* the MPI function; TRACE_NONE: before the first or after the last call */
};

void sites_begin(struct sites *sites, const struct trace *trace, struct code *code, struct steps *steps);
void sites_release(struct sites *sites);
/* The context that entering a region in `parent` makes (foreign archives). */
uint32_t sites_enter(struct sites *sites, uint32_t parent, uint32_t region);
uint32_t sites_context(struct sites *sites, uint32_t frame);
uint32_t sites_put(struct sites *sites, uint32_t context, uint32_t region);
/* The innermost context of user code, this one or around it; TRACE_NONE. */
uint32_t sites_user_context(const struct sites *sites, uint32_t context);
const struct context *sites_context_at(const struct sites *sites, uint32_t context);
const struct site *sites_at(const struct sites *sites, uint32_t site);
/*
 * After the last event: which routines are wrappers around MPI. A wrapper makes one MPI call at one place, in no loop,
 * for many callers (or for several, when it is named after the call, like hypre_MPI_Waitall). The caller of the wrapper
 * says more than the wrapper.
 */
void sites_find_wrappers(struct sites *sites);
/* True when the innermost routine of the context is one. */
bool sites_is_wrapper(const struct sites *sites, uint32_t context);
/* "hypre_MPI_Waitall", "my_waitall": the name of the routine holds that of the MPI function, in whatever case. */
bool sites_is_named_after(const char *routine, const char *mpi);
/* True for time in a loop of MPI_Win_sync: it waits for what another process is to write into memory that they share.
 */
bool sites_step_is_spinning(const struct sites *sites, uint32_t step);
/* True for time that may be waiting for anybody, the process itself among them that waits for its end. */
bool sites_step_is_open(const struct sites *sites, uint32_t step);
/* No call: what follows it is the start of a process or a thread. */
bool sites_is_start(const struct sites *sites, uint32_t site);
/* The same call whoever led to it: only the innermost frame is kept, of a wrapper its callers up to the first that is
 * none as well, and of copies that were inlined the first seen. */
uint32_t sites_innermost(struct sites *sites, uint32_t site);
/* Two sites in succession, as one number. */
uint32_t sites_pair(struct sites *sites, uint32_t from, uint32_t to);
/* Forgets all contexts, sites, pairs and steps of samples but the first. Contexts of frames are among these. */
void sites_cut(struct sites *sites, uint32_t n_contexts, uint32_t n_sites, uint32_t n_pairs, uint32_t n_steps);
const uint32_t *sites_pair_at(const struct sites *sites, uint32_t pair);
/*
 * The step (computing) of a sample: the innermost frame of user code that lies in a natural loop, so that straight-line
 * helpers, the run-time library, routines of system headers and a script's packages are charged to the loop that calls
 * them. A package that makes MPI calls is a part of the program like any other. Loops that call
 * MPI do not count (they go on across the waits and explain none). If there is no other, it is the innermost place of
 * user code. TRACE_NONE when nothing is known.
 */
uint32_t sites_sample_step(struct sites *sites, uint32_t frame);
/* A place, met on the stack of a frame of its own: where it has no name, it is told by the nearest routine around it
 * that has one. */
void sites_note_host(struct sites *sites, uint32_t place, uint32_t frame);
/* The stack ends in code made at run time, or in what that calls outside the program's own code. */
bool sites_frame_is_generated(struct sites *sites, uint32_t frame);
/* The frame whose place that is; TRACE_NONE. */
uint32_t sites_sample_frame(struct sites *sites, uint32_t frame);
/* True for a place in which an MPI call is made, directly or not. */
bool sites_place_calls_mpi(const struct sites *sites, uint32_t place);
/* The place of a frame of user code, or CODE_NONE. */
uint32_t sites_frame_place(struct sites *sites, uint32_t frame);
/* True for a source file of an interpreter's packages, which only serve the code that calls them. */
bool sites_module_is_given(const struct sites *sites, uint32_t module);
/* True in a threading run-time, where a thread waits for its fellows. */
bool sites_sample_is_idle(const struct sites *sites, uint32_t frame);
