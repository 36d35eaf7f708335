/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fortran collectives: the arguments under the names that the byte counts of coll.h use. Persistent and non-blocking
 * ones have the same arguments first.
 */
#include "wrap/record/fortran/arguments.h"
#include "wrap/record/mpi/coll.h"

static const struct comm_info *info_of(struct fortran *f, int comm)
{
    return coll_end(f->call, f->err, f_comm(f, comm));
}

void f_barrier_begin(struct fortran *f)
{
    coll_begin(f->call, f_comm(f, 0), NO_ROOT);
}

void f_barrier_end(struct fortran *f)
{
    info_of(f, 0);
}

/* buf, count, type, root, comm */
void f_bcast_begin(struct fortran *f)
{
    coll_begin(f->call, f_comm(f, 4), f_int(f, 3));
}

void f_bcast_end(struct fortran *f)
{
    const struct comm_info *info = info_of(f, 4);
    if (info)
        bytes_bcast(f->call, info, f_int(f, 3), type_bytes(f_count(f, 1), f_type(f, 2)));
}

/* sendbuf, recvbuf, count, type, op, root, comm */
void f_reduce_begin(struct fortran *f)
{
    coll_begin(f->call, f_comm(f, 6), f_int(f, 5));
}

void f_reduce_end(struct fortran *f)
{
    const struct comm_info *info = info_of(f, 6);
    if (info)
        bytes_reduce(f->call, info, f_int(f, 5), f_is_in_place(f, 0), type_bytes(f_count(f, 2), f_type(f, 3)));
}

/* sendbuf, recvbuf, count(s), type, op, comm */
void f_allreduce_begin(struct fortran *f)
{
    coll_begin(f->call, f_comm(f, 5), NO_ROOT);
}

void f_allreduce_end(struct fortran *f)
{
    const struct comm_info *info = info_of(f, 5);
    uint64_t bytes = info ? type_bytes(f_count(f, 2), f_type(f, 3)) : 0;
    if (info)
        bytes_all(f->call, info, f_is_in_place(f, 0), bytes, bytes);
}

void f_scan_end(struct fortran *f)
{
    const struct comm_info *info = info_of(f, 5);
    if (info)
        bytes_scan(f->call, info, !f_is_in_place(f, 0), type_bytes(f_count(f, 2), f_type(f, 3)));
}

void f_exscan_end(struct fortran *f)
{
    const struct comm_info *info = info_of(f, 5);
    if (info)
        bytes_scan(f->call, info, false, type_bytes(f_count(f, 2), f_type(f, 3)));
}

/* Runs `bytes` with the counts arrays, arguments s and r, in the width that the entry has. */
#define WITH_COUNTS(s, r, bytes)                                                                                       \
    do {                                                                                                               \
        if (f->row->entry & FORTRAN_LARGE) {                                                                           \
            const MPI_Count *sendcounts = f->a[s], *recvcounts = f->a[r];                                              \
            (void)sendcounts, (void)recvcounts;                                                                        \
            bytes;                                                                                                     \
        } else {                                                                                                       \
            const int *sendcounts = f->a[s], *recvcounts = f->a[r];                                                    \
            (void)sendcounts, (void)recvcounts;                                                                        \
            bytes;                                                                                                     \
        }                                                                                                              \
    } while (0)

void f_reduce_scatter_end(struct fortran *f)
{
    struct ww_call *call = f->call;
    const struct comm_info *info = info_of(f, 5);
    MPI_Datatype type = f_type(f, 3);
    if (info)
        WITH_COUNTS(2, 2, BYTES_REDUCE_SCATTER(f_is_in_place(f, 0)));
}

/* sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm */
void f_gather_begin(struct fortran *f)
{
    coll_begin(f->call, f_comm(f, 7), f_int(f, 6));
}

void f_gather_end(struct fortran *f)
{
    struct ww_call *call = f->call;
    const struct comm_info *info = info_of(f, 7);
    int root = f_int(f, 6);
    MPI_Count sendcount = f_count(f, 1), recvcount = f_count(f, 4);
    MPI_Datatype sendtype = f_type(f, 2), recvtype = f_type(f, 5);
    if (info)
        BYTES_GATHER(f_is_in_place(f, 0));
}

void f_scatter_end(struct fortran *f)
{
    struct ww_call *call = f->call;
    const struct comm_info *info = info_of(f, 7);
    int root = f_int(f, 6);
    MPI_Count sendcount = f_count(f, 1), recvcount = f_count(f, 4);
    MPI_Datatype sendtype = f_type(f, 2), recvtype = f_type(f, 5);
    if (info)
        BYTES_SCATTER(f_is_in_place(f, 3));
}

/* sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm; or the counts on the other side */
void f_gatherv_begin(struct fortran *f)
{
    coll_begin(f->call, f_comm(f, 8), f_int(f, 7));
}

void f_gatherv_end(struct fortran *f)
{
    struct ww_call *call = f->call;
    const struct comm_info *info = info_of(f, 8);
    int root = f_int(f, 7);
    MPI_Count sendcount = f_count(f, 1);
    MPI_Datatype sendtype = f_type(f, 2), recvtype = f_type(f, 6);
    if (info)
        WITH_COUNTS(4, 4, BYTES_GATHERV(f_is_in_place(f, 0)));
}

