/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of a JSON document: numbers, text of recorded programs, times and places of a run; and how a list tells that
 * it is cut. All are new references.
 */
#pragma once
#include "analyze/words/label.h"
#include "analyze/result/result.h"
#include <jansson.h>
#include <stdio.h>

/* Null for NULL. Bytes that are no UTF-8, which jansson refuses, come escaped. */
json_t *json_text(const char *text);
json_t *json_ns(double ns);
json_t *json_ratio(double value); /* null when it is not finite */
json_t *json_rank(uint32_t rank); /* null for TRACE_NONE */
json_t *json_numbers(const uint32_t *at, uint32_t n);

/* A report in the making. */
struct json {
    struct arena arena;
    struct arena scratch; /* of one item of a list */
    struct label_book book;
    const char **labels; /* of steps, when they have been asked for */
    const struct analysis *analysis;
    bool has_all; /* no list is cut */
    int64_t *cause_ns, *site_ns, machine_ns;
    json_t *rest; /* its `left_out`: what the report's own lists leave out */
};

json_t *json_step_name(struct json *json, uint32_t step);
/* The fields that tell a place in the code. */
json_t *json_place(struct json *json, uint32_t step);
/* Since the first event of the run. */
json_t *json_moment(const struct json *json, uint64_t time_ns);

/* The number of items shown of n: `most`, or all on request. */
uint32_t json_n_shown(const struct json *json, uint32_t n, uint32_t most);
/* Notes in object.left_out that n items of its list are missing, with so much waiting; < 0: the list has none. */
void json_leave_out(json_t *object, const char *list, uint32_t n, int64_t waiting_ns);

/* Writes an object that was made whole, and lets go of it. Returns 0, or -1 after error(). */
int json_write(FILE *out, json_t *object);
