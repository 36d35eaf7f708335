/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From blame by class to causes. Each is an imbalance of the program, named by the loop or routine around all of it
 * (rollup.h), whatever state, caller and call site the blame came with. The machine's part is one row: time without a
 * CPU, wherever it was lost.
 */
#pragma once
#include "analyze/blame/causes_input.h"

/* Fills in the causes and the machine of the analysis. */
void causes_find(const struct causes_input *input);
