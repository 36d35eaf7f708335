/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All that runs at once in a recorded program: threads that call MPI concurrently (messages, polls, collectives on
 * communicators of their own), threads that only compute, threads that come and go, an OpenMP loop where the compiler
 * has OpenMP, a library loaded and unloaded. Rank 0 prints the number of MPI calls made by all; exit status 0.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { N_THREADS = 3, N_GENERATIONS = 3, N_MESSAGES = 200, N_POLLS_APART = 20 };

static int rank, n_ranks;
static MPI_Comm comms[N_THREADS];
static atomic_long n_calls;

#define CALL(call)                                                                                                     \
    do {                                                                                                               \
        atomic_fetch_add_explicit(&n_calls, 1, memory_order_relaxed);                                                  \
        if ((call) != MPI_SUCCESS)                                                                                     \
            abort();                                                                                                   \
    } while (0)

static double compute(double seconds)
{
    double sum = 0;
    clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
    while (clock() < end)
        for (int i = 0; i < 1000; i++)
            sum += i;
    return sum;
}

static void *compute_only(void *unused)
{
    (void)unused;
    static volatile double sink;
    double sum = compute(0.05);
    __atomic_store(&sink, &sum, __ATOMIC_RELAXED);
    return NULL;
}

/* The failing polls are not counted: nobody knows how many there will be. */
static void poll_for(MPI_Comm comm, int source)
{
    MPI_Request request;
    int in, done = 0;
    CALL(MPI_Irecv(&in, 1, MPI_INT, source, 1, comm, &request));
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    while (!done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    atomic_fetch_add_explicit(&n_calls, 1, memory_order_relaxed);
}

static void *communicate(void *context)
{
    MPI_Comm comm = *(MPI_Comm *)context;
    int to = (rank + 1) % n_ranks, from = (rank + n_ranks - 1) % n_ranks, in;
    for (int i = 0; i < N_MESSAGES; i++) {
        CALL(MPI_Sendrecv(&i, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE));
        if (i % N_POLLS_APART)
            continue;
        MPI_Request request;
        CALL(MPI_Isend(&i, 1, MPI_INT, to, 1, comm, &request));
        poll_for(comm, from);
        CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CALL(MPI_Barrier(comm));
    }
    return NULL;
}

static void run_generation(void)
{
    pthread_t threads[N_THREADS], other;
    pthread_create(&other, NULL, compute_only, NULL);
    for (int i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, communicate, &comms[i]);
    void *library = dlopen("libutil.so.1", RTLD_NOW);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_join(other, NULL);
    if (library)
        dlclose(library);
}

static double shared_loop(void)
{
    double sum = 0;
#ifdef _OPENMP
#pragma omp parallel for reduction(+ : sum) num_threads(3)
#endif
    for (int i = 0; i < 30; i++)
        sum += compute(0.001);
    return sum;
}

int main(int argc, char **argv)
{
    int level;
    long all, mine;
    CALL(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
    if (level < MPI_THREAD_MULTIPLE) {
        puts("0"); /* this MPI has no threads */
        return MPI_Finalize();
    }
    CALL(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CALL(MPI_Comm_size(MPI_COMM_WORLD, &n_ranks));
    for (int i = 0; i < N_THREADS; i++)
        CALL(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    for (int i = 0; i < N_GENERATIONS; i++)
        run_generation();
    double sum = shared_loop();
    for (int i = 0; i < N_THREADS; i++)
        CALL(MPI_Comm_free(&comms[i]));
    mine = atomic_load(&n_calls) + 2;
    MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && sum >= 0)
        printf("%ld\n", all);
    MPI_Finalize();
    return 0;
}
