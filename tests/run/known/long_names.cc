// SPDX-License-Identifier: BSD-3-Clause
/*
 * The routine whose loop runs longer on rank 1 has a name of some ten thousand characters, as templates over lists
 * have. Its name is readable all the same.
 *
 * ranks: 2
 * expect: loop=stencil rank=1 share=0.9 call=MPI_Barrier routine=stencil<offsets<40000, waiters=0
 */
#include "known.h"
#include <utility>

enum { N_OFFSETS = 1500 };
template <int... I> struct offsets {
};

template <class Offsets> __attribute__((noinline)) void stencil(long n)
{
    double x = known_sink;
    /* begin stencil */
    for (long i = 0; i < n; i++)
        x = LINK(x);
    /* end stencil */
    known_sink = x;
}

template <int... I> __attribute__((noinline)) void step(long n, std::integer_sequence<int, I...>)
{
    stencil<offsets<(40000 + 3 * I)...>>(n);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int i = 0; i < 40; i++)
        step(rank == 1 ? 4000000 : 1000000, std::make_integer_sequence<int, N_OFFSETS>());
    MPI_Finalize();
    return 0;
}
