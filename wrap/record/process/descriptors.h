/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of descriptors of the helper's own.
 *
 * A program that closes a file and opens another one expects the number of the first. The helper opens files all the
 * time, for some microseconds each, and would now and then have taken that number. So it leaves the program's table.
 *
 * A driver may take the end of a copied descriptor for the end of its process (XPMEM's does). In a process that holds a
 * device, and where the kernel refuses, the helper stays.
 */
#pragma once
#include <stdbool.h>

/* The calling thread leaves the table that it shares with all others, and takes along the `n` descriptors `kept`
 * (negative ones: none), under the same numbers. False: it shares the table as before. Once, before other threads
 * ask descriptors_may_stay. */
bool descriptors_leave(const int *kept, unsigned n);
/* May the calling thread leave files of ours open in its table? In the program's, only as long as there is no other. */
bool descriptors_may_stay(void);
