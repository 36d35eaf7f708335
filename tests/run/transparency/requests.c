/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests of the unusual kinds: inactive and null ones in every completion call, generalized ones whose callbacks
 * count, persistent collectives, partitioned and large-count messages, statuses that a program fills itself.
 */
#include "case.h"
#include <pthread.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

static int right(void)
{
    return (rank + 1) % size;
}

static int left(void)
{
    return (rank + size - 1) % size;
}

static int sum_of_ranks(void)
{
    return size * (size - 1) / 2;
}

static void zero_requests(void)
{
    int index = 7, flag = 0, n = 7, indices[1];
    MPI_Request none[1] = {MPI_REQUEST_NULL};
    MPI_Status status, statuses[1];
    OK(MPI_Waitall(0, none, MPI_STATUSES_IGNORE));
    OK(MPI_Waitall(0, NULL, statuses));
    OK(MPI_Waitany(0, none, &index, &status));
    CHECK(index == MPI_UNDEFINED);
    OK(MPI_Waitsome(0, none, &n, indices, MPI_STATUSES_IGNORE));
    CHECK(n == MPI_UNDEFINED);
    OK(MPI_Testall(0, none, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag);
    flag = 0;
    OK(MPI_Testany(0, none, &index, &flag, MPI_STATUS_IGNORE));
    CHECK(flag && index == MPI_UNDEFINED);
    OK(MPI_Testsome(0, none, &n, indices, statuses));
    CHECK(n == MPI_UNDEFINED);
    OK(MPI_Startall(0, none));
    OK(MPI_Waitsome(1, none, &n, indices, MPI_STATUSES_IGNORE));
    CHECK(n == MPI_UNDEFINED);
    OK(MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status));
    CHECK(flag && status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
    OK(MPI_Test(&none[0], &flag, &status));
    OK(MPI_Get_count(&status, MPI_INT, &n));
    CHECK(flag && n == 0 && status.MPI_SOURCE == MPI_ANY_SOURCE);
    FOLD(index);
}

static void inactive(void)
{
    int in = -1, index, flag, n, indices[3];
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status, statuses[3];
    OK(MPI_Recv_init(&in, 1, MPI_INT, left(), 1, WORLD, &requests[0]));
    OK(MPI_Send_init(&rank, 1, MPI_INT, right(), 1, WORLD, &requests[2]));
    OK(MPI_Waitall(3, requests, statuses));
    CHECK(statuses[0].MPI_SOURCE == MPI_ANY_SOURCE && statuses[1].MPI_TAG == MPI_ANY_TAG);
    OK(MPI_Waitany(3, requests, &index, &status));
    CHECK(index == MPI_UNDEFINED);
    OK(MPI_Waitsome(3, requests, &n, indices, statuses));
    CHECK(n == MPI_UNDEFINED);
    OK(MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE));
    CHECK(flag);
    OK(MPI_Testsome(3, requests, &n, indices, MPI_STATUSES_IGNORE));
    CHECK(n == MPI_UNDEFINED);
    OK(MPI_Wait(&requests[0], &status));
    OK(MPI_Test(&requests[2], &flag, MPI_STATUS_IGNORE));
    for (int i = 0; i < 3; i++) {
        OK(MPI_Startall(1, &requests[0]));
        OK(MPI_Start(&requests[2]));
        for (int left_over = 2; left_over > 0;) {
            OK(MPI_Waitany(3, requests, &index, &status));
            CHECK(index == 0 || index == 2);
            CHECK(index == 2 || status.MPI_SOURCE == left());
            left_over--;
        }
        CHECK(in == left());
    }
    OK(MPI_Start(&requests[0]));
    OK(MPI_Start(&requests[2]));
    OK(MPI_Request_free(&requests[2])); /* while it is active */
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&requests[0]));
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[2] == MPI_REQUEST_NULL);
    FOLD(in);
}

