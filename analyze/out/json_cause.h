/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Causes, the machine and sites as JSON, with what is inside them. Private to json.c, which writes them one by one.
 *
 * A run may have a thousand sites with 64 classes each on thousands of ranks. Unless everything is asked for, each list
 * inside an object has a largest length; what it leaves out is counted in the object's `left_out`, with its waiting, so
 * that the sums of docs/json.md still hold.
 */
#pragma once
#include "analyze/out/json.h"
#include "analyze/out/label.h"

struct json {
    struct arena arena;
    struct arena scratch; /* of one item of a list */
    struct label_book book;
    const char **labels; /* of steps, when they have been asked for */
    const struct analysis *analysis;
    const struct json_options *options;
    int64_t *cause_ns, *site_ns, machine_ns;
    json_t *rest; /* its `left_out`: what the report's own lists leave out */
};

json_t *json_cause(struct json *json, uint32_t number);
json_t *json_partition(struct json *json, uint32_t number);
json_t *json_answer(struct json *json);
json_t *json_site(struct json *json, uint32_t number);
json_t *json_machine(struct json *json);
json_t *json_transfers(struct json *json);

/* The number of items shown of n: `most`, or all on request. */
uint32_t json_n_shown(const struct json *json, uint32_t n, uint32_t most);
/* Notes in object.left_out that n items of its list are missing, with so much waiting; < 0: the list has none. */
void json_leave_out(json_t *object, const char *list, uint32_t n, int64_t waiting_ns);

/* Values. */

json_t *json_ns(double ns);
json_t *json_ratio(double value); /* null when it is not finite */
json_t *json_rank(uint32_t rank); /* null for TRACE_NONE */
json_t *json_numbers(const uint32_t *at, uint32_t n);
json_t *json_step_name(struct json *json, uint32_t step);
/* The fields that tell a place in the code. */
json_t *json_place(struct json *json, uint32_t step);
/* Since the first event of the run. */
json_t *json_moment(const struct json *json, uint64_t time_ns);
