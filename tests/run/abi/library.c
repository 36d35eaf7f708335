/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library with the standard binary interface of MPI, for tests where no MPI 5 is installed: what the recorder and
 * program.c call, translated for MPICH. Values of both come from the recorder's table. Compiled once with
 * -DPREFIX=MPI_ and once with PMPI_, for one library or for two.
 *
 * MPICH is loaded privately and deeply bound: its functions have the same names. Functions that are given to it (for
 * attributes) get handles of MPICH.
 *
 * Sessions may begin and end any number of times, as MPICH 4.0 cannot: it stays up until the process ends. But handles
 * of one life of MPI are none in the next, and who gives one ends the program.
 */
#include "wrap/record/pmpi/abi.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
#define ABI_CONSTANT(name, open_mpi, mpich, standard) MPICH_##name = mpich,
#include "wrap/record/pmpi/abi.def"
};

static const struct {
    uintptr_t standard, mpich;
} handles[] = {
#define ABI_HANDLE(field, type, name, open_mpi, mpich, standard) {standard, mpich},
#include "wrap/record/pmpi/abi.def"
};
enum { N_HANDLES = sizeof handles / sizeof *handles };

/* Of both prefixes together. */
__attribute__((weak)) struct {
    int n_lives; /* that ended */
    int has_sessions;
} stub_state;

/* All handles but predefined ones are MPICH's numbers, with their life before them. */
static unsigned in(const void *handle)
{
    for (int i = 0; i < N_HANDLES; i++)
        if (handles[i].standard == (uintptr_t)handle)
            return (unsigned)handles[i].mpich;
    if ((int)((uintptr_t)handle >> 32) != stub_state.n_lives) {
        fprintf(stderr, "a handle of a life that ended\n");
        abort();
    }
    return (unsigned)(uintptr_t)handle;
}

static void *out(unsigned handle)
{
    for (int i = 0; i < N_HANDLES; i++)
        if (handles[i].mpich && handles[i].mpich == handle)
            return (void *)handles[i].standard;
    return (void *)((uintptr_t)stub_state.n_lives << 32 | handle);
}

static int rank_in(int rank)
{
    return rank == MPI_ANY_SOURCE  ? MPICH_MPI_ANY_SOURCE
           : rank == MPI_PROC_NULL ? MPICH_MPI_PROC_NULL
           : rank == MPI_ROOT      ? MPICH_MPI_ROOT
                                   : rank;
}

static int rank_out(int rank)
{
    return rank == MPICH_MPI_ANY_SOURCE ? MPI_ANY_SOURCE : rank == MPICH_MPI_PROC_NULL ? MPI_PROC_NULL : rank;
}

static const void *buffer_in(const void *buffer)
{
    return buffer == MPI_IN_PLACE ? (const void *)-1 : buffer;
}

struct mpich_status {
    int n_bytes[2], source, tag, error;
};

static struct mpich_status status_in(const MPI_Status *status)
{
    return (struct mpich_status){
        {status->internal[0], status->internal[1]}, rank_in(status->MPI_SOURCE), status->MPI_TAG, status->MPI_ERROR};
}

/* Whoever takes a status for a smaller one finds what was behind it overwritten. */
static void status_out(MPI_Status *status, const struct mpich_status *from)
{
    if (status)
        *status = (MPI_Status){.MPI_SOURCE = rank_out(from->source),
                               .MPI_TAG = from->tag,
                               .MPI_ERROR = from->error,
                               .internal = {from->n_bytes[0], from->n_bytes[1], -1, -1, -1}};
}

