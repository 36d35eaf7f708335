/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of steps and sites. Texts live in the arena, the trace or the code model. */
#pragma once
#include "analyze/result/result.h"
#include "analyze/steps/sites.h"

/*
 * Which steps read the same, so that a list has them as one: a call of MPI is told without the path that led to it, and
 * so is code between two; code without the call that led to it, unless there are several such calls. (Without any are
 * the threads of a team.)
 */
struct told {
    struct sites *sites;
    struct map as; /* step -> the first one that reads the same */
    struct intern texts;
    VEC(uint32_t) first;   /* by text */
    struct intern places;  /* those entered by calls from code that waits ... */
    VEC(uint32_t) entries; /* ... and which that is; TRACE_NONE = several */
};

/* When all samples have been read. */
void told_begin(struct told *told, struct sites *sites);
uint32_t told_as(struct told *told, uint32_t step);
void told_release(struct told *told);

/* The steps of the result, all that there are so far, and the files of steps and sites. */
void names_steps(struct sites *sites, struct analysis *analysis);
/* Fills the call, its source line and its call path of each site of the result, given which site of the trace each is.
 * The numbers are left alone. No two places have the same text: where paths would read the same, the routines at which
 * they part are shown as well. */
void names_sites(struct sites *sites, struct analysis *analysis, const uint32_t *of);
/* One site, whatever others are called. */
void names_site(struct sites *sites, struct arena *arena, uint32_t site, struct wait_site *out);
/* The last n components of a path. One says nothing of a module that Python names by its folder (__init__.py,
 * __main__.py): of these the folder is not counted. */
const char *names_path_tail(const char *path, unsigned n);
/* "MPI_Get halo.c:71": the place of the call, whichever path led to it. */
const char *names_site_text(struct sites *sites, struct arena *arena, uint32_t site);
/* Code without a name is called "routine 12 of libfoo.so", inside it "routine 12+0x1c of libfoo.so", or without its
 * library, where that is named already, "routine 12+0x1c". The number is that of the code model, the same in all
 * outputs and in every run of a build. Names without a known routine: "libfoo.so+0x1a40", "+0x1a40". */
const char *names_nameless(struct code *code, const struct trace *trace, struct arena *arena,
                           const struct trace_frame *at, bool with_library);