void f_scatterv_end(struct fortran *f)
{
    struct ww_call *call = f->call;
    const struct comm_info *info = info_of(f, 8);
    int root = f_int(f, 7);
    MPI_Count recvcount = f_count(f, 5);
    MPI_Datatype sendtype = f_type(f, 3), recvtype = f_type(f, 6);
    if (info)
        WITH_COUNTS(1, 1, BYTES_SCATTERV(f_is_in_place(f, 4)));
}

/* sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm */
void f_all_begin(struct fortran *f)
{
    coll_begin(f->call, f_comm(f, 6), NO_ROOT);
}

void f_all_end(struct fortran *f)
{
    bool in_place = f_is_in_place(f, 0);
    const struct comm_info *info = info_of(f, 6);
    if (info)
        bytes_all(f->call, info, in_place, in_place ? 0 : type_bytes(f_count(f, 1), f_type(f, 2)),
                  type_bytes(f_count(f, 4), f_type(f, 5)));
}

void f_neighbor_end(struct fortran *f)
{
    struct ww_call *call = f->call;
    const struct comm_info *info = info_of(f, 6);
    MPI_Count sendcount = f_count(f, 1), recvcount = f_count(f, 4);
    MPI_Datatype sendtype = f_type(f, 2), recvtype = f_type(f, 5);
    if (info)
        BYTES_NEIGHBOR;
}

/* sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm */
void f_allgatherv_begin(struct fortran *f)
{
    coll_begin(f->call, f_comm(f, 7), NO_ROOT);
}

void f_allgatherv_end(struct fortran *f)
{
    struct ww_call *call = f->call;
    const struct comm_info *info = info_of(f, 7);
    MPI_Count sendcount = f_count(f, 1);
    MPI_Datatype sendtype = f_type(f, 2), recvtype = f_type(f, 6);
    if (info)
        WITH_COUNTS(4, 4, BYTES_ALLGATHERV(f_is_in_place(f, 0)));
}

void f_neighbor_allgatherv_end(struct fortran *f)
{
    struct ww_call *call = f->call;
    const struct comm_info *info = info_of(f, 7);
    MPI_Count sendcount = f_count(f, 1);
    MPI_Datatype sendtype = f_type(f, 2), recvtype = f_type(f, 6);
    if (info)
        WITH_COUNTS(4, 4, BYTES_NEIGHBOR_ALLGATHERV);
}

/* sendbuf, sendcounts, sdispls, sendtype(s), recvbuf, recvcounts, rdispls, recvtype(s), comm */
void f_alltoallv_begin(struct fortran *f)
{
    coll_begin(f->call, f_comm(f, 8), NO_ROOT);
}

void f_alltoallv_end(struct fortran *f)
{
    struct ww_call *call = f->call;
    const struct comm_info *info = info_of(f, 8);
    bool in_place = f_is_in_place(f, 0);
    MPI_Datatype recvtype = f_type(f, 7), sendtype = in_place ? recvtype : f_type(f, 3);
    if (info)
        WITH_COUNTS(1, 5, BYTES_ALLTOALLV(in_place));
}

void f_neighbor_alltoallv_end(struct fortran *f)
{
    struct ww_call *call = f->call;
    const struct comm_info *info = info_of(f, 8);
    MPI_Datatype sendtype = f_type(f, 3), recvtype = f_type(f, 7);
    if (info)
        WITH_COUNTS(1, 5, BYTES_NEIGHBOR_ALLTOALLV);
}

/* Lists of types are lists of integers here. */
static uint64_t typed_bytes(const struct fortran *f, int counts, int types, int i)
{
    MPI_Count count =
        f->row->entry & FORTRAN_LARGE ? ((const MPI_Count *)f->a[counts])[i] : ((const int *)f->a[counts])[i];
    return count ? type_bytes(count, F2C(Type, ((const int *)f->a[types])[i])) : 0;
}

void f_alltoallw_end(struct fortran *f)
{
    const struct comm_info *info = info_of(f, 8);
    bool in_place = f_is_in_place(f, 0);
    for (uint64_t i = 0; info && i < coll_n(info); i++) {
        if (!in_place || (int)i != info->rank)
            f->call->bytes_in += typed_bytes(f, 5, 7, (int)i);
        if (!in_place)
            f->call->bytes_out += typed_bytes(f, 1, 3, (int)i);
    }
    if (in_place)
        f->call->bytes_out = f->call->bytes_in;
}

void f_neighbor_alltoallw_end(struct fortran *f)
{
    const struct comm_info *info = info_of(f, 8);
    if (!info)
        return;
    f->call->bytes_in = SUM_NEIGHBORS(info, 0, info->n_in, typed_bytes(f, 5, 7, i_));
    f->call->bytes_out = SUM_NEIGHBORS(info, info->n_in, info->n_out, typed_bytes(f, 1, 3, i_));
}
