/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that make, free and name communicators. The call record belongs to the parent; the new communicator has its own
 * WW_COMM, which follows.
 */
#include "wrap/record/mpi/coll.h"
#include "wrap/record/mpi/sessions.h"
#include <string.h>

/* The parent is learned now if need be: it was valid, since the call succeeded. */
void comm_made(struct ww_call *call, MPI_Comm parent, MPI_Comm made, bool pending)
{
    const struct comm_info *info = call ? call_comm_end(call, parent) : comm_find(parent);
    comm_created(made, info ? info->id : 0, pending);
}

static void create_end(struct ww_call *call, int err, MPI_Comm parent, const MPI_Comm *made)
{
    if (err == MPI_SUCCESS && !fortran_depth)
        comm_made(call, parent, *made, false);
    record_leave(call, err);
}

static void idup_end(struct ww_call *call, int err, MPI_Comm parent, const MPI_Comm *made, const MPI_Request *request)
{
    if (err == MPI_SUCCESS && !fortran_depth)
        comm_made(call, parent, *made, true);
    if (call && err == MPI_SUCCESS)
        call->request = HANDLE(*request);
    record_leave(call, err);
}

#define CREATE(name, parameters, arguments, parent, made)                                                              \
    MPI_ENTRY(name, parameters)                                                                                        \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        coll_begin(call, parent, NO_ROOT);                                                                             \
        int err = NEXT(name) arguments;                                                                                \
        create_end(call, err, parent, made);                                                                           \
        return err;                                                                                                    \
    }

CREATE(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made), comm, made)
CREATE(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made), (comm, group, tag, made), comm,
       made)
CREATE(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made), comm, made)
CREATE(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made), (comm, info, made), comm, made)
CREATE(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made), comm, made)
CREATE(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
       (comm, type, key, info, made), comm, made)
CREATE(Cart_create, (MPI_Comm comm, int n_dims, const int dims[], const int periods[], int reorder, MPI_Comm *made),
       (comm, n_dims, dims, periods, reorder, made), comm, made)
CREATE(Cart_sub, (MPI_Comm comm, const int remain_dims[], MPI_Comm *made), (comm, remain_dims, made), comm, made)
CREATE(Graph_create, (MPI_Comm comm, int n_nodes, const int indexes[], const int edges[], int reorder, MPI_Comm *made),
       (comm, n_nodes, indexes, edges, reorder, made), comm, made)
CREATE(Dist_graph_create,
       (MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[], const int weights[],
        MPI_Info info, int reorder, MPI_Comm *made),
       (comm, n, sources, degrees, destinations, weights, info, reorder, made), comm, made)
CREATE(Dist_graph_create_adjacent,
       (MPI_Comm comm, int n_in, const int sources[], const int in_weights[], int n_out, const int destinations[],
        const int out_weights[], MPI_Info info, int reorder, MPI_Comm *made),
       (comm, n_in, sources, in_weights, n_out, destinations, out_weights, info, reorder, made), comm, made)
CREATE(Intercomm_create, (MPI_Comm comm, int local_leader, MPI_Comm bridge, int remote_leader, int tag, MPI_Comm *made),
       (comm, local_leader, bridge, remote_leader, tag, made), comm, made)
CREATE(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made), comm, made)

#define SPAWN(name, parameters, arguments)                                                                             \
    MPI_ENTRY(name, parameters)                                                                                        \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        coll_begin(call, comm, root);                                                                                  \
        int err = NEXT(name) arguments;                                                                                \
        create_end(call, err, comm, made);                                                                             \
        return err;                                                                                                    \
    }

SPAWN(Comm_spawn,
      (const char *command, char *argv[], int n, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made, int errors[]),
      (command, argv, n, info, root, comm, made, errors))
SPAWN(Comm_spawn_multiple,
      (int n_commands, char *commands[], char **argvs[], const int ns[], const MPI_Info infos[], int root,
       MPI_Comm comm, MPI_Comm *made, int errors[]),
      (n_commands, commands, argvs, ns, infos, root, comm, made, errors))
SPAWN(Comm_accept, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
      (port, info, root, comm, made))
