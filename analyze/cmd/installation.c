/* SPDX-License-Identifier: BSD-3-Clause */
#include "analyze/cmd/installation.h"
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
