/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 owns a counter and computes; rank 1 takes numbers from it meanwhile. Whichever call it is that waits until
 * rank 0 comes back to MPI, rank 0 is late.
 *
 * ranks: 2
 * expect: loop=owner rank=0 share=0.8 waiting>=0.2 waiters=1
 *         call=MPI_Win_lock|MPI_Win_flush|MPI_Win_unlock|MPI_Fetch_and_op|MPI_Compare_and_swap|MPI_Get|MPI_Barrier
 */
#include "known.h"

enum { PHASES = 10, NUMBERS = 4 };

static void stay_away(void)
{
    double x = known_sink;
    /* begin owner */
    for (long i = 0; i < 16000000; i++)
        x = LINK(x);
    /* end owner */
    known_sink = x;
}

static void take_numbers(MPI_Win window)
{
    long one = 1, got = 0, old = 0;
    for (int i = 0; i < NUMBERS; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Fetch_and_op(&one, &got, MPI_LONG, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);
        MPI_Compare_and_swap(&one, &got, &old, MPI_LONG, 0, 1, window);
        MPI_Win_flush(0, window);
        MPI_Get(&got, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
        MPI_Win_unlock(0, window);
    }
}

int main(int argc, char **argv)
{
    static long memory[2];
    int rank = known_start(&argc, &argv);
    MPI_Win window;
    MPI_Win_create(memory, rank ? 0 : sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int phase = 0; phase < PHASES; phase++) {
        if (rank == 0)
            stay_away();
        else
            take_numbers(window);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
