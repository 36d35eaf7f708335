/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators, groups, topologies, attributes, info, names, errors, threads, and lives that end in unusual ways. */
#include "case.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void pass_round(MPI_Comm comm)
{
    int me, n, in = -1;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &n));
    OK(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 0, &in, 1, MPI_INT, (me + n - 1) % n, 0, comm, MPI_STATUS_IGNORE));
    CHECK(in == (me + n - 1) % n);
    FOLD(in);
}

static void comm_dup(void)
{
    MPI_Comm comm, again;
    int result;
    OK(MPI_Comm_dup(WORLD, &comm));
    OK(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &again));
    OK(MPI_Comm_compare(WORLD, comm, &result));
    CHECK(result == MPI_CONGRUENT);
    pass_round(again);
    OK(MPI_Comm_free(&again));
    OK(MPI_Comm_disconnect(&comm));
    CHECK(comm == MPI_COMM_NULL && again == MPI_COMM_NULL);
}

static void comm_idup(void)
{
    MPI_Comm comm[3];
    MPI_Request request[3];
    for (int i = 0; i < 3; i++)
        OK(MPI_Comm_idup(WORLD, &comm[i], &request[i]));
    OK(MPI_Waitall(3, request, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 3; i++) {
        pass_round(comm[i]);
        OK(MPI_Comm_free(&comm[i]));
    }
}

static void comm_split(void)
{
    MPI_Comm comm;
    OK(MPI_Comm_split(WORLD, rank % 2, -rank, &comm));
    pass_round(comm);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_split(WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &comm));
    CHECK((comm == MPI_COMM_NULL) == (rank == 0));
    if (comm != MPI_COMM_NULL) {
        pass_round(comm);
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    pass_round(comm);
    OK(MPI_Comm_free(&comm));
}

static void comm_create(void)
{
    MPI_Group world, some;
    MPI_Comm comm;
    int members[2] = {1, 0}, ranks[2], n, mine;
    OK(MPI_Comm_group(WORLD, &world));
    OK(MPI_Group_incl(world, 2, members, &some));
    OK(MPI_Group_translate_ranks(some, 2, (int[]){0, 1}, world, ranks));
    CHECK(ranks[0] == 1 && ranks[1] == 0);
    OK(MPI_Comm_create(WORLD, some, &comm));
    CHECK((comm == MPI_COMM_NULL) == (rank > 1));
    if (rank < 2) {
        pass_round(comm);
        OK(MPI_Comm_free(&comm));
        OK(MPI_Comm_create_group(WORLD, some, 8, &comm));
        pass_round(comm);
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Group_size(some, &n));
    OK(MPI_Group_rank(some, &mine));
    CHECK(n == 2 && (rank < 2 ? mine == 1 - rank : mine == MPI_UNDEFINED));
    OK(MPI_Group_free(&some));
    OK(MPI_Group_free(&world));
    FOLD(mine);
}

/* Handles are given out again: each communicator must be told from its predecessor. */
static void reuse(int n, int color)
{
    for (int i = 0; i < n; i++) {
        MPI_Comm comm;
        OK(i % 2 ? MPI_Comm_dup(WORLD, &comm) : MPI_Comm_split(WORLD, color, rank, &comm));
        if (i % 10 == 0)
            pass_round(comm);
        OK(MPI_Comm_free(&comm));
    }
    KNOWN_RECORDS(WW_COMM, n + 2);
}

static void comm_reuse(void)
{
    reuse(300, rank);
}

/* More ranks than CPUs, which poll while they wait, take 15 ms a turn. */
static void halves_reuse(void)
{
    reuse(40, rank / 2);
}

static void many_comms(void)
{
    enum { N = 200 };
    static MPI_Comm comm[N];
    for (int i = 0; i < N; i++)
        OK(MPI_Comm_dup(i ? comm[i / 2] : WORLD, &comm[i]));
    pass_round(comm[N - 1]);
    for (int i = 0; i < N; i++)
        OK(MPI_Comm_free(&comm[i]));
}

static void intercomm_merge(void)
{
    MPI_Comm half, inter, merged;
    int low = rank < size / 2, n, is_inter;
    OK(MPI_Comm_split(WORLD, low, rank, &half));
    OK(MPI_Intercomm_create(half, 0, WORLD, low ? size / 2 : 0, 5, &inter));
    OK(MPI_Comm_test_inter(inter, &is_inter));
    OK(MPI_Comm_remote_size(inter, &n));
    CHECK(is_inter && n == (low ? size - size / 2 : size / 2));
    OK(MPI_Intercomm_merge(inter, low, &merged));
    pass_round(merged);
    OK(MPI_Comm_free(&merged));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
}

static void cartesian(void)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], keep[2] = {0, 1}, from, to, kind, n;
    MPI_Comm grid, row;
    OK(MPI_Dims_create(size, 2, dims));
    OK(MPI_Cart_create(WORLD, 2, dims, periods, 1, &grid));
    OK(MPI_Topo_test(grid, &kind));
    OK(MPI_Cartdim_get(grid, &n));
    CHECK(kind == MPI_CART && n == 2);
    OK(MPI_Cart_coords(grid, rank, 2, coords));
    OK(MPI_Cart_shift(grid, 1, 1, &from, &to));
    CHECK(coords[1] > 0 || from == MPI_PROC_NULL);
    OK(MPI_Cart_sub(grid, keep, &row));
    pass_round(row);
    OK(MPI_Comm_free(&row));
    OK(MPI_Comm_free(&grid));
    FOLD(coords);
}

