/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder's words: lines for the user on stderr, notes for the report. */
#pragma once
#include "wrap/launcher.h"
#include <stdbool.h>

/* "whywait: ..." and a new line, in one write, to the file that was standard error when the process began; to none
 * where descriptor 2 is another one by now. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* From now on a line also reaches that file where the program has closed descriptor 2, as `ls` does before it ends: by
 * another descriptor, not below this one. Children do not keep it. */
void say_keep(int least_fd);

/* The descriptor by which lines reach that file; -1 = none. */
int say_descriptor(void);

/*
 * Of what holds for all ranks, or for all ranks of a node, the first of them speaks: a line from each of a thousand
 * would bury the program's output. Known from the launcher's variables, since MPI cannot be asked at any time; without
 * these everybody is the first.
 */
bool say_is_first_rank(void);
bool say_is_first_on_node(void);
/*
 * Where the first of them may be the one that is missing: true for the first of a launcher's processes on a node that
 * asks. *claim is then a descriptor, to be closed when the others have asked; without one it is SAY_SILENT or, where
 * that cannot be known and so everybody speaks, SAY_UNKNOWN.
 */
enum { SAY_NOT_CLAIMED = -1, SAY_SILENT = LAUNCHER_TAKEN, SAY_UNKNOWN = LAUNCHER_UNKNOWN };
bool say_claim(int *claim);
/* A sentence for the report (WW_NOTE), once. From any thread, also from one whose own file is the trouble. It is kept
 * until somebody who owns a spool writes it. */
void say_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The sentence that was noted as the i-th; NULL if there are no more. */
const char *say_note_at(unsigned i);