static void *find(const char *name)
{
    static void *mpich;
    if (!mpich)
        mpich = dlopen(MPICH_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    void *found = mpich ? dlsym(mpich, name) : NULL;
    if (!found) {
        fprintf(stderr, "no %s in %s\n", name, MPICH_LIBRARY);
        abort();
    }
    return found;
}

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(name) JOIN(PREFIX, name)
#define MPICH(name) ((int (*)())find("PMPI_" #name))
#define PASS(name, parameters, arguments)                                                                              \
    int NAME(name) parameters                                                                                          \
    {                                                                                                                  \
        return MPICH(name) arguments;                                                                                  \
    }
/* With a handle that comes out of it. */
#define MAKES(name, parameters, arguments, made)                                                                       \
    int NAME(name) parameters                                                                                          \
    {                                                                                                                  \
        unsigned handle = 0;                                                                                           \
        int err = MPICH(name) arguments;                                                                               \
        *made = out(handle);                                                                                           \
        return err;                                                                                                    \
    }
#define FREES(name, parameters, freed)                                                                                 \
    int NAME(name) parameters                                                                                          \
    {                                                                                                                  \
        unsigned handle = in(*freed);                                                                                  \
        int err = MPICH(name)(&handle);                                                                                \
        *freed = out(handle);                                                                                          \
        return err;                                                                                                    \
    }
/* With one status that comes out of it. */
#define RECEIVES(name, parameters, arguments)                                                                          \
    int NAME(name) parameters                                                                                          \
    {                                                                                                                  \
        struct mpich_status from = {0};                                                                                \
        int err = MPICH(name) arguments;                                                                               \
        status_out(status, &from);                                                                                     \
        return err;                                                                                                    \
    }
/* With one that goes in. */
#define ASKS(name, parameters, arguments)                                                                              \
    int NAME(name) parameters                                                                                          \
    {                                                                                                                  \
        struct mpich_status from = status_in(status);                                                                  \
        return MPICH(name) arguments;                                                                                  \
    }

int NAME(Abi_get_version)(int *major, int *minor)
{
    *major = 1;
    *minor = 0;
    return MPI_SUCCESS;
}

PASS(Init, (int *argc, char ***argv), (argc, argv))
PASS(Finalize, (void), ())
PASS(Finalized, (int *flag), (flag))
int NAME(Initialized)(int *flag)
{
    int err = MPICH(Initialized)(flag);
    *flag = *flag && !stub_state.has_sessions;
    return err;
}

PASS(Error_class, (int code, int *class), (code, class))
PASS(Get_library_version, (char *text, int *length), (text, length))

int NAME(Query_thread)(int *level)
{
    int err = MPICH(Query_thread)(level);
    *level = *level == MPICH_MPI_THREAD_MULTIPLE ? MPI_THREAD_MULTIPLE : 0;
    return err;
}

PASS(Comm_rank, (MPI_Comm comm, int *rank), (in(comm), rank))
PASS(Comm_size, (MPI_Comm comm, int *size), (in(comm), size))
PASS(Comm_test_inter, (MPI_Comm comm, int *flag), (in(comm), flag))
PASS(Topo_test, (MPI_Comm comm, int *kind), (in(comm), kind))
PASS(Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler handler), (in(comm), in(handler)))
MAKES(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (in(comm), &handle), made)
FREES(Comm_free, (MPI_Comm * comm), comm)
MAKES(Comm_group, (MPI_Comm comm, MPI_Group *made), (in(comm), &handle), made)
FREES(Group_free, (MPI_Group * group), group)
PASS(Group_translate_ranks, (MPI_Group a, int n, const int from[], MPI_Group b, int to[]), (in(a), n, from, in(b), to))
PASS(Comm_create_keyval, (MPI_Comm_copy_attr_function * copy, MPI_Comm_delete_attr_function *delete, int *key, void *x),
     (copy, delete, key, x))
PASS(Comm_free_keyval, (int *key), (key))
PASS(Comm_set_attr, (MPI_Comm comm, int key, void *value), (in(comm), key, value))

/* Each process set is taken for that of all. */
static unsigned world(void)
{
    return in((void *)0x101);
}

int NAME(Session_init)(MPI_Info info, MPI_Errhandler handler, MPI_Session *session)
{
    int is_up = 0;
    MPICH(Initialized)(&is_up);
    if (!is_up && MPICH(Init)(NULL, NULL) != MPI_SUCCESS)
        abort();
    stub_state.has_sessions = 1;
    *session = out(1);
    return MPI_SUCCESS;
}

int NAME(Session_finalize)(MPI_Session *session)
{
    in(*session);
    stub_state.n_lives++;
    return MPI_SUCCESS;
}

__attribute__((destructor)) static void end_sessions(void)
{
    int is_down = 1;
    if (stub_state.has_sessions && MPICH(Finalized)(&is_down) == MPI_SUCCESS && !is_down)
        MPICH(Finalize)();
}

