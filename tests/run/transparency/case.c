/* SPDX-License-Identifier: BSD-3-Clause */
/* The main function of all cases. */
#include "case.h"
#include <stdatomic.h>
#include <stdint.h>

enum { FNV_BASIS = 0x811c9dc5, MOST_RANKS = 64 };

int rank, size;
static uint64_t digest = FNV_BASIS;
static const char *running = "(none)";
static atomic_long counts[WW_N_CALLS];
static atomic_bool is_counting;

static const struct {
    const char *name;
    enum ww_class class;
} calls[] = {
    {"", WW_LOCAL},
#define WW_MPI(name, class, coll) {#name, class},
#include "wrap/mpi_calls.def"
#undef WW_MPI
};

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

void count_call(enum ww_call_id call)
{
    if (call == WW_ID_Init || call == WW_ID_Init_thread)
        is_counting = true;
    if (is_counting)
        counts[call]++;
    if (call == WW_ID_Finalize)
        is_counting = false;
}

static FILE *open_counts(void)
{
    char path[4096];
    const char *dir = getenv("CASE_CALLS");
    if (!dir)
        return NULL;
    snprintf(path, sizeof path, "%s/%d", dir, rank);
    FILE *file = fopen(path, "a");
    CHECK(file != NULL);
    return file;
}

void known_records(const char *type, long n)
{
    FILE *file = open_counts();
    if (!file)
        return;
    fprintf(file, "%s %ld\n", type, n);
    fclose(file);
}

/* Failing polls are folded into others, so that they cannot be counted one by one. */
static bool is_poll(int call)
{
    return calls[call].class == WW_TEST || calls[call].class == WW_IPROBE || call == WW_ID_Win_test;
}

static void write_counts(void)
{
    FILE *file = open_counts();
    for (int i = 1; file && i < WW_N_CALLS; i++)
        if (counts[i])
            fprintf(file, "%s%s %ld\n", is_poll(i) ? "WW_POLLS:" : "", calls[i].name, counts[i]);
    if (file)
        fclose(file);
}

void print_digest(void)
{
    uint64_t all[MOST_RANKS] = {0};
    MPI_Gather(&digest, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, WORLD);
    digest = FNV_BASIS;
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
        printf("%s %d %s\n", c->name, c->ranks, c->life == TOGETHER ? "together" : "alone");
    return 0;
}

static const struct mpi_case *find(const char *name)
{
    for (const struct mpi_case *c = cases; c->name; c++)
        if (strcmp(name, c->name) == 0)
            return c;
    fprintf(stderr, "there is no case %s\n", name);
    exit(2);
}

static void run_named(int n, char **names)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    for (int i = 0; i < n; i++) {
        running = names[i];
        find(names[i])->run();
        print_digest();
        MPI_Barrier(WORLD);
    }
    MPI_Finalize();
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--list") == 0)
        return list();
    if (argc > 1 && find(argv[1])->life == OWN_LIFE) {
        running = argv[1];
        find(argv[1])->run();
    } else {
        run_named(argc - 1, argv + 1);
    }
    write_counts();
    return 0;
}
