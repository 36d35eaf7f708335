/* SPDX-License-Identifier: BSD-3-Clause */
/* The answer in one line, and the level above the rows: ranks that are late in many places for one reason. */
#pragma once
#include "analyze/words/label.h"
#include "analyze/result/result.h"

/* "Rank 3 makes others wait, most in loop a.c:3-9 in solve(): 1.73 s, 84 % of all waiting." */
const char *headline(const struct label_book *book);
/* "rank 0 takes 2.0 x as long in 168 places. It has more of the data" */
const char *headline_partition(struct arena *arena, const struct partition *partition);
/* The same, said of one of its causes. */
const char *headline_member(struct arena *arena, const struct partition *partition);
/* "time there: rank 0 4.00 s, ranks 1-3 2.00 s" */
const char *headline_times(struct arena *arena, const struct partition *partition);
/* What to do next about it. Static. */
const char *headline_next(const struct partition *partition);
