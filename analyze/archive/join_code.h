/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code that an interpreter ran. A source file is a module of the archive. An address in it has three numbers: the
 * routine's first line, which of the routines that begin there, and the line. So it is the same on all ranks.
 */
#pragma once
#include "analyze/archive/join.h"
#include "wrap/format.h"

/* The number in join->code_infos of a routine that a spool file defines. */
uint32_t join_take_code(struct join *join, const struct ww_code *record);
/* The routine around an address in a module that is a source file; NULL. */
const struct join_code_info *join_code_at(const struct join *join, uint32_t module, uint64_t address);
/* The frame of a routine at a line, called from `parent`. In some versions a comprehension is a routine of its own. It
 * becomes its line in the routine around it, and takes the place of the frame of `parent`. */
struct join_frame join_code_frame(const struct join *join, uint32_t parent, uint32_t code, uint32_t line,
                                  bool is_return);
/* The context of the same frame at an expression of its line, by the columns of WW_CODE_EXPRESSION. */
uint32_t join_code_expression(struct join *join, uint32_t context, uint32_t columns);
