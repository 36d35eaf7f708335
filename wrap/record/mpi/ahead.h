/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other tools of MPI's profiling interface. One that the dynamic linker finds behind us is called by us. One that it
 * finds ahead of us (preloaded before us, or linked into the program) takes calls first, and passes them on to MPI's
 * PMPI_ names: past us. That is seen by looking our own entry points up as the program does.
 */
#pragma once
#include <stdbool.h>

/* Leaves a note for the report if functions of ours are found elsewhere first. */
void ahead_note(void);
