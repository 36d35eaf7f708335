/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second reading of a run: who waited for whom, and why. Sections are shared among the processes of an engine. What
 * each has found is given to the first one, and added in the order of sections; the others end.
 */
#pragma once
#include "analyze/engine/engine.h"
#include "analyze/readings/passes.h"

/* After the first reading. The engine has ended then; where reading has failed, the trace says so. */
void second_reading(struct passes *passes, struct engine *engine);
