/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided communication and files. */
#include "case.h"
#include <unistd.h>

enum { N = 16 };

static int right(void)
{
    return (rank + 1) % size;
}

static int left(void)
{
    return (rank + size - 1) % size;
}

static int memory[N];

static MPI_Win make_window(void)
{
    MPI_Win win;
    for (int i = 0; i < N; i++)
        memory[i] = rank * 100 + i;
    OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, WORLD, &win));
    return win;
}

static void fence_put(void)
{
    MPI_Win win = make_window();
    for (int i = 0; i < 5; i++) {
        int value = rank * 10 + i;
        OK(MPI_Win_fence(0, win));
        OK(MPI_Put(&value, 1, MPI_INT, right(), i, 1, MPI_INT, win));
        OK(MPI_Win_fence(0, win));
        CHECK(memory[i] == left() * 10 + i);
    }
    OK(MPI_Win_free(&win));
    CHECK(win == MPI_WIN_NULL);
    FOLD(memory);
}

static void fence_get(void)
{
    int got[2] = {-1, -1};
    MPI_Win win = make_window();
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    OK(MPI_Get(got, 2, MPI_INT, right(), 3, 2, MPI_INT, win));
    OK(MPI_Get(got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    CHECK(got[1] == right() * 100 + 4);
    OK(MPI_Win_free(&win));
    FOLD(got);
}

static void fence_accumulate(void)
{
    int one = 1;
    MPI_Win win = make_window();
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < size; i++)
        OK(MPI_Accumulate(&one, 1, MPI_INT, i, 0, 1, MPI_INT, MPI_SUM, win));
    OK(MPI_Win_fence(0, win));
    CHECK(memory[0] == rank * 100 + size);
    OK(MPI_Win_free(&win));
    FOLD(memory);
}

static MPI_Group neighbor(int who)
{
    MPI_Group world, group;
    OK(MPI_Comm_group(WORLD, &world));
    OK(MPI_Group_incl(world, 1, &who, &group));
    OK(MPI_Group_free(&world));
    return group;
}

static void post_start(bool by_test)
{
    MPI_Win win = make_window();
    MPI_Group to = neighbor(right()), from = neighbor(left());
    int flag = 0;
    OK(MPI_Win_post(from, 0, win));
    OK(MPI_Win_start(to, 0, win));
    OK(MPI_Put(&rank, 1, MPI_INT, right(), 0, 1, MPI_INT, win));
    OK(MPI_Win_complete(win));
    if (by_test)
        while (!flag)
            OK(MPI_Win_test(win, &flag));
    else
        OK(MPI_Win_wait(win));
    CHECK(memory[0] == left());
    OK(MPI_Group_free(&to));
    OK(MPI_Group_free(&from));
    OK(MPI_Win_free(&win));
    FOLD(memory);
}

static void pscw_wait(void)
{
    post_start(false);
}

static void pscw_test(void)
{
    post_start(true);
}

static void lock_exclusive(void)
{
    MPI_Win win = make_window();
    int got = -1;
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    OK(MPI_Put(&rank, 1, MPI_INT, 0, rank, 1, MPI_INT, win));
    OK(MPI_Win_unlock(0, win));
    MPI_Barrier(WORLD);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    OK(MPI_Get(&got, 1, MPI_INT, 0, right(), 1, MPI_INT, win));
    OK(MPI_Win_flush(0, win));
    CHECK(got == right());
    OK(MPI_Win_unlock(0, win));
    OK(MPI_Win_free(&win));
    FOLD(got);
}

static void lock_all(void)
{
    int *base, value = rank + 5, got = -1;
    MPI_Win win;
    OK(MPI_Win_allocate(N * sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, &base, &win));
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    OK(MPI_Put(&value, 1, MPI_INT, right(), 2, 1, MPI_INT, win));
    OK(MPI_Win_flush_local(right(), win));
    OK(MPI_Win_flush_local_all(win));
    OK(MPI_Win_flush(right(), win));
    OK(MPI_Win_flush_all(win));
    OK(MPI_Win_sync(win));
    MPI_Barrier(WORLD);
    OK(MPI_Get(&got, 1, MPI_INT, rank, 2, 1, MPI_INT, win));
    OK(MPI_Win_flush(rank, win));
    CHECK(got == left() + 5);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    FOLD(got);
}

static void atomics(void)
{
    MPI_Win win = make_window();
    int one = 1, before, zero = 0, big = 77, all[4] = {0}, ones[4] = {1, 1, 1, 1};
    memory[0] = 0;
    memory[1] = 0;
    MPI_Barrier(WORLD);
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, win));
    OK(MPI_Win_flush(0, win));
    CHECK(before >= 0 && before < size);
    OK(MPI_Compare_and_swap(&big, &zero, &before, MPI_INT, 0, 1, win));
    OK(MPI_Win_flush(0, win));
    CHECK(before == 0 || before == 77);
    OK(MPI_Get_accumulate(ones, 4, MPI_INT, all, 4, MPI_INT, rank, 4, 4, MPI_INT, MPI_SUM, win));
    OK(MPI_Win_flush(rank, win));
    CHECK(all[0] == rank * 100 + 4);
    OK(MPI_Get_accumulate(NULL, 0, MPI_INT, all, 4, MPI_INT, rank, 4, 4, MPI_INT, MPI_NO_OP, win));
    OK(MPI_Win_unlock_all(win));
    CHECK(all[3] == rank * 100 + 8);
    MPI_Barrier(WORLD);
    CHECK(rank != 0 || (memory[0] == size && memory[1] == 77));
    OK(MPI_Win_free(&win));
    FOLD(all);
}

