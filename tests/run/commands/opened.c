/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that is not linked with MPI and opens what brings it in, and the library that it opens.
 *
 *     opened local|global|deep LIBRARY     calls the library, which is linked with MPI
 *     opened handle|default MPI            calls what dlsym finds in MPI, by its handle or in the global scope
 *     opened closed MPI                    by its handle, and closes it again
 */
#ifdef LIBRARY
#include <mpi.h>

int brings_mpi(void);

int brings_mpi(void)
{
    MPI_Init(NULL, NULL);
    for (int i = 0; i < 50; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
#else
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *find(void *where, const char *name)
{
    void *found = dlsym(where, name);
    if (!found) {
        puts(dlerror());
        exit(4);
    }
    return found;
}

static int by_name(void *mpi, void *where)
{
    int (*init)(int *, char ***) = (int (*)(int *, char ***))find(where, "MPI_Init");
    int (*barrier)(void *) = (int (*)(void *))find(where, "MPI_Barrier");
    int (*finalize)(void) = (int (*)(void))find(where, "MPI_Finalize");
    init(NULL, NULL);
    for (int i = 0; i < 50; i++)
        barrier(find(mpi, "ompi_mpi_comm_world"));
    return finalize();
}

int main(int n_words, char **words)
{
    if (n_words != 3)
        return 2;
    const char *how = words[1];
    int flags = !strcmp(how, "global") || !strcmp(how, "default") ? RTLD_GLOBAL : RTLD_LOCAL;
    void *opened = dlopen(words[2], RTLD_NOW | flags | (strcmp(how, "deep") ? 0 : RTLD_DEEPBIND));
    if (!opened) {
        puts(dlerror());
        return 3;
    }
    if (!strcmp(how, "handle") || !strcmp(how, "default"))
        return by_name(opened, *how == 'h' ? opened : RTLD_DEFAULT);
    if (!strcmp(how, "closed"))
        return by_name(opened, opened) || dlclose(opened);
    return ((int (*)(void))find(opened, "brings_mpi"))();
}
#endif
