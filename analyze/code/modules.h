/* SPDX-License-Identifier: BSD-3-Clause */
/* The modules of a program as far as they are read, and the models of their routines. Private to this folder. */
#pragma once
#include "analyze/code/answers.h"
#include "analyze/code/debug.h"
#include "analyze/code/decoder.h"
#include "analyze/code/image.h"
#include "analyze/code/routines.h"
#include "analyze/code/script.h"
#include "wrap/base/containers.h"

/* [lo, hi) is one basic block. */
struct model_block {
    uint64_t lo, hi;
    uint32_t place, depth; /* 0 = in no loop */
    uint32_t loop;         /* the innermost loop of the machine code, by number in loops; CODE_NONE */
    bool has_callees;      /* they stand in the module's */
};

/* A loop of the machine code. Its place may lie in another copy; it lies in this. */
struct model_loop {
    uint32_t place, parent; /* CODE_NONE: outermost */
    uint32_t depth;         /* 1 = outermost; a loop of the source that is two here, one in the other, is one */
};

/* A routine with its out-of-line parts. */
struct model {
    uint32_t routine;           /* number among the module's */
    uint32_t place;             /* of the routine itself */
    struct model_block *blocks; /* by rising address */
    uint32_t n_blocks;
    struct model_loop *loops;
    uint32_t *dominators; /* by block (cfg.h); NULL = not asked for yet */
};

struct module {
    const char *path, *file; /* as recorded; the one that is read */
    const uint8_t *build_id; /* NULL = not recorded */
    size_t build_id_bytes;
    const char *package;  /* NULL = none is known; see code_module_package */
    const char *language; /* that it interprets; NULL = none */
    bool is_runtime, is_extension, is_open, has_image, is_package_sought;
    uint8_t role;   /* enum code_role */
    bool is_script; /* a source file of code that an interpreter runs (script.h): */
    script_blocks blocks;
    uint64_t hash;             /* of its text; 0 = unknown, or not asked for yet */
    VEC(struct routine) named; /* those that frames name, until it is opened */
    enum code_state state;
    int fault;          /* errno where the system failed to open its file, or that of its debug information */
    const char *unread; /* that file */
    struct image image;
    struct debug debug; /* without units when there is no debug information */
    struct routines routines;
    struct decoder *decoder;     /* NULL: not a machine we know */
    struct model **models;       /* by routine; NULL = not analysed yet */
    struct intern sources;       /* places of the source: see places.c */
    struct intern instances;     /* of templates: their names (debug_scope_instance) */
    VEC(uint32_t) source_places; /* by number in sources: the place met first */
    struct map calls;            /* by address of the call: its place (code_place_of_call) */
    struct map callees;          /* by return address, in blocks that were asked about: struct code_callee */
};

struct code {
    struct arena arena;
    VEC(struct module *) modules;
    VEC(struct code_place *) places;
    VEC(const char *) notes;
    const char *kept_dir; /* NULL = none */
    bool has_scripts;
};

/* Reads the module if that has not been done. */
struct module *module_get(struct code *code, uint32_t module);
