/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/cmd/installation.h"
#include "analyze/cmd/program.h"
#include "analyze/files/paths.h"
#include "whywait_features.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool installation_find(const char *name, char path[PATH_MAX])
{
    static const char *const folders[] = {"../lib", "../lib64", "../lib/x86_64-linux-gnu", "../lib/aarch64-linux-gnu"};
    char tool[PATH_MAX], candidate[2 * PATH_MAX];
    char *slash = path_of_tool(tool) ? strrchr(tool, '/') : NULL;
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

static const struct {
    const char *name, *folder, *versions;
    bool fits_major; /* not one version only */
} compilers[INSTALLATION_COMPILERS] = {
    [INSTALLATION_GCC] = {"GCC", "gcc", WHYWAIT_GCCS, false},
    [INSTALLATION_CLANG] = {"clang", "clang", WHYWAIT_CLANGS, true},
};

const char *installation_compiler_name(enum installation_compiler compiler)
{
    return compilers[compiler].name;
}

const char *installation_versions(enum installation_compiler compiler)
{
    return compilers[compiler].versions;
}

bool installation_plugin(enum installation_compiler compiler, const char *version, char path[PATH_MAX])
{
    *path = '\0';
    for (const char *at = compilers[compiler].versions; *at; at += strspn(at, ", ")) {
        size_t length = strcspn(at, ",");
        char name[64], target[32];
        bool is_cross = sscanf(at, "%*[0-9.] for %31[^,]", target) == 1;
        snprintf(name, sizeof name, "whywait/%s-%d%s%s/whywait_plugin.so", compilers[compiler].folder, atoi(at),
                 is_cross ? "-" : "", is_cross ? target : "");
        bool is_it = !version || (strlen(version) == length && !strncmp(at, version, length)) ||
                     (compilers[compiler].fits_major && atoi(version) == atoi(at));
        if (is_it && installation_find(name, path))
            return true;
        at += length;
    }
    return false;
}

bool installation_counts(void)
{
    char path[PATH_MAX];
    for (int each = 0; each < INSTALLATION_COMPILERS; each++)
        if (installation_plugin((enum installation_compiler)each, NULL, path))
            return true;
    return false;
}

static void print_recorder(const char *mpis, enum program_mpi mpi)
{
    char path[PATH_MAX];
    bool is_there = installation_find(program_recorder(mpi), path);
    printf("  %-47s %s%s\n", mpis, is_there ? path : program_recorder(mpi),
           is_there ? "" : " is not in ../lib of this tool: no recorder");
}

static void print_plugins(void)
{
    char path[PATH_MAX];
    const char *title = "exact counts";
    for (int i = 0; i < INSTALLATION_COMPILERS; i++) {
        enum installation_compiler each = (enum installation_compiler)i;
        if (!*compilers[each].versions)
            continue;
        printf("  %-47s %s %s%s\n", title, compilers[each].name, compilers[each].versions,
               installation_plugin(each, NULL, path) ? "" : ", but its plugin is not in ../lib of this tool");
        title = "";
    }
    if (*title)
        printf("  %-47s no compiler plugin was built\n", title);
}

void installation_print(void)
{
    puts("whywait " WHYWAIT_VERSION);
    print_recorder("Open MPI 4, 5 and 6", PROGRAM_OPEN_MPI);
    print_recorder("MPICH, Intel MPI, Cray MPICH, MVAPICH", PROGRAM_MPICH);
    print_recorder("any MPI 5 by its standard ABI (libmpi_abi.so)", PROGRAM_STANDARD_ABI);
    print_plugins();
}
