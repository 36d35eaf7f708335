/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worlds that meet: started processes, ports, names, sockets; and files and windows in the less usual ways.
 *
 * Processes that a case starts are this program again; they know it by their parent.
 */
#include "case.h"
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

static int right(void)
{
    return (rank + 1) % size;
}

static int left(void)
{
    return (rank + size - 1) % size;
}

static const char *file_name(void)
{
    static char path[4096];
    const char *dir = getenv("CASE_FILES");
    snprintf(path, sizeof path, "%s/worlds.data", dir ? dir : "/tmp");
    return path;
}

static MPI_File open_new(int mode)
{
    MPI_File file;
    if (rank == 0)
        MPI_File_delete(file_name(), MPI_INFO_NULL);
    OK(MPI_Barrier(WORLD));
    OK(MPI_File_open(WORLD, file_name(), MPI_MODE_CREATE | MPI_MODE_RDWR | mode, MPI_INFO_NULL, &file));
    return file;
}

/* What others have written is there to be read. */
static void wait_for_writers(MPI_File file)
{
    OK(MPI_File_sync(file));
    OK(MPI_Barrier(WORLD));
    OK(MPI_File_sync(file));
}

static void split_collectives(void)
{
    int out[4] = {rank, rank + 1, rank + 2, rank + 3}, in[4] = {0}, n;
    MPI_File file = open_new(MPI_MODE_DELETE_ON_CLOSE);
    MPI_Status status;
    OK(MPI_File_write_at_all_begin(file, rank * 16, out, 4, MPI_INT));
    OK(MPI_File_write_at_all_end(file, out, &status));
    OK(MPI_Get_count(&status, MPI_INT, &n));
    CHECK(n == 4);
    OK(MPI_File_read_at_all_begin(file, rank * 16, in, 4, MPI_INT));
    OK(MPI_File_read_at_all_end(file, in, MPI_STATUS_IGNORE));
    CHECK(memcmp(in, out, sizeof in) == 0);
    wait_for_writers(file);
    OK(MPI_File_seek(file, right() * 16, MPI_SEEK_SET));
    OK(MPI_File_read_all_begin(file, in, 4, MPI_INT));
    OK(MPI_File_read_all_end(file, in, &status));
    CHECK(in[0] == right() && in[1] == right() + 1 && in[2] == right() + 2 && in[3] == right() + 3);
    OK(MPI_File_seek(file, rank * 16, MPI_SEEK_SET));
    OK(MPI_File_write_all_begin(file, out, 4, MPI_INT));
    OK(MPI_File_write_all_end(file, out, MPI_STATUS_IGNORE));
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    OK(MPI_File_write_ordered_begin(file, out, 1, MPI_INT));
    OK(MPI_File_write_ordered_end(file, out, &status));
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    OK(MPI_File_read_ordered_begin(file, in, 1, MPI_INT));
    OK(MPI_File_read_ordered_end(file, in, MPI_STATUS_IGNORE));
    CHECK(in[0] == rank);
    OK(MPI_File_close(&file));
    CHECK(file == MPI_FILE_NULL);
    FOLD(in);
}

