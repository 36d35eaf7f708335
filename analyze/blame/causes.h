/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From blame by class to causes: imbalances of the program, each named by the loop or routine around all of it
 * (rollup.h), whatever state, caller and call site the blame came with; and what the machine held up, as one: time
 * without a CPU, wherever it was lost.
 */
#pragma once
#include "analyze/blame/causes_input.h"

void causes_find(const struct causes_input *input);
