/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a cause makes others wait, in one line, from what was measured of it. */
#pragma once
#include "analyze/result/result.h"

/* "rank 1 spends 4.0 x as long in it as ranks 0,2,3", and what else is known of it, in clauses. In the arena. */
const char *explain_cause(struct arena *arena, const struct cause *cause);
