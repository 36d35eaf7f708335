/* SPDX-License-Identifier: BSD-3-Clause */
/* The routine profile as text: a table of routines, or one routine with its callers and callees. */
#pragma once
#include "analyze/out/report.h"

enum { ROUTINES_SHOWN = 20 };

/* profile: analysis->profile or analysis->blame_profile. options->n_top: routines shown, 0 = all. */
void report_routines(FILE *out, const struct analysis *analysis, const struct profile *profile,
                     const struct report_options *options);
/* The routine of that name, also without its namespaces; of several, each. Returns 0, or -1 after error() when there is
 * none. */
int report_routine(FILE *out, const struct analysis *analysis, const struct profile *profile, const char *name,
                   const struct report_options *options);
