/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As wrapper.c, but the rate asked for is too low for any sample in so short a run: the code between two calls is told
 * by where the wrapper is called, not by its one line, which all calls share. (No line of wrapper.c may move.)
 *
 * ranks: 2
 * expect: routine="" file=none kind=any rank=1 share=0.85 call=MPI_Barrier site_in=assemble waiters=0
 *         name="code between MPI_Barrier wrapper.c:24 and MPI_Barrier wrapper.c:34"
 *         through=known_MPI_Barrier
 */
#include "wrapper.c"
