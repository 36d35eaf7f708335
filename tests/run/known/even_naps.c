/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks sleep alike before they meet: nobody waits inside MPI, and yet most of the time is lost. The first line
 * says where.
 *
 * ranks: 2
 * expect: waiting<=0.1 answer=waits-elsewhere first="most blocked in throttle() even_naps.c"
 */
#include "known.h"

__attribute__((noinline)) static void throttle(void)
{
    known_nap(15000000);
    known_sink += 1;
}

int main(int argc, char **argv)
{
    known_start(&argc, &argv);
    for (int step = 0; step < 30; step++) {
        common_work(500000);
        throttle();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
