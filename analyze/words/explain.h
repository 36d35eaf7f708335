/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a cause makes others wait, in one line, from what was measured of it. */
#pragma once
#include "analyze/words/label.h"
#include "analyze/result/result.h"

/* "rank 1 spends 4.0 x as long in it as ranks 0,2,3", and what else is known of it, in clauses. In the arena. */
const char *explain_cause(struct arena *arena, const struct cause *cause);
/* The kind of difference: "more time", or "more time 80 %, blocked 20 %" when the cause is mixed; "serialisation" where
 * no rank has more of it over the run. In the arena, or static. */
const char *explain_kind_words(struct arena *arena, const struct cause *cause);
/* "in loop a.c:7-9 in take()": where other threads of its processes wait for a cause's sleep; NULL = nowhere. */
const char *explain_awaited_in(struct arena *arena, const struct cause *cause);
/* How much sooner the run would end, mended: "-120 ms", "-40 ms to -120 ms" where late ranks lacked a CPU,
 * "up to -120 ms", "next to nothing", "nothing". The same as a part of the run, "" where it is next to nothing. In the
 * arena, or static. */
const char *explain_gain(struct arena *arena, const struct cause *cause);
const char *explain_gain_share(struct arena *arena, const struct cause *cause, double wall_ns);
/* "time without a CPU": what goes with the cause as well, where it gains more than its waiting; NULL: it does not. */
const char *explain_excess(enum gain_excess excess);
/* "2.0 x"; "2.0 x (1.6 to 2.5)", "2.0 x (at least 1.6)" where its error is worth saying. In the arena. */
const char *explain_ratio(struct arena *arena, struct ratio ratio);
/* "it has more of the data", "their CPUs or memory are slower" */
const char *explain_partition_reason(enum partition_reason reason, bool is_one_rank);
/* "rows 2-4 have the same rank late by the same factor: it has more of the data; together 224 ms, 81 % of all waiting";
 * NULL where there are none. `is_shown`: by cause, whether the reader has its row; of others there is only how many:
 * "row 2 and 3 more causes (--all) have". "are this rank's alone as well" where nobody else does it. NULL: any row can
 * be had by its number. */
const char *explain_like(struct arena *arena, const struct analysis *analysis, uint32_t number, const bool *is_shown);
/* "those who wait are nearly as long in loop a.c:5-9 in b() meanwhile", where they never come to a cause and would be
 * thought idle; NULL. In the arena of the book. */
const char *explain_instead(const struct label_book *book, const struct cause *cause);
/* "4.0 x as many iterations each time it is entered", "the condition at a.c:8 leads to line 9 90 %
 * of the time, on rank 0 10 %". `others`: who the others are. */
const char *explain_parting(struct arena *arena, const struct parting *parting, const char *others);
