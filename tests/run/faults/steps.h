/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that go on in steps until something happens: deaths.c and perils.c. A step completes two calls of MPI, the
 * beginning three. Every rank keeps its count of completed calls in a shared mapping of the file truth-RANK in the
 * folder $TRUTH, where it can be read whatever becomes of the rank.
 */
#include <fcntl.h>
#include <glob.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N_STEPS = 200, EXIT_STATUS = 5 };
static volatile uint64_t *completed;
static int rank, size;

struct mode {
    const char *name;
    void (*happens)(void);
};

/* NULL = there is none. */
static const struct mode *mode_named(const struct mode *modes, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(name, modes[i].name))
            return &modes[i];
    return NULL;
}

static void count_open(void)
{
    char name[4096];
    const char *folder = getenv("TRUTH");
    snprintf(name, sizeof name, "%s/truth-%d", folder ? folder : ".", rank);
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, 8))
        abort();
    completed = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (completed == MAP_FAILED)
        abort();
    close(fd);
}

static void begin(int n_words, char **words)
{
    int provided;
    MPI_Init_thread(&n_words, &words, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    count_open();
    *completed = 3;
}

static void step(void)
{
    double out = rank, in, sum;
    MPI_Sendrecv(&out, 1, MPI_DOUBLE, (rank + 1) % size, 0, &in, 1, MPI_DOUBLE, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ++*completed;
    MPI_Allreduce(&in, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    ++*completed;
}

/* The name of the first run directory here; "" = there is none. */
static const char *run_directory(void)
{
    static char name[4096];
    glob_t found;
    if (!*name && glob("*.whywait", 0, NULL, &found) == 0)
        snprintf(name, sizeof name, "%s", found.gl_pathv[0]);
    return name;
}
