/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which files are the sources of a recorded program, and not merely named by its debug information. A run says what it
 * wants: one that somebody else has made may name the reader's keys as its source, to have them copied into a page that
 * is then given away. So a file is believed to be a source where
 *   - the program that says so lies where it was recorded, the same build, and is the reader's own or the system's:
 *     nobody else has written its debug information;
 *   - the file lies in the folder in which a unit was compiled, or in that of the unit's own source, or below these or
 *     below the last folder that has both in it. Not below the reader's home as a whole, nor a folder that all may
 *     write to: they hold more than one program;
 *   - no part of the way down to it is hidden (".ssh");
 * or where all who use the system may read it, among its headers. Links count as what they lead to.
 */
#pragma once
#include "analyze/code/code.h"

bool tree_has_source(struct code *code, uint32_t module, const char *file);
/* Of any of the modules. */
bool tree_has_source_of_any(struct code *code, const char *file);