PASS(Group_size, (MPI_Group group, int *size), (in(group), size))
PASS(Group_rank, (MPI_Group group, int *rank), (in(group), rank))

int NAME(Group_from_session_pset)(MPI_Session session, const char *name, MPI_Group *made)
{
    unsigned handle = in(session);
    int err = MPICH(Comm_group)(world(), &handle);
    *made = out(handle);
    return err;
}

int NAME(Comm_create_from_group)(MPI_Group group, const char *tag, MPI_Info info, MPI_Errhandler ignored,
                                 MPI_Comm *made)
{
    unsigned handle;
    int err = MPICH(Comm_create_group)(world(), in(group), 0, &handle);
    *made = out(handle);
    return err;
}

PASS(Type_size, (MPI_Datatype type, int *size), (in(type), size))
PASS(Type_size_x, (MPI_Datatype type, MPI_Count *size), (in(type), size))
ASKS(Get_count, (const MPI_Status *status, MPI_Datatype type, int *count), (&from, in(type), count))
ASKS(Get_elements_x, (const MPI_Status *status, MPI_Datatype type, MPI_Count *count), (&from, in(type), count))
ASKS(Test_cancelled, (const MPI_Status *status, int *flag), (&from, flag))

#define P_DATA int n, MPI_Datatype type
#define A_DATA n, in(type)
PASS(Barrier, (MPI_Comm comm), (in(comm)))
MAKES(Ibarrier, (MPI_Comm comm, MPI_Request *made), (in(comm), &handle), made)
PASS(Bcast, (void *data, P_DATA, int root, MPI_Comm comm), (data, A_DATA, rank_in(root), in(comm)))
MAKES(Ibcast, (void *data, P_DATA, int root, MPI_Comm comm, MPI_Request *made),
      (data, A_DATA, rank_in(root), in(comm), &handle), made)
PASS(Reduce, (const void *from, void *to, P_DATA, MPI_Op op, int root, MPI_Comm comm),
     (buffer_in(from), to, A_DATA, in(op), rank_in(root), in(comm)))
PASS(Allreduce, (const void *from, void *to, P_DATA, MPI_Op op, MPI_Comm comm),
     (buffer_in(from), to, A_DATA, in(op), in(comm)))
PASS(Gather, (const void *from, P_DATA, void *to, int n_to, MPI_Datatype type_to, int root, MPI_Comm comm),
     (buffer_in(from), A_DATA, to, n_to, in(type_to), rank_in(root), in(comm)))

PASS(Send, (const void *data, P_DATA, int to, int tag, MPI_Comm comm), (data, A_DATA, rank_in(to), tag, in(comm)))
RECEIVES(Recv, (void *data, P_DATA, int source, int tag, MPI_Comm comm, MPI_Status *status),
         (data, A_DATA, rank_in(source), tag, in(comm), &from))
MAKES(Isend, (const void *data, P_DATA, int to, int tag, MPI_Comm comm, MPI_Request *made),
      (data, A_DATA, rank_in(to), tag, in(comm), &handle), made)
MAKES(Irecv, (void *data, P_DATA, int source, int tag, MPI_Comm comm, MPI_Request *made),
      (data, A_DATA, rank_in(source), tag, in(comm), &handle), made)

int NAME(Test)(MPI_Request *request, int *flag, MPI_Status *status)
{
    unsigned handle = in(*request);
    struct mpich_status from = {0};
    int err = MPICH(Test)(&handle, flag, &from);
    *request = out(handle);
    if (*flag)
        status_out(status, &from);
    return err;
}

int NAME(Waitall)(int n, MPI_Request requests[], MPI_Status statuses[])
{
    unsigned list[n];
    struct mpich_status from[n];
    for (int i = 0; i < n; i++)
        list[i] = in(requests[i]);
    memset(from, 0, sizeof from); /* MPICH leaves those of sends as they are */
    int err = MPICH(Waitall)(n, list, from);
    for (int i = 0; i < n; i++) {
        requests[i] = out(list[i]);
        status_out(statuses ? &statuses[i] : NULL, &from[i]);
    }
    return err;
}
