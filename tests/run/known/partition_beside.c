/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The forty loops of partition.c, of which rank 1 has twice as much, and a loop that is uneven by itself, on rank 0.
 * The partition is told first, and that loop as the one row that is no part of it.
 *
 * ranks: 2
 * expect: loop=beside_cells rank=0 share=0.1 call=MPI_Barrier waiters=1 partition=1:2:20:0.5 own=beside_cells:0
 *         counted_kind=more-work
 */
#define KNOWN_EXTRA
#include "partition.c"
