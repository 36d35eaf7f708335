/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counted places that leave their work to code that is not counted: a library's, or code made at run time. The samples
 * of all processes tell. Such a place may run as often and have more to do each time. But the library may call the
 * program back, as a sort does to compare, and that is counted.
 */
#pragma once
#include "analyze/steps/calltree.h"
#include "analyze/steps/sites.h"

struct uncounted {
    struct sparse n, generated, libraries; /* samples by place: all, and below it in code made at run time, a library */
    struct sparse callbacks;               /* by (place, place that a library calls back from there) */
};

void uncounted_find(struct uncounted *uncounted, struct sites *sites, const struct survey *survey);
void uncounted_release(struct uncounted *uncounted);
/* Most samples of the place are in code made at run time; in libraries, and there are some. */
bool uncounted_is_generated(const struct uncounted *uncounted, uint32_t place);
bool uncounted_is_library(const struct uncounted *uncounted, uint32_t place);
/* The place that its libraries call back most, and that hardly anybody else calls; CODE_NONE. */
uint32_t uncounted_calls_back(const struct uncounted *uncounted, uint32_t place);
