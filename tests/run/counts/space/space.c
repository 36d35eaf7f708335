/* SPDX-License-Identifier: BSD-3-Clause */
/* Every way of C to ask for memory, with the sum that the program itself keeps; rank 1 asks for most, in the loop that
 * makes the others wait. */
#define _GNU_SOURCE
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long asked;
static void *volatile last; /* what nobody looks at need not be allocated */

static size_t ask(size_t bytes)
{
    asked += bytes;
    return bytes;
}

/* Not counted twice where a pointer leads to it. */
static void *get_counted(size_t n)
{
    return malloc(ask(n));
}

void never_called(void);
void never_called(void)
{
    last = malloc(ask(1));
}

/* Straight-line code: every function of the family once. */
static __attribute__((noinline)) void ask_once(size_t n)
{
    void *block = NULL;
    free(last = malloc(ask(n)));
    last = calloc(n, ask(8 * n) / n);
    free(last = realloc(last, ask(2 * n)));
    if (posix_memalign(&block, 64, ask(64 * n)) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    free(last = block);
    free(last = aligned_alloc(32, ask(32 * n)));
}

/* Those that the compiler does not know, and the known ones where it does not see them. */
static __attribute__((noinline)) void ask_otherwise(size_t n)
{
    static void *(*volatile get)(size_t) = malloc;
    static void *(*volatile get_clear)(size_t, size_t) = calloc;
    static void *(*volatile get_more)(void *, size_t) = realloc;
    static void *(*volatile get_own)(size_t) = get_counted;
    char text[64] = "a string of some length, of which a part is copied as well";
    void *shared, *base;
    MPI_Win window;
    free(last = memalign(64, ask(64 * n)));
    free(last = valloc(ask(100 * n)));
    free(last = reallocarray(NULL, n, ask(8 * n) / n));
    text[n % 50] = 0;
    free(last = strdup(text));
    ask(strlen(text) + 1);
    free(last = strndup(text, n % 7));
    ask(strnlen(text, n % 7) + 1);
    free(last = get(ask(3 * n)));
    free(last = get_clear(n, ask(5 * n) / n));
    free(last = get_more(NULL, ask(7 * n)));
    free(last = get_own(11 * n));
    MPI_Alloc_mem((MPI_Aint)ask(9 * n), MPI_INFO_NULL, &shared);
    MPI_Free_mem(shared);
    MPI_Win_allocate((MPI_Aint)ask(13 * n), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_free(&window);
}

static __attribute__((noinline)) double build(int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double *list = malloc(ask(1000 * sizeof *list)); /* LOOP */
        for (int k = 0; k < 1000; k++)
            list[k] = k + i;
        for (int k = 0; k < 1000; k++)
            sum += list[k] * list[(k * 7 + i) % 1000];
        free(list);
    }
    return sum;
}

int main(int argc, char **argv)
{
    int rank;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 100; step++) {
        ask_once(1000 + rank);
        if (step % 10 == 0) {
            ask_otherwise(1000 + rank + step);
            sum += build(rank == 1 ? 12000 : 30); /* longer than a rank waits for a CPU that others use */
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (sum < 0)
        return 1;
    fprintf(stderr, "asked %d %llu\n", rank, asked);
    MPI_Finalize();
    return 0;
}
