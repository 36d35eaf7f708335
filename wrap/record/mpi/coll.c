/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective operations. One row an operation gives its parameters, and from it come the blocking, the non-blocking and
 * (MPI 4) the persistent call, each again with large counts where the MPI has them.
 *
 * Then the calls that make, free and name communicators. The call record belongs to the parent. The new communicator
 * has its own WW_COMM, which follows.
 */
#include "wrap/record/mpi/coll.h"
#include "wrap/record/mpi/init.h"
#include "wrap/record/threads.h"
#include <string.h>

/* T: type of a count, D: type of a displacement. */
#define P_BARRIER(T, D) MPI_Comm comm
#define A_BARRIER comm
#define P_BCAST(T, D) void *buf, T count, MPI_Datatype type, int root, MPI_Comm comm
#define A_BCAST buf, count, type, root, comm
#define P_REDUCE(T, D)                                                                                                 \
    const void *sendbuf, void *recvbuf, T count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm
#define A_REDUCE sendbuf, recvbuf, count, type, op, root, comm
#define P_ALLREDUCE(T, D) const void *sendbuf, void *recvbuf, T count, MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define A_ALLREDUCE sendbuf, recvbuf, count, type, op, comm
#define P_GATHER(T, D)                                                                                                 \
    const void *sendbuf, T sendcount, MPI_Datatype sendtype, void *recvbuf, T recvcount, MPI_Datatype recvtype,        \
        int root, MPI_Comm comm
#define A_GATHER sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm
#define P_GATHERV(T, D)                                                                                                \
    const void *sendbuf, T sendcount, MPI_Datatype sendtype, void *recvbuf, const T recvcounts[], const D displs[],    \
        MPI_Datatype recvtype, int root, MPI_Comm comm
#define A_GATHERV sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm
#define P_SCATTERV(T, D)                                                                                               \
    const void *sendbuf, const T sendcounts[], const D displs[], MPI_Datatype sendtype, void *recvbuf, T recvcount,    \
        MPI_Datatype recvtype, int root, MPI_Comm comm
#define A_SCATTERV sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm
#define P_ALL(T, D)                                                                                                    \
    const void *sendbuf, T sendcount, MPI_Datatype sendtype, void *recvbuf, T recvcount, MPI_Datatype recvtype,        \
        MPI_Comm comm
#define A_ALL sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm
#define P_ALLGATHERV(T, D)                                                                                             \
    const void *sendbuf, T sendcount, MPI_Datatype sendtype, void *recvbuf, const T recvcounts[], const D displs[],    \
        MPI_Datatype recvtype, MPI_Comm comm
#define A_ALLGATHERV sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm
#define P_ALLTOALLV(T, D)                                                                                              \
    const void *sendbuf, const T sendcounts[], const D sdispls[], MPI_Datatype sendtype, void *recvbuf,                \
        const T recvcounts[], const D rdispls[], MPI_Datatype recvtype, MPI_Comm comm
#define A_ALLTOALLV sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm
#define P_ALLTOALLW(T, D)                                                                                              \
    const void *sendbuf, const T sendcounts[], const D sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,       \
        const T recvcounts[], const D rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm
#define A_ALLTOALLW sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm
#define P_REDUCE_SCATTER(T, D)                                                                                         \
    const void *sendbuf, void *recvbuf, const T recvcounts[], MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define A_REDUCE_SCATTER sendbuf, recvbuf, recvcounts, type, op, comm

void coll_follow(struct ww_call *call, const struct comm_info *info)
{
    static const uint8_t classes[] = {
        WW_LOCAL,
#define WW_MPI(name, class, coll) class,
#include "wrap/mpi_calls.def"
#undef WW_MPI
    };
    uint8_t class = classes[call->call];
    if (class == WW_COLLECTIVE || class == WW_ICOLLECTIVE)
        call->tag = (int32_t)++((struct comm_info *)(uintptr_t)info)->n_collectives[class == WW_ICOLLECTIVE];
    /* Blocking ones have one order on all communicators, as long as one thread makes them. */
    bool is_of_all = info->size == recorder.n_ranks && !info->remote_size;
    if (recorder.is_windowed && class == WW_COLLECTIVE && is_of_all && (info->id == 1 || !recorder.has_thread_calls))
        recorder_self->is_at_all = true;
}

#define SEND_IN_PLACE (sendbuf == MPI_IN_PLACE)
#define RECV_IN_PLACE (recvbuf == MPI_IN_PLACE)

#define COLL_CALL(name, root, arguments, bytes, request)                                                               \
    struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                    \
    coll_begin(call, comm, root);                                                                                      \
    int err = NEXT(name) arguments;                                                                                    \
    const struct comm_info *info = coll_end(call, err, comm);                                                          \
    if (info) {                                                                                                        \
        bytes;                                                                                                         \
    }                                                                                                                  \
    request;                                                                                                           \
    record_leave(call, err);                                                                                           \
    return err;

#define TAKE_REQUEST                                                                                                   \
    if (call && err == MPI_SUCCESS)                                                                                    \
    call->request = HANDLE(*request)

#define BLOCKING(name, P, A, root, bytes)                                                                              \
    MPI_ENTRY(name, (P))                                                                                               \
    {                                                                                                                  \
        COLL_CALL(name, root, (A), bytes, (void)0)                                                                     \
    }
#define NON_BLOCKING(name, P, A, root, bytes)                                                                          \
    MPI_ENTRY(name, (P, MPI_Request * request))                                                                        \
    {                                                                                                                  \
        COLL_CALL(name, root, (A, request), bytes, TAKE_REQUEST)                                                       \
    }
