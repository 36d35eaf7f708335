/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An interpreter of computed gotos, which rank 1 has run three times as many operations. All its jumps are one loop,
 * which is told once.
 *
 * ranks: 2
 * expect: loop=operations routine=interpret rank=1 share=0.9 rows=1 call=MPI_Barrier waiters=0 counted_kind=more-work
 *         alike=0.2
 */
#include "known.h"

enum { ADD, MULTIPLY, SUBTRACT, REPEAT, END };

__attribute__((noinline)) static double interpret(const unsigned char *code, long times)
{
    static const void *const operations[] = {&&add, &&multiply, &&subtract, &&repeat, &&end};
    const unsigned char *at = code;
    double x = 1;
    /* begin operations */
    goto *operations[*at++];
add:
    x += 0.5;
    goto *operations[*at++];
multiply:
    x *= 0.999;
    goto *operations[*at++];
subtract:
    x -= 0.25;
    goto *operations[*at++];
repeat:
    if (--times > 0)
        at = code;
    goto *operations[*at++];
    /* end operations */
end:
    return x;
}

int main(int argc, char **argv)
{
    static const unsigned char code[] = {ADD, MULTIPLY, SUBTRACT, MULTIPLY, ADD, ADD, SUBTRACT, REPEAT, END};
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 60; step++) {
        known_sink += interpret(code, rank == 1 ? 900000 : 300000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
