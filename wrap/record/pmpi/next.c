/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the functions and handles of MPI by name.
 *
 * RTLD_NEXT sees what was loaded with the program. An interpreter that opened MPI privately has it elsewhere, so the
 * loaded objects whose file name says MPI are asked next, ourselves excepted: a wrapper that found itself would
 * recurse.
 */
#include "wrap/record/pmpi/next.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

struct mpi_handles mpi_handles;

struct search {
    int nth; /* of the objects named libmpi...; counted down */
    char path[4096];
};

/* Only takes the name: the dynamic linker's locks are held here. */
static int search_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct search *search = context;
    const char *base = strrchr(info->dlpi_name, '/');
    if (strncmp(base ? base + 1 : info->dlpi_name, "libmpi", 6) != 0 || search->nth-- > 0)
        return 0;
    snprintf(search->path, sizeof search->path, "%s", info->dlpi_name);
    return 1;
}

static void *search_in(const char *path, const char *name)
{
    void *object = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    void *found = object ? dlsym(object, name) : NULL;
    if (object)
        dlclose(object);
    return found;
}

static bool is_ours(const void *address)
{
    Dl_info theirs, ours;
    return dladdr(address, &theirs) && dladdr(&mpi_handles, &ours) && theirs.dli_fbase == ours.dli_fbase;
}

static void *search_objects(const char *name)
{
    for (int nth = 0;; nth++) {
        struct search search = {.nth = nth};
        if (!dl_iterate_phdr(search_object, &search))
            return NULL;
        void *found = search_in(search.path, name);
        if (found && !is_ours(found))
            return found;
    }
}

static int missing(void)
{
    return MPI_ERR_OTHER;
}

static void *missing_say(const char *name)
{
    static int said;
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        fprintf(stderr, "whywait: the MPI library of this program has no %s: calls of it fail with MPI_ERR_OTHER\n",
                name);
    return (void *)missing;
}

static void *find(void *where, const char *name)
{
    int saved_errno = errno;
    void *found = dlsym(where, name);
    if (!found)
        found = search_objects(name);
    errno = saved_errno;
    return found;
}

void *next_find(const char *name)
{
    void *found = find(RTLD_NEXT, name);
    return found ? found : missing_say(name);
}

void *next_find_pmpi(const char *name)
{
    void *found = find(RTLD_DEFAULT, name);
    return found ? found : missing_say(name);
}

void *next_find_data(const char *name)
{
    return find(RTLD_DEFAULT, name);
}

#ifdef OPEN_MPI
static int load_handles(void)
{
    mpi_handles = (struct mpi_handles){
        .comm_world = next_find_data("ompi_mpi_comm_world"),
        .comm_self = next_find_data("ompi_mpi_comm_self"),
        .comm_null = next_find_data("ompi_mpi_comm_null"),
        .request_null = next_find_data("ompi_request_null"),
        .message_no_proc = next_find_data("ompi_message_no_proc"),
        .byte = next_find_data("ompi_mpi_byte"),
        .type_null = next_find_data("ompi_mpi_datatype_null"),
        .file_null = next_find_data("ompi_mpi_file_null"),
        .win_null = next_find_data("ompi_mpi_win_null"),
        .group_null = next_find_data("ompi_mpi_group_null"),
    };
    return mpi_handles.comm_world && mpi_handles.byte && mpi_handles.request_null ? 0 : -1;
}
#else
static int load_handles(void)
{
    mpi_handles = (struct mpi_handles){
        .comm_world = MPI_COMM_WORLD,
        .comm_self = MPI_COMM_SELF,
        .comm_null = MPI_COMM_NULL,
        .request_null = MPI_REQUEST_NULL,
        .message_no_proc = MPI_MESSAGE_NO_PROC,
        .byte = MPI_BYTE,
        .type_null = MPI_DATATYPE_NULL,
        .file_null = MPI_FILE_NULL,
        .win_null = MPI_WIN_NULL,
        .group_null = MPI_GROUP_NULL,
    };
    return next_find_data("ompi_mpi_comm_world") ? -1 : 0;
}
#endif

int next_load_handles(void)
{
    static bool is_loaded;
    if (!is_loaded && load_handles() != 0)
        return -1;
    is_loaded = true;
    return 0;
}
