/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that ends in a chosen way at a chosen moment, and knows how many MPI calls it had completed by then.
 *
 *     ending HOW MILLISECONDS VICTIM
 *
 * HOW      finalize | abort | exit | _exit | segv | term | kill | finalize-crash | deadlock | run (goes on until
 * somebody else ends it) | file-limit (files may not grow any more; half a second later it finalizes) VICTIM   the rank
 * it happens to, or -1 for all; the others go on (and then wait for it for ever, unless mpirun ends them)
 *
 * Every rank keeps its count of completed calls in a shared mapping of the file truth-RANK in the working directory,
 * which survives any end. MPI_Init counts as the first.
 */
#include <mpi.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t *completed;
static int rank, size;

static void count_open(void)
{
    char name[32];
    snprintf(name, sizeof name, "truth-%d", rank);
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, 8))
        abort();
    completed = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (completed == MAP_FAILED)
        abort();
    close(fd);
}

static double now_ms(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec * 1e-6;
}

static int crash_in_delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    raise(SIGSEGV);
    return MPI_SUCCESS;
}

static void end_by(const char *how)
{
    if (!strcmp(how, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (!strcmp(how, "exit"))
        exit(0);
    if (!strcmp(how, "_exit"))
        _exit(0);
    if (!strcmp(how, "segv"))
        raise(SIGSEGV);
    if (!strcmp(how, "term"))
        raise(SIGTERM);
    if (!strcmp(how, "kill"))
        raise(SIGKILL);
    if (!strcmp(how, "deadlock")) {
        double value;
        MPI_Recv(&value, 1, MPI_DOUBLE, (rank + 1) % size, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Files larger than this, which others may have opened long ago, may not grow any more. */
static void limit_files(void)
{
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 65536, .rlim_max = RLIM_INFINITY});
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

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    const char *how = argv[1];
    double delay_ms = atof(argv[2]);
    int victim = atoi(argv[3]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    count_open();
    *completed = 3;
    if (!strcmp(how, "finalize-crash")) {
        int key;
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, crash_in_delete, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
        *completed += 2;
    }
    int go_on = 1, mine;
    int limits_files = !strcmp(how, "file-limit");
    for (double begin_ms = now_ms(); go_on;) {
        step();
        if (limits_files && now_ms() - begin_ms > delay_ms)
            limit_files();
        int late = now_ms() - begin_ms > delay_ms + (limits_files ? 500 : 0);
        if (late && (victim < 0 || victim == rank))
            end_by(how);
        mine = !late || !strcmp(how, "run");
        MPI_Allreduce(&mine, &go_on, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
        ++*completed;
    }
    ++*completed;
    MPI_Finalize();
    return 0;
}
