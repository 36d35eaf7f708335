/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks 0 and 1 write into the window of rank 2, and rank 0 is late each time: rank 2 waits for it, not for rank 1, in
 * MPI_Win_wait and in a loop of MPI_Win_test, and all wait for it in a fence that asserts that nothing precedes it.
 *
 * ranks: 3
 * expect: loop=late_origin rank=0 share=0.8 call=MPI_Win_wait|MPI_Win_test|MPI_Win_fence sites=3
 */
#include "windows.h"

enum { TARGET = 2 };

static void be_late(int rank)
{
    double x = known_sink;
    /* begin late_origin */
    for (long i = 0; rank == 0 && i < 4000000; i++)
        x = LINK(x);
    /* end late_origin */
    known_sink = x;
}

static void write_to_target(int rank, MPI_Group target, MPI_Win window)
{
    double value = rank;
    MPI_Win_start(target, 0, window);
    MPI_Put(&value, 1, MPI_DOUBLE, TARGET, rank, 1, MPI_DOUBLE, window);
    be_late(rank);
    MPI_Win_complete(window);
}

static void be_written_to(int polls, MPI_Group origins, MPI_Win window)
{
    MPI_Win_post(origins, 0, window);
    if (!polls)
        MPI_Win_wait(window);
    for (int done = !polls; !done;)
        MPI_Win_test(window, &done);
}

int main(int argc, char **argv)
{
    static const int members[] = {0, 1, TARGET};
    double *memory;
    MPI_Group all, origins, target;
    int rank = known_start(&argc, &argv);
    MPI_Win window = known_window(&memory);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 2, members, &origins);
    MPI_Group_incl(all, 1, members + 2, &target);
    for (int round = 0; round < 20; round++) {
        for (int polls = 0; polls < 2; polls++) {
            if (rank == TARGET)
                be_written_to(polls, origins, window);
            else
                write_to_target(rank, target, window);
        }
        be_late(rank);
        MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, window);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&origins);
    MPI_Group_free(&target);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
