/* SPDX-License-Identifier: BSD-3-Clause */
/* Where memory was allocated: the table of `report --by space`, and the field `allocations` of docs/json.md. */
#pragma once
#include "analyze/out/report.h"
#include <jansson.h>

/* Allocation points by falling bytes. */
void report_space(FILE *out, const struct analysis *analysis, const struct report_options *options);
/* A new reference. Names that are no UTF-8 are escaped. */
json_t *json_space(const struct analysis *analysis);
