/* SPDX-License-Identifier: BSD-3-Clause */
/* many_threads N [together]: threads that call MPI, one after the other, or all of them before the first one ends. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_barrier_t all;
static int is_together;

static void *send_to_self(void *unused)
{
    int out = 1, in;
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    if (is_together)
        pthread_barrier_wait(&all);
    return unused;
}

int main(int argc, char **argv)
{
    int provided, n = argc > 1 ? atoi(argv[1]) : 0;
    pthread_attr_t attributes;
    pthread_t *threads = malloc((size_t)n * sizeof *threads);
    is_together = argc > 2;
    pthread_barrier_init(&all, NULL, (unsigned)n);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    for (int i = 0; i < n; i++) {
        if (pthread_create(&threads[i], &attributes, send_to_self, NULL))
            return 1;
        if (!is_together)
            pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < n && is_together; i++)
        pthread_join(threads[i], NULL);
    MPI_Finalize();
    free(threads);
    return 0;
}
