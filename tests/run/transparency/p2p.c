/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking, non-blocking, persistent, matched and cancelled point-to-point, every completion call, every sentinel. */
#include "case.h"

static int right(void)
{
    return (rank + 1) % size;
}

static int left(void)
{
    return (rank + size - 1) % size;
}

/* What is called through a pointer, for count_call. */
#define COUNTED(name) WW_ID_##name, MPI_##name

typedef int send_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm);

static void send_with(enum ww_call_id id, send_fn *send, bool receiver_first)
{
    int value = rank * 10 + 1, got = -1;
    MPI_Status status;
    MPI_Request request;
    if (receiver_first) {
        OK(MPI_Irecv(&got, 1, MPI_INT, left(), 3, WORLD, &request));
        MPI_Barrier(WORLD);
        count_call(id);
        OK(send(&value, 1, MPI_INT, right(), 3, WORLD));
        OK(MPI_Wait(&request, &status));
    } else if (rank % 2 == 0) {
        count_call(id);
        OK(send(&value, 1, MPI_INT, right(), 3, WORLD));
        OK(MPI_Recv(&got, 1, MPI_INT, left(), 3, WORLD, &status));
    } else {
        OK(MPI_Recv(&got, 1, MPI_INT, left(), 3, WORLD, &status));
        count_call(id);
        OK(send(&value, 1, MPI_INT, right(), 3, WORLD));
    }
    CHECK(got == left() * 10 + 1 && status.MPI_SOURCE == left() && status.MPI_TAG == 3);
    FOLD(got);
}

static void send_standard(void)
{
    send_with(COUNTED(Send), false);
}

static void send_synchronous(void)
{
    send_with(COUNTED(Ssend), false);
}

static void send_ready(void)
{
    send_with(COUNTED(Rsend), true);
}

static void send_buffered(void)
{
    static char room[4096 + MPI_BSEND_OVERHEAD];
    void *detached;
    int bytes;
    OK(MPI_Buffer_attach(room, sizeof room));
    send_with(COUNTED(Bsend), false);
    OK(MPI_Buffer_detach(&detached, &bytes));
    CHECK(detached == room && bytes == sizeof room);
}

static void recv_any_ignore(void)
{
    int got, sum = 0;
    if (rank == 0) {
        for (int i = 1; i < size; i++) {
            OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, MPI_STATUS_IGNORE));
            sum += got;
        }
        CHECK(sum == size * (size - 1) / 2);
    } else {
        OK(MPI_Send(&rank, 1, MPI_INT, 0, rank, WORLD));
    }
    FOLD(sum);
}

static void recv_fewer(void)
{
    int out[3] = {7, 8, 9}, in[10] = {0}, n;
    MPI_Status status;
    MPI_Request request;
    OK(MPI_Isend(out, 3, MPI_INT, right(), 0, WORLD, &request));
    OK(MPI_Recv(in, 10, MPI_INT, left(), 0, WORLD, &status));
    OK(MPI_Get_count(&status, MPI_INT, &n));
    CHECK(n == 3 && in[2] == 9 && in[3] == 0);
    OK(MPI_Get_count(&status, MPI_DOUBLE, &n));
    CHECK(n == MPI_UNDEFINED);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    FOLD(in);
}

static void recv_zero(void)
{
    MPI_Status status;
    MPI_Request request;
    int n = -1;
    OK(MPI_Isend(NULL, 0, MPI_INT, right(), 0, WORLD, &request));
    OK(MPI_Recv(NULL, 0, MPI_INT, left(), 0, WORLD, &status));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Get_count(&status, MPI_INT, &n));
    CHECK(n == 0);
    FOLD(n);
}

static void proc_null(void)
{
    int value = 5, n;
    MPI_Status status;
    MPI_Request request[2];
    OK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD));
    OK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD, &status));
    OK(MPI_Get_count(&status, MPI_INT, &n));
    CHECK(value == 5 && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && n == 0);
    OK(MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD, &request[0]));
    OK(MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD, &request[1]));
    OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    OK(MPI_Probe(MPI_PROC_NULL, 0, WORLD, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    OK(MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 0, &n, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD, MPI_STATUS_IGNORE));
    FOLD(value);
}

