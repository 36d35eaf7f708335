/* SPDX-License-Identifier: BSD-3-Clause */
/* Which lines of the source a loop of the machine code is. */
#pragma once
#include "analyze/code/debug.h"
#include "analyze/code/graph.h"

/* Debug information of one instruction. */
struct insn_source {
    uint32_t file, line; /* line 0 = unknown */
    uint32_t scope;      /* innermost; SCOPE_NONE */
    bool is_statement;   /* a statement begins at this very instruction */
};

/* By instruction; NULL for a routine without debug information. In `arena`. */
struct insn_source *sources_of(const struct graph *graph, const struct unit *unit, struct arena *arena);

struct loop_source {
    uint32_t scope;     /* the routine, or inlined copy, in whose source the loop stands; SCOPE_NONE = unknown */
    uint64_t origin;    /* of that scope */
    uint32_t file;      /* INTERN_NONE = unknown */
    uint32_t head_line; /* of the condition that closes the loop */
    uint32_t line_first, line_last;
    uint32_t *lines; /* that it has, rising; in the context's arena */
    uint32_t n_lines;
};

/* The input of loop_source_find: one routine. */
struct loop_context {
    struct debug *debug;
    struct unit *unit;
    const struct graph *graph;
    const struct cfg_loops *loops;
    const struct insn_source *sources;
    struct arena *arena;
};
struct loop_source loop_source_find(const struct loop_context *context, uint32_t loop);
/* Of all loops of the routine, by loop: of two side by side, takes from the range of the first what stands behind the
 * second. */
void loop_sources_part(const struct loop_context *context, struct loop_source *of);

/*
 * The line in the source of `scope` from which this instruction came: its own, or that of the call that was inlined.
 * With SCOPE_NONE (line rows without scopes, as of an assembler) its own.
 */
bool source_in_scope(const struct unit *unit, uint32_t scope, const struct insn_source *source, uint32_t *file,
                     uint32_t *line);
