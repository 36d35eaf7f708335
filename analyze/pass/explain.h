/* SPDX-License-Identifier: BSD-3-Clause */
/* One line that says why a cause makes others wait, from what was measured of it. */
#pragma once
#include "analyze/pass/analysis.h"

void explain_cause(struct arena *arena, struct cause *cause);
