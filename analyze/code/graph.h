/* SPDX-License-Identifier: BSD-3-Clause */
/* The control-flow graph of one routine, from its machine code. */
#pragma once
#include "analyze/code/decoder.h"
#include "analyze/code/routines.h"
#include "wrap/flow/cfg.h"

enum { MAX_PARTS = 8 };

struct graph_block {
    uint64_t lo, hi;
    uint32_t first, n; /* instructions */
};

struct graph {
    insns insns; /* by rising address */
    VEC(struct graph_block) blocks;
    struct cfg cfg;        /* over block numbers; root = the entry */
    VEC(uint64_t) escapes; /* targets of direct jumps out of the routine: tail calls, out-of-line parts */
};

/*
 * Decodes a routine with its out-of-line parts (parts: numbers in `routines`, the first is the routine itself) and
 * builds the graph. `noreturn`: linked names of functions that do not return, beside those that never do; NULL = none.
 * Returns false when there is no code to be read; graph_release in any case.
 */
bool graph_build(struct graph *graph, struct decoder *decoder, const struct image *image,
                 const struct routines *routines, const uint32_t *parts, size_t n_parts, const struct intern *noreturn);
void graph_release(struct graph *graph);

/* The symbol that a call or jump to `target` reaches: through a PLT stub, or a slot of the GOT; NULL = none. */
const char *stub_name(struct decoder *decoder, const struct image *image, uint64_t target);

/* The loop does nothing but look at memory (spin.h), between looks it may sleep or yield. Of small loops, on x86-64. */
bool graph_loop_spins(const struct graph *graph, struct decoder *decoder, const struct image *image,
                      const struct cfg_loop *loop);
