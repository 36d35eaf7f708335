/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes that a process sends and receives in a collective operation, counted as OTF2 defines them for MpiCollectiveEnd:
 * every pair of processes that the operation's definition makes exchange data counts, a process with itself included
 * unless the data is in place. `n` is the number of processes on the other side: all of an intracommunicator, or the
 * remote group.
 *
 * Called only after the operation succeeded. Arguments that MPI calls "not significant" here are not looked at.
 */
#pragma once
#include "wrap/record/mpi/call.h"
#include "wrap/record/recorder.h"
#include <limits.h>

enum { NO_ROOT = INT_MIN };

static inline void coll_begin(struct ww_call *call, MPI_Comm comm, int root)
{
    if (!call)
        return;
    call_comm_begin(call, comm);
    if (root == NO_ROOT)
        return;
    call->peer = root >= 0 ? root : root == MPI_ROOT ? WW_PEER_ROOT : WW_NO_PEER;
    if (root == MPI_PROC_NULL)
        call->flags |= WW_F_NULL;
}

/* Members agree on the order of collectives on a communicator: their numbers find each other also where a ring has lost
 * the first ones, and windows begin and end behind the same one of all processes. */
void coll_follow(struct ww_call *call, const struct comm_info *info);

/* The communicator, if bytes are to be counted. */
static inline const struct comm_info *coll_end(struct ww_call *call, int err, MPI_Comm comm)
{
    if (!call || err != MPI_SUCCESS)
        return NULL;
    const struct comm_info *info = call_comm_end(call, comm) ? comm_find(comm) : NULL;
    if (info && __builtin_expect(recorder.options.last_bytes > 0 || recorder.is_windowed, 0))
        coll_follow(call, info);
    return call->flags & WW_F_NULL ? NULL : info;
}

static inline uint64_t coll_n(const struct comm_info *info)
{
    return (uint64_t)(info->remote_size ? info->remote_size : info->size);
}

static inline bool coll_is_root(const struct comm_info *info, int root)
{
    return info->remote_size ? root == MPI_ROOT : root == info->rank;
}

static inline uint64_t sum_int(const int *counts, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += (uint64_t)counts[i];
    return sum;
}

static inline uint64_t sum_count(const MPI_Count *counts, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += (uint64_t)counts[i];
    return sum;
}
#define SUM(counts, n) _Generic((counts), const int *: sum_int, const MPI_Count *: sum_count)(counts, n)
#define SUM_BYTES(counts, n, type) type_bytes((MPI_Count)SUM(counts, n), type)

#define SUM_TYPED(counts, types, n)                                                                                    \
    ({                                                                                                                 \
        uint64_t sum_ = 0;                                                                                             \
        for (uint64_t i_ = 0; i_ < (n); i_++)                                                                          \
            sum_ += type_bytes((counts)[i_], (types)[i_]);                                                             \
        sum_;                                                                                                          \
    })

static inline void bytes_bcast(struct ww_call *call, const struct comm_info *info, int root, uint64_t bytes)
{
    bool is_root = coll_is_root(info, root);
    call->bytes_out = is_root ? coll_n(info) * bytes : 0;
    call->bytes_in = is_root && info->remote_size ? 0 : bytes;
}

static inline void bytes_reduce(struct ww_call *call, const struct comm_info *info, int root, bool in_place,
                                uint64_t bytes)
{
    bool is_root = coll_is_root(info, root);
    call->bytes_out = in_place || (is_root && info->remote_size) ? 0 : bytes;
    call->bytes_in = is_root ? (coll_n(info) - in_place) * bytes : 0;
}

/* Everybody exchanges as much with everybody. */
static inline void bytes_all(struct ww_call *call, const struct comm_info *info, bool in_place, uint64_t out,
                             uint64_t in)
{
    call->bytes_out = (coll_n(info) - in_place) * (in_place ? in : out);
    call->bytes_in = (coll_n(info) - in_place) * in;
}

