/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derived types of every constructor, packing for strangers, groups, topologies, communicators of unusual origin,
 * attributes whose callbacks call MPI, removed functions of MPI 1, the tools interface, and what may be called before
 * MPI_Init and after MPI_Finalize.
 */
#include "case.h"
#include <pthread.h>

#ifdef OPEN_MPI
/* In the library, not in the header. */
int(MPI_Address)(void *, MPI_Aint *);
int(MPI_Type_extent)(MPI_Datatype, MPI_Aint *);
int(MPI_Type_struct)(int, int *, MPI_Aint *, MPI_Datatype *, MPI_Datatype *);
int(MPI_Type_hindexed)(int, int *, MPI_Aint *, MPI_Datatype, MPI_Datatype *);
int(MPI_Type_hvector)(int, int, MPI_Aint, MPI_Datatype, MPI_Datatype *);
int(MPI_Type_lb)(MPI_Datatype, MPI_Aint *);
int(MPI_Type_ub)(MPI_Datatype, MPI_Aint *);
int(MPI_Errhandler_create)(MPI_Comm_errhandler_function *, MPI_Errhandler *);
int(MPI_Errhandler_get)(MPI_Comm, MPI_Errhandler *);
int(MPI_Errhandler_set)(MPI_Comm, MPI_Errhandler);
#endif

/* Sends one of `type` from a counted block to itself, receives it as bytes through MPI_PACKED, and frees the type. */
static void use_type(MPI_Datatype *type)
{
    int out[64], position = 0, bytes, n, in[64] = {0};
    char packed[1024];
    MPI_Status status;
    MPI_Aint lower, extent, true_lower, true_extent;
    for (int i = 0; i < 64; i++)
        out[i] = i + 1;
    OK(MPI_Type_commit(type));
    OK(MPI_Type_size(*type, &bytes));
    OK(MPI_Type_get_extent(*type, &lower, &extent));
    OK(MPI_Type_get_true_extent(*type, &true_lower, &true_extent));
    OK(MPI_Sendrecv(out, 1, *type, rank, 0, packed, sizeof packed, MPI_PACKED, rank, 0, WORLD, &status));
    OK(MPI_Get_count(&status, MPI_PACKED, &n));
    OK(MPI_Unpack(packed, n, &position, in, 1, *type, WORLD));
    OK(MPI_Get_elements(&status, MPI_BYTE, &position));
    CHECK(n == bytes && position == n);
    int fields[4], combiner;
    OK(MPI_Type_get_envelope(*type, &fields[0], &fields[1], &fields[2], &combiner));
    CHECK(combiner != MPI_COMBINER_NAMED);
    OK(MPI_Type_free(type));
    CHECK(*type == MPI_DATATYPE_NULL);
    FOLD(in);
    FOLD(extent);
    FOLD(true_extent);
}

static void constructors(void)
{
    int blocks[2] = {2, 1}, at[2] = {0, 5}, sizes[2] = {4, 6}, parts[2] = {2, 3}, starts[2] = {1, 2};
    int spread[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, grid[2] = {2, 1};
    int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2};
    MPI_Aint bytes_at[2] = {4, 32};
    MPI_Datatype type, made, members[2] = {MPI_INT, MPI_FLOAT};
    OK(MPI_Type_contiguous(5, MPI_INT, &type));
    use_type(&type);
    OK(MPI_Type_vector(3, 2, 4, MPI_INT, &type));
    OK(MPI_Type_dup(type, &made));
    use_type(&made);
    use_type(&type);
    OK(MPI_Type_create_hvector(3, 1, 12, MPI_INT, &type));
    use_type(&type);
    OK(MPI_Type_indexed(2, blocks, at, MPI_INT, &type));
    use_type(&type);
    OK(MPI_Type_create_hindexed(2, blocks, bytes_at, MPI_INT, &type));
    use_type(&type);
    OK(MPI_Type_create_indexed_block(2, 2, at, MPI_INT, &type));
    use_type(&type);
    OK(MPI_Type_create_hindexed_block(2, 2, bytes_at, MPI_INT, &type));
    use_type(&type);
    OK(MPI_Type_create_struct(2, blocks, bytes_at, members, &type));
    OK(MPI_Type_create_resized(type, 0, 64, &made));
    OK(MPI_Type_free(&type));
    use_type(&made);
    OK(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type));
    use_type(&type);
    OK(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_INT, &type));
    use_type(&type);
    OK(MPI_Type_create_darray(2, rank % 2, 2, sizes, spread, arguments, grid, MPI_ORDER_C, MPI_INT, &type));
    use_type(&type);
}

