/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the causes out, one by one, when all their sums are known. */
#pragma once
#include "analyze/blame/cause_sums.h"

/* The program's causes and the machine's row, into the analysis. */
void causes_write(struct causes *causes);
