/* SPDX-License-Identifier: BSD-3-Clause */
/* The main function of all cases. */
#include "case.h"
#include <stdint.h>

int rank, size;
static uint64_t digest = 0xcbf29ce484222325u;
static const char *running;

void fold(const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        digest = (digest ^ byte[i]) * 0x100000001b3u;
}

void check(bool holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: case %s, rank %d: not true: %s\n", file, line, running, rank, what);
    MPI_Abort(WORLD, 99);
    exit(99);
}

void known_calls(const char *name, long n)
{
    char path[4096];
    const char *dir = getenv("CASE_CALLS");
    if (!dir)
        return;
    snprintf(path, sizeof path, "%s/%d", dir, rank);
    FILE *file = fopen(path, "a");
    CHECK(file != NULL);
    fprintf(file, "%s %ld\n", name, n);
    fclose(file);
}

void print_digest(void)
{
    uint64_t all[64] = {0};
    MPI_Gather(&digest, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, WORLD);
    if (rank != 0)
        return;
    printf("%s", running);
    for (int i = 0; i < size; i++)
        printf(" %016llx", (unsigned long long)all[i]);
    printf("\n");
    fflush(stdout);
}

static int list(void)
{
    for (const struct mpi_case *c = cases; c->name; c++)
        printf("%s %d\n", c->name, c->ranks);
    return 0;
}

static void run(const struct mpi_case *c, int *argc, char ***argv)
{
    if (!c->own_life) {
        MPI_Init(argc, argv);
        MPI_Comm_rank(WORLD, &rank);
        MPI_Comm_size(WORLD, &size);
    }
    c->run();
    if (!c->own_life) {
        print_digest();
        MPI_Finalize();
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--list") == 0)
        return list();
    for (const struct mpi_case *c = cases; c->name && argc > 1; c++) {
        if (strcmp(argv[1], c->name) != 0)
            continue;
        running = c->name;
        run(c, &argc, &argv);
        return 0;
    }
    fprintf(stderr, "usage: %s --list | CASE\n", argv[0]);
    return 2;
}