static void type_contents(void)
{
    int blocks[2] = {2, 1}, numbers[3], n[3], combiner;
    MPI_Aint at[2] = {0, 16}, addresses[2], lower, extent;
    MPI_Datatype type, parts[2] = {MPI_INT, MPI_DOUBLE}, found[2];
    MPI_Count size_x, lower_x, extent_x;
    char name[MPI_MAX_OBJECT_NAME];
    OK(MPI_Type_create_struct(2, blocks, at, parts, &type));
    OK(MPI_Type_get_envelope(type, &n[0], &n[1], &n[2], &combiner));
    CHECK(n[0] == 3 && n[1] == 2 && n[2] == 2 && combiner == MPI_COMBINER_STRUCT);
    OK(MPI_Type_get_contents(type, 3, 2, 2, numbers, addresses, found));
    CHECK(numbers[1] == 2 && addresses[1] == 16 && found[1] == MPI_DOUBLE);
    OK(MPI_Type_set_name(type, "a pair"));
    OK(MPI_Type_get_name(type, name, &n[0]));
    CHECK(strcmp(name, "a pair") == 0);
    OK(MPI_Type_size_x(type, &size_x));
    OK(MPI_Type_get_extent_x(type, &lower_x, &extent_x));
    OK(MPI_Type_get_true_extent_x(type, &lower_x, &extent_x));
    CHECK(size_x == 16 && extent_x == 24);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_f90_integer(9, &type));
    OK(MPI_Type_create_f90_real(15, 307, &type));
    OK(MPI_Type_get_envelope(type, &n[0], &n[1], &n[2], &combiner));
    CHECK(combiner == MPI_COMBINER_F90_REAL);
    OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type));
    OK(MPI_Type_get_extent(type, &lower, &extent));
    CHECK(extent == 8);
    FOLD(size_x);
}

static void packed_external(void)
{
    char room[256];
    MPI_Aint bytes, position = 0;
    int out[3] = {1, 2, rank}, in[3];
    double number = 2.5, back;
    OK(MPI_Pack_external_size("external32", 3, MPI_INT, &bytes));
    CHECK(bytes == 12);
    OK(MPI_Pack_external("external32", out, 3, MPI_INT, room, sizeof room, &position));
    OK(MPI_Pack_external("external32", &number, 1, MPI_DOUBLE, room, sizeof room, &position));
    CHECK(position == 20 && room[3] == 1);
    fold(room, (size_t)position);
    position = 0;
    OK(MPI_Unpack_external("external32", room, sizeof room, &position, in, 3, MPI_INT));
    OK(MPI_Unpack_external("external32", room, sizeof room, &position, &back, 1, MPI_DOUBLE));
    CHECK(memcmp(in, out, sizeof in) == 0 && back == number);
}

static void groups(void)
{
    MPI_Group world, some, other, made, none;
    int n, relation, range[1][3] = {{0, size - 1, 2}}, first[1] = {0}, mapped[1];
    OK(MPI_Comm_group(WORLD, &world));
    OK(MPI_Group_range_incl(world, 1, range, &some));
    OK(MPI_Group_range_excl(world, 1, range, &other));
    OK(MPI_Group_union(some, other, &made));
    OK(MPI_Group_compare(made, world, &relation));
    CHECK(relation == MPI_SIMILAR);
    OK(MPI_Group_free(&made));
    OK(MPI_Group_intersection(some, other, &none));
    OK(MPI_Group_size(none, &n));
    CHECK(n == 0);
    OK(MPI_Group_translate_ranks(some, 1, first, other, mapped));
    CHECK(mapped[0] == MPI_UNDEFINED);
    OK(MPI_Group_difference(world, some, &made));
    OK(MPI_Group_compare(made, other, &relation));
    CHECK(relation == MPI_IDENT);
    OK(MPI_Group_rank(some, &n));
    CHECK(n == (rank % 2 ? MPI_UNDEFINED : rank / 2));
    OK(MPI_Group_free(&made));
    OK(MPI_Group_excl(world, 1, first, &made));
    MPI_Comm comm;
    OK(MPI_Comm_create(WORLD, none, &comm)); /* for nobody */
    CHECK(comm == MPI_COMM_NULL);
    if (rank > 0) {
        OK(MPI_Comm_create_group(WORLD, made, 3, &comm));
        OK(MPI_Comm_size(comm, &n));
        CHECK(n == size - 1);
        OK(MPI_Barrier(comm));
        OK(MPI_Comm_free(&comm));
    }
    MPI_Group *all[] = {&world, &some, &other, &made, &none};
    for (int i = 0; i < 5; i++)
        OK(MPI_Group_free(all[i]));
    FOLD(n);
}

