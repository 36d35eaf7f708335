/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks sort once in each step, and rank 1 has twice as much to sort: that is more work, though the library is
 * called as often. The library has no counts, but how often it calls the comparison back tells how much it has to do.
 *
 * ranks: 2
 * expect: loop=sorts rank=1 share=0.8 call=MPI_Barrier waiters=0 counted_kind=more-work also=compares:1
 *         says="compare(), runs 2.1 x as often"
 */
#include "known.h"

enum { LENGTH_MAX = 60000 };
static struct element {
    unsigned number, rest[7];
} elements[LENGTH_MAX];

/* begin compares */
static int compare(const void *a, const void *b)
{
    const struct element *left = a, *right = b;
    return (left->number > right->number) - (left->number < right->number);
}
/* end compares */

static void fill(unsigned random)
{
    for (int i = 0; i < LENGTH_MAX; i++)
        elements[i].number = random = random * 1664525u + 1013904223u;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (unsigned round = 0; round < 60; round++) {
        fill(round);
        /* begin sorts */
        qsort(elements, rank == 1 ? LENGTH_MAX : LENGTH_MAX / 2, sizeof *elements, compare);
        /* end sorts */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