static inline void bytes_scan(struct ww_call *call, const struct comm_info *info, bool with_self, uint64_t bytes)
{
    call->bytes_out = (uint64_t)(info->size - info->rank - !with_self) * bytes;
    call->bytes_in = (uint64_t)(info->rank + with_self) * bytes;
}

static inline bool gathers_out(const struct comm_info *info, int root, bool in_place)
{
    return !in_place && !(info->remote_size && root == MPI_ROOT);
}

#define BYTES_BCAST(count, type) bytes_bcast(call, info, root, type_bytes(count, type))
#define BYTES_REDUCE(in_place) bytes_reduce(call, info, root, in_place, type_bytes(count, type))
#define BYTES_ALLREDUCE(in_place)                                                                                      \
    do {                                                                                                               \
        uint64_t bytes_ = type_bytes(count, type);                                                                     \
        bytes_all(call, info, in_place, bytes_, bytes_);                                                               \
    } while (0)
#define BYTES_SCAN(with_self) bytes_scan(call, info, with_self, type_bytes(count, type))
#define BYTES_ALL(in_place)                                                                                            \
    bytes_all(call, info, in_place, (in_place) ? 0 : type_bytes(sendcount, sendtype), type_bytes(recvcount, recvtype))

#define BYTES_GATHER(in_place)                                                                                         \
    do {                                                                                                               \
        if (gathers_out(info, root, in_place))                                                                         \
            call->bytes_out = type_bytes(sendcount, sendtype);                                                         \
        if (coll_is_root(info, root))                                                                                  \
            call->bytes_in = (coll_n(info) - (in_place)) * type_bytes(recvcount, recvtype);                            \
    } while (0)
#define BYTES_GATHERV(in_place)                                                                                        \
    do {                                                                                                               \
        if (gathers_out(info, root, in_place))                                                                         \
            call->bytes_out = type_bytes(sendcount, sendtype);                                                         \
        if (coll_is_root(info, root))                                                                                  \
            call->bytes_in = SUM_BYTES(recvcounts, coll_n(info), recvtype) -                                           \
                             ((in_place) ? type_bytes(recvcounts[root], recvtype) : 0);                                \
    } while (0)
#define BYTES_SCATTER(in_place)                                                                                        \
    do {                                                                                                               \
        if (gathers_out(info, root, in_place))                                                                         \
            call->bytes_in = type_bytes(recvcount, recvtype);                                                          \
        if (coll_is_root(info, root))                                                                                  \
            call->bytes_out = (coll_n(info) - (in_place)) * type_bytes(sendcount, sendtype);                           \
    } while (0)
#define BYTES_SCATTERV(in_place)                                                                                       \
    do {                                                                                                               \
        if (gathers_out(info, root, in_place))                                                                         \
            call->bytes_in = type_bytes(recvcount, recvtype);                                                          \
        if (coll_is_root(info, root))                                                                                  \
            call->bytes_out = SUM_BYTES(sendcounts, coll_n(info), sendtype) -                                          \
                              ((in_place) ? type_bytes(sendcounts[root], sendtype) : 0);                               \
    } while (0)
#define BYTES_ALLGATHERV(in_place)                                                                                     \
    do {                                                                                                               \
        uint64_t own_ = (in_place) ? type_bytes(recvcounts[info->rank], recvtype) : 0;                                 \
        call->bytes_in = SUM_BYTES(recvcounts, coll_n(info), recvtype) - own_;                                         \
        call->bytes_out = (in_place) ? (coll_n(info) - 1) * own_ : coll_n(info) * type_bytes(sendcount, sendtype);     \
    } while (0)
