/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 gets fresh memory from the kernel in a loop and touches one byte of each page, which it
 * gives back at once: hardly any time is its own.
 *
 * ranks: 3
 * expect: loop=touching rank=1 share=0.8 call=MPI_Barrier wait="wait at barrier" waiters=0,2 kind=blocked
 *         next="huge pages"
 */
#define _GNU_SOURCE
#include "known.h"
#include <sys/mman.h>

enum { PAGE = 4096, N_PAGES = 4096, N_TIMES = 1 };

static void touch_fresh_memory(void)
{
    /* begin touching */
    for (int i = 0; i < N_TIMES; i++) {
        char *at = mmap(NULL, PAGE * N_PAGES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            MPI_Abort(MPI_COMM_WORLD, 1);
        madvise(at, PAGE * N_PAGES, MADV_NOHUGEPAGE);
        for (long page = 0; page < N_PAGES; page++) {
            ((volatile char *)at)[page * PAGE] = 1;
            madvise(at + page * PAGE, PAGE, MADV_DONTNEED);
        }
        munmap(at, PAGE * N_PAGES);
    }
    /* end touching */
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 40; step++) {
        common_work(1000000);
        if (rank == 1)
            touch_fresh_memory();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
