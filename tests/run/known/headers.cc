/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time passes in std::sort, which is called outside any loop of the program's own between two waits: one part of it
 * is inlined, another is routines of a system header. All of it is one loop, on the line of the call.
 *
 * ranks: 2
 * expect: loop=sort_call rank=1 share=0.9 call=MPI_Barrier routine=arrange waiters=0 counted_kind=more-work
 */
#include "known.h"
#include <algorithm>
#include <vector>

struct Particle {
    double x;
    unsigned cell;
};

static void scatter(std::vector<Particle> &all, unsigned seed)
{
    for (Particle &p : all) {
        seed = seed * 1664525u + 1013904223u;
        p = {seed * 1e-9, seed >> 24};
    }
}

static void arrange(std::vector<Particle> &all)
{
    /* begin sort_call */
    std::sort(all.begin(), all.end(), [](const Particle &a, const Particle &b) { return a.x < b.x; });
    /* end sort_call */
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    std::vector<Particle> all(rank == 1 ? 120000 : 10000);
    for (unsigned round = 0; round < 60; round++) {
        scatter(all, round);
        arrange(all);
        known_sink = all[0].x;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
