/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 has a library of the distribution read more. Who has that from a package cannot build it to count, so the
 * advice names the package instead.
 *
 * ranks: 2
 * expect: routine="" kind=any rank=1 share=0.8 call=MPI_Barrier next="code of the package libjansson4"
 *         next_not=dbgsym name=", called from main() packaged.c:"
 */
#include "known.h"
#include <string.h>

/* As jansson.h has them: it need not be there. */
void *json_loads(const char *text, size_t flags, void *error);
void json_delete(void *json);

enum { NUMBERS = 30000, TIMES = 6 };

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv), n = rank == 1 ? TIMES * NUMBERS : NUMBERS;
    static char text[8 * TIMES * NUMBERS + 1];
    for (int i = 0; i < n; i++)
        memcpy(text + 8 * i, i == 0 ? "[123456," : i + 1 < n ? "1234567," : "123456] ", 8);
    for (int round = 0; round < 15; round++) {
        json_delete(json_loads(text, 0, NULL));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
