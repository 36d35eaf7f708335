/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 starts processes, one after the other, and waits for the end of each before every barrier.
 *
 * ranks: 3
 * expect: loop=starting rank=1 share=0.8 call=MPI_Barrier wait="wait at barrier" waiters=0,2 kind=blocked
 *     says="waiting for another process" next="start that process earlier" next_not=strace
 */
#define _GNU_SOURCE
#include "known.h"
#include <sys/wait.h>
#include <unistd.h>

#if defined KNOWN_SYSTEM
static int run(void)
{
    return system("sleep 0.02");
}
#elif defined KNOWN_POPEN
static int run(void)
{
    char line[8];
    FILE *child = popen("sleep 0.02; echo done", "r");
    return !child || !fgets(line, sizeof line, child) || pclose(child);
}
#else
static int run(void)
{
    int status = 1;
    pid_t child = fork();
    if (child == 0) {
        execlp("sleep", "sleep", "0.02", NULL);
        _exit(1);
    }
    return child < 0 || waitpid(child, &status, 0) != child || status;
}
#endif

static void start_each(int n)
{
    /* begin starting */
    for (int i = 0; i < n; i++)
        if (run() != 0)
            MPI_Abort(MPI_COMM_WORLD, 1);
    /* end starting */
}

int main(int argc, char **argv)
{
    int rank = known_start(&argc, &argv);
    for (int step = 0; step < 12; step++) {
        common_work(3000000);
        if (rank == 1)
            start_each(4);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
