/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking, non-blocking and persistent point-to-point calls, each with its large-count variant where the MPI has it.
 */
#include "wrap/record/mpi/call.h"
#include "wrap/record/mpi/complete.h"

#define SEND(name, T)                                                                                                  \
    MPI_ENTRY(name, (const void *buf, T count, MPI_Datatype type, int dest, int tag, MPI_Comm comm))                   \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        send_begin(call, comm, dest, tag);                                                                             \
        int err = NEXT(name)(buf, count, type, dest, tag, comm);                                                       \
        send_end(call, err, comm, count, type);                                                                        \
        return err;                                                                                                    \
    }

/* Non-blocking sends, and the creation of persistent ones. */
#define ISEND(name, T)                                                                                                 \
    MPI_ENTRY(name,                                                                                                    \
              (const void *buf, T count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request))   \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        send_begin(call, comm, dest, tag);                                                                             \
        int err = NEXT(name)(buf, count, type, dest, tag, comm, request);                                              \
        isend_end(call, err, comm, count, type, request);                                                              \
        return err;                                                                                                    \
    }

#define RECV(name, T)                                                                                                  \
    MPI_ENTRY(name, (void *buf, T count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status))   \
    {                                                                                                                  \
        MPI_Status own;                                                                                                \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        send_begin(call, comm, source, tag);                                                                           \
        status = STATUS_OR_OWN(call, status, own);                                                                     \
        int err = NEXT(name)(buf, count, type, source, tag, comm, status);                                             \
        recv_end(call, err, comm, status);                                                                             \
        return err;                                                                                                    \
    }

#define IRECV(name, T)                                                                                                 \
    MPI_ENTRY(name, (void *buf, T count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)) \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        send_begin(call, comm, source, tag);                                                                           \
        int err = NEXT(name)(buf, count, type, source, tag, comm, request);                                            \
        irecv_end(call, err, comm, count, type, request);                                                              \
        return err;                                                                                                    \
    }

#define SENDRECV(name, T)                                                                                              \
    MPI_ENTRY(name, (const void *sendbuf, T sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,    \
                     T recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status))  \
    {                                                                                                                  \
        MPI_Status own;                                                                                                \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        sendrecv_begin(call, comm, dest, sendtag, source);                                                             \
        status = STATUS_OR_OWN(call, status, own);                                                                     \
        int err = NEXT(name)(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,        \
                             recvtag, comm, status);                                                                   \
        sendrecv_end(call, err, comm, sendcount, sendtype, status);                                                    \
        return err;                                                                                                    \
    }

#define SENDRECV_REPLACE(name, T)                                                                                      \
    MPI_ENTRY(name, (void *buf, T count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag,            \
                     MPI_Comm comm, MPI_Status *status))                                                               \
    {                                                                                                                  \
        MPI_Status own;                                                                                                \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        sendrecv_begin(call, comm, dest, sendtag, source);                                                             \
        status = STATUS_OR_OWN(call, status, own);                                                                     \
        int err = NEXT(name)(buf, count, type, dest, sendtag, source, recvtag, comm, status);                          \
        sendrecv_end(call, err, comm, count, type, status);                                                            \
        return err;                                                                                                    \
    }

#define MRECV(name, T)                                                                                                 \
    MPI_ENTRY(name, (void *buf, T count, MPI_Datatype type, MPI_Message *message, MPI_Status *status))                 \
    {                                                                                                                  \
        MPI_Status own;                                                                                                \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        mrecv_begin(call, message);                                                                                    \
        status = STATUS_OR_OWN(call, status, own);                                                                     \
        int err = NEXT(name)(buf, count, type, message, status);                                                       \
        mrecv_end(call, err, status);                                                                                  \
        return err;                                                                                                    \
    }

#define IMRECV(name, T)                                                                                                \
    MPI_ENTRY(name, (void *buf, T count, MPI_Datatype type, MPI_Message *message, MPI_Request *request))               \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        mrecv_begin(call, message);                                                                                    \
        int err = NEXT(name)(buf, count, type, message, request);                                                      \
        imrecv_end(call, err, count, type, request);                                                                   \
        return err;                                                                                                    \
    }

SEND(Send, int)
SEND(Bsend, int)
SEND(Ssend, int)
SEND(Rsend, int)
ISEND(Isend, int)
ISEND(Ibsend, int)
ISEND(Issend, int)
ISEND(Irsend, int)
ISEND(Send_init, int)
ISEND(Bsend_init, int)
ISEND(Ssend_init, int)
ISEND(Rsend_init, int)
RECV(Recv, int)
IRECV(Irecv, int)
IRECV(Recv_init, int)
SENDRECV(Sendrecv, int)
SENDRECV_REPLACE(Sendrecv_replace, int)
MRECV(Mrecv, int)
IMRECV(Imrecv, int)

SEND(Send_c, MPI_Count)
SEND(Bsend_c, MPI_Count)
SEND(Ssend_c, MPI_Count)
SEND(Rsend_c, MPI_Count)
ISEND(Isend_c, MPI_Count)
ISEND(Ibsend_c, MPI_Count)
ISEND(Issend_c, MPI_Count)
ISEND(Irsend_c, MPI_Count)
ISEND(Send_init_c, MPI_Count)
ISEND(Bsend_init_c, MPI_Count)
ISEND(Ssend_init_c, MPI_Count)
ISEND(Rsend_init_c, MPI_Count)
RECV(Recv_c, MPI_Count)
IRECV(Irecv_c, MPI_Count)
IRECV(Recv_init_c, MPI_Count)
SENDRECV(Sendrecv_c, MPI_Count)
SENDRECV_REPLACE(Sendrecv_replace_c, MPI_Count)
MRECV(Mrecv_c, MPI_Count)
IMRECV(Imrecv_c, MPI_Count)