static void split_types(void)
{
    MPI_Comm comm, again;
    MPI_Request request;
    MPI_Info info;
    int n, relation;
    OK(MPI_Comm_split_type(WORLD, rank % 2 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comm));
    CHECK((comm == MPI_COMM_NULL) == (rank % 2));
    if (comm != MPI_COMM_NULL) {
        OK(MPI_Comm_size(comm, &n));
        OK(MPI_Comm_idup(comm, &again, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Comm_compare(comm, again, &relation));
        CHECK(relation == MPI_CONGRUENT);
        OK(MPI_Comm_set_name(again, "again"));
        OK(MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_MAX, again));
        OK(MPI_Comm_free(&again));
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
    OK(MPI_Comm_dup_with_info(WORLD, info, &comm));
    OK(MPI_Comm_set_info(comm, info));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_get_info(comm, &info));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_free(&comm));
}

static void grids(void)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], keep[2] = {0, 1}, n, mapped, from, to,
        in[4] = {-1, -1, -1, -1};
    MPI_Comm grid, row, again;
    MPI_Request request;
    OK(MPI_Dims_create(size, 2, dims));
    OK(MPI_Cart_create(WORLD, 2, dims, periods, 1, &grid));
    OK(MPI_Cartdim_get(grid, &n));
    OK(MPI_Cart_get(grid, 2, dims, periods, coords));
    OK(MPI_Cart_rank(grid, coords, &n));
    OK(MPI_Cart_coords(grid, n, 2, coords));
    OK(MPI_Cart_map(WORLD, 2, dims, periods, &mapped));
    OK(MPI_Cart_shift(grid, 1, 1, &from, &to));
    OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, grid));
    CHECK(in[2] == (from == MPI_PROC_NULL ? -1 : from) && in[3] == (to == MPI_PROC_NULL ? -1 : to));
    OK(MPI_Ineighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, grid, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Cart_sub(grid, keep, &row));
    OK(MPI_Comm_dup(grid, &again)); /* with its topology */
    OK(MPI_Topo_test(again, &n));
    CHECK(n == MPI_CART);
    OK(MPI_Neighbor_alltoall(in, 1, MPI_INT, (int[4]){0}, 1, MPI_INT, again));
    OK(MPI_Comm_free(&again));
    OK(MPI_Comm_free(&row));
    OK(MPI_Comm_free(&grid));
    FOLD(in);
    dims[0] = 1;
    OK(MPI_Cart_create(WORLD, 1, dims, periods, 0, &grid));
    CHECK((grid == MPI_COMM_NULL) == (rank > 0));
    if (grid != MPI_COMM_NULL)
        OK(MPI_Comm_free(&grid));
    OK(MPI_Cart_create(WORLD, 0, dims, periods, 0, &grid)); /* a point */
    if (grid != MPI_COMM_NULL)
        OK(MPI_Comm_free(&grid));
}

static void graph_neighbors(void)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size, sources[2] = {before, rank}, weights[2] = {3, 4};
    int targets[2] = {next, rank}, in[2] = {-1, -1}, out[2] = {rank, rank + 50}, one[2] = {1, 1}, at[2] = {0, 1}, n, m,
        w;
    MPI_Aint bytes_at[2] = {0, 4};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Request r[5];
    MPI_Comm graph;
    OK(MPI_Dist_graph_create_adjacent(WORLD, 2, sources, weights, 2, targets, weights, MPI_INFO_NULL, 0, &graph));
    OK(MPI_Dist_graph_neighbors_count(graph, &n, &m, &w));
    CHECK(n == 2 && m == 2 && w);
    OK(MPI_Dist_graph_neighbors(graph, 2, sources, weights, 2, targets, weights));
    OK(MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, one, at, MPI_INT, graph));
    CHECK(in[0] == before && in[1] == rank);
    OK(MPI_Neighbor_alltoallv(out, one, at, MPI_INT, in, one, at, MPI_INT, graph));
    OK(MPI_Neighbor_alltoallw(out, one, bytes_at, types, in, one, bytes_at, types, graph));
    CHECK(in[0] == before && in[1] == rank + 50);
    int got[5][2];
    OK(MPI_Ineighbor_allgather(out, 1, MPI_INT, got[0], 1, MPI_INT, graph, &r[0]));
    OK(MPI_Ineighbor_allgatherv(out, 1, MPI_INT, got[1], one, at, MPI_INT, graph, &r[1]));
    OK(MPI_Ineighbor_alltoall(out, 1, MPI_INT, got[2], 1, MPI_INT, graph, &r[2]));
    OK(MPI_Ineighbor_alltoallv(out, one, at, MPI_INT, got[3], one, at, MPI_INT, graph, &r[3]));
    OK(MPI_Ineighbor_alltoallw(out, one, bytes_at, types, got[4], one, bytes_at, types, graph, &r[4]));
    OK(MPI_Waitall(5, r, MPI_STATUSES_IGNORE));
    CHECK(got[0][0] == before && got[4][1] == rank + 50);
    OK(MPI_Comm_free(&graph));
    OK(MPI_Dist_graph_create_adjacent(WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0,
                                      &graph));
    OK(MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, graph)); /* with nobody */
    OK(MPI_Comm_free(&graph));
    FOLD(got);
}

