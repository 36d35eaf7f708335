/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timens SECONDS NANOSECONDS COMMAND...: runs a command in a time namespace whose CLOCK_MONOTONIC is ahead by that
 * much, which is how a node with another clock looks. Exit status 77 when the kernel refuses, else the command's.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int enter(const char *seconds, const char *nanoseconds)
{
    if (unshare(CLONE_NEWTIME) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWTIME) != 0)
        return -1;
    FILE *offsets = fopen("/proc/self/timens_offsets", "w");
    if (!offsets)
        return -1;
    fprintf(offsets, "monotonic %s %s\n", seconds, nanoseconds);
    return fclose(offsets);
}

int main(int argc, char **argv)
{
    int status = 0;
    if (argc < 4)
        return 2;
    if (enter(argv[1], argv[2]) != 0) {
        perror("timens: no time namespaces here");
        return 77;
    }
    pid_t child = fork(); /* children are in the new namespace, the caller is not */
    if (child == 0) {
        execvp(argv[3], argv + 3);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