#define ISENDRECV(name, T)                                                                                             \
    MPI_ENTRY(name,                                                                                                    \
              (const void *sendbuf, T sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,          \
               T recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request))      \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        sendrecv_begin(call, comm, dest, sendtag, source);                                                             \
        int err = NEXT(name)(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,        \
                             recvtag, comm, request);                                                                  \
        isend_end(call, err, comm, sendcount, sendtype, request);                                                      \
        return err;                                                                                                    \
    }

#define ISENDRECV_REPLACE(name, T)                                                                                     \
    MPI_ENTRY(name, (void *buf, T count, MPI_Datatype type, int dest, int sendtag, int source, int recvtag,            \
                     MPI_Comm comm, MPI_Request *request))                                                             \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        sendrecv_begin(call, comm, dest, sendtag, source);                                                             \
        int err = NEXT(name)(buf, count, type, dest, sendtag, source, recvtag, comm, request);                         \
        isend_end(call, err, comm, count, type, request);                                                              \
        return err;                                                                                                    \
    }

ISENDRECV(Isendrecv, int)
ISENDRECV(Isendrecv_c, MPI_Count)
ISENDRECV_REPLACE(Isendrecv_replace, int)
ISENDRECV_REPLACE(Isendrecv_replace_c, MPI_Count)

/* Partitioned: the two ends are created like persistent requests (partitioned.h). */
#define PARTITIONED_INIT(name, known, buffer, end, made)                                                               \
    MPI_ENTRY(name, (buffer buf, int partitions, MPI_Count count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, \
                     MPI_Info info, MPI_Request *request))                                                             \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        send_begin(call, comm, peer, tag);                                                                             \
        int err = NEXT(name)(buf, partitions, count, type, peer, tag, comm, info, request);                            \
        if (err == MPI_SUCCESS)                                                                                        \
            made(*request, partitions);                                                                                \
        end(call, err, comm, partitions *(MPI_Count)(known)count, type, request);                                      \
        return err;                                                                                                    \
    }

#define NOT_COUNTED(request, partitions) (void)0
PARTITIONED_INIT(Psend_init, abi_part_count, const void *, isend_end, partitioned_made)
PARTITIONED_INIT(Precv_init, abi_part_count, void *, irecv_end, NOT_COUNTED)
PARTITIONED_INIT(Psend_init_c, MPI_Count, const void *, isend_end, partitioned_made)
PARTITIONED_INIT(Precv_init_c, MPI_Count, void *, irecv_end, NOT_COUNTED)

#define PREADY(name, parameters, arguments, n_parts)                                                                   \
    MPI_ENTRY(name, parameters)                                                                                        \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        request_begin(call, &request);                                                                                 \
        int err = NEXT(name) arguments;                                                                                \
        parts_ready(call, err, request, n_parts);                                                                      \
        record_leave(call, err);                                                                                       \
        return err;                                                                                                    \
    }

PREADY(Pready, (int partition, MPI_Request request), (partition, request), 1)
PREADY(Pready_range, (int low, int high, MPI_Request request), (low, high, request), high - low + 1)
PREADY(Pready_list, (int n, const int partitions[], MPI_Request request), (n, partitions, request), n)

MPI_ENTRY(Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status))
{
    MPI_Status own;
    struct ww_call *call = record_enter(WW_ID_Probe, RECORD_HERE);
    send_begin(call, comm, source, tag);
    status = STATUS_OR_OWN(call, status, own);
    int err = NEXT(Probe)(source, tag, comm, status);
    recv_end(call, err, comm, status);
    return err;
}

MPI_ENTRY(Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status))
{
    MPI_Status own;
    struct ww_call *call = record_enter(WW_ID_Mprobe, RECORD_HERE);
    send_begin(call, comm, source, tag);
    status = STATUS_OR_OWN(call, status, own);
    int err = NEXT(Mprobe)(source, tag, comm, message, status);
    mprobe_end(call, err, comm, message);
    recv_end(call, err, comm, status);
    return err;
}

MPI_ENTRY(Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status))
{
    MPI_Status own;
    struct record_poll poll = record_poll_begin(WW_ID_Iprobe, RECORD_HERE);
    status = STATUS_OR_OWN(poll.call, status, own);
    int err = NEXT(Iprobe)(source, tag, comm, flag, status);
    if (poll_folded(&poll, err, err || *flag))
        return err;
    struct ww_call *call = record_poll_succeeded(&poll);
    send_begin(call, comm, source, tag);
    recv_end(call, err, comm, status);
    return err;
}

MPI_ENTRY(Improbe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status))
{
    MPI_Status own;
    struct record_poll poll = record_poll_begin(WW_ID_Improbe, RECORD_HERE);
    status = STATUS_OR_OWN(poll.call, status, own);
    int err = NEXT(Improbe)(source, tag, comm, flag, message, status);
    if (poll_folded(&poll, err, err || *flag))
        return err;
    struct ww_call *call = record_poll_succeeded(&poll);
    send_begin(call, comm, source, tag);
    mprobe_end(call, err, comm, message);
    recv_end(call, err, comm, status);
    return err;
}
