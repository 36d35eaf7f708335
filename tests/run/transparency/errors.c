/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong arguments to calls of every class: the same error classes, handed to the same handlers equally often, without
 * and with the recorder. Handlers that call MPI, and that leave the call by longjmp.
 *
 * With CASE_VERBOSE in the environment each result is told on stderr.
 */
#include "case.h"
#include <setjmp.h>

static int handled;

static void count_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    handled++;
}

/* What the call returned, as an error class, and how often a handler was called until now. */
static void note(const char *call, int code)
{
    int class = MPI_SUCCESS;
    OK(MPI_Error_class(code, &class));
    if (getenv("CASE_VERBOSE"))
        fprintf(stderr, "%d: %s: class %d, handled %d\n", rank, call, class, handled);
    FOLD(class);
    FOLD(handled);
}
#define BAD(call) note(#call, (call))

static MPI_Errhandler counting;

static void handlers_on(void)
{
    handled = 0;
    OK(MPI_Comm_create_errhandler(count_error, &counting));
    OK(MPI_Comm_set_errhandler(WORLD, counting));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, counting));
}

static void handlers_off(void)
{
    OK(MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Errhandler_free(&counting));
}

static void errors_sends(void)
{
    int value = 1;
    MPI_Request request;
    handlers_on();
    BAD(MPI_Send(&value, -1, MPI_INT, 0, 0, WORLD));
    BAD(MPI_Send(&value, 1, MPI_INT, size, 0, WORLD));
    BAD(MPI_Send(&value, 1, MPI_INT, -9, 0, WORLD));
    BAD(MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD));
    BAD(MPI_Send(&value, 1, MPI_INT, 0, -5, WORLD));
    BAD(MPI_Send(&value, 1, MPI_INT, 0, MPI_ANY_TAG, WORLD));
    BAD(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, WORLD));
    BAD(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    BAD(MPI_Send(NULL, 1, MPI_INT, 0, 0, WORLD));
    BAD(MPI_Ssend(&value, -1, MPI_INT, 0, 0, WORLD));
    BAD(MPI_Rsend(&value, 1, MPI_INT, size, 0, WORLD));
    BAD(MPI_Bsend(&value, 1, MPI_INT, 0, -5, WORLD));
    BAD(MPI_Bsend(&value, 1, MPI_INT, rank, 0, WORLD)); /* no buffer */
    BAD(MPI_Isend(&value, -1, MPI_INT, 0, 0, WORLD, &request));
    BAD(MPI_Issend(&value, 1, MPI_INT, size, 0, WORLD, &request));
    BAD(MPI_Irsend(&value, 1, MPI_DATATYPE_NULL, 0, 0, WORLD, &request));
    BAD(MPI_Ibsend(&value, 1, MPI_INT, 0, -5, WORLD, &request));
    BAD(MPI_Send_init(&value, -1, MPI_INT, 0, 0, WORLD, &request));
    BAD(MPI_Ssend_init(&value, 1, MPI_INT, size, 0, WORLD, &request));
    BAD(MPI_Bsend_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &request));
    BAD(MPI_Rsend_init(&value, 1, MPI_INT, 0, -5, WORLD, &request));
    handlers_off();
}

static void errors_receives(void)
{
    int value = 1, flag;
    MPI_Request request;
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    handlers_on();
    BAD(MPI_Recv(&value, -1, MPI_INT, 0, 0, WORLD, MPI_STATUS_IGNORE));
    BAD(MPI_Recv(&value, 1, MPI_INT, size, 0, WORLD, MPI_STATUS_IGNORE));
    BAD(MPI_Recv(&value, 1, MPI_INT, 0, -5, WORLD, &status));
    BAD(MPI_Recv(&value, 1, MPI_DATATYPE_NULL, 0, 0, WORLD, &status));
    BAD(MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL, &status));
    BAD(MPI_Irecv(&value, -1, MPI_INT, 0, 0, WORLD, &request));
    BAD(MPI_Irecv(&value, 1, MPI_INT, -9, 0, WORLD, &request));
    BAD(MPI_Recv_init(&value, 1, MPI_INT, 0, -5, WORLD, &request));
    BAD(MPI_Sendrecv(&value, 1, MPI_INT, size, 0, &flag, 1, MPI_INT, 0, 0, WORLD, MPI_STATUS_IGNORE));
    BAD(MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &flag, -1, MPI_INT, 0, 0, WORLD, &status));
    BAD(MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, -5, 0, 0, WORLD, &status));
    BAD(MPI_Probe(size, 0, WORLD, &status));
    BAD(MPI_Probe(0, -5, WORLD, MPI_STATUS_IGNORE));
    BAD(MPI_Iprobe(size, 0, WORLD, &flag, &status));
    BAD(MPI_Mprobe(size, 0, WORLD, &message, &status));
    BAD(MPI_Improbe(0, -5, WORLD, &flag, &message, MPI_STATUS_IGNORE));
    message = MPI_MESSAGE_NULL;
    message = MPI_MESSAGE_NO_PROC;
    BAD(MPI_Mrecv(&value, 1, MPI_INT, &message, &status));
    FOLD(status.MPI_SOURCE);
    handlers_off();
}

