/* SPDX-License-Identifier: BSD-3-Clause */
/* The places of allocation: the table of `report --by space`. */
#pragma once
#include "analyze/out/report.h"

/* Allocation points by falling bytes. */
void report_space(FILE *out, const struct analysis *analysis, const struct report_options *options);