static void bottom(void)
{
    int out = rank, in = -1;
    MPI_Aint at[2];
    MPI_Datatype type[2];
    int one = 1;
    MPI_Request request;
    OK(MPI_Get_address(&out, &at[0]));
    OK(MPI_Get_address(&in, &at[1]));
    for (int i = 0; i < 2; i++) {
        OK(MPI_Type_create_hindexed(1, &one, &at[i], MPI_INT, &type[i]));
        OK(MPI_Type_commit(&type[i]));
    }
    OK(MPI_Isend(MPI_BOTTOM, 1, type[0], right(), 0, WORLD, &request));
    OK(MPI_Recv(MPI_BOTTOM, 1, type[1], left(), 0, WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in == left());
    OK(MPI_Type_free(&type[0]));
    OK(MPI_Type_free(&type[1]));
    FOLD(in);
}

static void sendrecv(void)
{
    int out = rank + 100, in = -1;
    MPI_Status status;
    OK(MPI_Sendrecv(&out, 1, MPI_INT, right(), 1, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status));
    CHECK(in == left() + 100 && status.MPI_SOURCE == left() && status.MPI_TAG == 1);
    OK(MPI_Sendrecv_replace(&out, 1, MPI_INT, right(), 2, left(), 2, WORLD, MPI_STATUS_IGNORE));
    CHECK(out == left() + 100);
    OK(MPI_Sendrecv(&out, 1, MPI_INT, rank == 0 ? 1 : MPI_PROC_NULL, 2, &in, 1, MPI_INT, rank == 1 ? 0 : MPI_PROC_NULL,
                    2, WORLD, &status));
    CHECK(rank == 1 || status.MPI_SOURCE == MPI_PROC_NULL);
    FOLD(in);
    FOLD(out);
}

typedef int isend_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void isend_with(enum ww_call_id id, isend_fn *isend)
{
    int out[4], in[4];
    MPI_Request request[8];
    MPI_Status status[8];
    for (int i = 0; i < 4; i++)
        OK(MPI_Irecv(&in[i], 1, MPI_INT, left(), i, WORLD, &request[i]));
    MPI_Barrier(WORLD);
    for (int i = 0; i < 4; i++) {
        out[i] = rank * 100 + i;
        count_call(id);
        OK(isend(&out[i], 1, MPI_INT, right(), i, WORLD, &request[4 + i]));
    }
    OK(MPI_Waitall(8, request, status));
    for (int i = 0; i < 4; i++)
        CHECK(in[i] == left() * 100 + i && status[i].MPI_TAG == i && request[i] == MPI_REQUEST_NULL);
    FOLD(in);
}

static void isend_standard(void)
{
    isend_with(COUNTED(Isend));
}

static void isend_synchronous(void)
{
    isend_with(COUNTED(Issend));
}

static void isend_ready(void)
{
    isend_with(COUNTED(Irsend));
}

static void isend_buffered(void)
{
    static char room[4096 + 16 * MPI_BSEND_OVERHEAD];
    void *detached;
    int bytes;
    OK(MPI_Buffer_attach(room, sizeof room));
    isend_with(COUNTED(Ibsend));
    OK(MPI_Buffer_detach(&detached, &bytes));
}

/* Receives from the left, sends to the right, `n` of each. */
static void start_many(int n, int *out, int *in, MPI_Request *request)
{
    for (int i = 0; i < n; i++) {
        out[i] = rank * 1000 + i;
        OK(MPI_Irecv(&in[i], 1, MPI_INT, left(), i, WORLD, &request[i]));
        OK(MPI_Isend(&out[i], 1, MPI_INT, right(), i, WORLD, &request[n + i]));
    }
}

static void check_many(int n, const int *in)
{
    for (int i = 0; i < n; i++)
        CHECK(in[i] == left() * 1000 + i);
    fold(in, (size_t)n * sizeof *in);
}

enum { MANY = 200 };
static int many_out[MANY], many_in[MANY];
static MPI_Request many_request[2 * MANY];
static MPI_Status many_status[2 * MANY];

static void waitall_ignore_many(void)
{
    start_many(MANY, many_out, many_in, many_request);
    OK(MPI_Waitall(2 * MANY, many_request, MPI_STATUSES_IGNORE));
    check_many(MANY, many_in);
}

static void waitall_status_many(void)
{
    start_many(MANY, many_out, many_in, many_request);
    OK(MPI_Waitall(2 * MANY, many_request, many_status));
    for (int i = 0; i < MANY; i++)
        CHECK(many_status[i].MPI_SOURCE == left() && many_status[i].MPI_TAG == i);
    check_many(MANY, many_in);
}

static void waitany_all(void)
{
    bool seen[20] = {false};
    start_many(10, many_out, many_in, many_request);
    for (int i = 0; i < 20; i++) {
        int index;
        MPI_Status status;
        OK(MPI_Waitany(20, many_request, &index, i % 2 ? MPI_STATUS_IGNORE : &status));
        CHECK(index >= 0 && index < 20 && !seen[index]);
        CHECK(i % 2 || index >= 10 || status.MPI_TAG == index);
        seen[index] = true;
    }
    int index;
    OK(MPI_Waitany(20, many_request, &index, MPI_STATUS_IGNORE));
    CHECK(index == MPI_UNDEFINED);
    check_many(10, many_in);
}

static void waitsome_all(void)
{
    int done = 0, n, indices[2 * MANY];
    start_many(MANY, many_out, many_in, many_request);
    while (done < 2 * MANY) {
        OK(MPI_Waitsome(2 * MANY, many_request, &n, indices, done % 2 ? MPI_STATUSES_IGNORE : many_status));
        CHECK(n > 0);
        done += n;
    }
    OK(MPI_Waitsome(2 * MANY, many_request, &n, indices, MPI_STATUSES_IGNORE));
    CHECK(n == MPI_UNDEFINED);
    check_many(MANY, many_in);
}

static void test_loop(void)
{
    int flag;
    start_many(5, many_out, many_in, many_request);
    for (int i = 0; i < 10; i++)
        for (flag = 0; !flag;)
            OK(MPI_Test(&many_request[i], &flag, i % 2 ? MPI_STATUS_IGNORE : &many_status[i]));
    CHECK(many_status[4].MPI_TAG == 4);
    check_many(5, many_in);
}

static void testall_loop(void)
{
    int flag = 0;
    start_many(MANY, many_out, many_in, many_request);
    while (!flag)
        OK(MPI_Testall(2 * MANY, many_request, &flag, MPI_STATUSES_IGNORE));
    check_many(MANY, many_in);
}

static void testany_loop(void)
{
    int flag, index, done = 0;
    start_many(MANY, many_out, many_in, many_request);
    while (done < 2 * MANY) {
        OK(MPI_Testany(2 * MANY, many_request, &index, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag || index != MPI_UNDEFINED);
        done += flag;
    }
    OK(MPI_Testany(2 * MANY, many_request, &index, &flag, MPI_STATUS_IGNORE));
    CHECK(flag && index == MPI_UNDEFINED);
    check_many(MANY, many_in);
}

static void testsome_loop(void)
{
    int n, done = 0, indices[20];
    start_many(10, many_out, many_in, many_request);
    while (done < 20) {
        OK(MPI_Testsome(20, many_request, &n, indices, done % 2 ? many_status : MPI_STATUSES_IGNORE));
        done += n;
    }
    OK(MPI_Testsome(20, many_request, &n, indices, MPI_STATUSES_IGNORE));
    CHECK(n == MPI_UNDEFINED);
    check_many(10, many_in);
}

static void null_requests(void)
{
    MPI_Request request[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;
    int flag, index, n;
    OK(MPI_Wait(&request[0], &status));
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    OK(MPI_Get_count(&status, MPI_INT, &n));
    CHECK(n == 0);
    OK(MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE));
    CHECK(flag);
    OK(MPI_Waitall(3, request, MPI_STATUSES_IGNORE));
    OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    OK(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag);
    OK(MPI_Testall(3, request, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag);
    OK(MPI_Testany(3, request, &index, &flag, &status));
    CHECK(flag && index == MPI_UNDEFINED && status.MPI_SOURCE == MPI_ANY_SOURCE);
    FOLD(n);
}

static void mixed_null(void)
{
    MPI_Request request[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status[4];
    int in = -1;
    OK(MPI_Irecv(&in, 1, MPI_INT, left(), 0, WORLD, &request[1]));
    OK(MPI_Isend(&rank, 1, MPI_INT, right(), 0, WORLD, &request[3]));
    OK(MPI_Waitall(4, request, status));
    CHECK(in == left() && status[1].MPI_SOURCE == left() && status[0].MPI_SOURCE == MPI_ANY_SOURCE);
    FOLD(in);
}

static void get_status(void)
{
    MPI_Request request;
    MPI_Status status;
    int in = -1, flag = 0;
    OK(MPI_Irecv(&in, 1, MPI_INT, left(), 9, WORLD, &request));
    OK(MPI_Send(&rank, 1, MPI_INT, right(), 9, WORLD));
    while (!flag)
        OK(MPI_Request_get_status(request, &flag, &status));
    CHECK(status.MPI_SOURCE == left() && request != MPI_REQUEST_NULL);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in == left());
    FOLD(in);
}

static void request_free(void)
{
    MPI_Request request;
    int in = -1;
    OK(MPI_Isend(&rank, 1, MPI_INT, right(), 0, WORLD, &request));
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL);
    OK(MPI_Recv(&in, 1, MPI_INT, left(), 0, WORLD, MPI_STATUS_IGNORE));
    MPI_Barrier(WORLD);
    FOLD(in);
}

static void probe(void)
{
    MPI_Status status;
    MPI_Request request;
    int n, in[5] = {0}, out[5] = {1, 2, 3, 4, 5};
    OK(MPI_Isend(out, 5, MPI_INT, right(), 77, WORLD, &request));
    OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status));
    OK(MPI_Get_count(&status, MPI_INT, &n));
    CHECK(n == 5 && status.MPI_SOURCE == left() && status.MPI_TAG == 77);
    OK(MPI_Probe(left(), 77, WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Recv(in, n, MPI_INT, left(), 77, WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    FOLD(in);
}

static void iprobe_loop(void)
{
    MPI_Status status;
    MPI_Request request;
    int flag = 0, in = -1;
    OK(MPI_Isend(&rank, 1, MPI_INT, right(), 5, WORLD, &request));
    while (!flag)
        OK(MPI_Iprobe(MPI_ANY_SOURCE, 5, WORLD, &flag, MPI_STATUS_IGNORE));
    OK(MPI_Iprobe(left(), MPI_ANY_TAG, WORLD, &flag, &status));
    CHECK(flag && status.MPI_SOURCE == left() && status.MPI_TAG == 5);
    OK(MPI_Recv(&in, 1, MPI_INT, left(), 5, WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    FOLD(in);
}

static void matched_probe(void)
{
    MPI_Status status;
    MPI_Request request;
    MPI_Message message;
    int in = -1;
    OK(MPI_Isend(&rank, 1, MPI_INT, right(), 6, WORLD, &request));
    OK(MPI_Mprobe(MPI_ANY_SOURCE, 6, WORLD, &message, MPI_STATUS_IGNORE));
    OK(MPI_Mrecv(&in, 1, MPI_INT, &message, &status));
    CHECK(in == left() && status.MPI_SOURCE == left() && message == MPI_MESSAGE_NULL);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Mprobe(MPI_PROC_NULL, 0, WORLD, &message, &status));
    CHECK(message == MPI_MESSAGE_NO_PROC);
    OK(MPI_Mrecv(&in, 1, MPI_INT, &message, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    FOLD(in);
}

static void matched_iprobe(void)
{
    MPI_Request request[2];
    MPI_Message message;
    int in = -1, flag = 0;
    OK(MPI_Isend(&rank, 1, MPI_INT, right(), 6, WORLD, &request[0]));
    while (!flag)
        OK(MPI_Improbe(left(), 6, WORLD, &flag, &message, MPI_STATUS_IGNORE));
    OK(MPI_Imrecv(&in, 1, MPI_INT, &message, &request[1]));
    OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    CHECK(in == left());
    FOLD(in);
}

static void cancel_receive(void)
{
    MPI_Request request;
    MPI_Status status;
    int in = -1, flag;
    OK(MPI_Irecv(&in, 1, MPI_INT, left(), 1234, WORLD, &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag && in == -1);
    FOLD(flag);
}

typedef int init_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void persistent_with(enum ww_call_id id, init_fn *send_init)
{
    int out, in, sum = 0;
    MPI_Request request[2];
    MPI_Status status[2];
    OK(MPI_Recv_init(&in, 1, MPI_INT, left(), 4, WORLD, &request[0]));
    count_call(id);
    OK(send_init(&out, 1, MPI_INT, right(), 4, WORLD, &request[1]));
    OK(MPI_Wait(&request[0], &status[0]));
    CHECK(status[0].MPI_SOURCE == MPI_ANY_SOURCE);
    for (int i = 0; i < 6; i++) {
        out = rank + i;
        OK(MPI_Start(&request[0]));
        MPI_Barrier(WORLD);
        OK(MPI_Start(&request[1]));
        OK(MPI_Waitall(2, request, i % 2 ? MPI_STATUSES_IGNORE : status));
        CHECK(in == left() + i && request[0] != MPI_REQUEST_NULL);
        sum += in;
    }
    OK(MPI_Request_free(&request[0]));
    OK(MPI_Request_free(&request[1]));
    FOLD(sum);
}

static void persistent_standard(void)
{
    persistent_with(COUNTED(Send_init));
}

static void persistent_synchronous(void)
{
    persistent_with(COUNTED(Ssend_init));
}

static void persistent_ready(void)
{
    persistent_with(COUNTED(Rsend_init));
}

static void persistent_buffered(void)
{
    static char room[4096 + 16 * MPI_BSEND_OVERHEAD];
    void *detached;
    int bytes;
    OK(MPI_Buffer_attach(room, sizeof room));
    persistent_with(COUNTED(Bsend_init));
    OK(MPI_Buffer_detach(&detached, &bytes));
}

static void startall(void)
{
    int out[4], in[4], flag;
    MPI_Request request[8];
    for (int i = 0; i < 4; i++) {
        OK(MPI_Recv_init(&in[i], 1, MPI_INT, left(), i, WORLD, &request[i]));
        OK(MPI_Send_init(&out[i], 1, MPI_INT, right(), i, WORLD, &request[4 + i]));
        out[i] = rank + i;
    }
    OK(MPI_Startall(8, request));
    for (flag = 0; !flag;)
        OK(MPI_Testall(8, request, &flag, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 4; i++)
        CHECK(in[i] == left() + i);
    OK(MPI_Startall(8, request));
    for (int i = 0; i < 8; i++) {
        int index;
        OK(MPI_Waitany(8, request, &index, MPI_STATUS_IGNORE));
        CHECK(index != MPI_UNDEFINED);
    }
    for (int i = 0; i < 8; i++)
        OK(MPI_Request_free(&request[i]));
    FOLD(in);
}

static int query(void *extra, MPI_Status *status)
{
    (MPI_Status_set_elements)(status, MPI_INT, *(int *)extra);
    (MPI_Status_set_cancelled)(status, 0);
    status->MPI_SOURCE = 17;
    status->MPI_TAG = 23;
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    *(int *)extra += 1;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra;
    (void)complete;
    return MPI_SUCCESS;
}

static void generalized(void)
{
    int state = 4, n, flag;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Grequest_start(query, release, cancel, &state, &request));
    OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Grequest_complete(request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Get_elements(&status, MPI_INT, &n));
    CHECK(n == 4 && status.MPI_SOURCE == 17 && status.MPI_TAG == 23 && state == 5);
    OK(MPI_Grequest_start(query, release, cancel, &state, &request));
    OK(MPI_Grequest_complete(request));
    OK(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
    CHECK(state == 6);
    FOLD(state);
}

static void large_messages(void)
{
    enum { N = 300000 };
    double *out = malloc(N * sizeof *out), *in = malloc(N * sizeof *in);
    MPI_Request request[2];
    for (int i = 0; i < N; i++)
        out[i] = rank + i * 0.5;
    OK(MPI_Irecv(in, N, MPI_DOUBLE, left(), 0, WORLD, &request[0]));
    OK(MPI_Isend(out, N, MPI_DOUBLE, right(), 0, WORLD, &request[1]));
    OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    CHECK(in[N - 1] == left() + (N - 1) * 0.5);
    fold(in, N * sizeof *in);
    free(out);
    free(in);
}

static void polls_of_nothing(void)
{
    MPI_Request none = MPI_REQUEST_NULL, pending;
    int flag, in, index, n = 0;
    OK(MPI_Irecv(&in, 1, MPI_INT, left(), 0, WORLD, &pending));
    for (int i = 0; i < 20000; i++) {
        OK(MPI_Test(&none, &flag, MPI_STATUS_IGNORE));
        n += flag;
        OK(MPI_Testany(1, &pending, &index, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag);
        OK(MPI_Iprobe(MPI_ANY_SOURCE, 4321, WORLD, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag);
    }
    MPI_Barrier(WORLD);
    OK(MPI_Send(&rank, 1, MPI_INT, right(), 0, WORLD));
    OK(MPI_Wait(&pending, MPI_STATUS_IGNORE));
    CHECK(n == 20000 && in == left());
    FOLD(n);
}

static void counted(void)
{
    int in;
    MPI_Request request;
    for (int i = 0; i < 25; i++) {
        OK(MPI_Irecv(&in, 1, MPI_INT, left(), 0, WORLD, &request));
        OK(MPI_Send(&rank, 1, MPI_INT, right(), 0, WORLD));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Sendrecv(&rank, 1, MPI_INT, right(), 1, &in, 1, MPI_INT, left(), 1, WORLD, MPI_STATUS_IGNORE));
    }
    KNOWN_RECORDS(WW_DONE, 50);
    FOLD(in);
}

const struct mpi_case cases[] = {
    {"send_standard", send_standard, 2, TOGETHER},
    {"send_synchronous", send_synchronous, 2, TOGETHER},
    {"send_ready", send_ready, 2, TOGETHER},
    {"send_buffered", send_buffered, 4, TOGETHER},
    {"recv_any_ignore", recv_any_ignore, 3, TOGETHER},
    {"recv_fewer", recv_fewer, 2, TOGETHER},
    {"recv_zero", recv_zero, 2, TOGETHER},
    {"proc_null", proc_null, 1, TOGETHER},
    {"bottom", bottom, 2, TOGETHER},
    {"sendrecv", sendrecv, 3, TOGETHER},
    {"isend_standard", isend_standard, 2, TOGETHER},
    {"isend_synchronous", isend_synchronous, 2, TOGETHER},
    {"isend_ready", isend_ready, 2, TOGETHER},
    {"isend_buffered", isend_buffered, 2, TOGETHER},
    {"waitall_ignore_many", waitall_ignore_many, 2, TOGETHER},
    {"waitall_status_many", waitall_status_many, 2, TOGETHER},
    {"waitany_all", waitany_all, 2, TOGETHER},
    {"waitsome_all", waitsome_all, 2, TOGETHER},
    {"test_loop", test_loop, 2, TOGETHER},
    {"testall_loop", testall_loop, 2, TOGETHER},
    {"testany_loop", testany_loop, 2, TOGETHER},
    {"testsome_loop", testsome_loop, 2, TOGETHER},
    {"null_requests", null_requests, 1, TOGETHER},
    {"mixed_null", mixed_null, 2, TOGETHER},
    {"get_status", get_status, 2, TOGETHER},
    {"request_free", request_free, 2, TOGETHER},
    {"probe", probe, 2, TOGETHER},
    {"iprobe_loop", iprobe_loop, 2, TOGETHER},
    {"matched_probe", matched_probe, 2, TOGETHER},
    {"matched_iprobe", matched_iprobe, 2, TOGETHER},
    {"cancel_receive", cancel_receive, 2, TOGETHER},
    {"persistent_standard", persistent_standard, 2, TOGETHER},
    {"persistent_synchronous", persistent_synchronous, 2, TOGETHER},
    {"persistent_ready", persistent_ready, 2, TOGETHER},
    {"persistent_buffered", persistent_buffered, 2, TOGETHER},
    {"startall", startall, 2, TOGETHER},
    {"generalized", generalized, 1, TOGETHER},
    {"large_messages", large_messages, 2, TOGETHER},
    {"polls_of_nothing", polls_of_nothing, 2, TOGETHER},
    {"counted", counted, 2, ALONE},
    {NULL, NULL, 0, TOGETHER},
};