static void across(void)
{
    MPI_Comm half, inter, merged, copy;
    MPI_Group group;
    MPI_Request request;
    int n, flag, value = rank, sum = -1, first = rank < size / 2;
    int root = first ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
    OK(MPI_Comm_split(WORLD, first, rank, &half));
    OK(MPI_Intercomm_create(half, 0, WORLD, first ? size / 2 : 0, 4, &inter));
    OK(MPI_Comm_test_inter(inter, &flag));
    OK(MPI_Comm_remote_size(inter, &n));
    OK(MPI_Comm_remote_group(inter, &group));
    OK(MPI_Group_free(&group));
    CHECK(flag && n == size - size / 2);
    OK(MPI_Bcast(&value, 1, MPI_INT, root, inter));
    OK(MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, root, inter));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter));
    OK(MPI_Barrier(inter));
    OK(MPI_Comm_dup(inter, &copy));
    OK(MPI_Ibcast(&value, 1, MPI_INT, root, copy, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Intercomm_merge(copy, !first, &merged));
    OK(MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_SUM, merged));
    CHECK(n == size * (size - 1) / 2 && value == (first ? rank : 0));
    OK(MPI_Comm_split(inter, rank % 2, 0, &half));
    if (half != MPI_COMM_NULL)
        OK(MPI_Comm_free(&half));
    OK(MPI_Comm_free(&merged));
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_disconnect(&inter));
    FOLD(sum);
}

static int copies, deletions;

#define COPY_CALLBACK(object, Object, ask)                                                                             \
    static int copy_on_##object(MPI_##Object handle, int key, void *extra, void *in, void *out, int *flag)             \
    {                                                                                                                  \
        (void)key, (void)extra;                                                                                        \
        OK(ask);                                                                                                       \
        *(void **)out = in;                                                                                            \
        *flag = 1;                                                                                                     \
        copies++;                                                                                                      \
        return MPI_SUCCESS;                                                                                            \
    }                                                                                                                  \
    static int delete_on_##object(MPI_##Object handle, int key, void *value, void *extra)                              \
    {                                                                                                                  \
        (void)key, (void)extra, (void)value;                                                                           \
        OK(ask);                                                                                                       \
        deletions++;                                                                                                   \
        return MPI_SUCCESS;                                                                                            \
    }
COPY_CALLBACK(comm, Comm, (MPI_Comm_size)(handle, &(int){0}))
COPY_CALLBACK(type, Datatype, (MPI_Type_size)(handle, &(int){0}))
COPY_CALLBACK(win, Win, (MPI_Win_get_name)(handle, (char[MPI_MAX_OBJECT_NAME]){0}, &(int){0}))

static void attributes_of_all(void)
{
    int key, flag, memory[2];
    void *found;
    MPI_Comm comm, copy;
    MPI_Datatype type, type_copy;
    MPI_Win win;
    copies = deletions = 0;
    OK(MPI_Comm_create_keyval(copy_on_comm, delete_on_comm, &key, NULL));
    OK(MPI_Comm_dup(WORLD, &comm));
    OK(MPI_Comm_set_attr(comm, key, &key));
    OK(MPI_Comm_dup(comm, &copy));
    OK(MPI_Comm_get_attr(copy, key, &found, &flag));
    CHECK(flag && found == &key);
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Type_create_keyval(copy_on_type, delete_on_type, &key, NULL));
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    OK(MPI_Type_set_attr(type, key, memory));
    OK(MPI_Type_dup(type, &type_copy));
    OK(MPI_Type_get_attr(type_copy, key, &found, &flag));
    CHECK(flag && found == memory);
    OK(MPI_Type_delete_attr(type_copy, key));
    OK(MPI_Type_free(&type_copy));
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free_keyval(&key));
    OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_on_win, &key, NULL));
    OK(MPI_Win_create(memory, sizeof memory, 4, MPI_INFO_NULL, WORLD, &win));
    OK(MPI_Win_set_attr(win, key, memory));
    OK(MPI_Win_get_attr(win, key, &found, &flag));
    CHECK(flag && found == memory);
    OK(MPI_Win_free_keyval(&key));
    OK(MPI_Win_free(&win));
    CHECK(copies == 2 && deletions == 5);
    FOLD(deletions);
}