static void graphs(void)
{
    int index[3] = {1, 3, 4}, edges[4] = {1, 0, 2, 1}, n, neighbors[2];
    int to[1] = {(rank + 1) % size}, degree = 1, in, out, weighted;
    MPI_Comm graph, ring;
    OK(MPI_Graph_create(WORLD, 3, index, edges, 0, &graph));
    OK(MPI_Graph_neighbors_count(graph, rank, &n));
    OK(MPI_Graph_neighbors(graph, rank, n, neighbors));
    CHECK(n == (rank == 1 ? 2 : 1) && neighbors[0] == (rank == 1 ? 0 : 1));
    OK(MPI_Dist_graph_create(WORLD, 1, &rank, &degree, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring));
    OK(MPI_Dist_graph_neighbors_count(ring, &in, &out, &weighted));
    CHECK(in == 1 && out == 1 && !weighted);
    pass_round(ring);
    OK(MPI_Comm_free(&ring));
    OK(MPI_Comm_free(&graph));
}

static int copied, deleted;

static int copy_attribute(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    int n;
    (void)key;
    (void)extra;
    (MPI_Comm_size)(comm, &n); /* a call inside a call */
    CHECK(n == size);
    *(void **)out = in;
    *flag = 1;
    copied++;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    (MPI_Barrier)(MPI_COMM_SELF);
    deleted++;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    int key, flag, *value;
    void *found;
    MPI_Comm comm;
    OK(MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL));
    OK(MPI_Comm_dup(WORLD, &comm));
    OK(MPI_Comm_set_attr(comm, key, &size));
    MPI_Comm again;
    OK(MPI_Comm_dup(comm, &again));
    OK(MPI_Comm_get_attr(again, key, &found, &flag));
    CHECK(flag && found == &size && copied == 1);
    OK(MPI_Comm_free(&again));
    OK(MPI_Comm_delete_attr(comm, key));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free_keyval(&key));
    CHECK(deleted == 2 && key == MPI_KEYVAL_INVALID);
    OK(MPI_Comm_get_attr(WORLD, MPI_TAG_UB, &value, &flag));
    CHECK(flag && *value >= 32767);
    FOLD(deleted);
}

static void names_and_info(void)
{
    char name[MPI_MAX_OBJECT_NAME], value[20];
    int n, flag;
    MPI_Info info;
    OK(MPI_Comm_set_name(WORLD, "all of us"));
    OK(MPI_Comm_get_name(WORLD, name, &n));
    CHECK(strcmp(name, "all of us") == 0 && n == 9);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "key", "value"));
    OK(MPI_Info_get(info, "key", 19, value, &flag));
    CHECK(flag && strcmp(value, "value") == 0);
    OK(MPI_Info_get_nkeys(info, &n));
    OK(MPI_Info_free(&info));
    OK(MPI_Get_processor_name(name, &n));
    OK(MPI_Error_class(MPI_SUCCESS, &n));
    FOLD(n);
}