static void errors_completion(void)
{
    MPI_Request request = MPI_REQUEST_NULL, requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int index, flag, n, indices[2];
    MPI_Status status, statuses[2];
    handlers_on();
    BAD(MPI_Waitall(-1, requests, MPI_STATUSES_IGNORE));
    BAD(MPI_Waitany(-1, requests, &index, &status));
    BAD(MPI_Waitsome(-1, requests, &n, indices, statuses));
    BAD(MPI_Testall(-1, requests, &flag, MPI_STATUSES_IGNORE));
    BAD(MPI_Testany(-1, requests, &index, &flag, MPI_STATUS_IGNORE));
    BAD(MPI_Testsome(-1, requests, &n, indices, MPI_STATUSES_IGNORE));
    BAD(MPI_Wait(NULL, &status));
    BAD(MPI_Waitall(1, NULL, MPI_STATUSES_IGNORE));
    BAD(MPI_Waitany(1, NULL, &index, MPI_STATUS_IGNORE));
    BAD(MPI_Waitany(2, requests, NULL, &status));
    BAD(MPI_Waitsome(2, requests, NULL, indices, statuses));
    BAD(MPI_Waitsome(2, requests, &n, NULL, statuses));
    BAD(MPI_Test(&request, NULL, &status));
    BAD(MPI_Testall(2, requests, NULL, statuses));
    BAD(MPI_Testany(2, requests, NULL, &flag, &status));
    BAD(MPI_Testany(2, requests, &index, NULL, &status));
    BAD(MPI_Testsome(2, requests, NULL, indices, statuses));
    BAD(MPI_Test(NULL, &flag, &status));
    BAD(MPI_Cancel(&request));
    BAD(MPI_Cancel(NULL));
    BAD(MPI_Request_free(&request));
    BAD(MPI_Request_free(NULL));
    BAD(MPI_Start(&request));
    BAD(MPI_Start(NULL));
    BAD(MPI_Startall(2, requests));
    BAD(MPI_Startall(-1, requests));
    BAD(MPI_Startall(1, NULL));
    BAD(MPI_Request_get_status(request, NULL, &status));
    handlers_off();
}

static void errors_collectives(void)
{
    int in[4] = {0}, out[4] = {0}, counts[4] = {1, 1, 1, 1}, at[4] = {0, 1, 2, 3}, bad[4] = {-1, -1, -1, -1};
    MPI_Request request;
    handlers_on();
    BAD(MPI_Barrier(MPI_COMM_NULL));
    BAD(MPI_Bcast(in, -1, MPI_INT, 0, WORLD));
    BAD(MPI_Bcast(in, 1, MPI_INT, size, WORLD));
    BAD(MPI_Bcast(in, 1, MPI_DATATYPE_NULL, 0, WORLD));
    BAD(MPI_Reduce(in, out, 1, MPI_INT, MPI_OP_NULL, 0, WORLD));
    BAD(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, -3, WORLD));
    BAD(MPI_Allreduce(in, out, 1, MPI_DATATYPE_NULL, MPI_SUM, WORLD));
    BAD(MPI_Allreduce(in, out, 1, MPI_INT, MPI_OP_NULL, WORLD));
    BAD(MPI_Allreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_NULL));
    BAD(MPI_Gather(in, 1, MPI_INT, out, 1, MPI_INT, size, WORLD));
    BAD(MPI_Gatherv(in, 1, MPI_INT, out, counts, at, MPI_INT, size, WORLD));
    BAD(MPI_Scatter(in, 1, MPI_INT, out, 1, MPI_INT, -3, WORLD));
    BAD(MPI_Scatterv(in, counts, at, MPI_INT, out, 1, MPI_INT, size, WORLD));
    BAD(MPI_Allgather(in, -1, MPI_INT, out, 1, MPI_INT, WORLD));
    BAD(MPI_Alltoall(in, 1, MPI_INT, out, -1, MPI_INT, WORLD));
    BAD(MPI_Alltoallv(in, bad, at, MPI_INT, out, counts, at, MPI_INT, WORLD));
    BAD(MPI_Exscan(in, out, 1, MPI_INT, MPI_OP_NULL, WORLD));
    BAD(MPI_Ibarrier(MPI_COMM_NULL, &request));
    BAD(MPI_Ibcast(in, -1, MPI_INT, 0, WORLD, &request));
    BAD(MPI_Iallreduce(in, out, 1, MPI_INT, MPI_OP_NULL, WORLD, &request));
    BAD(MPI_Igather(in, 1, MPI_INT, out, 1, MPI_INT, size, WORLD, &request));
    BAD(MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, WORLD)); /* no topology */
    BAD(MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_NULL));
    handlers_off();
}