static void views(void)
{
    int out[4] = {rank, 10 + rank, 20 + rank, 30 + rank}, in[4] = {0}, flag, mode;
    MPI_Datatype every, element, type;
    MPI_Offset offset, bytes;
    MPI_Aint extent;
    MPI_File file = open_new(0);
    MPI_Group group;
    MPI_Info info;
    char representation[MPI_MAX_DATAREP_STRING];
    OK(MPI_File_preallocate(file, 64));
    OK(MPI_File_set_size(file, 0));
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == 0);
    OK(MPI_Type_create_resized(MPI_INT, 0, 4 * size, &every));
    OK(MPI_Type_commit(&every));
    OK(MPI_File_set_view(file, 4 * rank, MPI_INT, every, "native", MPI_INFO_NULL));
    OK(MPI_File_get_view(file, &offset, &element, &type, representation));
    CHECK(offset == 4 * rank && strcmp(representation, "native") == 0);
    OK(MPI_File_write_all(file, out, 4, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_get_position(file, &offset));
    OK(MPI_File_get_byte_offset(file, offset, &bytes));
    CHECK(offset == 4 && bytes == 4 * rank + 16 * size);
    OK(MPI_File_get_type_extent(file, MPI_INT, &extent));
    OK(MPI_File_set_atomicity(file, 1));
    OK(MPI_File_get_atomicity(file, &flag));
    CHECK(flag && extent == 4);
    wait_for_writers(file);
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(file, size + right(), in, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(in[0] == 10 + right());
    OK(MPI_File_get_amode(file, &mode));
    CHECK(mode == (MPI_MODE_CREATE | MPI_MODE_RDWR));
    OK(MPI_File_get_group(file, &group));
    OK(MPI_Group_free(&group));
    OK(MPI_File_get_info(file, &info));
    OK(MPI_File_set_info(file, info));
    OK(MPI_Info_free(&info));
    OK(MPI_File_close(&file));
    OK(MPI_Type_free(&every));
    OK(MPI_Barrier(WORLD));
    if (rank == 0)
        OK(MPI_File_delete(file_name(), MPI_INFO_NULL));
    FOLD(in);
}

static void shared_pointers(void)
{
    int value = rank + 1, in = 0, sum;
    MPI_Request request;
    MPI_Offset at;
    MPI_File file = open_new(MPI_MODE_DELETE_ON_CLOSE);
    OK(MPI_File_iwrite_shared(file, &value, 1, MPI_INT, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    wait_for_writers(file);
    OK(MPI_File_get_position_shared(file, &at));
    CHECK(at == 4 * size);
    OK(MPI_Barrier(WORLD));
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    OK(MPI_File_read_shared(file, &in, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, WORLD));
    CHECK(sum == size * (size + 1) / 2);
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    OK(MPI_File_iread_shared(file, &in, 1, MPI_INT, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_File_read_ordered(file, &in, 0, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&file));
    FOLD(sum);
}

static void files_at_once(void)
{
    int out[2] = {rank, 7}, in[2] = {-1, -1}, n;
    MPI_Request r[2];
    MPI_Status status;
    MPI_File file = open_new(MPI_MODE_DELETE_ON_CLOSE);
    OK(MPI_File_iwrite_at(file, rank * 8, out, 1, MPI_INT, &r[0]));
    OK(MPI_File_iwrite_at(file, rank * 8 + 4, out + 1, 1, MPI_INT, &r[1]));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    OK(MPI_File_iread_at_all(file, rank * 8, in, 2, MPI_INT, &r[0]));
    OK(MPI_Wait(&r[0], &status));
    OK(MPI_Get_count(&status, MPI_INT, &n));
    CHECK(n == 2 && in[0] == rank && in[1] == 7);
    OK(MPI_File_seek(file, rank * 8, MPI_SEEK_SET));
    OK(MPI_File_iwrite_all(file, out, 2, MPI_INT, &r[0]));
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    OK(MPI_File_iwrite_at_all(file, rank * 8, out, 2, MPI_INT, &r[0]));
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    OK(MPI_File_seek(file, -8, MPI_SEEK_CUR));
    OK(MPI_File_iread_all(file, in, 2, MPI_INT, &r[0]));
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    wait_for_writers(file); /* the end of the file moves until all have written */
    OK(MPI_File_seek(file, 0, MPI_SEEK_END));
    OK(MPI_File_read(file, in, 2, MPI_INT, &status)); /* nothing is left */
    OK(MPI_Get_count(&status, MPI_INT, &n));
    CHECK(n == 0);
    OK(MPI_File_close(&file));
    FOLD(in);
}

static void errors_files(void)
{
    MPI_File file = MPI_FILE_NULL;
    int value = 1, class, codes[8];
    codes[0] = MPI_File_open(WORLD, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    codes[1] = MPI_File_open(WORLD, file_name(), MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    file = open_new(MPI_MODE_DELETE_ON_CLOSE);
    codes[2] = MPI_File_write(file, &value, -1, MPI_INT, MPI_STATUS_IGNORE);
    codes[3] = MPI_File_read_at(file, -5, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    codes[4] = MPI_File_write_at(file, 0, &value, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE);
    codes[5] = MPI_File_seek(file, -4, MPI_SEEK_SET);
    codes[6] = MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "no such representation", MPI_INFO_NULL);
    codes[7] = MPI_File_set_size(file, -1);
    for (int i = 0; i < 8; i++) {
        OK(MPI_Error_class(codes[i], &class));
        FOLD(class);
    }
    OK(MPI_File_close(&file));
}

static void windows_more(void)
{
    long memory[8] = {rank, 1, 2, 3, 4, 5, 6, 7}, value = 5, compare = 1, old = -1, results[2] = {-1, -1};
    MPI_Win win;
    MPI_Group world, to, from;
    MPI_Request r[2];
    void *base;
    int flag, *model, peers[1] = {right()}, back[1] = {left()}, unit = sizeof(long);
    MPI_Info info;
    OK(MPI_Win_create(memory, sizeof memory, unit, MPI_INFO_NULL, WORLD, &win));
    OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag));
    CHECK(flag);
    OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &base, &flag));
    CHECK(base == memory);
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    OK(MPI_Compare_and_swap(&value, &compare, &old, MPI_LONG, right(), 1, win));
    OK(MPI_Win_flush(right(), win));
    CHECK(old == 1);
    OK(MPI_Fetch_and_op(&value, &old, MPI_LONG, right(), 1, MPI_SUM, win));
    OK(MPI_Win_flush_local(right(), win));
    OK(MPI_Fetch_and_op(NULL, &old, MPI_LONG, right(), 1, MPI_NO_OP, win));
    OK(MPI_Win_flush_all(win));
    CHECK(old == 10);
    OK(MPI_Raccumulate(&value, 1, MPI_LONG, right(), 2, 1, MPI_LONG, MPI_SUM, win, &r[0]));
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    OK(MPI_Win_flush(right(), win));
    OK(MPI_Rget_accumulate(NULL, 0, MPI_LONG, results, 2, MPI_LONG, right(), 2, 2, MPI_LONG, MPI_NO_OP, win, &r[1]));
    OK(MPI_Waitall(1, &r[1], MPI_STATUSES_IGNORE));
    CHECK(results[0] == 7 && results[1] == 3);
    OK(MPI_Put(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win));
    OK(MPI_Rput(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win, &r[0]));
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    OK(MPI_Win_sync(win));
    OK(MPI_Win_flush_local_all(win));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_get_group(win, &world));
    OK(MPI_Group_incl(world, 1, peers, &to));
    OK(MPI_Group_incl(world, 1, back, &from));
    OK(MPI_Win_post(from, 0, win));
    OK(MPI_Win_start(to, 0, win));
    OK(MPI_Accumulate(&value, 1, MPI_LONG, right(), 3, 1, MPI_LONG, MPI_REPLACE, win));
    OK(MPI_Win_complete(win));
    for (flag = 0; !flag;)
        OK(MPI_Win_test(win, &flag));
    CHECK(memory[3] == 5);
    OK(MPI_Group_free(&to));
    OK(MPI_Group_free(&from));
    OK(MPI_Group_free(&world));
    OK(MPI_Win_get_info(win, &info));
    OK(MPI_Win_set_info(win, info));
    OK(MPI_Info_free(&info));
    OK(MPI_Win_set_name(win, "the window"));
    OK(MPI_Win_free(&win));
    FOLD(memory);
}

static void windows_shared(void)
{
    int *mine, *others, unit;
    MPI_Aint bytes;
    MPI_Win win;
    MPI_Comm node;
    OK(MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Win_allocate_shared(rank == 0 ? 0 : 4 * rank, 4, MPI_INFO_NULL, node, &mine, &win));
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < rank; i++)
        mine[i] = rank * 10 + i;
    OK(MPI_Win_sync(win));
    OK(MPI_Barrier(node));
    OK(MPI_Win_sync(win));
    OK(MPI_Win_shared_query(win, size - 1, &bytes, &unit, &others));
    CHECK(bytes == 4 * (size - 1) && unit == 4 && others[0] == (size - 1) * 10);
    OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &others));
    FOLD(bytes);
    OK(MPI_Barrier(node));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_free(&node));
}

