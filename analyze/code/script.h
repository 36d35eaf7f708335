/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source files of code that an interpreter runs. They stand in the model as modules of their own: an address is a
 * routine, by its first line, and a line in it (wrap/format.h, archive/join_code.h). Which routines there are, frames
 * tell; which loops are around a line, the source does, if it is there: by indentation, and by brackets for
 * comprehensions.
 */
#pragma once
#include "analyze/code/code.h"
#include "analyze/code/model.h"

/* True for code that is part of the interpreter itself. */
bool script_is_built_in(const char *path);
enum code_role script_role(const char *path);
/* The blocks of a text, outer ones first. A routine begins with its first decorator. */
void script_parse(const char *text, size_t bytes, script_blocks *blocks);

/* Of a module that is a script: the lines of its routines, when it is opened; and the model of one. */
void script_open(struct code *code, struct module *module);
struct model *script_build(struct code *code, uint32_t module, uint32_t routine);
struct code_spot script_spot(struct code *code, uint32_t module, uint64_t address);
/* The line of a call at this address as a place; CODE_NONE when it is in no routine. */
uint32_t script_call_make(struct code *code, uint32_t module, uint64_t address, bool is_loop);
