/* SPDX-License-Identifier: BSD-3-Clause */
/* becomes HOW PROGRAM: calls MPI 100 times and becomes PROGRAM ("exec"), or runs it in ways that leave this process
 * what it is ("others"), whose parts end in all ways that there are. */
#include <mpi.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void run_others(char *program)
{
    char *arguments[] = {program, NULL};
    pid_t child, spawned;
    if ((child = vfork()) == 0) {
        execv(program, arguments);
        _exit(1);
    }
    posix_spawn(&spawned, program, NULL, NULL, arguments, environ);
    if (fork() == 0)
        execv(program, arguments);
    if (fork() == 0)
        exit(3);
    if (fork() == 0)
        abort();
    if (fork() == 0) { /* a daemon */
        setsid();
        if (fork() == 0) {
            for (int fd = 0; fd < 1024; fd++)
                close(fd);
            sleep(1);
            exit(0);
        }
        _exit(0);
    }
    execv("/no such program", arguments);
    if (system("exit 3") != 3 << 8)
        fputs("system() failed\n", stderr);
    while (wait(NULL) > 0)
        ;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 100; i++)
        MPI_Barrier(MPI_COMM_SELF);
    if (argc > 2 && strcmp(argv[1], "exec") == 0)
        execv(argv[2], argv + 2);
    if (argc > 2)
        run_others(argv[2]);
    MPI_Finalize();
    return 0;
}