static void names_published(void)
{
    char port[MPI_MAX_PORT_NAME] = "", found[MPI_MAX_PORT_NAME] = "";
    int class;
    OK(MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
#ifdef OPEN_MPI
    OK(MPI_Open_port(MPI_INFO_NULL, port));
#else
    strcpy(port, "a-port"); /* Debian's MPICH opens none */
#endif
    MPI_Error_class(MPI_Lookup_name("whywait-no-such-name", MPI_INFO_NULL, found), &class);
    CHECK(class != MPI_SUCCESS);
    FOLD(class);
    MPI_Error_class(MPI_Publish_name("whywait-name", MPI_INFO_NULL, port), &class);
    FOLD(class);
    if (class == MPI_SUCCESS) {
        OK(MPI_Lookup_name("whywait-name", MPI_INFO_NULL, found));
        CHECK(strcmp(port, found) == 0);
        OK(MPI_Unpublish_name("whywait-name", MPI_INFO_NULL, port));
    }
#ifdef OPEN_MPI
    OK(MPI_Close_port(port));
#endif
    OK(MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

#ifdef OPEN_MPI /* Debian's MPICH neither starts processes nor lets them connect. */
/* What two processes do that have just met. */
static void shake_hands(MPI_Comm *other)
{
    int in = -1, n;
    OK(MPI_Comm_remote_size(*other, &n));
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, *other, MPI_STATUS_IGNORE));
    CHECK(n == 1 && in == 1 - rank);
    OK(MPI_Comm_disconnect(other));
    FOLD(in);
}

static void ports(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm other;
    if (rank == 0)
        OK(MPI_Open_port(MPI_INFO_NULL, port));
    OK(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, WORLD));
    if (rank == 0)
        OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other));
    else
        OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other));
    shake_hands(&other);
    if (rank == 0)
        OK(MPI_Close_port(port));
}

