/* SPDX-License-Identifier: BSD-3-Clause */
/* Why ranks had no CPU, in words: more of them than CPUs, CPUs that they share, other processes. */
#pragma once
#include "analyze/words/label.h"

/* What is known of the hosts on which ranks lacked a CPU, one sentence for those that are alike; what to look for where
 * nothing is. */
struct sentences shortage_reasons(const struct label_book *book);
/* "ranks 1,3 on node17 (8 ranks there)": those that carry most of the machine's row, and their host, if they share it.
 */
const char *shortage_ranks(const struct label_book *book);