static void request_based(void)
{
    MPI_Win win = make_window();
    MPI_Request request[2];
    int value = rank + 9, got = -1, old = -1;
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Rput(&value, 1, MPI_INT, right(), 0, 1, MPI_INT, win, &request[0]));
    OK(MPI_Rget(&got, 1, MPI_INT, right(), 5, 1, MPI_INT, win, &request[1]));
    OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    CHECK(got == right() * 100 + 5);
    OK(MPI_Raccumulate(&value, 1, MPI_INT, rank, 7, 1, MPI_INT, MPI_REPLACE, win, &request[0]));
    OK(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
    OK(MPI_Win_flush_all(win));
    OK(MPI_Rget_accumulate(&value, 1, MPI_INT, &old, 1, MPI_INT, rank, 7, 1, MPI_INT, MPI_SUM, win, &request[0]));
    OK(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
    OK(MPI_Win_unlock_all(win));
    CHECK(old == value);
    OK(MPI_Win_free(&win));
    FOLD(got);
}

static void shared_memory(void)
{
    MPI_Comm node;
    MPI_Win win;
    int *mine, *theirs, unit, me, n;
    MPI_Aint bytes;
    OK(MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Comm_rank(node, &me));
    OK(MPI_Comm_size(node, &n));
    OK(MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &mine, &win));
    OK(MPI_Win_fence(0, win));
    *mine = me + 30;
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_shared_query(win, (me + 1) % n, &bytes, &unit, &theirs));
    CHECK(*theirs == (me + 1) % n + 30 && unit == sizeof(int));
    FOLD(*theirs);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_free(&node));
}

static void dynamic(void)
{
    MPI_Win win;
    MPI_Aint here, there;
    int got = -1;
    memory[0] = rank + 60;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &win));
    OK(MPI_Win_attach(win, memory, sizeof memory));
    OK(MPI_Get_address(memory, &here));
    OK(MPI_Sendrecv(&here, 1, MPI_AINT, left(), 0, &there, 1, MPI_AINT, right(), 0, WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, right(), 0, win));
    OK(MPI_Get(&got, 1, MPI_INT, right(), there, 1, MPI_INT, win));
    OK(MPI_Win_unlock(right(), win));
    CHECK(got == right() + 60);
    MPI_Barrier(WORLD);
    OK(MPI_Win_detach(win, memory));
    OK(MPI_Win_free(&win));
    FOLD(got);
}

static void window_reuse(void)
{
    for (int i = 0; i < 40; i++) {
        MPI_Win win = make_window();
        char name[MPI_MAX_OBJECT_NAME];
        int n;
        OK(MPI_Win_set_name(win, "board"));
        OK(MPI_Win_get_name(win, name, &n));
        CHECK(strcmp(name, "board") == 0);
        OK(MPI_Win_fence(0, win));
        OK(MPI_Put(&i, 1, MPI_INT, right(), 0, 1, MPI_INT, win));
        OK(MPI_Win_fence(0, win));
        CHECK(memory[0] == i);
        OK(MPI_Win_free(&win));
    }
    KNOWN_RECORDS(WW_WIN, 40);
    FOLD(memory);
}

