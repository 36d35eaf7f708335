/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 looks at shared memory, with naps, until rank 1 has done four times its own work. Inside MPI nobody waits: the
 * report must not end there, and names the loop that looks, its rank and how long it looks. KNOWN_YIELDS: it offers its
 * CPU to others instead of its naps; what passes inside sched_yield belongs to the loop that calls it.
 *
 * ranks: 2
 * expect: waiting<=0.2 answer=waits-elsewhere first="in look() waits for memory to change"
 *   note="on rank 0: no record says" spins=0:0.5
 */
#include "known.h"
#include <sched.h>
#include <unistd.h>

/* Out of the way of the compiler, as a flag in another structure is. */
__attribute__((noinline)) static void look(const volatile int *memory, int until)
{
    while (*memory < until)
#ifdef KNOWN_YIELDS
        sched_yield();
#else
        usleep(200);
#endif
}

int main(int argc, char **argv)
{
    MPI_Win window;
    MPI_Aint bytes;
    int unit, *memory;
    int rank = known_start(&argc, &argv);
    MPI_Win_allocate_shared(rank ? 0 : 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &memory);
    for (int round = 1; round <= 100; round++) {
        common_work(rank ? 2000000 : 500000);
        if (rank)
            *(volatile int *)memory = round;
        else
            look(memory, round);
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
