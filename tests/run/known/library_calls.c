/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time passes inside the C library, in a few long calls: a program that was built to count has next to no work
 * there. It belongs to the loop with the calls, not to loops of the program with much work of their own. Rank 1 asks
 * for more in each call, which is not counted and looks as if it were slower: it is longer, and the library is named.
 *
 * ranks: 2
 * expect: loop=copies rank=1 share=0.5 call=MPI_Barrier routine=keep_states waiters=0 counted_kind=more-time
 *         says="inside libc"
 */
#include "known.h"
#include <string.h>

enum { STATES = 24, STATE_BYTES = 1 << 19, ROUNDS = 900 };
static char states[STATES + 1][STATE_BYTES];

__attribute__((noinline)) static void keep_states(size_t bytes)
{
    /* begin copies */
    for (int i = 0; i < STATES; i++)
        memmove(states[i], states[i + 1], bytes);
    /* end copies */
}

/* Takes some ms. It does something after the call: a call at its end would be a jump, which leaves no trace of it. */
__attribute__((noinline)) static void set_states(void)
{
    memset(states, 1, sizeof states);
    known_sink += states[STATES][0];
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    set_states();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        common_work(100000);
        keep_states(rank == 1 ? STATE_BYTES : STATE_BYTES / 32);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
