// SPDX-License-Identifier: BSD-3-Clause
/*
 * Functions in functions, 150 deep on rank 1 and 15 deep on rank 0: the stack of rank 1 has more frames than are
 * recorded. The time inside the library's headers still belongs to the loop that calls it.
 *
 * ranks: 2
 * expect: loop=evaluates rank=1 share=0.8 call=MPI_Barrier
 */
#include "known.h"
#include <functional>

using function = std::function<double(double)>;

static function nest(int depth)
{
    function outermost = [](double x) { return x; };
    for (int i = 0; i < depth; i++)
        outermost = [outermost, i](double x) { return 0.5 * outermost(x) + i; };
    return outermost;
}

__attribute__((noinline)) static double evaluate(const function &what, int n)
{
    double sum = 0;
    /* begin evaluates */
    for (int i = 0; i < n; i++)
        sum += what(i);
    /* end evaluates */
    return sum;
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    function what = nest(rank ? 150 : 15);
    for (int step = 0; step < 60; step++) {
        known_sink = evaluate(what, 8000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
}
