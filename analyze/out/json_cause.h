/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Causes, the machine and sites as JSON, with what is inside them. The report (json_report.c) writes them one by one.
 *
 * A run may have a thousand sites with 64 classes each on thousands of ranks. Unless everything is asked for, each list
 * inside an object has a largest length; what it leaves out is counted in the object's `left_out`, with its waiting, so
 * that the sums of docs/json.md still hold.
 */
#pragma once
#include "analyze/out/json.h"

json_t *json_cause(struct json *json, uint32_t number);
json_t *json_partition(struct json *json, uint32_t number);
json_t *json_answer(struct json *json);
json_t *json_site(struct json *json, uint32_t number);
json_t *json_machine(struct json *json);
json_t *json_transfers(struct json *json);
json_t *json_outside(struct json *json);
json_t *json_spinning(struct json *json);
