/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The code model: addresses of program and libraries -> routines, natural loops, basic blocks, inlined scopes, source
 * lines.
 *
 * Modules are opened lazily, matched by build id; routines are disassembled when an address in them is first asked for,
 * so that the cost follows the code that was executed. Without debug information routine + offset is what is known;
 * without the file, module + offset. Not thread-safe. Everything returned lives until code_close.
 */
#pragma once
#include "analyze/code/answers.h"
#include "analyze/code/model.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code;

struct code *code_open(void);
void code_close(struct code *code);

/* Registers a module; build_id may be NULL. Returns its id (dense, from 0). Nothing is read yet. */
uint32_t code_add_module(struct code *code, const char *path, const uint8_t *build_id, size_t build_id_bytes);
/* Registers a source file of code that an interpreter ran (archive/join_code.h). `source`: where its text is to be
 * read; NULL = nowhere. */
uint32_t code_add_script(struct code *code, const char *path, const char *source);
/* The routine around an address in a script, which nothing else tells. Before anything is asked of it. `name` must live
 * as long as the model. */
void code_name_routine(struct code *code, uint32_t module, uint64_t address, const char *name);
bool code_has_scripts(const struct code *code);
bool code_module_is_script(const struct code *code, uint32_t module);
enum code_role code_module_role(const struct code *code, uint32_t module);
/* An extension module of a script: Python imports it by name. */
bool code_module_is_extension(const struct code *code, uint32_t module);
/* If a module's file has gone or changed, the one named by its build id in this directory is read instead. */
void code_use_kept(struct code *code, const char *dir);

/* Facts about a module (reads it). */
enum code_state code_module_state(struct code *code, uint32_t module);
/* The errno with which the system failed to open the module's file, or one with debug information of it (reads it); 0 =
 * none, though they may be missing. *file: the one that it failed to open. */
int code_module_fault(struct code *code, uint32_t module, const char **file);
/* Has somebody asked for it before? */
bool code_module_is_read(const struct code *code, uint32_t module);
/* The path of the file that is read (reads it). */
const char *code_module_file(struct code *code, uint32_t module);
/* The compiler and its flags by the debug information (reads it); NULL = unknown. */
const char *code_module_compiler(struct code *code, uint32_t module);
/* A run-time library (libc, libm, MPI, OpenMP, BLAS ...) whose time belongs to the loop that called it. Where a script
 * runs, so are its interpreter, all libraries without debug information (reads them), and mpi4py with it. */
bool code_module_is_runtime(struct code *code, uint32_t module);
/* "Python": the module interprets programs of that language, whose code is not known here: all of it is one place, a
 * routine that begins at 0. NULL = it is no interpreter. */
const char *code_module_language(const struct code *code, uint32_t module);
/* The package of the distribution that its file is from; NULL = none is known. Looks through lists of some megabytes
 * the first time. */
const char *code_module_package(struct code *code, uint32_t module);
/* Nobody here built it (file_is_given), or a package has it. */
bool code_module_is_given(struct code *code, uint32_t module);
/* Sentences for the report about modules that were used but are degraded; n_notes is set. */
const char *const *code_notes(struct code *code, size_t *n_notes);

/* The innermost loop (or routine) around a link-time address; CODE_NONE when nothing is known. Memoised. */
uint32_t code_place_at(struct code *code, uint32_t module, uint64_t address);
/*
 * The line of a call at an address of user code, in the innermost routine that is not of a system header. As a loop
 * where a loop in a system header is called, not inlined: that is the place that an inlined one would have. Never as
 * one in a script. An address keeps its first answer. CODE_NONE without lines. Memoised.
 */
uint32_t code_place_of_call(struct code *code, uint32_t module, uint64_t address, bool is_loop);
/* The same for an address that was asked about before; CODE_NONE for any other. */
uint32_t code_known_call(struct code *code, uint32_t module, uint64_t address);
/* The loops around an address in its own copy of the code, the innermost first. Returns how many, at most `most`. If
 * there are more, middle ones are missing. */
uint32_t code_loops_at(struct code *code, uint32_t module, uint64_t address, uint32_t *places, uint32_t most);
/* Machine code from an address to the end of its basic block or routine, or to `end` if that comes first. */
struct code_run {
    uint64_t end;   /* the address itself when nothing is known of it */
    uint64_t basic; /* where that basic block begins */
    uint64_t routine_end;
    uint32_t place, depth;   /* as code_place_at; how many loops are around it, each of the source once */
    uint32_t n_instructions; /* padding aside; estimated where the machine's are not known */
};
struct code_run code_run_at(struct code *code, uint32_t module, uint64_t address, uint64_t end);
const struct code_place *code_place(struct code *code, uint32_t place);
/* The language that it was compiled as: a header's is that of the file which includes it. */
enum code_language { CODE_LANGUAGE_OTHER, CODE_LANGUAGE_CXX, CODE_LANGUAGE_FORTRAN };
enum code_language code_place_language(struct code *code, uint32_t place);
uint32_t code_n_places(const struct code *code);

/* Drill-down: the basic block and the source line of an address. */
struct code_spot {
    uint64_t block;   /* link-time address of the basic block's first instruction; 0 = unknown */
    const char *file; /* innermost inlined line; NULL = unknown */
    uint32_t line;
    const char *routine;   /* innermost inlined function, demangled */
    const char *call_file; /* the line in the host routine's own source (outermost, for call sites) */
    uint32_t call_line;
    const char *host_routine;
    uint64_t routine_address; /* link-time entry of host_routine, where symbols alone name it; 0 = unknown */
};
struct code_spot code_spot_at(struct code *code, uint32_t module, uint64_t address);

/* A hash of a script's text; 0 = unknown. */
uint64_t code_script_hash(struct code *code, uint32_t module);

struct arena;
/* The text of an expression at an address of a script, by its columns (WW_CODE_EXPRESSION), in `arena`; NULL. */
const char *code_text_at(struct code *code, uint32_t module, uint64_t address, uint32_t columns, struct arena *arena);

/* True if a script's routine, or a class's method, has this name of n bytes. */
bool code_has_script_routine(struct code *code, const char *name, size_t n);

/* The routine around an address as linked, or as a script calls it; NULL = it has no name. */
const char *code_routine_name(struct code *code, uint32_t module, uint64_t address);
/* All routines of a module, by rising address: for tools that list a program. Cold parts of others count as routines.
 */
uint32_t code_n_routines(struct code *code, uint32_t module);
/* Link-time address of the entry. */
uint64_t code_routine_address(struct code *code, uint32_t module, uint32_t routine);
