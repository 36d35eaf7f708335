/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/cmd/installation.h"
#include "analyze/cmd/program.h"
#include "whywait_features.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool installation_find(const char *name, char path[PATH_MAX])
{
    static const char *const folders[] = {"../lib", "../lib64", "../lib/x86_64-linux-gnu", "../lib/aarch64-linux-gnu"};
    char tool[PATH_MAX], candidate[2 * PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", tool, sizeof tool - 1);
    tool[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(tool, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; slash && i < sizeof folders / sizeof *folders; i++) {
        snprintf(candidate, sizeof candidate, "%s/%s/%s", tool, folders[i], name);
        if (realpath(candidate, path))
            return true;
    }
    *path = '\0';
    return false;
}

const char *installation_gccs(void)
{
    return WHYWAIT_GCCS;
}

bool installation_plugin(const char *gcc, char path[PATH_MAX])
{
    *path = '\0';
    for (const char *at = WHYWAIT_GCCS; *at; at += strspn(at, ", ")) {
        size_t length = strcspn(at, ",");
        char name[64];
        snprintf(name, sizeof name, "whywait/gcc-%d/whywait_plugin.so", atoi(at));
        bool is_it = !gcc || (strlen(gcc) == length && !strncmp(at, gcc, length));
        if (is_it && installation_find(name, path))
            return true;
        at += length;
    }
    return false;
}

static void print_recorder(const char *mpis, enum program_mpi mpi)
{
    char path[PATH_MAX];
    bool is_there = installation_find(program_recorder(mpi), path);
    printf("  %-47s %s%s\n", mpis, is_there ? path : program_recorder(mpi),
           is_there ? "" : " is not in ../lib of this tool: no recorder");
}

void installation_print(void)
{
    char path[PATH_MAX];
    puts("whywait " WHYWAIT_VERSION);
    print_recorder("Open MPI 4, 5 and 6", PROGRAM_OPEN_MPI);
    print_recorder("MPICH, Intel MPI, Cray MPICH, MVAPICH", PROGRAM_MPICH);
    print_recorder("any MPI 5 by its standard ABI (libmpi_abi.so)", PROGRAM_STANDARD_ABI);
    printf("  %-47s %s%s\n", "exact counts", *WHYWAIT_GCCS ? "GCC " WHYWAIT_GCCS : "no compiler plugin was built",
           *WHYWAIT_GCCS && !installation_plugin(NULL, path) ? ", but its plugin is not in ../lib of this tool" : "");
}