static void predefined_attributes(void)
{
    static const int keys[] = {MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_UNIVERSE_SIZE, MPI_APPNUM};
    int flag, *value;
    for (int i = 0; i < 6; i++) {
        OK(MPI_Comm_get_attr(WORLD, keys[i], &value, &flag));
        FOLD(flag);
        if (flag && i < 4)
            FOLD(*value);
    }
    OK(MPI_Attr_get(WORLD, MPI_TAG_UB, &value, &flag));
    CHECK(flag && *value >= 32767);
    OK(MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &flag, NULL));
    OK(MPI_Attr_put(WORLD, flag, &flag));
    OK(MPI_Attr_delete(WORLD, flag));
    OK(MPI_Keyval_free(&flag));
}

static void ignore_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static void removed_functions(void)
{
    int blocks[2] = {1, 1};
    struct {
        int a;
        double b;
    } pair;
    MPI_Aint at[2], base, extent;
    MPI_Datatype type, parts[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Errhandler handler, found;
    OK(MPI_Address(&pair, &base));
    OK(MPI_Address(&pair.b, &at[1]));
    at[1] -= base;
    at[0] = 0;
    CHECK(at[1] == 8);
    OK(MPI_Type_struct(2, blocks, at, parts, &type));
    OK(MPI_Type_extent(type, &extent));
    OK(MPI_Type_lb(type, &base));
    OK(MPI_Type_ub(type, &base));
    CHECK(extent == 16 && base == 16);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_hvector(2, 1, 8, MPI_INT, &type));
    use_type(&type);
    OK(MPI_Type_hindexed(2, blocks, at, MPI_INT, &type));
    use_type(&type);
    OK(MPI_Errhandler_create(ignore_error, &handler));
    OK(MPI_Errhandler_set(WORLD, handler));
    OK(MPI_Errhandler_get(WORLD, &found));
    CHECK(MPI_Send(&pair, 1, MPI_INT, size, 0, WORLD) != MPI_SUCCESS);
    OK(MPI_Errhandler_set(WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Errhandler_free(&found));
    if (handler != MPI_ERRHANDLER_NULL)
        OK(MPI_Errhandler_free(&handler));
}

static void infos(void)
{
    MPI_Info info, copy;
    char key[MPI_MAX_INFO_KEY + 1], value[32];
    int n, flag;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "one", "1"));
    OK(MPI_Info_set(info, "two", "22"));
    OK(MPI_Info_dup(info, &copy));
    OK(MPI_Info_delete(info, "one"));
    OK(MPI_Info_get_nkeys(copy, &n));
    OK(MPI_Info_get_nthkey(copy, 1, key));
    CHECK(n == 2 && strcmp(key, "two") == 0);
    OK(MPI_Info_get_valuelen(copy, "two", &n, &flag));
    OK(MPI_Info_get(copy, "two", 31, value, &flag));
    CHECK(flag && n == 2 && strcmp(value, "22") == 0);
    OK(MPI_Info_get(info, "one", 31, value, &flag));
    CHECK(!flag);
    OK(MPI_Info_free(&copy));
    OK(MPI_Info_free(&info));
    OK(MPI_Info_get(MPI_INFO_ENV, "maxprocs", 31, value, &flag));
    FOLD(flag);
#if MPI_VERSION >= 4
    char *words[2] = {"a", NULL};
    OK(MPI_Info_create_env(1, words, &info));
    n = sizeof value;
    OK(MPI_Info_get_string(info, "command", &n, value, &flag));
    OK(MPI_Info_free(&info));
#endif
}

