/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A script of which rank 1 has more to run. The interpreter's loops say nothing of the script: all of it is one place.
 * What it calls is an extension module, stripped, as distributions have them: it is told as it is imported, and its
 * routine as the script calls it.
 *
 * ranks: 2
 * expect: routine="Python code" file=none name="Python code" rank=1 share=0.9 call=MPI_Barrier
 *         site_in=exchange note="runs Python code" next="a profiler for Python"
 */
#include "known.h"

enum { ADD, MULTIPLY, CALL, END };
struct method {
    const char *name;
    int (*call)(int);
    int flags;
    const char *doc;
};

double interpret(const int *program, const int *counts, const struct method *method);
const struct method *planted_methods(void);

int main(int argc, char **argv)
{
    static const int program[] = {ADD, MULTIPLY, CALL, END};
    int rank = known_start(&argc, &argv), counts[3] = {100000, 100000, 1};
    if (rank == 1)
        counts[0] *= 12, counts[1] *= 8;
    for (int round = 0; round < 60; round++)
        known_sink += interpret(program, counts, planted_methods());
    MPI_Finalize();
    return 0;
}