static void errors_communicators(void)
{
    MPI_Comm made = MPI_COMM_NULL, none = MPI_COMM_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Request request;
    int n, flag, dims[2] = {100, 100}, periods[2] = {0, 0}, ranks[2] = {0, 0};
    void *value;
    char name[MPI_MAX_OBJECT_NAME];
    handlers_on();
    BAD(MPI_Comm_rank(MPI_COMM_NULL, &n));
    BAD(MPI_Comm_size(MPI_COMM_NULL, &n));
    BAD(MPI_Comm_size(WORLD, NULL));
    BAD(MPI_Comm_remote_size(WORLD, &n));
    BAD(MPI_Comm_dup(MPI_COMM_NULL, &made));
    BAD(MPI_Comm_dup(WORLD, NULL));
    BAD(MPI_Comm_idup(MPI_COMM_NULL, &made, &request));
    BAD(MPI_Comm_split(WORLD, -7, 0, &made));
    BAD(MPI_Comm_split(MPI_COMM_NULL, 0, 0, &made));
    BAD(MPI_Comm_create(WORLD, MPI_GROUP_NULL, &made));
    BAD(MPI_Comm_create_group(WORLD, MPI_GROUP_NULL, 0, &made));
    BAD(MPI_Comm_free(&none));
    BAD(MPI_Comm_disconnect(&none));
    BAD(MPI_Comm_compare(WORLD, MPI_COMM_NULL, &n));
    BAD(MPI_Intercomm_create(MPI_COMM_NULL, 0, WORLD, 0, 0, &made));
    BAD(MPI_Cart_create(WORLD, 2, dims, periods, 0, &made));
    BAD(MPI_Cart_create(WORLD, -1, dims, periods, 0, &made));
    BAD(MPI_Cart_rank(WORLD, ranks, &n));
    BAD(MPI_Cart_shift(WORLD, 0, 1, &n, &flag));
    BAD(MPI_Cartdim_get(MPI_COMM_NULL, &n));
    BAD(MPI_Cart_sub(WORLD, periods, &made));
    BAD(MPI_Graph_create(WORLD, -1, dims, periods, 0, &made));
    BAD(MPI_Graph_neighbors_count(WORLD, 0, &n));
    BAD(MPI_Dist_graph_neighbors_count(WORLD, &n, &flag, ranks));
    BAD(MPI_Topo_test(MPI_COMM_NULL, &n));
    BAD(MPI_Dims_create(-3, 2, ranks));
    BAD(MPI_Comm_group(MPI_COMM_NULL, &group));
    BAD(MPI_Comm_remote_group(WORLD, &group));
    BAD(MPI_Comm_get_attr(WORLD, MPI_KEYVAL_INVALID, &value, &flag));
    BAD(MPI_Comm_set_attr(WORLD, MPI_KEYVAL_INVALID, NULL));
    BAD(MPI_Comm_delete_attr(WORLD, MPI_KEYVAL_INVALID));
    BAD(MPI_Comm_get_name(MPI_COMM_NULL, name, &n));
    BAD(MPI_Comm_set_name(MPI_COMM_NULL, "x"));
    BAD(MPI_Comm_set_name(WORLD, NULL));
    BAD(MPI_Comm_free(&(MPI_Comm){MPI_COMM_WORLD})); /* not allowed */
    OK(MPI_Barrier(WORLD));
    handlers_off();
}

