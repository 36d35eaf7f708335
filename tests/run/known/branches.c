/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks look at as many flags, but on rank 1 most of them are set, and what is then done divides four times. That
 * is more work, although the loop goes round as often. Its constants are taken out of the loop and leave less of it
 * there than what others do.
 *
 * ranks: 2
 * expect: loop=looks_at_flags rank=1 share=0.8 call=MPI_Barrier counted_kind=more-work
 */
#include "known.h"

enum { FLAGS = 400000, STEPS = 20, LOOKS = 15 };
static unsigned char flags[FLAGS];
static double values[FLAGS];

__attribute__((noinline)) static double look(const unsigned char *flag, const double *v)
{
    double sum = 1;
    /* begin looks_at_flags */
    for (int i = 0; i < FLAGS; i++) {
        if (flag[i])
            sum += 3.0 / (v[i] + 0.7) + 2.0 / (v[i] + 0.3) + 5.0 / (v[i] + 1.3) + 7.0 / (v[i] + 2.3);
        else
            sum = sum * 0.75 + 1.25;
    }
    /* end looks_at_flags */
    return sum;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    unsigned random = 1;
    for (int i = 0; i < FLAGS; i++) {
        random = random * 1664525u + 1013904223u;
        flags[i] = (random >> 16) % 10 < (rank == 1 ? 9 : 1);
        values[i] = (double)i / FLAGS;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < LOOKS; i++)
            known_sink = look(flags, values);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
