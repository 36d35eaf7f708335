/* SPDX-License-Identifier: BSD-3-Clause */
/* Every pass of the analysis, in order: from a trace and the code that ran to the result. */
#pragma once
#include "analyze/result/result.h"
#include "analyze/timeline/timeline.h"

/* Reads the trace twice, from its beginning. `code` may be NULL (then steps are regions); both are borrowed by the
 * result. `timeline`, with its budget set, is filled in as well when it is not NULL. Returns NULL after error(); to be freed by analysis_free. */
struct analysis *analysis_run(struct trace *trace, struct code *code, struct timeline *timeline);
void analysis_free(struct analysis *analysis);
