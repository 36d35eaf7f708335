/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Causes whose time passes inside a library that no counters are in. What such a library does more of each time looks
 * like work that is dearer: a matrix product of larger matrices is called as often.
 */
#pragma once
#include "analyze/result/result.h"
#include "analyze/steps/survey.h"

/* Names the library of causes that are told to be slower, where most samples were inside one. Causes
 * and steps are complete. */
void libraries_add_to_causes(struct analysis *analysis, struct sites *sites, const struct survey *survey);
