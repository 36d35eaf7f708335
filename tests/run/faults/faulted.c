/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A deterministic program whose output and exit status (7) must not depend on what happens to its recorder; nor must
 * what a thread keeps under a key of its own, here the first one that there is.
 *
 * Most of its calls, which fill several segments of the spool, are messages to itself: two ranks that take turns need a
 * change of process for each message on a busy machine, minutes in all.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    enum { N_CALLS = 120000 };
    int rank, size, n = argc > 1 ? atoi(argv[1]) : N_CALLS;
    double sum = 0, value, in;
    pthread_key_t key;
    pthread_key_create(&key, NULL);
    pthread_setspecific(key, &sum);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < n; i++) {
        bool together = i % 1000 == 0;
        int shift = together ? 1 : 0;
        value = rank + i;
        MPI_Sendrecv(&value, 1, MPI_DOUBLE, (rank + shift) % size, 0, &in, 1, MPI_DOUBLE, (rank + size - shift) % size,
                     0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (together)
            MPI_Allreduce(&in, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        sum += value;
    }
    if (rank == 0)
        printf("sum %.0f\n", sum);
    MPI_Finalize();
    return pthread_getspecific(key) == &sum ? 7 : 8;
}