static int handled, last_code;

static void count_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    handled++;
    last_code = *code;
}

static void error_handler(void)
{
    MPI_Errhandler handler;
    MPI_Comm comm, gone;
    MPI_Request request;
    int value = 1, class;
    OK(MPI_Comm_create_errhandler(count_error, &handler));
    OK(MPI_Comm_dup(WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, handler));
    OK(MPI_Comm_set_errhandler(WORLD, handler));
    CHECK(MPI_Send(&value, 1, MPI_INT, size + 5, 0, comm) != MPI_SUCCESS);
    MPI_Error_class(last_code, &class);
    CHECK(handled == 1 && class == MPI_ERR_RANK);
    CHECK(MPI_Send(&value, -1, MPI_INT, 0, 0, comm) != MPI_SUCCESS);
    CHECK(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, comm) != MPI_SUCCESS);
    CHECK(MPI_Isend(&value, 1, MPI_INT, 0, -7, comm, &request) != MPI_SUCCESS);
    CHECK(MPI_Bcast(&value, 1, MPI_INT, size, comm) != MPI_SUCCESS);
    CHECK(handled == 5);
    CHECK(MPI_Barrier(MPI_COMM_NULL) != MPI_SUCCESS);
    CHECK(MPI_Comm_dup(MPI_COMM_NULL, &gone) != MPI_SUCCESS);
    CHECK(MPI_Comm_free(&(MPI_Comm){MPI_COMM_NULL}) != MPI_SUCCESS);
    CHECK(handled == 8);
    pass_round(comm);
    OK(MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Errhandler_free(&handler));
    FOLD(class);
}

static void error_in_status(void)
{
    int small = 0, big[8] = {0}, code, class;
    MPI_Request request[2];
    MPI_Status status[2];
    OK(MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN));
    for (int with = 0; with < 2; with++) {
        OK(MPI_Irecv(&small, 1, MPI_INT, 1 - rank, 0, WORLD, &request[0]));
        OK(MPI_Irecv(big, 8, MPI_INT, 1 - rank, 1, WORLD, &request[1]));
        OK(MPI_Send(big, 8, MPI_INT, 1 - rank, 0, WORLD));
        OK(MPI_Send(big, 8, MPI_INT, 1 - rank, 1, WORLD));
        code = MPI_Waitall(2, request, with ? status : MPI_STATUSES_IGNORE);
        MPI_Error_class(code, &class);
        FOLD(class);
        CHECK(class == MPI_ERR_IN_STATUS || class == MPI_ERR_TRUNCATE);
        if (with && class == MPI_ERR_IN_STATUS) {
            MPI_Error_class(status[0].MPI_ERROR, &class);
            CHECK(class == MPI_ERR_TRUNCATE);
        }
        if (request[1] != MPI_REQUEST_NULL)
            OK(MPI_Wait(&request[1], MPI_STATUS_IGNORE));
    }
    OK(MPI_Send(big, 8, MPI_INT, 1 - rank, 2, WORLD));
    code = MPI_Recv(&small, 1, MPI_INT, 1 - rank, 2, WORLD, MPI_STATUS_IGNORE);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_TRUNCATE);
    FOLD(class);
}

static void errno_kept(void)
{
    errno = 0;
    for (int i = 0; i < 100; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 3, WORLD, &(int){0}, MPI_STATUS_IGNORE);
    errno = 12345;
    int n;
    MPI_Comm_size(MPI_COMM_SELF, &n);
    CHECK(errno == 12345);
    FOLD(n);
}

static void pcontrol(void)
{
    MPI_Comm comm;
    OK(MPI_Pcontrol(0));
    OK(MPI_Comm_dup(WORLD, &comm));
    pass_round(comm);
    for (int i = 0; i < 50; i++)
        OK(MPI_Barrier(comm));
    OK(MPI_Pcontrol(1, "more", 3.5));
    pass_round(comm);
    OK(MPI_Pcontrol(0));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Pcontrol(1));
    OK(MPI_Comm_split(WORLD, 0, -rank, &comm));
    pass_round(comm);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Barrier(WORLD));
    KNOWN_RECORDS(WW_CONTROL, 4);
}

