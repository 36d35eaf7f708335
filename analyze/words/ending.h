/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a run ended and what is missing from it, in whole sentences: waits that never ended (and whether they form a
 * ring: a deadlock), ranks that were killed or never reached MPI_Finalize, dropped records, clocks, and the notes of
 * recorder, trace, code model and analysis. The text report prints them; the JSON has them as "notes".
 */
#pragma once
#include "analyze/words/label.h"

/* Waits that never ended, a deadlock first; and everything else. */
struct sentences ending_hang(const struct label_book *book);
struct sentences ending_rest(const struct label_book *book);
/* False when this thread of a rank never reached MPI_Finalize; also true for NULL. */
bool ending_is_orderly(const struct trace *trace, const struct trace_location *location);
/* "called MPI_Abort(3)": what is behind the rank in a sentence; NULL where it ended in order. */
const char *ending_verb(const struct label_book *book, const struct trace_location *location);
/* "finalize", "exit", "abort", "signal", "gave-up", "killed". */
const char *ending_name(const struct trace *trace, const struct trace_location *location);
