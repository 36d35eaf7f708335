/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source files of code that an interpreter runs: which they are, by their paths, and which routines and loops their
 * text has: by indentation, and by brackets for comprehensions.
 *
 * In the model such a file is a module of its own. An address in it is a routine, by its first line, and a line in it
 * (wrap/format.h, archive/join_code.h).
 */
#pragma once
#include "analyze/code/answers.h"
#include "wrap/base/containers.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True for a file that may be shown as the script that a run says it is: the end of its name or its first line says so
 * too. */
bool script_is_source(const char *path);
/* True for code that is part of the interpreter itself. */
bool script_is_built_in(const char *path);
/* In the standard library, but not in a package that was added to it. */
bool script_is_standard(const char *path);
enum code_role script_role(const char *path);
/* So many bytes of the path name the package that the file was installed with, or code of no file; 0 = another file. */
size_t script_package_bytes(const char *path);

/* A routine or loop. */
enum { SCRIPT_NONE = UINT32_MAX };
enum script_kind { SCRIPT_ROUTINE, SCRIPT_LOOP, SCRIPT_COMPREHENSION };
/* Lines first to last; `parent` encloses it, and stands before it; SCRIPT_NONE = the file does. */
struct script_block {
    enum script_kind kind;
    uint32_t first, last, parent;
};
typedef VEC(struct script_block) script_blocks;

/* The blocks of a text, outer ones first. A routine begins with its first decorator. */
void script_parse(const char *text, size_t bytes, script_blocks *blocks);
/* Those of a file; none when it cannot be read. `path` may be NULL. */
void script_read(const char *path, script_blocks *blocks);

/* Of the text of a file; 0 = it cannot be read. */
uint64_t script_hash(const char *path);

struct arena;
/* The text of an expression of a line, by the columns of WW_CODE_EXPRESSION, in `arena`; NULL. */
const char *script_text_at(struct arena *arena, const char *path, uint32_t line, uint32_t columns);

enum { SCRIPT_LINES = 1 << 24, SCRIPT_FIRST_LINE_AT = 32 };
static inline uint32_t script_line(uint64_t address)
{
    return (uint32_t)(address & (SCRIPT_LINES - 1));
}
/* Of the routine at an address. */
static inline uint32_t script_first_line(uint64_t address)
{
    return (uint32_t)(address >> SCRIPT_FIRST_LINE_AT);
}
