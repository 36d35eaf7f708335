// SPDX-License-Identifier: BSD-3-Clause
/*
 * Rank 1 repeats a kernel that is a template over lambdas, all of it inlined or instantiated: the loop that repeats is
 * the cause, and what the lambdas do are its parts.
 *
 * ranks: 2
 * expect: loop=repeat_lambdas routine=relax rank=1 share=0.85 rows=1 call=MPI_Barrier counted_kind=more-work
 */
#include "known.h"
#include <vector>

template <typename Body> static inline void for_each_cell(std::vector<double> &cells, Body body)
{
    for (std::size_t i = 1; i + 1 < cells.size(); i++)
        cells[i] = body(cells[i - 1], cells[i], cells[i + 1]);
}

template <typename T> struct Limiter {
    T bound;
    __attribute__((noinline)) void apply(std::vector<T> &cells) const
    {
        for (T &cell : cells)
            cell = cell > bound ? bound : cell * T(0.9999) + T(1e-7);
    }
};

__attribute__((noinline)) static void relax(std::vector<double> &cells, int times)
{
    Limiter<double> limiter{2.0};
    /* begin repeat_lambdas */
    for (int time = 0; time < times; time++) {
        for_each_cell(cells, [](double left, double cell, double right) { return 0.25 * (left + 2 * cell + right); });
        for_each_cell(cells,
                      [](double left, double cell, double right) { return cell / (1.01 + 1e-3 * left * right); });
        limiter.apply(cells);
        for_each_cell(cells, [time](double left, double, double right) { return 0.5 * (left + right) + 1e-6 * time; });
    }
    /* end repeat_lambdas */
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    std::vector<double> cells(60000, 1.0 + rank);
    for (int step = 0; step < 60; step++) {
        relax(cells, rank == 1 ? 16 : 4);
        known_sink = cells[step];
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
