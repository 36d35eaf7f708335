/* SPDX-License-Identifier: BSD-3-Clause */
/* The comparison of runs, as text and as JSON (docs/json.md). */
#pragma once
#include "analyze/compare/compare.h"
#include <stdio.h>

/* n_top: causes shown; 0 = all. */
void difference_print(FILE *out, const struct comparison *comparison, unsigned n_top, unsigned width);
/* Returns 0, or -1 after error(). */
int difference_print_json(FILE *out, const struct comparison *comparison);
