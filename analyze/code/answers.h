/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of the code model that its parts find: the state of a module, its role for scripts, a place. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { CODE_NONE = UINT32_MAX };

/* Of a module. */
enum code_state {
    CODE_FULL,    /* debug information */
    CODE_SYMBOLS, /* no debug information: routines and loops, no lines */
    CODE_MISSING, /* the file is not there or cannot be read */
    CODE_CHANGED, /* the file is there but has another build id: not used */
};

/* What a module is for a script, where it is no part of the program. */
enum code_role {
    CODE_ROLE_NONE,
    CODE_ROLE_IMPORTS,   /* the interpreter's code that looks for modules and runs them */
    CODE_ROLE_COLLECTS,  /* stands in stacks while the collector of garbage is at work */
    CODE_ROLE_MESSENGER, /* mpi4py's extension module, by which scripts call MPI */
    CODE_ROLE_INSTALLED, /* a source file of the standard library, or of a package that was installed */
    CODE_ROLE_MADE       /* code of no file, as packages make it at run time; or a whole program that was typed in */
};

/*
 * A place in the source: a natural loop, or what of a routine lies in no loop. Ids are dense from 0 within one struct
 * code. All copies of it within a module are one place: of a loop that was unrolled or vectorised, of a routine that
 * was inlined into several others. host_routine, parent and the addresses are then those of the copy that was met
 * first. Each instance of a template, also of one over lambdas, is a place of its own.
 */
struct code_place {
    uint32_t id;
    uint32_t source; /* id, or that of the copy met first: only those are returned by code_place_at */
    uint32_t module;
    bool is_loop;
    bool is_spinning; /* it only looks at memory until somebody else changes that (spin.h): all its copies do */
    bool is_system;   /* of a system header, compiled into the program: its time belongs to who called it */
    uint32_t parent;  /* what encloses it in the same routine: outer loop, then the routine; CODE_NONE for a routine */
    uint32_t depth;   /* 0 = routine, 1 = outermost loop */
    const char *file; /* as in the debug information, made absolute only there; NULL = unknown */
    /* Of the loop's own code, without code inlined from elsewhere, when it has any. */
    uint32_t line_first, line_last;
    const char *routine;      /* demangled; the inlined function for a loop that was inlined; NULL = unknown */
    const char *host_routine; /* the routine of the symbol table in which it lies. Another one when inlined */
    uint64_t routine_address; /* link-time entry of host_routine */
    uint64_t address;         /* link-time address of the loop header or routine entry */
};
