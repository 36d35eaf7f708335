/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two calls of the C library, one behind the other, as often on both ranks. Rank 1 asks for more in the first one, and
 * its samples fall to that line more often than those of rank 0. That does not make more of the program's own
 * instructions there: what took longer is the library.
 *
 * ranks: 2
 * expect: loop=copies rank=1 share=0.5 call=MPI_Barrier routine=solve counted_kind=more-time
 *         says="inside libc" says_not=instructions
 */
#include "known.h"
#include <string.h>

enum { STEPS = 8000, STATE_BYTES = 1 << 20 };
static char state[STATE_BYTES], now[STATE_BYTES], table[STATE_BYTES], copy[STATE_BYTES];

__attribute__((noinline)) static void set_states(void)
{
    memset(state, 1, sizeof state);
    memset(now, 1, sizeof now);
    memset(table, 1, sizeof table);
    memset(copy, 1, sizeof copy);
}

__attribute__((noinline)) static void solve(size_t bytes)
{
    for (int step = 0; step < STEPS; step++) {
        common_work(5000);
        /* begin copies */
        memmove(now, state, bytes);
        /* end copies */
        memmove(copy, table, STATE_BYTES / 4);
        known_sink += now[step] + copy[step];
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    set_states();
    MPI_Barrier(MPI_COMM_WORLD);
    solve(rank == 1 ? STATE_BYTES : STATE_BYTES / 16);
    MPI_Finalize();
    return 0;
}
