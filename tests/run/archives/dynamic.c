/* SPDX-License-Identifier: BSD-3-Clause */
/* Two processes start two more of the same program, talk with them and part. */
#include <mpi.h>

#define WORLD MPI_COMM_WORLD

/* The sum of all values on both sides. */
static int talk(MPI_Comm other, int rank, int is_first)
{
    MPI_Comm all;
    int value = rank + 1, in = 0, sum = 0;
    for (int i = 0; i < 5; i++) {
        MPI_Sendrecv(&value, 1, MPI_INT, rank, i, &in, 1, MPI_INT, rank, i, other, MPI_STATUS_IGNORE);
        MPI_Barrier(WORLD);
    }
    MPI_Intercomm_merge(other, !is_first, &all);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&other);
    return sum;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_get_parent(&other);
    int is_first = other == MPI_COMM_NULL;
    if (is_first)
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, WORLD, &other, MPI_ERRCODES_IGNORE);
    int sum = talk(other, rank, is_first);
    MPI_Finalize();
    return sum != 6; /* 1 + 2 on either side */
}
