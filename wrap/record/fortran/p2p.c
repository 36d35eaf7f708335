/* SPDX-License-Identifier: BSD-3-Clause */
/* Fortran point-to-point calls and probes: the arguments of each shape, handed to what the C wrappers use, too. */
#include "wrap/record/fortran/arguments.h"

/* buf, count, type, peer, tag, comm: all sends, and receives but for the status. */
void f_send_begin(struct fortran *f)
{
    send_begin(f->call, f_comm(f, 5), f_int(f, 3), f_int(f, 4));
}

void f_send_end(struct fortran *f)
{
    send_done(f->call, f_comm(f, 5), f_count(f, 1), f_type(f, 2));
}

void f_isend_end(struct fortran *f)
{
    f->call->request = HANDLE(f_request(f, 6));
    f_send_end(f);
}

void f_irecv_end(struct fortran *f)
{
    irecv_done(f->call, f_comm(f, 5), f_count(f, 1), f_type(f, 2), f_request(f, 6));
}

void f_recv_begin(struct fortran *f)
{
    f_send_begin(f);
    f_take_status(f, 6);
}

void f_recv_end(struct fortran *f)
{
    recv_done(f->call, f_comm(f, 5), f->status);
}

void f_sendrecv_begin(struct fortran *f)
{
    sendrecv_begin(f->call, f_comm(f, 10), f_int(f, 3), f_int(f, 4), f_int(f, 8));
    f_take_status(f, 11);
}

void f_sendrecv_end(struct fortran *f)
{
    sendrecv_done(f->call, f_comm(f, 10), f_count(f, 1), f_type(f, 2), f->status);
}

void f_replace_begin(struct fortran *f)
{
    sendrecv_begin(f->call, f_comm(f, 7), f_int(f, 3), f_int(f, 4), f_int(f, 5));
    f_take_status(f, 8);
}

void f_replace_end(struct fortran *f)
{
    sendrecv_done(f->call, f_comm(f, 7), f_count(f, 1), f_type(f, 2), f->status);
}

void f_isendrecv_begin(struct fortran *f)
{
    sendrecv_begin(f->call, f_comm(f, 10), f_int(f, 3), f_int(f, 4), f_int(f, 8));
}

void f_isendrecv_end(struct fortran *f)
{
    f->call->request = HANDLE(f_request(f, 11));
    send_done(f->call, f_comm(f, 10), f_count(f, 1), f_type(f, 2));
}

void f_ireplace_begin(struct fortran *f)
{
    sendrecv_begin(f->call, f_comm(f, 7), f_int(f, 3), f_int(f, 4), f_int(f, 5));
}

void f_ireplace_end(struct fortran *f)
{
    f->call->request = HANDLE(f_request(f, 8));
    send_done(f->call, f_comm(f, 7), f_count(f, 1), f_type(f, 2));
}

/* buf, partitions, count (abi_part_count), type, peer, tag, comm, info, request */
void f_partitioned_begin(struct fortran *f)
{
    send_begin(f->call, f_comm(f, 6), f_int(f, 4), f_int(f, 5));
}

void f_psend_end(struct fortran *f)
{
    f->call->request = HANDLE(f_request(f, 8));
    send_done(f->call, f_comm(f, 6), (MPI_Count)f_int(f, 1) * *(const abi_part_count *)f->a[2], f_type(f, 3));
    partitioned_made(f_request(f, 8), f_int(f, 1));
}

/* partition, request; or from, to, request; or how many, which, request */
void f_pready_end(struct fortran *f)
{
    parts_ready(f->call, f->err, f_request(f, 1), 1);
}

void f_pready_range_end(struct fortran *f)
{
    parts_ready(f->call, f->err, f_request(f, 2), f_int(f, 1) - f_int(f, 0) + 1);
}

void f_pready_list_end(struct fortran *f)
{
    parts_ready(f->call, f->err, f_request(f, 2), f_int(f, 0));
}

void f_precv_end(struct fortran *f)
{
    irecv_done(f->call, f_comm(f, 6), (MPI_Count)f_int(f, 1) * *(const abi_part_count *)f->a[2], f_type(f, 3),
               f_request(f, 8));
}

/* buf, count, type, message, then status or request */
void f_imrecv_begin(struct fortran *f)
{
    MPI_Message message = f_message(f, 3);
    mrecv_begin(f->call, &message);
}

void f_mrecv_begin(struct fortran *f)
{
    f_imrecv_begin(f);
    f_take_status(f, 4);
}

void f_mrecv_end(struct fortran *f)
{
    call_received(f->call, f->status);
}

void f_imrecv_end(struct fortran *f)
{
    imrecv_done(f->call, f_count(f, 1), f_type(f, 2), f_request(f, 4));
}

/* source, tag, comm, [flag,] [message,] status */
static void probe_begin(struct fortran *f, int status)
{
    send_begin(f->call, f_comm(f, 2), f_int(f, 0), f_int(f, 1));
    f_take_status(f, status);
}

void f_probe_begin(struct fortran *f)
{
    probe_begin(f, 3);
}

void f_probe_end(struct fortran *f)
{
    recv_done(f->call, f_comm(f, 2), f->status);
}

void f_iprobe_begin(struct fortran *f)
{
    f_take_status(f, 4);
}

void f_iprobe_end(struct fortran *f)
{
    send_begin(f->call, f_comm(f, 2), f_int(f, 0), f_int(f, 1));
    f_probe_end(f);
}

static void matched(struct fortran *f, int argument)
{
    MPI_Message message = f_message(f, argument);
    mprobe_end(f->call, f->err, f_comm(f, 2), &message);
    f_probe_end(f);
}

void f_mprobe_begin(struct fortran *f)
{
    probe_begin(f, 4);
}

void f_mprobe_end(struct fortran *f)
{
    matched(f, 3);
}

void f_improbe_begin(struct fortran *f)
{
    f_take_status(f, 5);
}

void f_improbe_end(struct fortran *f)
{
    send_begin(f->call, f_comm(f, 2), f_int(f, 0), f_int(f, 1));
    matched(f, 4);
}
