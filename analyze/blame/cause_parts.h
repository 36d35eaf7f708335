/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a cause: code inside the code that names it, with blame and time by rank. */
#pragma once
#include "analyze/blame/cause_sums.h"

/* Once, before the first cause is written: which nodes are parts of their causes. */
void parts_find(struct writer *writer);
/* Those of the cause at hand. */
void parts_write(struct writer *writer, struct cause *cause);
