/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is asked for through routines of the program, one of which asks another one, also from another unit; and
 * a routine of the same type that allocates nothing of the kind. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef KNOWN_HELPERS
void *get(size_t bytes)
{
    void *block = malloc(bytes);
    if (!block)
        abort();
    return block;
}
void *get_clear(const char *what, size_t n, size_t bytes)
{
    char *block = get(n * bytes);
    for (size_t i = 0; i < n * bytes; i++)
        block[i] = *what;
    return block;
}
void *find(size_t at)
{
    static char *list[4];
    if (!list[at % 4])
        list[at % 4] = malloc(10);
    return list[at % 4];
}
#else
void *get(size_t bytes);
void *get_clear(const char *what, size_t n, size_t bytes);
void *find(size_t at);

static unsigned long long asked;
static void *volatile last;

static size_t ask(size_t bytes)
{
    asked += bytes;
    return bytes;
}

static void *get_inlined(size_t bytes)
{
    return malloc(bytes);
}

static __attribute__((noinline)) void build(int n)
{
    for (int i = 0; i < n; i++)
        free(last = get(ask(1000)));                   /* LARGE */
    free(last = get_clear("", 10, ask(300 * n) / 10)); /* SECOND */
    for (int i = 0; i < n; i++)
        free(last = get_inlined(ask(70))); /* INLINED */
    for (int i = 0; i < n; i++)
        last = find(1000000 + (size_t)i);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    build(100 * (rank + 1));
    ask(40);
    MPI_Barrier(MPI_COMM_WORLD);
    fprintf(stderr, "asked %d %llu\n", rank, asked);
    MPI_Finalize();
    return 0;
}
#endif
