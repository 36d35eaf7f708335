/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks had of their nodes: how many CPUs for how many ranks and threads, who else ran there, and what a limit
 * or the host of a virtual machine took away. From the processes' own facts (trace.h); it is what the machine's row of
 * a report gives as its reason.
 *
 * Ranks are crowded where a set of CPUs has more of them than CPUs: of each set that a rank may use, the ranks that may
 * use nothing else are counted. The smallest such set around them is told, and a node's CPUs are one like others.
 */
#pragma once
#include "analyze/result/result.h"

/* Adds the hosts of the trace to the machine of the analysis. */
void hosts_write(struct analysis *analysis);
