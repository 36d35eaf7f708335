/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes what the passes found into struct analysis: sites, classes, causes, efficiency, open waits, notes. */
#pragma once
#include "analyze/steps/costs.h"
#include "analyze/waits/reader.h"

struct result_input {
    struct analysis *analysis; /* trace and code are set */
    struct sites *sites;
    const struct survey *survey;
    struct executions *executions;
    struct costs *costs;
    struct classes *classes;
    struct replay *replay;
    struct reader *reader;
};

void result_write(const struct result_input *input);
