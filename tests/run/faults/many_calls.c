/* SPDX-License-Identifier: BSD-3-Clause */
/* So many calls on each rank as the argument says. */
#include <mpi.h>
#include <stdlib.h>

int main(int n_words, char **words)
{
    double own = 1, other;
    MPI_Init(&n_words, &words);
    for (long i = 2; i < atol(words[1]); i++)
        MPI_Sendrecv(&own, 1, MPI_DOUBLE, 0, 3, &other, 1, MPI_DOUBLE, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return MPI_Finalize();
}