#define BYTES_ALLTOALLV(in_place)                                                                                      \
    do {                                                                                                               \
        uint64_t own_ = (in_place) ? type_bytes(recvcounts[info->rank], recvtype) : 0;                                 \
        call->bytes_in = SUM_BYTES(recvcounts, coll_n(info), recvtype) - own_;                                         \
        call->bytes_out = (in_place) ? call->bytes_in : SUM_BYTES(sendcounts, coll_n(info), sendtype);                 \
    } while (0)
#define BYTES_ALLTOALLW(in_place)                                                                                      \
    do {                                                                                                               \
        uint64_t own_ = (in_place) ? type_bytes(recvcounts[info->rank], recvtypes[info->rank]) : 0;                    \
        call->bytes_in = SUM_TYPED(recvcounts, recvtypes, coll_n(info)) - own_;                                        \
        call->bytes_out = (in_place) ? call->bytes_in : SUM_TYPED(sendcounts, sendtypes, coll_n(info));                \
    } while (0)
#define BYTES_REDUCE_SCATTER(in_place)                                                                                 \
    do {                                                                                                               \
        uint64_t own_ = type_bytes(recvcounts[info->rank], type);                                                      \
        call->bytes_out = SUM_BYTES(recvcounts, (uint64_t)info->size, type) - ((in_place) ? own_ : 0);                 \
        call->bytes_in = (coll_n(info) - (in_place)) * own_;                                                           \
    } while (0)

/* At the end of a grid there is no neighbour, and its slot in the arrays counts nothing. */
static inline uint64_t neighbors_present(const struct comm_info *info, int from, int n)
{
    uint64_t present = 0;
    for (int i = from; i < from + n; i++)
        present += info->neighbors[i] != MPI_PROC_NULL;
    return present;
}
#define SUM_NEIGHBORS(info, from, n, bytes)                                                                            \
    ({                                                                                                                 \
        uint64_t sum_ = 0;                                                                                             \
        for (int i_ = 0; i_ < (n); i_++)                                                                               \
            if ((info)->neighbors[(from) + i_] != MPI_PROC_NULL)                                                       \
                sum_ += bytes;                                                                                         \
        sum_;                                                                                                          \
    })
#define BYTES_NEIGHBOR                                                                                                 \
    do {                                                                                                               \
        call->bytes_in = neighbors_present(info, 0, info->n_in) * type_bytes(recvcount, recvtype);                     \
        call->bytes_out = neighbors_present(info, info->n_in, info->n_out) * type_bytes(sendcount, sendtype);          \
    } while (0)
#define BYTES_NEIGHBOR_ALLGATHERV                                                                                      \
    do {                                                                                                               \
        call->bytes_in = SUM_NEIGHBORS(info, 0, info->n_in, type_bytes(recvcounts[i_], recvtype));                     \
        call->bytes_out = neighbors_present(info, info->n_in, info->n_out) * type_bytes(sendcount, sendtype);          \
    } while (0)
#define BYTES_NEIGHBOR_ALLTOALLV                                                                                       \
    do {                                                                                                               \
        call->bytes_in = SUM_NEIGHBORS(info, 0, info->n_in, type_bytes(recvcounts[i_], recvtype));                     \
        call->bytes_out = SUM_NEIGHBORS(info, info->n_in, info->n_out, type_bytes(sendcounts[i_], sendtype));          \
    } while (0)
#define BYTES_NEIGHBOR_ALLTOALLW                                                                                       \
    do {                                                                                                               \
        call->bytes_in = SUM_NEIGHBORS(info, 0, info->n_in, type_bytes(recvcounts[i_], recvtypes[i_]));                \
        call->bytes_out = SUM_NEIGHBORS(info, info->n_in, info->n_out, type_bytes(sendcounts[i_], sendtypes[i_]));     \
    } while (0)

/* A communicator was made by a call that succeeded (comm_created); call may be NULL. The second is for a communicator
 * without parent. */
void comm_made(struct ww_call *call, MPI_Comm parent, MPI_Comm made, bool pending);
void comm_made_alone(struct ww_call *call, MPI_Comm made);
