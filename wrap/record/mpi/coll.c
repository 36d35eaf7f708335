/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective operations. One row an operation gives its parameters, and from it come the blocking, the non-blocking and
 * (MPI 4) the persistent call, each again with large counts where the MPI has them.
 */
#include "wrap/record/mpi/coll.h"

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

#if MPI_HAS_4
#define COLLECTIVE(name, iname, OP, Dsmall, root, bytes)                                                               \
    BLOCKING(name, P_##OP(int, Dsmall), A_##OP, root, bytes)                                                           \
    NON_BLOCKING(iname, P_##OP(int, Dsmall), A_##OP, root, bytes)                                                      \
    PERSISTENT(name##_init, P_##OP(int, Dsmall), A_##OP, root, bytes)                                                  \
    BLOCKING(name##_c, P_##OP(MPI_Count, MPI_Aint), A_##OP, root, bytes)                                               \
    NON_BLOCKING(iname##_c, P_##OP(MPI_Count, MPI_Aint), A_##OP, root, bytes)                                          \
    PERSISTENT(name##_init_c, P_##OP(MPI_Count, MPI_Aint), A_##OP, root, bytes)
PERSISTENT(Barrier_init, P_BARRIER(int, int), A_BARRIER, NO_ROOT, (void)0)
#else
#define COLLECTIVE(name, iname, OP, Dsmall, root, bytes)                                                               \
    BLOCKING(name, P_##OP(int, Dsmall), A_##OP, root, bytes)                                                           \
    NON_BLOCKING(iname, P_##OP(int, Dsmall), A_##OP, root, bytes)
#endif

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