static const char *path(void)
{
    static char text[256];
    const char *dir = getenv("CASE_FILES");
    snprintf(text, sizeof text, "%s/data", dir ? dir : ".");
    return text;
}

static MPI_File open_file(void)
{
    MPI_File file;
    OK(MPI_File_open(WORLD, path(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    return file;
}

static void file_at(void)
{
    int out[4] = {rank, rank + 1, rank + 2, rank + 3}, in[4] = {0}, n;
    MPI_Status status;
    MPI_Offset bytes;
    MPI_File file = open_file();
    OK(MPI_File_write_at(file, rank * 16, out, 4, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file));
    MPI_Barrier(WORLD);
    OK(MPI_File_sync(file));
    OK(MPI_File_read_at(file, right() * 16, in, 4, MPI_INT, &status));
    OK(MPI_Get_count(&status, MPI_INT, &n));
    CHECK(n == 4 && in[3] == right() + 3);
    OK(MPI_File_read_at(file, size * 16 - 8, in, 4, MPI_INT, &status));
    OK(MPI_Get_count(&status, MPI_INT, &n));
    CHECK(n == 2);
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == size * 16);
    OK(MPI_File_close(&file));
    FOLD(in);
}

static void file_collective(void)
{
    int out = rank * 7, in = -1;
    MPI_File file = open_file();
    OK(MPI_File_set_view(file, rank * (int)sizeof(int), MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(file, &out, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
    OK(MPI_File_read_all(file, &in, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(in == out);
    OK(MPI_File_write_at_all(file, 0, &in, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, 0, &in, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all_begin(file, 0, &in, 1, MPI_INT));
    OK(MPI_File_read_at_all_end(file, &in, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    FOLD(in);
}

static void file_nonblocking(void)
{
    int out = rank * 11, in = -1;
    MPI_Request request;
    MPI_Status status;
    MPI_File file = open_file();
    OK(MPI_File_iwrite_at(file, rank * (int)sizeof(int), &out, 1, MPI_INT, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_File_iread_at(file, rank * (int)sizeof(int), &in, 1, MPI_INT, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(in == out);
    OK(MPI_File_close(&file));
    FOLD(in);
}

static void file_shared_pointer(void)
{
    int value = rank + 1, in[8] = {0}, sum = 0;
    MPI_File file = open_file();
    OK(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_sync(file));
    MPI_Barrier(WORLD);
    OK(MPI_File_sync(file));
    OK(MPI_File_read_at(file, 0, in, size, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < size; i++)
        sum += in[i];
    CHECK(in[0] == 1 && sum == size * (size + 1) / 2);
    OK(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    FOLD(sum);
}

static void file_errors(void)
{
    MPI_File file;
    int class;
    int code = MPI_File_open(MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_Error_class(code, &class);
    CHECK(code != MPI_SUCCESS);
    CHECK(MPI_File_delete("/nowhere/at/all", MPI_INFO_NULL) != MPI_SUCCESS);
    FOLD(class);
}

const struct mpi_case cases[] = {
    {"fence_put", fence_put, 2, TOGETHER},
    {"fence_get", fence_get, 3, TOGETHER},
    {"fence_accumulate", fence_accumulate, 3, TOGETHER},
    {"pscw_wait", pscw_wait, 3, TOGETHER},
    {"pscw_test", pscw_test, 2, TOGETHER},
    {"lock_exclusive", lock_exclusive, 2, TOGETHER},
    {"lock_all", lock_all, 2, TOGETHER},
    {"atomics", atomics, 2, TOGETHER},
    {"request_based", request_based, 2, TOGETHER},
    {"shared_memory", shared_memory, 2, TOGETHER},
    {"dynamic", dynamic, 2, TOGETHER},
    {"window_reuse", window_reuse, 2, ALONE},
    {"file_at", file_at, 2, TOGETHER},
    {"file_collective", file_collective, 2, TOGETHER},
    {"file_nonblocking", file_nonblocking, 2, TOGETHER},
    {"file_shared_pointer", file_shared_pointer, 2, TOGETHER},
    {"file_errors", file_errors, 1, TOGETHER},
    {NULL, NULL, 0, TOGETHER},
};
