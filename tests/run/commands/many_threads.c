/* SPDX-License-Identifier: BSD-3-Clause */
/* many_threads N: threads that call MPI, one after the other. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

static void *send_to_self(void *unused)
{
    int out = 1, in;
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    return unused;
}

int main(int argc, char **argv)
{
    int provided, n = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    for (int i = 0; i < n; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, send_to_self, NULL))
            return 1;
        pthread_join(thread, NULL);
    }
    MPI_Finalize();
    return 0;
}
