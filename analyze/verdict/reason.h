/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides why the late ranks of a cause are late: from executions where they are known, else from time.
 *
 * Once its kind and its balance are known.
 */
#pragma once
#include "analyze/verdict/sides.h"

/* Of those who are longer in it, or of all where nobody is. */
struct reason reason_of(const struct cause *cause, const struct sides *sides);
/* Of late ranks that are no longer in it than the others. */
struct reason reason_of_no_longer(const struct crowd *late, const struct crowd *others);