static void freed_while_active(void)
{
    int in[4], out[4];
    MPI_Request request;
    for (int i = 0; i < 4; i++) {
        out[i] = rank * 4 + i;
        OK(MPI_Isend(&out[i], 1, MPI_INT, right(), i, WORLD, &request));
        OK(MPI_Request_free(&request));
        CHECK(request == MPI_REQUEST_NULL);
    }
    for (int i = 3; i >= 0; i--)
        OK(MPI_Recv(&in[i], 1, MPI_INT, left(), i, WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Irecv(&in[0], 1, MPI_INT, left(), 9, WORLD, &request));
    OK(MPI_Request_free(&request));
    OK(MPI_Ssend(&out[1], 1, MPI_INT, right(), 9, WORLD));
    OK(MPI_Barrier(WORLD));
    CHECK(in[3] == left() * 4 + 3);
    FOLD(in[3]);
}

static int queried, freed, cancelled;

static int query_request(void *extra, MPI_Status *status)
{
    queried++;
    (MPI_Status_set_elements)(status, MPI_INT, *(int *)extra);
    (MPI_Status_set_cancelled)(status, cancelled);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int free_request(void *extra)
{
    (void)extra;
    freed++;
    return MPI_SUCCESS;
}

static int cancel_request(void *extra, int complete)
{
    (void)extra;
    cancelled = !complete;
    return MPI_SUCCESS;
}

static void *complete_later(void *request)
{
    MPI_Grequest_complete(*(MPI_Request *)request);
    return NULL;
}

static void generalized_all(void)
{
    int state = 3, n, flag, index, was_cancelled;
    MPI_Request request, list[2];
    MPI_Status status, statuses[2];
    queried = freed = cancelled = 0;
    OK(MPI_Grequest_start(query_request, free_request, cancel_request, &state, &request));
    OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
    OK(MPI_Grequest_complete(request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Get_elements(&status, MPI_INT, &n));
    OK(MPI_Test_cancelled(&status, &was_cancelled));
    CHECK(n == 3 && !was_cancelled && freed == 1 && request == MPI_REQUEST_NULL);
    OK(MPI_Grequest_start(query_request, free_request, cancel_request, &state, &list[0]));
    OK(MPI_Irecv(&n, 1, MPI_INT, rank, 3, WORLD, &list[1]));
    OK(MPI_Cancel(&list[0]));
    OK(MPI_Grequest_complete(list[0]));
    OK(MPI_Send(&rank, 1, MPI_INT, rank, 3, WORLD));
    OK(MPI_Waitall(2, list, statuses));
    OK(MPI_Test_cancelled(&statuses[0], &was_cancelled));
    CHECK(was_cancelled && freed == 2);
    cancelled = 0;
    OK(MPI_Grequest_start(query_request, free_request, cancel_request, &state, &list[0]));
    list[1] = MPI_REQUEST_NULL;
    complete_later(&list[0]);
    OK(MPI_Waitany(2, list, &index, MPI_STATUS_IGNORE));
    CHECK(index == 0 && freed == 3);
    OK(MPI_Grequest_start(query_request, free_request, cancel_request, &state, &request));
    OK(MPI_Grequest_complete(request));
    OK(MPI_Request_free(&request));
    FOLD(freed);
    FOLD(queried);
}

static void own_statuses(void)
{
    MPI_Status status;
    MPI_Count large;
    int n, flag;
    memset(&status, 0, sizeof status);
    OK(MPI_Status_set_elements(&status, MPI_DOUBLE, 5));
    OK(MPI_Get_count(&status, MPI_DOUBLE, &n));
    CHECK(n == 5);
    OK(MPI_Get_elements(&status, MPI_DOUBLE, &n));
    CHECK(n == 5);
    OK(MPI_Get_count(&status, MPI_BYTE, &n));
    CHECK(n == 40);
    OK(MPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count)1 << 33));
    OK(MPI_Get_elements_x(&status, MPI_BYTE, &large));
    CHECK(large == (MPI_Count)1 << 33);
    OK(MPI_Get_count(&status, MPI_BYTE, &n));
    CHECK(n == MPI_UNDEFINED);
    OK(MPI_Status_set_cancelled(&status, 1));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
}

static void cancelled_sends(void)
{
    int in = -1, flag;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Irecv(&in, 1, MPI_INT, left(), 5, WORLD, &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    CHECK(flag);
    OK(MPI_Recv_init(&in, 1, MPI_INT, left(), 6, WORLD, &request));
    for (int i = 0; i < 2; i++) {
        OK(MPI_Start(&request));
        OK(MPI_Cancel(&request));
        for (flag = 0; !flag;)
            OK(MPI_Test(&request, &flag, &status));
        OK(MPI_Test_cancelled(&status, &flag));
        CHECK(flag);
    }
    OK(MPI_Request_free(&request));
    OK(MPI_Barrier(WORLD));
}

static void matched_messages(void)
{
    int in = -1, n, flag;
    MPI_Message message;
    MPI_Request request, list[3];
    MPI_Status status;
    OK(MPI_Isend(&rank, 1, MPI_INT, right(), 1, WORLD, &list[0]));
    OK(MPI_Isend(&rank, 1, MPI_INT, right(), 2, WORLD, &list[1]));
    OK(MPI_Isend(NULL, 0, MPI_INT, right(), 3, WORLD, &list[2]));
    OK(MPI_Mprobe(MPI_ANY_SOURCE, 2, WORLD, &message, &status));
    OK(MPI_Get_count(&status, MPI_INT, &n));
    CHECK(n == 1 && status.MPI_TAG == 2);
    OK(MPI_Imrecv(&in, 1, MPI_INT, &message, &request));
    CHECK(message == MPI_MESSAGE_NULL);
    OK(MPI_Wait(&request, &status));
    CHECK(in == left() && status.MPI_SOURCE == left());
    for (flag = 0; !flag;)
        OK(MPI_Improbe(left(), MPI_ANY_TAG, WORLD, &flag, &message, MPI_STATUS_IGNORE));
    OK(MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    OK(MPI_Mprobe(left(), 3, WORLD, &message, MPI_STATUS_IGNORE));
    OK(MPI_Mrecv(NULL, 0, MPI_INT, &message, &status));
    OK(MPI_Mprobe(MPI_PROC_NULL, 0, WORLD, &message, &status));
    CHECK(message == MPI_MESSAGE_NO_PROC && status.MPI_SOURCE == MPI_PROC_NULL);
    OK(MPI_Imrecv(&in, 1, MPI_INT, &message, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    OK(MPI_Improbe(MPI_PROC_NULL, 0, WORLD, &flag, &message, &status));
    OK(MPI_Mrecv(&in, 1, MPI_INT, &message, &status));
    OK(MPI_Waitall(3, list, MPI_STATUSES_IGNORE));
    FOLD(in);
}

static void nobody(void)
{
    int in = -1, flag;
    MPI_Request list[3];
    MPI_Status status, statuses[3];
    OK(MPI_Irecv(&in, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD, &list[0]));
    OK(MPI_Isend(&in, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD, &list[1]));
    list[2] = MPI_REQUEST_NULL;
    OK(MPI_Waitall(3, list, statuses));
    FOLD(statuses[0].MPI_SOURCE);
    OK(MPI_Sendrecv(&in, 1, MPI_INT, MPI_PROC_NULL, 0, &in, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD, &status));
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
    OK(MPI_Sendrecv_replace(&in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Probe(MPI_PROC_NULL, MPI_ANY_TAG, WORLD, &status));
    OK(MPI_Iprobe(MPI_PROC_NULL, MPI_ANY_TAG, WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(flag && status.MPI_SOURCE == MPI_PROC_NULL && in == -1);
    OK(MPI_Send_init(&in, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD, &list[0]));
    OK(MPI_Recv_init(&in, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD, &list[1]));
    OK(MPI_Startall(2, list));
    OK(MPI_Waitall(2, list, statuses));
    FOLD(statuses[1].MPI_SOURCE);
    OK(MPI_Request_free(&list[0]));
    OK(MPI_Request_free(&list[1]));
    FOLD(in);
}

static void buffered(void)
{
    enum { MESSAGES = 20 };
    int bytes, in[MESSAGES];
    char *room, *back;
    MPI_Request request, persistent;
    OK(MPI_Pack_size(1, MPI_INT, WORLD, &bytes));
    bytes = MESSAGES * (bytes + MPI_BSEND_OVERHEAD);
    OK(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &room));
    for (int round = 0; round < 2; round++) {
        OK(MPI_Buffer_attach(room, bytes));
        for (int i = 0; i < MESSAGES - 2; i++)
            OK(MPI_Bsend(&i, 1, MPI_INT, right(), i, WORLD));
        int last = MESSAGES - 2, after = MESSAGES - 1;
        OK(MPI_Ibsend(&last, 1, MPI_INT, right(), last, WORLD, &request));
        OK(MPI_Bsend_init(&after, 1, MPI_INT, right(), after, WORLD, &persistent));
        OK(MPI_Start(&persistent));
        OK(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Request_free(&persistent));
        for (int i = MESSAGES - 1; i >= 0; i--) {
            OK(MPI_Recv(&in[i], 1, MPI_INT, left(), i, WORLD, MPI_STATUS_IGNORE));
            CHECK(in[i] == i);
        }
        OK(MPI_Buffer_detach(&back, &bytes));
        CHECK(back == room);
    }
    OK(MPI_Free_mem(room));
    FOLD(in);
}

/* MPI 4 on MPICH; Open MPI 4.1 has them as an extension, whose creation no tool for MPI 3 sees. */
#if MPI_VERSION >= 4
#define PERSISTENT(name, ...) MPI_##name(__VA_ARGS__)
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define PERSISTENT(name, ...) MPIX_##name(__VA_ARGS__)
#endif

#ifdef PERSISTENT
enum { KINDS = 14, MOST = 4 };
static int data[KINDS][MOST], got[KINDS][MOST];
static const int ones[MOST] = {1, 1, 1, 1}, places[MOST] = {0, 1, 2, 3};

static void make_persistent(MPI_Request *r)
{
    int(*i)[MOST] = data, (*o)[MOST] = got;
    OK(PERSISTENT(Barrier_init, WORLD, MPI_INFO_NULL, r++));
    OK(PERSISTENT(Bcast_init, o[1], 2, MPI_INT, 0, WORLD, MPI_INFO_NULL, r++));
    OK(PERSISTENT(Reduce_init, i[2], o[2], 1, MPI_INT, MPI_SUM, 0, WORLD, MPI_INFO_NULL, r++));
    OK(PERSISTENT(Allreduce_init, i[3], o[3], 1, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, r++));
    OK(PERSISTENT(Gather_init, i[4], 1, MPI_INT, o[4], 1, MPI_INT, 0, WORLD, MPI_INFO_NULL, r++));
    OK(PERSISTENT(Gatherv_init, i[5], 1, MPI_INT, o[5], ones, places, MPI_INT, 0, WORLD, MPI_INFO_NULL, r++));
    OK(PERSISTENT(Scatter_init, i[6], 1, MPI_INT, o[6], 1, MPI_INT, 0, WORLD, MPI_INFO_NULL, r++));
    OK(PERSISTENT(Scatterv_init, i[7], ones, places, MPI_INT, o[7], 1, MPI_INT, 0, WORLD, MPI_INFO_NULL, r++));
    OK(PERSISTENT(Allgather_init, i[8], 1, MPI_INT, o[8], 1, MPI_INT, WORLD, MPI_INFO_NULL, r++));
    OK(PERSISTENT(Allgatherv_init, i[9], 1, MPI_INT, o[9], ones, places, MPI_INT, WORLD, MPI_INFO_NULL, r++));
    OK(PERSISTENT(Alltoall_init, i[10], 1, MPI_INT, o[10], 1, MPI_INT, WORLD, MPI_INFO_NULL, r++));
    OK(PERSISTENT(Scan_init, i[11], o[11], 1, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, r++));
    OK(PERSISTENT(Exscan_init, i[12], o[12], 1, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, r++));
    OK(PERSISTENT(Reduce_scatter_block_init, i[13], o[13], 1, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, r++));
}

static void all_persistent_collectives(void)
{
    MPI_Request requests[KINDS];
    memset(got, 0, sizeof got);
    make_persistent(requests);
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < KINDS; k++)
            for (int i = 0; i < MOST; i++)
                data[k][i] = 10 * rank + i; /* MPICH 4.0 moves in every round what was there in the first */
        got[1][0] = rank == 0 ? round : -1;
        OK(MPI_Startall(KINDS - 1, requests));
        OK(MPI_Start(&requests[KINDS - 1]));
        OK(MPI_Waitall(KINDS, requests, MPI_STATUSES_IGNORE));
        CHECK(got[1][0] == round && got[3][0] == 10 * sum_of_ranks());
        CHECK(got[8][size - 1] == 10 * (size - 1) && got[10][1] == 10 + rank && got[6][0] == rank);
    }
    for (int k = 0; k < KINDS; k++)
        OK(MPI_Request_free(&requests[k]));
    FOLD(got);
}

static void persistent_on_neighbors(void)
{
    MPI_Request requests[3];
    MPI_Comm ring;
    int out[2] = {rank * 2, rank * 2 + 1}, in[3][2], one[2] = {1, 1}, at[2] = {0, 1}, period = 1;
    OK(MPI_Cart_create(WORLD, 1, &size, &period, 0, &ring));
    OK(PERSISTENT(Neighbor_allgather_init, out, 1, MPI_INT, in[0], 1, MPI_INT, ring, MPI_INFO_NULL, &requests[0]));
    OK(PERSISTENT(Neighbor_alltoall_init, out, 1, MPI_INT, in[1], 1, MPI_INT, ring, MPI_INFO_NULL, &requests[1]));
    OK(PERSISTENT(Neighbor_alltoallv_init, out, one, at, MPI_INT, in[2], one, at, MPI_INT, ring, MPI_INFO_NULL,
                  &requests[2]));
    for (int round = 0; round < 2; round++) {
        OK(MPI_Startall(3, requests));
        OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
        CHECK(in[0][0] == left() * 2 && in[0][1] == right() * 2);
        CHECK(in[1][0] == left() * 2 + 1 && in[1][1] == right() * 2 && in[2][0] == in[1][0]);
    }
    for (int i = 0; i < 3; i++)
        OK(MPI_Request_free(&requests[i]));
    OK(MPI_Comm_free(&ring));
    FOLD(in);
}
#endif

#if MPI_VERSION >= 4
static void partitions(void)
{
    enum { PARTS = 6 };
    int out[PARTS], in[PARTS], list[2] = {5, 3}, flag;
    MPI_Request requests[2];
    OK(MPI_Psend_init(out, PARTS, 1, MPI_INT, right(), 4, WORLD, MPI_INFO_NULL, &requests[0]));
    OK(MPI_Precv_init(in, PARTS, 1, MPI_INT, left(), 4, WORLD, MPI_INFO_NULL, &requests[1]));
    for (int round = 0; round < 3; round++) {
        OK(MPI_Startall(2, requests));
        for (int i = 0; i < PARTS; i++)
            out[i] = rank * 100 + round * 10 + i;
        OK(MPI_Pready_range(0, 2, requests[0]));
        OK(MPI_Pready_list(2, list, requests[0]));
        OK(MPI_Pready(4, requests[0]));
        for (flag = 0; !flag;)
            OK(MPI_Parrived(requests[1], 5, &flag));
        if (round % 2)
            OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < 2; i++)
            OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        CHECK(in[PARTS - 1] == left() * 100 + round * 10 + 5);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
    FOLD(in);
}

static void large_messages_c(void)
{
    int in = -1, value = rank, bytes_in;
    MPI_Request r[8];
    MPI_Message message;
    MPI_Count n, bytes = 4096;
    char room[4096], *back;
    OK(MPI_Buffer_attach_c(room, bytes));
    OK(MPI_Bsend_c(&rank, 1, MPI_INT, right(), 0, WORLD));
    OK(MPI_Recv_c(&in, 1, MPI_INT, left(), 0, WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Buffer_detach_c(&back, &bytes));
    OK(MPI_Isend_c(&rank, 1, MPI_INT, right(), 1, WORLD, &r[0]));
    OK(MPI_Issend_c(&rank, 1, MPI_INT, right(), 2, WORLD, &r[1]));
    OK(MPI_Irecv_c(&in, 1, MPI_INT, left(), 1, WORLD, &r[2]));
    OK(MPI_Mprobe(left(), 2, WORLD, &message, MPI_STATUS_IGNORE));
    OK(MPI_Imrecv_c(&bytes_in, 1, MPI_INT, &message, &r[3]));
    OK(MPI_Send_init_c(&rank, 1, MPI_INT, right(), 3, WORLD, &r[4]));
    OK(MPI_Recv_init_c(&in, 1, MPI_INT, left(), 3, WORLD, &r[5]));
    OK(MPI_Startall(2, &r[4]));
    OK(MPI_Isendrecv_c(&rank, 1, MPI_INT, right(), 4, &bytes_in, 1, MPI_INT, left(), 4, WORLD, &r[6]));
    OK(MPI_Isendrecv_replace_c(&value, 1, MPI_INT, right(), 5, left(), 5, WORLD, &r[7]));
    OK(MPI_Waitall(8, r, MPI_STATUSES_IGNORE));
    OK(MPI_Request_free(&r[4]));
    OK(MPI_Request_free(&r[5]));
    CHECK(in == left() && value == left());
    MPI_Status status;
    OK(MPI_Sendrecv_c(&rank, 1, MPI_INT, right(), 6, &in, 1, MPI_INT, left(), 6, WORLD, &status));
    OK(MPI_Sendrecv_replace_c(&value, 1, MPI_INT, left(), 7, right(), 7, WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Get_elements_c(&status, MPI_INT, &n));
    CHECK(n == 1 && value == rank);
    FOLD(in);
}

static void large_collectives_c(void)
{
    int in[4] = {rank, rank + 1, rank + 2, rank + 3}, out[4] = {0}, sum = 0;
    MPI_Count ones_c[4] = {1, 1, 1, 1};
    MPI_Aint at[4] = {0, 1, 2, 3}, bytes[4] = {0, 4, 8, 12};
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    MPI_Request r[4];
    OK(MPI_Bcast_c(in, 2, MPI_INT, 0, WORLD));
    OK(MPI_Reduce_c(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, WORLD));
    OK(MPI_Gather_c(&rank, 1, MPI_INT, out, 1, MPI_INT, 0, WORLD));
    OK(MPI_Gatherv_c(&rank, 1, MPI_INT, out, ones_c, at, MPI_INT, 0, WORLD));
    OK(MPI_Scatter_c(in, 1, MPI_INT, out, 1, MPI_INT, 0, WORLD));
    OK(MPI_Scatterv_c(in, ones_c, at, MPI_INT, out, 1, MPI_INT, 0, WORLD));
    OK(MPI_Allgatherv_c(&rank, 1, MPI_INT, out, ones_c, at, MPI_INT, WORLD));
    OK(MPI_Alltoall_c(in, 1, MPI_INT, out, 1, MPI_INT, WORLD));
    OK(MPI_Alltoallv_c(in, ones_c, at, MPI_INT, out, ones_c, at, MPI_INT, WORLD));
    OK(MPI_Alltoallw_c(in, ones_c, bytes, types, out, ones_c, bytes, types, WORLD));
    OK(MPI_Reduce_scatter_c(in, &sum, ones_c, MPI_INT, MPI_SUM, WORLD));
    OK(MPI_Reduce_scatter_block_c(in, &sum, 1, MPI_INT, MPI_SUM, WORLD));
    OK(MPI_Scan_c(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD));
    OK(MPI_Exscan_c(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD));
    OK(MPI_Iallreduce_c(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD, &r[0]));
    OK(MPI_Ibcast_c(in, 2, MPI_INT, 0, WORLD, &r[1]));
    OK(MPI_Ialltoallw_c(in, ones_c, bytes, types, out, ones_c, bytes, types, WORLD, &r[2]));
    OK(MPI_Allreduce_init_c(&rank, &in[3], 1, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &r[3]));
    OK(MPI_Start(&r[3]));
    OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
    OK(MPI_Request_free(&r[3]));
    CHECK(sum == sum_of_ranks() && in[3] == sum);
    FOLD(sum);
    FOLD(out);
}
#endif

const struct mpi_case cases[] = {
    {"zero_requests", zero_requests, 2, TOGETHER},
    {"inactive", inactive, 2, TOGETHER},
    {"freed_while_active", freed_while_active, 2, TOGETHER},
    {"generalized_all", generalized_all, 2, TOGETHER},
    {"own_statuses", own_statuses, 2, TOGETHER},
    {"cancelled_sends", cancelled_sends, 2, TOGETHER},
    {"matched_messages", matched_messages, 2, TOGETHER},
    {"nobody", nobody, 2, TOGETHER},
    {"buffered", buffered, 2, TOGETHER},
#ifdef PERSISTENT
    {"all_persistent_collectives", all_persistent_collectives, 2, ALONE},
    {"persistent_on_neighbors", persistent_on_neighbors, 3, TOGETHER},
#endif
#if MPI_VERSION >= 4
    {"partitions", partitions, 2, TOGETHER},
    {"large_messages_c", large_messages_c, 2, TOGETHER},
    {"large_collectives_c", large_collectives_c, 2, TOGETHER},
#endif
    {NULL, NULL, 0, TOGETHER},
};