#define PERSISTENT(name, P, A, root, bytes)                                                                            \
    MPI_ENTRY(name, (P, MPI_Info mpi_info, MPI_Request * request))                                                     \
    {                                                                                                                  \
        COLL_CALL(name, root, (A, mpi_info, request), bytes, TAKE_REQUEST)                                             \
    }

#define COLLECTIVE(name, iname, OP, Dsmall, root, bytes)                                                               \
    BLOCKING(name, P_##OP(int, Dsmall), A_##OP, root, bytes)                                                           \
    NON_BLOCKING(iname, P_##OP(int, Dsmall), A_##OP, root, bytes)                                                      \
    PERSISTENT(name##_init, P_##OP(int, Dsmall), A_##OP, root, bytes)                                                  \
    BLOCKING(name##_c, P_##OP(MPI_Count, MPI_Aint), A_##OP, root, bytes)                                               \
    NON_BLOCKING(iname##_c, P_##OP(MPI_Count, MPI_Aint), A_##OP, root, bytes)                                          \
    PERSISTENT(name##_init_c, P_##OP(MPI_Count, MPI_Aint), A_##OP, root, bytes)
PERSISTENT(Barrier_init, P_BARRIER(int, int), A_BARRIER, NO_ROOT, (void)0)

BLOCKING(Barrier, P_BARRIER(int, int), A_BARRIER, NO_ROOT, (void)0)
NON_BLOCKING(Ibarrier, P_BARRIER(int, int), A_BARRIER, NO_ROOT, (void)0)
COLLECTIVE(Bcast, Ibcast, BCAST, int, root, BYTES_BCAST(count, type))
COLLECTIVE(Reduce, Ireduce, REDUCE, int, root, BYTES_REDUCE(SEND_IN_PLACE))
COLLECTIVE(Allreduce, Iallreduce, ALLREDUCE, int, NO_ROOT, BYTES_ALLREDUCE(SEND_IN_PLACE))
COLLECTIVE(Gather, Igather, GATHER, int, root, BYTES_GATHER(SEND_IN_PLACE))
COLLECTIVE(Gatherv, Igatherv, GATHERV, int, root, BYTES_GATHERV(SEND_IN_PLACE))
COLLECTIVE(Scatter, Iscatter, GATHER, int, root, BYTES_SCATTER(RECV_IN_PLACE))
COLLECTIVE(Scatterv, Iscatterv, SCATTERV, int, root, BYTES_SCATTERV(RECV_IN_PLACE))
COLLECTIVE(Allgather, Iallgather, ALL, int, NO_ROOT, BYTES_ALL(SEND_IN_PLACE))
COLLECTIVE(Allgatherv, Iallgatherv, ALLGATHERV, int, NO_ROOT, BYTES_ALLGATHERV(SEND_IN_PLACE))
COLLECTIVE(Alltoall, Ialltoall, ALL, int, NO_ROOT, BYTES_ALL(SEND_IN_PLACE))
COLLECTIVE(Alltoallv, Ialltoallv, ALLTOALLV, int, NO_ROOT, BYTES_ALLTOALLV(SEND_IN_PLACE))
COLLECTIVE(Alltoallw, Ialltoallw, ALLTOALLW, int, NO_ROOT, BYTES_ALLTOALLW(SEND_IN_PLACE))
COLLECTIVE(Reduce_scatter, Ireduce_scatter, REDUCE_SCATTER, int, NO_ROOT, BYTES_REDUCE_SCATTER(SEND_IN_PLACE))
COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, ALLREDUCE, int, NO_ROOT, BYTES_ALLREDUCE(SEND_IN_PLACE))
COLLECTIVE(Scan, Iscan, ALLREDUCE, int, NO_ROOT, BYTES_SCAN(!SEND_IN_PLACE))
COLLECTIVE(Exscan, Iexscan, ALLREDUCE, int, NO_ROOT, BYTES_SCAN(false))
COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, ALL, int, NO_ROOT, BYTES_NEIGHBOR)
COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, ALLGATHERV, int, NO_ROOT, BYTES_NEIGHBOR_ALLGATHERV)
COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, ALL, int, NO_ROOT, BYTES_NEIGHBOR)
COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, ALLTOALLV, int, NO_ROOT, BYTES_NEIGHBOR_ALLTOALLV)
COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw, ALLTOALLW, MPI_Aint, NO_ROOT, BYTES_NEIGHBOR_ALLTOALLW)

/* The parent is learned now if need be. It was valid, since the call succeeded. */
void comm_made(struct ww_call *call, MPI_Comm parent, MPI_Comm made, bool pending)
{
    comm_created(made, call_parent(call, parent), pending);
    /* It takes both groups, and the parent is one of them. */
    if (call && call->call == WW_ID_Intercomm_create)
        call_comm_begin(call, made);
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
/* The members of the group alone call it: what the parent's other members do next is no part of it. */
CREATE_ORPHAN(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made), (comm, group, tag, made))
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

MPI_ENTRY(Comm_idup, (MPI_Comm comm, MPI_Comm *made, MPI_Request *request))
{
    struct ww_call *call = record_enter(WW_ID_Comm_idup, RECORD_HERE);
    coll_begin(call, comm, NO_ROOT);
    int err = NEXT(Comm_idup)(comm, made, request);
    idup_end(call, err, comm, made, request);
    return err;
}

MPI_ENTRY(Comm_idup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made, MPI_Request *request))
{
    struct ww_call *call = record_enter(WW_ID_Comm_idup_with_info, RECORD_HERE);
    coll_begin(call, comm, NO_ROOT);
    int err = NEXT(Comm_idup_with_info)(comm, info, made, request);
    idup_end(call, err, comm, made, request);
    return err;
}

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