SPAWN(Comm_connect, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
      (port, info, root, comm, made))

void comm_made_alone(struct ww_call *call, MPI_Comm made)
{
    comm_created(made, 0, false);
    if (call)
        call_comm_begin(call, made);
}

static void orphan_end(struct ww_call *call, int err, const MPI_Comm *made)
{
    if (err == MPI_SUCCESS && !fortran_depth)
        comm_made_alone(call, *made);
    record_leave(call, err);
}

#define CREATE_ORPHAN(name, parameters, arguments)                                                                     \
    MPI_ENTRY(name, parameters)                                                                                        \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        int err = NEXT(name) arguments;                                                                                \
        orphan_end(call, err, made);                                                                                   \
        return err;                                                                                                    \
    }

CREATE_ORPHAN(Comm_join, (int fd, MPI_Comm *made), (fd, made))
#if MPI_HAS_4
MPI_ENTRY(Comm_create_from_group,
          (MPI_Group group, const char *tag, MPI_Info info, MPI_Errhandler handler, MPI_Comm *made))
{
    struct ww_call *call = record_enter(WW_ID_Comm_create_from_group, RECORD_HERE);
    int err = NEXT(Comm_create_from_group)(group, tag, info, handler, made);
    if (err == MPI_SUCCESS && !fortran_depth)
        session_made(*made, RECORD_HERE);
    orphan_end(call, err, made);
    return err;
}

CREATE_ORPHAN(Intercomm_create_from_groups,
              (MPI_Group local, int local_leader, MPI_Group remote, int remote_leader, const char *tag, MPI_Info info,
               MPI_Errhandler handler, MPI_Comm *made),
              (local, local_leader, remote, remote_leader, tag, info, handler, made))
#endif

MPI_ENTRY(Comm_idup, (MPI_Comm comm, MPI_Comm *made, MPI_Request *request))
{
    struct ww_call *call = record_enter(WW_ID_Comm_idup, RECORD_HERE);
    coll_begin(call, comm, NO_ROOT);
    int err = NEXT(Comm_idup)(comm, made, request);
    idup_end(call, err, comm, made, request);
    return err;
}

#if MPI_HAS_4
MPI_ENTRY(Comm_idup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made, MPI_Request *request))
{
    struct ww_call *call = record_enter(WW_ID_Comm_idup_with_info, RECORD_HERE);
    coll_begin(call, comm, NO_ROOT);
    int err = NEXT(Comm_idup_with_info)(comm, info, made, request);
    idup_end(call, err, comm, made, request);
    return err;
}
#endif

/* The predefined communicators stay, whatever MPI_Comm_disconnect is called with. */
static struct comm_info *free_begin(struct ww_call *call, const MPI_Comm *comm)
{
    if (!comm)
        return NULL;
    if (call)
        call_comm_begin(call, *comm);
    return comm_forget(*comm);
}

static void free_end(struct ww_call *call, int err, MPI_Comm before, struct comm_info *info)
{
    if (err == MPI_SUCCESS)
        comm_drop(info);
    else
        comm_restore(before, info);
    record_leave(call, err);
}

#define FREE(name)                                                                                                     \
    MPI_ENTRY(name, (MPI_Comm * comm))                                                                                 \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        MPI_Comm before = comm ? *comm : mpi_handles.comm_null;                                                        \
        struct comm_info *info = free_begin(call, comm);                                                               \
        int err = NEXT(name)(comm);                                                                                    \
        free_end(call, err, before, info);                                                                             \
        return err;                                                                                                    \
    }

FREE(Comm_free)
FREE(Comm_disconnect)

MPI_ENTRY(Comm_set_name, (MPI_Comm comm, const char *name))
{
    struct ww_call *call = record_enter(WW_ID_Comm_set_name, RECORD_HERE);
    coll_begin(call, comm, NO_ROOT);
    int err = NEXT(Comm_set_name)(comm, name);
    if (call && err == MPI_SUCCESS) {
        call_comm_end(call, comm);
        name_write(WW_NAME_COMM, call->comm, name, strlen(name));
    }
    record_leave(call, err);
    return err;
}
