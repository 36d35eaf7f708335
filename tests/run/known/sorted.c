/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks sort equally many lists, but rank 1's are longer: that is more work, though its loop goes round as often.
 * Nearly all of it is done inside the C library, which has no counts; the comparison that the library calls back has.
 *
 * ranks: 2
 * expect: loop=sorts_lists rank=1 share=0.8 call=MPI_Barrier waiters=0 counted_kind=more-work
 */
#include "known.h"

enum { LISTS = 20, LENGTH_MAX = 8000 };
static unsigned list[LENGTH_MAX];

static int compare(const void *a, const void *b)
{
    unsigned left = *(const unsigned *)a, right = *(const unsigned *)b;
    return (left > right) - (left < right);
}

static void fill(void)
{
    unsigned random = 1;
    for (int i = 0; i < LENGTH_MAX; i++)
        list[i] = random = random * 1664525u + 1013904223u;
}

static void sort_lists(size_t length)
{
    /* begin sorts_lists */
    for (int i = 0; i < LISTS; i++) {
        fill();
        qsort(list, length, sizeof *list, compare);
    }
    /* end sorts_lists */
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int round = 0; round < 60; round++) {
        sort_lists(rank == 1 ? LENGTH_MAX : LENGTH_MAX / 8);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