static void packing(void)
{
    char room[100];
    int at = 0, bytes, value = rank, back;
    double number = rank + 0.25;
    OK(MPI_Pack_size(1, MPI_INT, WORLD, &bytes));
    OK(MPI_Pack(&value, 1, MPI_INT, room, sizeof room, &at, WORLD));
    OK(MPI_Pack(&number, 1, MPI_DOUBLE, room, sizeof room, &at, WORLD));
    OK(MPI_Sendrecv_replace(room, at, MPI_PACKED, (rank + 1) % size, 0, (rank + size - 1) % size, 0, WORLD,
                            MPI_STATUS_IGNORE));
    at = 0;
    OK(MPI_Unpack(room, sizeof room, &at, &back, 1, MPI_INT, WORLD));
    OK(MPI_Unpack(room, sizeof room, &at, &number, 1, MPI_DOUBLE, WORLD));
    CHECK(back == (rank + size - 1) % size && number == back + 0.25);
    FOLD(number);
}

static void datatypes(void)
{
    struct pair {
        int a;
        double b;
    } in = {rank, rank * 0.5}, out;
    MPI_Datatype type, resized, copy;
    MPI_Aint lower, extent, at[2] = {0, offsetof(struct pair, b)};
    int bytes, n, blocks[2] = {1, 1};
    MPI_Datatype parts[2] = {MPI_INT, MPI_DOUBLE};
    OK(MPI_Type_create_struct(2, blocks, at, parts, &type));
    OK(MPI_Type_create_resized(type, 0, sizeof(struct pair), &resized));
    OK(MPI_Type_dup(resized, &copy));
    OK(MPI_Type_commit(&copy));
    OK(MPI_Type_size(copy, &bytes));
    OK(MPI_Type_get_extent(copy, &lower, &extent));
    CHECK(bytes == 12 && extent == sizeof(struct pair));
    MPI_Status status;
    OK(MPI_Sendrecv(&in, 1, copy, rank, 0, &out, 1, copy, rank, 0, WORLD, &status));
    OK(MPI_Get_elements(&status, copy, &n));
    CHECK(n == 2 && out.b == in.b);
    OK(MPI_Type_free(&copy));
    OK(MPI_Type_free(&resized));
    OK(MPI_Type_free(&type));
    FOLD(out.b);
}

static void parent_of_nobody(void)
{
    MPI_Comm parent;
    OK(MPI_Comm_get_parent(&parent));
    CHECK(parent == MPI_COMM_NULL);
    FOLD(size);
}

/* What another language or library would do: the recorder never saw this communicator being made. */
static void unseen_communicator(void)
{
    MPI_Comm comm;
    OK(PMPI_Comm_dup(WORLD, &comm));
    pass_round(comm);
    OK(MPI_Barrier(comm));
    OK(PMPI_Comm_free(&comm));
}

enum { THREADS = 4, ROUNDS = 200 };

static void *talk(void *argument)
{
    int tag = (int)(long)argument, other = 1 - rank, in;
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request request[2];
        int out = i * tag;
        OK(MPI_Irecv(&in, 1, MPI_INT, other, tag, WORLD, &request[0]));
        OK(MPI_Isend(&out, 1, MPI_INT, other, tag, WORLD, &request[1]));
        OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
        CHECK(in == i * tag);
        sum += in;
    }
    return (void *)sum;
}

static void init_multiple(void)
{
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    CHECK(provided == MPI_THREAD_MULTIPLE);
}

static void threads_talk(void)
{
    pthread_t thread[THREADS];
    init_multiple();
    for (long i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, talk, (void *)(i + 1)) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *sum;
        pthread_join(thread[i], &sum);
        FOLD(sum);
    }
    KNOWN_RECORDS(WW_DONE, 2 * THREADS * ROUNDS);
    print_digest();
    MPI_Finalize();
}

static void *make_comms(void *argument)
{
    MPI_Comm mine = *(MPI_Comm *)argument;
    for (int i = 0; i < 30; i++) {
        MPI_Comm comm;
        int sum;
        OK(MPI_Comm_dup(mine, &comm));
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK(sum == size * (size - 1) / 2);
        OK(MPI_Comm_free(&comm));
    }
    return NULL;
}

