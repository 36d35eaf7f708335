/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call graph of every shape, over one kind of work: a chain of integer operations that runs at the same speed
 * wherever it is, so that shares of instructions and shares of time are the same thing.
 *
 *     work -> chain -> link -> step             three levels deep
 *     work -> often (many short), seldom (few long) -> step      one callee, unequal calls
 *     work -> tree -> tree ...                  recursion
 *     work -> even -> odd -> even ...           mutual recursion
 *     work -> inlined                           gone from the symbol table
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUTINE __attribute__((noinline, noclone)) static
#define UNIT 2000

static volatile unsigned sink;

ROUTINE unsigned step(unsigned seed, int n)
{
    for (; n > 0; n--) /* downwards, like the compiled loops of fixed length: as many instructions a turn */
        seed = seed * 1664525u + 1013904223u;
    return seed;
}

ROUTINE unsigned link_of(unsigned seed)
{
    seed = step(seed, 2 * UNIT);
    for (int i = 0; i < UNIT; i++)
        seed = seed * 22695477u + 1u;
    return seed;
}

ROUTINE unsigned chain(unsigned seed)
{
    for (int i = 0; i < UNIT; i++)
        seed = seed * 134775813u + 1u;
    return link_of(seed) + 1;
}

ROUTINE unsigned often(unsigned seed)
{
    for (int i = 0; i < 16; i++)
        seed = step(seed, UNIT / 16);
    return seed + 1;
}

ROUTINE unsigned seldom(unsigned seed)
{
    return step(seed, 4 * UNIT) + 1;
}

ROUTINE unsigned tree(unsigned seed, int depth)
{
    for (int i = 0; i < UNIT / 8; i++)
        seed = seed * 69069u + 1u;
    return depth ? tree(seed, depth - 1) + tree(seed + 1, depth - 1) + 1 : seed;
}

ROUTINE unsigned odd(unsigned seed, int n);

ROUTINE unsigned even(unsigned seed, int n)
{
    for (int i = 0; i < UNIT / 4; i++)
        seed = seed * 1103515245u + 12345u;
    return n ? odd(seed, n - 1) + 1 : seed;
}

ROUTINE unsigned odd(unsigned seed, int n)
{
    for (int i = 0; i < UNIT / 2; i++)
        seed = seed * 214013u + 2531011u;
    return n ? even(seed, n - 1) + 1 : seed;
}

static inline __attribute__((always_inline)) unsigned inlined(unsigned seed)
{
    for (int i = 0; i < 2 * UNIT; i++)
        seed = seed * 48271u + 11u;
    return seed;
}

ROUTINE unsigned work(int turns)
{
    unsigned seed = 1;
    for (int turn = 0; turn < turns; turn++) {
        seed = chain(seed);
        seed = often(seed);
        seed = seldom(seed);
        seed = tree(seed, 4);
        seed = even(seed, 5);
        seed = inlined(seed);
    }
    return seed;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    sink = work(argc > 1 ? atoi(argv[1]) : 100);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
