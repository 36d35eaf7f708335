/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first reading of a run: how long each step took, from samples and counts; which threads wait for whom. Sections
 * are shared among the processes of an engine, and all of them have all that was found.
 */
#pragma once
#include "analyze/engine/engine.h"
#include "analyze/readings/passes.h"

/* `passes` are zeros, but for what is wanted. 0, or -1 after error(). */
int first_reading(struct passes *passes, struct trace *trace, struct code *code, struct engine *engine);