static void joined(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    MPI_Comm other;
    int end, door = socket(AF_INET, SOCK_STREAM, 0);
    if (rank == 0) {
        CHECK(bind(door, (struct sockaddr *)&address, bytes) == 0 && listen(door, 1) == 0);
        CHECK(getsockname(door, (struct sockaddr *)&address, &bytes) == 0);
    }
    OK(MPI_Bcast(&address, sizeof address, MPI_BYTE, 0, WORLD));
    if (rank == 0)
        end = accept(door, NULL, NULL);
    else
        CHECK(connect(end = door, (struct sockaddr *)&address, bytes) == 0);
    OK(MPI_Comm_join(end, &other));
    shake_hands(&other);
    close(end);
}

/* Merges both worlds; the number of all processes. */
static void unite(MPI_Comm *other, int is_child)
{
    MPI_Comm all;
    int n, sum = 0, one = 1;
    OK(MPI_Intercomm_merge(*other, is_child, &all));
    OK(MPI_Comm_size(all, &n));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all));
    CHECK(sum == n);
    OK(MPI_Comm_free(&all));
    OK(MPI_Comm_disconnect(other));
    FOLD(sum);
}

/* Starts two more of itself, and then one and one. */
static void spawned(void)
{
    char self[4096] = "", *arguments[] = {"spawned", NULL}, *commands[2] = {self, self},
         **both[2] = {arguments, arguments};
    int codes[2] = {-1, -1}, counts[2] = {1, 1};
    MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm parent, other;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        unite(&parent, 1);
        MPI_Finalize();
        exit(0);
    }
    CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    OK(MPI_Comm_spawn(self, arguments, 2, MPI_INFO_NULL, 0, WORLD, &other, codes));
    CHECK(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
    unite(&other, 0);
    OK(MPI_Comm_spawn_multiple(2, commands, both, counts, infos, 0, WORLD, &other, MPI_ERRCODES_IGNORE));
    unite(&other, 0);
    print_digest();
    MPI_Finalize();
}
#endif

const struct mpi_case cases[] = {
    {"split_collectives", split_collectives, 2, TOGETHER},
    {"views", views, 2, TOGETHER},
    {"shared_pointers", shared_pointers, 2, TOGETHER},
    {"files_at_once", files_at_once, 2, TOGETHER},
    {"errors_files", errors_files, 2, TOGETHER},
    {"windows_more", windows_more, 2, TOGETHER},
    {"windows_shared", windows_shared, 2, TOGETHER},
    {"names_published", names_published, 1, ALONE},
#ifdef OPEN_MPI
    {"ports", ports, 2, ALONE},
    {"joined", joined, 2, ALONE},
    {"spawned", spawned, 2, OWN_LIFE},
#endif
    {NULL, NULL, 0, TOGETHER},
};
