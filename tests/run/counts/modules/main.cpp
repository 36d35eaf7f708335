/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with a shared library, a static archive, a template that two units instantiate, and a library that is
 * loaded, unloaded and loaded again. */
#include "shared.h"
#include "tests/run/counts/sync.h"
#include <cstdio>
#include <dlfcn.h>

static int load_and_run(const char *path, int n)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        return std::fprintf(stderr, "%s\n", dlerror()), -1;
    int (*run)(int) = (int (*)(int))dlsym(library, "late_work");
    int sum = run(n);
    counts_sync();
    sum += run(n / 2);
    counts_sync();
    dlclose(library);
    return sum;
}

int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 0; i < 20; i++)
        sum += shared_work(i) + archive_work(i) + summed<int>(i);
    counts_sync();
    for (int i = 0; i < 3 && argc > 1; i++)
        sum += load_and_run(argv[1], 10 + i);
    counts_sync();
    std::printf("%d\n", sum);
}