static void errors_objects(void)
{
    MPI_Group none = MPI_GROUP_NULL, world, made;
    MPI_Datatype type = MPI_DATATYPE_NULL, base = MPI_INT;
    MPI_Op op = MPI_OP_NULL, sum = MPI_SUM;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    int n, position = 0, ranks[2] = {0, 0}, blocks[1] = {-1};
    char room[8];
    MPI_Aint lower, extent;
    handlers_on();
    OK(MPI_Comm_group(WORLD, &world));
    BAD(MPI_Group_size(none, &n));
    BAD(MPI_Group_incl(world, 2, ranks, &made)); /* twice the same */
    BAD(MPI_Group_excl(world, -1, ranks, &made));
    BAD(MPI_Group_translate_ranks(world, 1, ranks, none, ranks + 1));
    BAD(MPI_Group_union(none, world, &made));
    BAD(MPI_Group_free(&none));
    BAD(MPI_Type_contiguous(-1, MPI_INT, &type));
    BAD(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type));
    BAD(MPI_Type_vector(-1, 1, 1, MPI_INT, &type));
    BAD(MPI_Type_indexed(1, blocks, ranks, MPI_INT, &type));
    BAD(MPI_Type_commit(&type));
    BAD(MPI_Type_free(&type));
    BAD(MPI_Type_free(&base));
    BAD(MPI_Type_size(MPI_DATATYPE_NULL, &n));
    BAD(MPI_Type_get_extent(MPI_DATATYPE_NULL, &lower, &extent));
    BAD(MPI_Pack(ranks, 2, MPI_INT, room, 1, &position, WORLD));
    BAD(MPI_Pack_size(-1, MPI_INT, WORLD, &n));
    BAD(MPI_Op_free(&op));
    BAD(MPI_Op_free(&sum));
    BAD(MPI_Info_set(info, "a", "b"));
    BAD(MPI_Info_free(&info));
    OK(MPI_Info_create(&info));
    BAD(MPI_Info_delete(info, "absent"));
    BAD(MPI_Info_get_nthkey(info, 5, room));
    OK(MPI_Info_free(&info));
    BAD(MPI_Errhandler_free(&handler));
    BAD(MPI_Comm_set_errhandler(WORLD, MPI_ERRHANDLER_NULL));
    BAD(MPI_Error_class(-12345, &n));
    BAD(MPI_Buffer_attach(room, -1));
    OK(MPI_Group_free(&world));
    handlers_off();
}

static void errors_windows(void)
{
    int memory[4] = {0}, value = 1, old;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Request request;
    handlers_on();
    BAD(MPI_Win_create(memory, -1, 4, MPI_INFO_NULL, WORLD, &win));
    BAD(MPI_Win_create(memory, 16, 0, MPI_INFO_NULL, WORLD, &win));
    BAD(MPI_Win_create(memory, 16, 4, MPI_INFO_NULL, MPI_COMM_NULL, &win));
    win = MPI_WIN_NULL;
    BAD(MPI_Win_free(&win));
    BAD(MPI_Win_fence(0, MPI_WIN_NULL));
    OK(MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_fence(0, win));
    BAD(MPI_Put(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, win));
    BAD(MPI_Put(&value, 1, MPI_INT, size, 0, 1, MPI_INT, win));
    BAD(MPI_Get(&value, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win));
    BAD(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win));
    BAD(MPI_Fetch_and_op(&value, &old, MPI_INT, size, 0, MPI_SUM, win));
    BAD(MPI_Compare_and_swap(&value, &value, &old, MPI_DATATYPE_NULL, 0, 0, win));
    BAD(MPI_Rput(&value, 1, MPI_INT, size, 0, 1, MPI_INT, win, &request));
    BAD(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL));
    OK(MPI_Win_fence(0, win));
    BAD(MPI_Win_lock(-17, 0, 0, win));
    BAD(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win));
    BAD(MPI_Win_post(MPI_GROUP_NULL, 0, win));
    BAD(MPI_Win_start(MPI_GROUP_NULL, 0, win));
    BAD(MPI_Win_set_name(MPI_WIN_NULL, "x"));
    OK(MPI_Win_free(&win));
    OK(MPI_Barrier(WORLD));
    handlers_off();
}

