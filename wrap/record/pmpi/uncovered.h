/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of MPI that no wrapper covers: a newer MPI has some, and others are its own extensions. A report that knows
 * nothing of their calls would tell of a run in which nobody waits. So calls of them are counted on their way, and the
 * report names them.
 */
#pragma once

/* Once, when MPI is ready: has the calls counted that loaded objects make. */
void uncovered_watch(void);
/* At the end: notes the functions that were called. */
void uncovered_note(void);
