/* SPDX-License-Identifier: BSD-3-Clause */
/* What those who wait for a cause did before they waited, as the class tells that has most of the cause. Private to the
 * writing of causes. */
#pragma once
#include "analyze/blame/cause_sums.h"

/* Fills in meanwhile, instead and instead_share. */
void other_side_write(const struct causes *causes, const struct cause_sums *sums, struct cause *cause);