static jmp_buf back;
static int left_calls;

static void leave_call(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    left_calls++;
    longjmp(back, 1);
}

/* Programs that catch errors as exceptions, from a frame further out than the call. */
static void handler_leaves(void)
{
    MPI_Errhandler handler;
    static int value;
    static volatile int round;
    OK(MPI_Comm_create_errhandler(leave_call, &handler));
    OK(MPI_Comm_set_errhandler(WORLD, handler));
    left_calls = 0;
    for (round = 0; round < 5; round++) {
        if (setjmp(back) == 0) {
            if (round % 2)
                MPI_Send(&value, 1, MPI_INT, size + 3, 0, WORLD);
            else
                MPI_Bcast(&value, -1, MPI_INT, 0, WORLD);
            CHECK(!"reached");
        }
        OK(MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_SUM, WORLD));
        CHECK(value == size * (size - 1) / 2);
    }
    CHECK(left_calls == 5);
    OK(MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Errhandler_free(&handler));
    FOLD(value);
}

static int told;

static void call_inside(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int bytes, n, class, in = -1, value = 17;
    (MPI_Error_string)(*code, text, &bytes);
    (MPI_Error_class)(*code, &class);
    (MPI_Comm_size)(*comm, &n);
    (MPI_Sendrecv)(&value, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    told += bytes > 0 && n == size && in == 17 && class != MPI_SUCCESS;
}

static void handler_calls(void)
{
    MPI_Errhandler handler, found;
    MPI_Request request;
    int value = 0;
    told = 0;
    OK(MPI_Comm_create_errhandler(call_inside, &handler));
    OK(MPI_Comm_set_errhandler(WORLD, handler));
    OK(MPI_Comm_get_errhandler(WORLD, &found));
    OK(MPI_Errhandler_free(&found));
    CHECK(MPI_Send(&value, 1, MPI_INT, size, 0, WORLD) != MPI_SUCCESS);
    CHECK(MPI_Irecv(&value, -1, MPI_INT, 0, 0, WORLD, &request) != MPI_SUCCESS);
    CHECK(MPI_Bcast(&value, 1, MPI_INT, size, WORLD) != MPI_SUCCESS);
    OK(MPI_Comm_call_errhandler(WORLD, MPI_ERR_OTHER));
    CHECK(told == 4);
    OK(MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Errhandler_free(&handler));
    FOLD(told);
}

static void count_win_error(MPI_Win *win, int *code, ...)
{
    char name[MPI_MAX_OBJECT_NAME];
    int bytes;
    (void)code;
    handled += (MPI_Win_get_name)(*win, name, &bytes) == MPI_SUCCESS;
}

static void count_file_error(MPI_File *file, int *code, ...)
{
    (void)file, (void)code;
    handled++;
}

static void handlers_of_others(void)
{
    MPI_Errhandler on_win, on_file, found;
    MPI_Win win;
    MPI_File file;
    int memory[4] = {0}, value = 1;
    handled = 0;
    OK(MPI_Win_create_errhandler(count_win_error, &on_win));
    OK(MPI_File_create_errhandler(count_file_error, &on_file));
    OK(MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, WORLD, &win));
    OK(MPI_Win_set_errhandler(win, on_win));
    OK(MPI_Win_get_errhandler(win, &found));
    CHECK(found == on_win);
    OK(MPI_Errhandler_free(&found));
    OK(MPI_Win_fence(0, win));
    BAD(MPI_Put(&value, 1, MPI_INT, size, 0, 1, MPI_INT, win));
    BAD(MPI_Win_call_errhandler(win, MPI_ERR_RANK));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, on_file));
    BAD(MPI_File_open(MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    BAD(MPI_File_delete("/nowhere/at/all", MPI_INFO_NULL));
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    OK(MPI_Errhandler_free(&on_file));
    OK(MPI_Errhandler_free(&on_win));
    CHECK(handled >= 3);
}

static void added_errors(void)
{
    int class, code, found, bytes, *last, flag;
    char text[MPI_MAX_ERROR_STRING];
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Add_error_string(class, "our class"));
    OK(MPI_Add_error_string(code, "our code"));
    OK(MPI_Error_class(code, &found));
    OK(MPI_Error_string(code, text, &bytes));
    CHECK(found == class && bytes == 8 && strcmp(text, "our code") == 0);
    OK(MPI_Comm_get_attr(WORLD, MPI_LASTUSEDCODE, &last, &flag));
    CHECK(flag && *last >= class);
    OK(MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_call_errhandler(WORLD, code));
    OK(MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL));
    for (int i = MPI_SUCCESS; i <= MPI_ERR_RMA_SHARED && i < 60; i++) {
        OK(MPI_Error_string(i, text, &bytes));
        fold(text, (size_t)bytes);
    }
}

