/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes: what was found goes into the call record, a matched message into the table of messages. */
#include "wrap/record/mpi/complete.h"

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
