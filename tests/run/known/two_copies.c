/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two calls of the C library, one behind the other, copy as much on both ranks. What rank 1 copies first lies elsewhere
 * in the memory each time. So its samples fall to that line more often than those of rank 0, which does not make it
 * more work.
 *
 * ranks: 2
 * expect: loop=copies rank=1 share=0.3 call=MPI_Barrier routine=solve counted_kind=slower
 *         says="as often as rank 0" says_not=instructions
 */
#include "known.h"
#include <string.h>

enum { STEPS = 5000, STATES = 512, STATE_BYTES = 1 << 18 };
static char states[STATES][STATE_BYTES], now[STATE_BYTES], table[3 * STATE_BYTES], copy[3 * STATE_BYTES];

__attribute__((noinline)) static void set_states(void)
{
    memset(states, 1, sizeof states);
    memset(now, 1, sizeof now);
    memset(table, 1, sizeof table);
    memset(copy, 1, sizeof copy);
}

__attribute__((noinline)) static void solve(int rank)
{
    for (int step = 0; step < STEPS; step++) {
        common_work(5000);
        /* begin copies */
        memcpy(now, states[rank == 1 ? step % STATES : 0], sizeof now);
        /* end copies */
        memcpy(copy, table, sizeof copy);
        known_sink += now[step] + copy[step];
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    set_states();
    MPI_Barrier(MPI_COMM_WORLD);
    solve(rank);
    MPI_Finalize();
    return 0;
}
