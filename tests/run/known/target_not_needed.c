/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As target_away.c, on a window in shared memory: nobody needs rank 0 there, and rank 1 waits for it in the barrier.
 *
 * ranks: 2
 * expect: loop=away rank=0 share=0.9 call=MPI_Barrier|MPI_Win_free wait="wait at barrier" waiters=1
 */
#include "target_away.c"
