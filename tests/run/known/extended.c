/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * As interpreted.c, but the work is done in the extension module: it is told as the script calls it, and the advice is
 * for somebody who writes scripts.
 *
 * ranks: 2
 * expect: routine=work file=none name="in planted" rank=1 share=0.9 call=MPI_Barrier site_in=exchange
 *         next="the extension module planted"
 */
#include "known.h"

enum { CALL = 2, END = 3 };
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
    static const int program[] = {CALL, END};
    int rank = known_start(&argc, &argv), counts[3] = {0, 0, rank == 1 ? 2000000 : 200000};
    for (int round = 0; round < 60; round++) {
        known_sink += interpret(program, counts, planted_methods() + 1);
        known_sink += interpret(program, counts, planted_methods());
    }
    MPI_Finalize();
    return 0;
}
