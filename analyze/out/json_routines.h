/* SPDX-License-Identifier: BSD-3-Clause */
/* The routine profile as JSON: the field `routines` of docs/json.md. */
#pragma once
#include "analyze/result/result.h"
#include <jansson.h>

/* A new reference. Names that are no UTF-8 are escaped. */
json_t *json_routines(const struct analysis *analysis, const struct profile *profile);