static void threads_make_comms(void)
{
    pthread_t thread[THREADS];
    MPI_Comm comm[THREADS];
    init_multiple();
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Comm_dup(WORLD, &comm[i]));
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, make_comms, &comm[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Comm_free(&comm[i]));
    print_digest();
    MPI_Finalize();
}

static void threads_funneled(void)
{
    int provided, is_main;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    OK(MPI_Is_thread_main(&is_main));
    OK(MPI_Query_thread(&provided));
    CHECK(is_main && provided >= MPI_THREAD_FUNNELED);
    pass_round(WORLD);
    print_digest();
    MPI_Finalize();
}

static void before_and_after(void)
{
    int flag;
    OK(MPI_Initialized(&flag));
    CHECK(!flag);
    OK(MPI_Finalized(&flag));
    CHECK(!flag);
    int version, minor;
    OK(MPI_Get_version(&version, &minor));
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    OK(MPI_Initialized(&flag));
    CHECK(flag);
    print_digest();
    MPI_Finalize();
    OK(MPI_Finalized(&flag));
    CHECK(flag);
}

static void exit_status(void)
{
    pass_round(WORLD);
    print_digest();
    MPI_Finalize();
    exit(7);
}

static void abort_status(void)
{
    print_digest();
    usleep(200000); /* until the launcher has passed it on */
    MPI_Barrier(WORLD);
    if (rank == 0)
        MPI_Abort(WORLD, 5);
    for (;;)
        pause();
}

static void killed(void)
{
    print_digest();
    MPI_Barrier(WORLD);
    if (rank == size - 1)
        raise(SIGKILL);
    MPI_Barrier(WORLD);
    for (;;)
        pause();
}

static void self_only(void)
{
    int in, value = 3;
    MPI_Request request;
    OK(MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request));
    OK(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Allreduce(MPI_IN_PLACE, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF));
    CHECK(in == 3);
    FOLD(in);
}

#if MPI_VERSION >= 4
static void session_beside_world(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "whywait", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    pass_round(comm);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Session_finalize(&session));
}

static void session_alone(void)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "whywait", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    pass_round(comm);
    OK(MPI_Barrier(comm));
    if (rank == 0)
        printf("session_alone %d\n", size);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Session_finalize(&session));
}
#endif

const struct mpi_case cases[] = {
    {"comm_dup", comm_dup, 2, TOGETHER},
    {"comm_idup", comm_idup, 3, TOGETHER},
    {"comm_split", comm_split, 4, TOGETHER},
    {"comm_create", comm_create, 3, TOGETHER},
    {"comm_reuse", comm_reuse, 2, ALONE},
    {"halves_reuse", halves_reuse, 4, ALONE},
    {"many_comms", many_comms, 2, TOGETHER},
    {"intercomm_merge", intercomm_merge, 4, TOGETHER},
    {"cartesian", cartesian, 4, TOGETHER},
    {"graphs", graphs, 3, TOGETHER},
    {"attributes", attributes, 2, TOGETHER},
    {"names_and_info", names_and_info, 1, TOGETHER},
    {"error_handler", error_handler, 2, TOGETHER},
    {"error_in_status", error_in_status, 2, TOGETHER},
    {"errno_kept", errno_kept, 1, TOGETHER},
    {"pcontrol", pcontrol, 2, ALONE},
    {"packing", packing, 2, TOGETHER},
    {"datatypes", datatypes, 1, TOGETHER},
    {"parent_of_nobody", parent_of_nobody, 1, TOGETHER},
    {"unseen_communicator", unseen_communicator, 2, TOGETHER},
    {"threads_talk", threads_talk, 2, OWN_LIFE},
    {"threads_make_comms", threads_make_comms, 2, OWN_LIFE},
    {"threads_funneled", threads_funneled, 2, OWN_LIFE},
    {"before_and_after", before_and_after, 2, OWN_LIFE},
    {"exit_status", exit_status, 2, ALONE},
    {"abort_status", abort_status, 2, ALONE},
    {"killed", killed, 2, ALONE},
    {"self_only", self_only, 1, TOGETHER},
#if MPI_VERSION >= 4
    {"session_beside_world", session_beside_world, 2, TOGETHER},
    {"session_alone", session_alone, 2, OWN_LIFE},
#endif
    {NULL, NULL, 0, TOGETHER},
};