static void tools_interface(void)
{
    int provided, n, cvars, categories;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_cvar_get_num(&cvars));
    OK(MPI_T_pvar_get_num(&n));
    OK(MPI_T_category_get_num(&categories));
    FOLD(cvars);
    FOLD(n);
    char name[256], text[1024];
    for (int i = 0; i < cvars && i < 20; i++) {
        int name_bytes = sizeof name, text_bytes = sizeof text, verbosity, binding, scope;
        MPI_Datatype type;
        MPI_T_enum values;
        if (MPI_T_cvar_get_info(i, name, &name_bytes, &verbosity, &type, &values, text, &text_bytes, &binding,
                                &scope) == MPI_SUCCESS)
            fold(name, strlen(name));
    }
    MPI_T_pvar_session session;
    OK(MPI_T_pvar_session_create(&session));
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
}

static void around_the_life(void)
{
    int flag, n, provided, version, minor;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Initialized(&flag));
    OK(MPI_Finalized(&n));
    CHECK(!flag && !n);
    OK(MPI_Get_version(&version, &minor));
    OK(MPI_Get_library_version(text, &n));
    fold(text, (size_t)n);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    OK(MPI_Query_thread(&n));
    OK(MPI_Is_thread_main(&flag));
    CHECK(n == provided && flag);
    OK(MPI_Barrier(WORLD));
    OK(MPI_T_finalize());
    print_digest();
    MPI_Finalize();
    OK(MPI_Initialized(&flag));
    OK(MPI_Finalized(&n));
    CHECK(flag && n);
    OK(MPI_Get_version(&version, &minor));
    OK(MPI_Get_library_version(text, &n));
}

static int finished;

static int at_the_end(MPI_Comm comm, int key, void *value, void *extra)
{
    int flag = 1, n = 0;
    (void)key, (void)value, (void)extra;
    (MPI_Finalized)(&flag);
    (MPI_Comm_size)(comm, &n);
    finished = !flag && n == 1;
    return MPI_SUCCESS;
}

/* The delete callbacks of MPI_COMM_SELF are called by MPI_Finalize, and may still call MPI: that is recorded. */
static void called_by_finalize(void)
{
    int key;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, &key));
    count_call(WW_ID_Finalized);
    count_call(WW_ID_Comm_size);
    print_digest();
    MPI_Finalize();
    CHECK(finished);
}

enum { THREADS = 4, ROUNDS = 20 };

static void *collect(void *argument)
{
    MPI_Comm comm = *(MPI_Comm *)argument, half;
    for (int i = 0; i < ROUNDS; i++) {
        int sum = 0, in = -1, flag;
        MPI_Request requests[3];
        OK(MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[0]));
        OK(MPI_Irecv(&in, 1, MPI_INT, (rank + 1) % size, i, comm, &requests[1]));
        OK(MPI_Isend(&rank, 1, MPI_INT, (rank + size - 1) % size, i, comm, &requests[2]));
        for (flag = 0; !flag;)
            OK(MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE));
        CHECK(sum == size * (size - 1) / 2 && in == (rank + 1) % size);
        if (i % 10 == 0) {
            OK(MPI_Comm_split(comm, 0, rank, &half));
            OK(MPI_Barrier(half));
            OK(MPI_Comm_free(&half));
        }
    }
    return NULL;
}

static void threads_collect(void)
{
    int provided;
    pthread_t threads[THREADS];
    MPI_Comm comms[THREADS];
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Comm_dup(WORLD, &comms[i]));
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, collect, &comms[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Comm_free(&comms[i]));
    print_digest();
    MPI_Finalize();
}

const struct mpi_case cases[] = {
    {"constructors", constructors, 2, TOGETHER},
    {"type_contents", type_contents, 2, TOGETHER},
    {"packed_external", packed_external, 2, TOGETHER},
    {"groups", groups, 4, TOGETHER},
    {"split_types", split_types, 4, TOGETHER},
    {"grids", grids, 4, TOGETHER},
    {"graph_neighbors", graph_neighbors, 4, TOGETHER},
    {"across", across, 4, TOGETHER},
    {"attributes_of_all", attributes_of_all, 2, TOGETHER},
    {"predefined_attributes", predefined_attributes, 2, TOGETHER},
    {"removed_functions", removed_functions, 2, TOGETHER},
    {"infos", infos, 2, TOGETHER},
    {"tools_interface", tools_interface, 2, TOGETHER},
    {"around_the_life", around_the_life, 2, OWN_LIFE},
    {"called_by_finalize", called_by_finalize, 2, OWN_LIFE},
    {"threads_collect", threads_collect, 2, OWN_LIFE},
    {NULL, NULL, 0, TOGETHER},
};
