/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs in a row: scaling as a table with exponents, versions over time as bars; and runs of one kind, summed up. */
#pragma once
#include "analyze/compare/series.h"
#include "analyze/out/page.h"
#include <stdio.h>

struct series_options {
    unsigned n_top; /* causes shown; 0 = all */
    unsigned width; /* columns of the text */
    struct look look;
};

void series_print(FILE *out, const struct series *series, const struct series_options *options);
void series_print_trend(FILE *out, const struct series *series, const struct series_options *options);
/* Runs of one kind (a comparison of one side): mean, spread, smallest and largest of each row, and counts summed. */
void summary_print(FILE *out, const struct comparison *comparison, const struct series_options *options);
/* Returns 0, or -1 after error(), as series_print_json. */
int summary_print_json(FILE *out, const struct comparison *comparison);
int series_print_json(FILE *out, const struct series *series);
