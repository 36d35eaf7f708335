/* SPDX-License-Identifier: BSD-3-Clause */
/* The analysis as JSON: the schema is docs/json.md, whose version is JSON_VERSION. */
#pragma once
#include "analyze/result/result.h"
#include <jansson.h>
#include <stdio.h>

/* Raised when a field changes its meaning or goes; new fields do not raise it. */
enum { JSON_VERSION = 6 };

struct json_options {
    uint32_t n_top;                 /* causes and sites printed; 0 = all */
    uint32_t cause;                 /* from 1: print this cause alone; 0 = all */
    uint32_t site;                  /* from 1: print this site alone; 0 = all */
    const struct profile *routines; /* NULL: no routine profile is printed */
    bool all;                       /* everything; otherwise at most about 1 MB without the routine profile */
};

/* Returns 0, or -1 after error() when `out` cannot be written. Times are integers that add up: causes[].waiting_ns to
 * waiting_ns, sites[].waiting_ns to waiting_ns, and below a cause or site its parts to its own. */
int json_print(FILE *out, const struct analysis *analysis, const struct json_options *options);

/* Hands out what a field of the report holds, one by one: the items of a list, which are freed behind `visit`, or the
 * value itself. False when there is no such field. */
bool json_visit(const struct analysis *analysis, const struct json_options *options, const char *field,
                void (*visit)(void *context, json_t *item), void *context);