static void truncated(void)
{
    int big[4] = {rank, 1, 2, 3}, small = 0, index, n, indices[2], flag, with;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Message message;
    handlers_on();
    for (with = 0; with < 2; with++) {
        MPI_Status *one = with ? &statuses[0] : MPI_STATUS_IGNORE, *many = with ? statuses : MPI_STATUSES_IGNORE;
        for (int i = 0; i < 7; i++)
            OK(MPI_Isend(big, 4, MPI_INT, rank, i, WORLD, &requests[0]));
        BAD(MPI_Recv(&small, 1, MPI_INT, rank, 0, WORLD, one));
        OK(MPI_Mprobe(rank, 1, WORLD, &message, one));
        BAD(MPI_Mrecv(&small, 1, MPI_INT, &message, one));
        OK(MPI_Irecv(&small, 1, MPI_INT, rank, 2, WORLD, &requests[0]));
        BAD(MPI_Wait(&requests[0], one));
        CHECK(requests[0] == MPI_REQUEST_NULL);
        requests[1] = MPI_REQUEST_NULL;
        OK(MPI_Irecv(&small, 1, MPI_INT, rank, 3, WORLD, &requests[0]));
        BAD(MPI_Waitall(2, requests, many));
        OK(MPI_Irecv(&small, 1, MPI_INT, rank, 4, WORLD, &requests[1]));
        BAD(MPI_Waitany(2, requests, &index, one));
        FOLD(index);
        OK(MPI_Irecv(&small, 1, MPI_INT, rank, 5, WORLD, &requests[1]));
        BAD(MPI_Waitsome(2, requests, &n, indices, many));
        FOLD(n);
        OK(MPI_Irecv(&small, 1, MPI_INT, rank, 6, WORLD, &requests[0]));
        for (flag = 0; !flag && requests[0] != MPI_REQUEST_NULL;)
            if (MPI_Test(&requests[0], &flag, one) != MPI_SUCCESS)
                break;
        BAD(MPI_Sendrecv(big, 4, MPI_INT, rank, 9, &small, 1, MPI_INT, rank, 9, WORLD, one));
    }
    handlers_off();
}

#if MPI_VERSION >= 4
static void count_session_error(MPI_Session *session, int *code, ...)
{
    (void)session, (void)code;
    handled++;
}

static void errors_sessions(void)
{
    MPI_Errhandler handler, found;
    MPI_Session session;
    int n;
    handled = 0;
    OK(MPI_Session_create_errhandler(count_session_error, &handler));
    OK(MPI_Session_init(MPI_INFO_NULL, handler, &session));
    OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n));
    FOLD(n);
    OK(MPI_Session_get_errhandler(session, &found));
    OK(MPI_Errhandler_free(&found));
    OK(MPI_Session_finalize(&session));
    OK(MPI_Errhandler_free(&handler));
}
#endif

const struct mpi_case cases[] = {
    {"errors_sends", errors_sends, 2, TOGETHER},
    {"errors_receives", errors_receives, 2, TOGETHER},
    {"errors_completion", errors_completion, 2, TOGETHER},
    {"errors_collectives", errors_collectives, 2, TOGETHER},
    {"errors_communicators", errors_communicators, 2, TOGETHER},
    {"errors_objects", errors_objects, 2, TOGETHER},
    {"errors_windows", errors_windows, 2, TOGETHER},
    {"handler_leaves", handler_leaves, 2, TOGETHER},
    {"handler_calls", handler_calls, 2, TOGETHER},
    {"handlers_of_others", handlers_of_others, 2, TOGETHER},
    {"added_errors", added_errors, 2, TOGETHER},
    {"truncated", truncated, 2, TOGETHER},
#if MPI_VERSION >= 4
    {"errors_sessions", errors_sessions, 2, TOGETHER},
#endif
    {NULL, NULL, 0, TOGETHER},
};
