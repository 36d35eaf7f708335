/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives: blocking, non-blocking and persistent, in place, with varying counts, on neighbourhoods. */
#include "case.h"

enum { MOST = 8 };

static int sum_of_ranks(void)
{
    return size * (size - 1) / 2;
}

static void barrier(void)
{
    for (int i = 0; i < 10; i++)
        OK(MPI_Barrier(WORLD));
    FOLD(size);
}

static void bcast(void)
{
    int data[100];
    for (int root = 0; root < size; root++) {
        for (int i = 0; i < 100; i++)
            data[i] = rank == root ? root * i : -1;
        OK(MPI_Bcast(data, 100, MPI_INT, root, WORLD));
        CHECK(data[99] == root * 99);
        FOLD(data);
    }
}

static void reduce(void)
{
    int in = rank + 1, out = -1;
    OK(MPI_Reduce(&in, &out, 1, MPI_INT, MPI_SUM, size - 1, WORLD));
    CHECK(rank != size - 1 || out == sum_of_ranks() + size);
    OK(rank == 0 ? MPI_Reduce(MPI_IN_PLACE, &in, 1, MPI_INT, MPI_MAX, 0, WORLD)
                 : MPI_Reduce(&in, NULL, 1, MPI_INT, MPI_MAX, 0, WORLD));
    CHECK(rank != 0 || in == size);
    FOLD(in);
}

static void allreduce(void)
{
    double in[3] = {rank, 1, -rank}, out[3];
    OK(MPI_Allreduce(in, out, 3, MPI_DOUBLE, MPI_SUM, WORLD));
    CHECK(out[0] == sum_of_ranks() && out[1] == size);
    OK(MPI_Allreduce(MPI_IN_PLACE, in, 3, MPI_DOUBLE, MPI_MIN, WORLD));
    CHECK(in[0] == 0 && in[2] == -(size - 1));
    FOLD(out);
    FOLD(in);
}

static void gather(void)
{
    int in[2] = {rank, rank * rank}, out[2 * MOST] = {0};
    OK(MPI_Gather(in, 2, MPI_INT, out, 2, MPI_INT, 1, WORLD));
    CHECK(rank != 1 || out[2 * (size - 1) + 1] == (size - 1) * (size - 1));
    if (rank == 0) {
        out[0] = 50;
        OK(MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out, 1, MPI_INT, 0, WORLD));
        CHECK(out[0] == 50 && out[1] == 1);
    } else {
        OK(MPI_Gather(&rank, 1, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, 0, WORLD));
    }
    FOLD(out);
}

static void gatherv(void)
{
    int in[MOST], out[MOST * MOST] = {0}, counts[MOST], displs[MOST];
    for (int i = 0; i < size; i++) {
        counts[i] = i;
        displs[i] = i * MOST;
        in[i] = rank * 10 + i;
    }
    OK(rank == 0 ? MPI_Gatherv(in, 0, MPI_INT, out, counts, displs, MPI_INT, 0, WORLD)
                 : MPI_Gatherv(in, rank, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, 0, WORLD));
    CHECK(rank != 0 || out[MOST] == 10);
    FOLD(out);
}

static void scatter(void)
{
    int all[2 * MOST], mine[2] = {-1, -1};
    for (int i = 0; i < 2 * MOST; i++)
        all[i] = 100 + i;
    OK(rank == 0 ? MPI_Scatter(all, 2, MPI_INT, MPI_IN_PLACE, 2, MPI_INT, 0, WORLD)
                 : MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, mine, 2, MPI_INT, 0, WORLD));
    CHECK(rank == 0 || mine[1] == 100 + 2 * rank + 1);
    OK(MPI_Scatter(all, 1, MPI_INT, mine, 1, MPI_INT, size - 1, WORLD));
    CHECK(mine[0] == 100 + rank);
    FOLD(mine);
}

static void scatterv(void)
{
    int all[MOST * MOST], mine[MOST] = {0}, counts[MOST], displs[MOST];
    for (int i = 0; i < MOST * MOST; i++)
        all[i] = i;
    for (int i = 0; i < size; i++) {
        counts[i] = size - i;
        displs[i] = i * MOST;
    }
    OK(MPI_Scatterv(all, counts, displs, MPI_INT, mine, size - rank, MPI_INT, 0, WORLD));
    CHECK(mine[0] == rank * MOST);
    FOLD(mine);
}

static void allgather(void)
{
    int all[MOST] = {0};
    OK(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, WORLD));
    CHECK(all[size - 1] == size - 1);
    all[rank] = rank * 2;
    OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, WORLD));
    CHECK(all[size - 1] == 2 * (size - 1));
    FOLD(all);
}

static void allgatherv(void)
{
    int all[MOST * MOST] = {0}, mine[MOST], counts[MOST], displs[MOST];
    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        displs[i] = i * (i + 1) / 2;
        mine[i] = rank + i;
    }
    OK(MPI_Allgatherv(mine, rank + 1, MPI_INT, all, counts, displs, MPI_INT, WORLD));
    CHECK(all[displs[size - 1]] == size - 1);
    OK(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, displs, MPI_INT, WORLD));
    FOLD(all);
}

static void alltoall(void)
{
    int out[MOST], in[MOST] = {0};
    for (int i = 0; i < size; i++)
        out[i] = rank * 10 + i;
    OK(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, WORLD));
    CHECK(in[size - 1] == (size - 1) * 10 + rank);
    OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, WORLD));
    CHECK(in[size - 1] == rank * 10 + size - 1);
    FOLD(in);
}

static void alltoallv(void)
{
    int out[MOST * MOST], in[MOST * MOST] = {0}, n_out[MOST], n_in[MOST], displs[MOST];
    for (int i = 0; i < size; i++) {
        n_out[i] = i;
        n_in[i] = rank;
        displs[i] = i * MOST;
    }
    for (int i = 0; i < MOST * MOST; i++)
        out[i] = rank * 100 + i;
    OK(MPI_Alltoallv(out, n_out, displs, MPI_INT, in, n_in, displs, MPI_INT, WORLD));
    CHECK(rank == 0 || in[0] == rank * MOST);
    FOLD(in);
}

static void alltoallw(void)
{
    int out[MOST], in[MOST] = {0}, n[MOST], displs[MOST];
    MPI_Datatype types[MOST];
    for (int i = 0; i < size; i++) {
        out[i] = rank * 10 + i;
        n[i] = i == rank ? 0 : 1;
        displs[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    n[rank] = 1;
    OK(MPI_Alltoallw(out, n, displs, types, in, n, displs, types, WORLD));
    CHECK(in[0] == rank);
    OK(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in, n, displs, types, WORLD));
    FOLD(in);
}

static void reduce_scatter(void)
{
    int in[MOST], out = -1, counts[MOST];
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        in[i] = rank + i;
    }
    OK(MPI_Reduce_scatter(in, &out, counts, MPI_INT, MPI_SUM, WORLD));
    CHECK(out == sum_of_ranks() + size * rank);
    OK(MPI_Reduce_scatter_block(in, &out, 1, MPI_INT, MPI_MAX, WORLD));
    CHECK(out == size - 1 + rank);
    OK(MPI_Reduce_scatter_block(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, WORLD));
    FOLD(out);
}

static void scan(void)
{
    int in = rank + 1, out = -1;
    OK(MPI_Scan(&in, &out, 1, MPI_INT, MPI_SUM, WORLD));
    CHECK(out == (rank + 1) * (rank + 2) / 2);
    FOLD(out);
    out = 0;
    OK(MPI_Exscan(&in, &out, 1, MPI_INT, MPI_SUM, WORLD));
    CHECK(rank == 0 || out == rank * (rank + 1) / 2);
    OK(MPI_Scan(MPI_IN_PLACE, &in, 1, MPI_INT, MPI_SUM, WORLD));
    FOLD(in);
}

static void multiply(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int bytes;
    (MPI_Type_size)(*type, &bytes);
    CHECK(bytes == sizeof(int));
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] *= ((int *)in)[i];
}

static void own_operation(void)
{
    MPI_Op op;
    int in = rank + 2, out, commutes;
    OK(MPI_Op_create(multiply, 1, &op));
    OK(MPI_Op_commutative(op, &commutes));
    OK(MPI_Allreduce(&in, &out, 1, MPI_INT, op, WORLD));
    OK(MPI_Op_free(&op));
    CHECK(commutes && op == MPI_OP_NULL);
    OK(MPI_Reduce_local(&in, &out, 1, MPI_INT, MPI_SUM));
    FOLD(out);
}

static void finish(MPI_Request *request, bool by_test)
{
    int flag = 0;
    if (!by_test)
        OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    while (by_test && !flag)
        OK(MPI_Test(request, &flag, MPI_STATUS_IGNORE));
}

static void ibarrier(void)
{
    MPI_Request request;
    for (int i = 0; i < 6; i++) {
        OK(MPI_Ibarrier(WORLD, &request));
        finish(&request, i % 2);
    }
    KNOWN_RECORDS(WW_DONE, 6);
    FOLD(size);
}

static void icollectives_rooted(void)
{
    MPI_Request request[3];
    int data = rank == 0 ? 42 : 0, sum = 0, all[MOST] = {0};
    OK(MPI_Ibcast(&data, 1, MPI_INT, 0, WORLD, &request[0]));
    OK(MPI_Ireduce(&rank, &sum, 1, MPI_INT, MPI_SUM, 0, WORLD, &request[1]));
    OK(MPI_Igather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, WORLD, &request[2]));
    OK(MPI_Waitall(3, request, MPI_STATUSES_IGNORE));
    CHECK(data == 42 && (rank || (sum == sum_of_ranks() && all[size - 1] == size - 1)));
    OK(MPI_Iscatter(all, 1, MPI_INT, &data, 1, MPI_INT, 0, WORLD, &request[0]));
    finish(&request[0], true);
    CHECK(data == rank);
    FOLD(all);
}

static void icollectives_all(void)
{
    MPI_Request request[4];
    int sum = rank, all[MOST] = {0}, turned[MOST] = {0}, out[MOST], prefix = -1;
    for (int i = 0; i < size; i++)
        out[i] = rank * 10 + i;
    OK(MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, WORLD, &request[0]));
    OK(MPI_Iallgather(&rank, 1, MPI_INT, all, 1, MPI_INT, WORLD, &request[1]));
    OK(MPI_Ialltoall(out, 1, MPI_INT, turned, 1, MPI_INT, WORLD, &request[2]));
    OK(MPI_Iscan(&rank, &prefix, 1, MPI_INT, MPI_SUM, WORLD, &request[3]));
    for (int i = 0; i < 4; i++) {
        int index;
        OK(MPI_Waitany(4, request, &index, MPI_STATUS_IGNORE));
    }
    CHECK(sum == sum_of_ranks() && all[size - 1] == size - 1 && turned[1] == 10 + rank);
    FOLD(turned);
    FOLD(prefix);
}

static void icollectives_varying(void)
{
    MPI_Request request[3];
    int all[MOST * MOST] = {0}, mine[MOST] = {0}, counts[MOST], displs[MOST], in[MOST] = {0};
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        displs[i] = i;
        mine[i] = rank + i;
    }
    OK(MPI_Iallgatherv(mine, 1, MPI_INT, all, counts, displs, MPI_INT, WORLD, &request[0]));
    OK(MPI_Ialltoallv(mine, counts, displs, MPI_INT, in, counts, displs, MPI_INT, WORLD, &request[1]));
    OK(MPI_Ireduce_scatter(mine, &mine[MOST - 1], counts, MPI_INT, MPI_SUM, WORLD, &request[2]));
    OK(MPI_Waitall(3, request, MPI_STATUSES_IGNORE));
    CHECK(all[size - 1] == size - 1 && mine[MOST - 1] == sum_of_ranks() + size * rank);
    OK(MPI_Igatherv(mine, 1, MPI_INT, all, counts, displs, MPI_INT, 0, WORLD, &request[0]));
    OK(MPI_Iscatterv(all, counts, displs, MPI_INT, in, 1, MPI_INT, 0, WORLD, &request[1]));
    OK(MPI_Iexscan(&rank, &in[1], 1, MPI_INT, MPI_SUM, WORLD, &request[2]));
    OK(MPI_Waitall(3, request, MPI_STATUSES_IGNORE));
    FOLD(all);
}

static MPI_Comm ring(void)
{
    int dims[1] = {size}, periodic[1] = {1};
    MPI_Comm comm;
    OK(MPI_Cart_create(WORLD, 1, dims, periodic, 0, &comm));
    return comm;
}

static void neighbor_ring(void)
{
    MPI_Comm comm = ring();
    int in[2] = {-1, -1}, out[2] = {rank * 2, rank * 2 + 1};
    MPI_Request request;
    OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, comm));
    CHECK(in[0] == (rank + size - 1) % size && in[1] == (rank + 1) % size);
    OK(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm));
    FOLD(in);
    OK(MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm, &request));
    finish(&request, true);
    OK(MPI_Ineighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, comm, &request));
    finish(&request, false);
    FOLD(in);
    OK(MPI_Comm_free(&comm));
}

static void neighbor_open_grid(void)
{
    int dims[1] = {size}, periodic[1] = {0}, in[2] = {-7, -7}, out[2] = {-8, -8}, counts[2] = {1, 1},
        displs[2] = {0, 1};
    MPI_Comm comm;
    OK(MPI_Cart_create(WORLD, 1, dims, periodic, 0, &comm));
    OK(MPI_Neighbor_allgatherv(&rank, 1, MPI_INT, in, counts, displs, MPI_INT, comm));
    CHECK(rank > 0 || in[0] == -7);
    FOLD(in);
    OK(MPI_Neighbor_alltoallv(in, counts, displs, MPI_INT, out, counts, displs, MPI_INT, comm));
    FOLD(out);
    OK(MPI_Comm_free(&comm));
}

static void neighbor_graph(void)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size, in = -1;
    int one = 1;
    MPI_Aint zero = 0;
    MPI_Datatype type = MPI_INT;
    MPI_Comm comm;
    OK(MPI_Dist_graph_create_adjacent(WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                      &comm));
    OK(MPI_Neighbor_alltoallw(&rank, &one, &zero, &type, &in, &one, &zero, &type, comm));
    CHECK(in == from);
    FOLD(in);
    OK(MPI_Comm_free(&comm));
}

static void intercommunicator(void)
{
    MPI_Comm half, inter;
    int low = rank < size / 2, data = -1, all[MOST] = {0}, root;
    OK(MPI_Comm_split(WORLD, low, rank, &half));
    OK(MPI_Intercomm_create(half, 0, WORLD, low ? size / 2 : 0, 5, &inter));
    root = low ? (rank == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
    if (rank == 0)
        data = 11;
    OK(MPI_Bcast(&data, 1, MPI_INT, root, inter));
    CHECK(data == (low && rank ? -1 : 11));
    OK(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, inter));
    CHECK(all[0] == (low ? size / 2 : 0));
    OK(MPI_Reduce(&rank, &data, 1, MPI_INT, MPI_SUM, root, inter));
    OK(MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, root, inter));
    OK(MPI_Scatter(all, 1, MPI_INT, &data, 1, MPI_INT, root, inter));
    OK(MPI_Allreduce(&rank, &data, 1, MPI_INT, MPI_SUM, inter));
    OK(MPI_Barrier(inter));
    FOLD(all);
    FOLD(data);
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
}

static void derived_types(void)
{
    MPI_Datatype column;
    int matrix[4][4], in[4] = {0};
    for (int i = 0; i < 16; i++)
        matrix[i / 4][i % 4] = rank * 100 + i;
    OK(MPI_Type_vector(4, 1, 4, MPI_INT, &column));
    OK(MPI_Type_commit(&column));
    OK(MPI_Bcast(matrix, 1, column, 0, WORLD));
    CHECK(matrix[3][0] == 12 && matrix[3][1] == rank * 100 + 13);
    OK(MPI_Sendrecv(&matrix[0][1], 1, column, rank, 0, in, 4, MPI_INT, rank, 0, WORLD, MPI_STATUS_IGNORE));
    CHECK(in[3] == rank * 100 + 13);
    OK(MPI_Type_free(&column));
    FOLD(matrix);
}

static void counted(void)
{
    int value = 1, sum;
    for (int i = 0; i < 30; i++) {
        OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, WORLD));
        OK(MPI_Bcast(&sum, 1, MPI_INT, 0, WORLD));
    }
    FOLD(sum);
}

#if MPI_VERSION >= 4
static void persistent_collectives(void)
{
    MPI_Request request[3];
    int sum = 0, data = 0;
    OK(MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &request[0]));
    OK(MPI_Bcast_init(&data, 1, MPI_INT, 0, WORLD, MPI_INFO_NULL, &request[1]));
    OK(MPI_Barrier_init(WORLD, MPI_INFO_NULL, &request[2]));
    for (int i = 0; i < 4; i++) {
        data = rank == 0 ? i : -1;
        OK(MPI_Startall(3, request));
        OK(MPI_Waitall(3, request, MPI_STATUSES_IGNORE));
        CHECK(sum == sum_of_ranks() && data == i);
    }
    for (int i = 0; i < 3; i++)
        OK(MPI_Request_free(&request[i]));
    FOLD(sum);
}

static void large_counts(void)
{
    int sum = 0, in = -1, all[MOST] = {0};
    MPI_Count n;
    MPI_Status status;
    MPI_Request request;
    OK(MPI_Allreduce_c(&rank, &sum, 1, MPI_INT, MPI_SUM, WORLD));
    OK(MPI_Allgather_c(&rank, 1, MPI_INT, all, 1, MPI_INT, WORLD));
    OK(MPI_Isend_c(&rank, 1, MPI_INT, (rank + 1) % size, 0, WORLD, &request));
    OK(MPI_Recv_c(&in, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, &status));
    OK(MPI_Get_count_c(&status, MPI_INT, &n));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(sum == sum_of_ranks() && n == 1);
    FOLD(in);
    FOLD(all);
}

static void partitioned(void)
{
    double out[8], in[8] = {0};
    MPI_Request request[2];
    int flag;
    OK(MPI_Psend_init(out, 4, 2, MPI_DOUBLE, (rank + 1) % size, 0, WORLD, MPI_INFO_NULL, &request[0]));
    OK(MPI_Precv_init(in, 4, 2, MPI_DOUBLE, (rank + size - 1) % size, 0, WORLD, MPI_INFO_NULL, &request[1]));
    OK(MPI_Startall(2, request));
    for (int i = 0; i < 4; i++) {
        out[2 * i] = rank;
        out[2 * i + 1] = i;
        OK(MPI_Pready(i, request[0]));
    }
    for (flag = 0; !flag;)
        OK(MPI_Parrived(request[1], 3, &flag));
    OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    CHECK(in[7] == 3 && in[0] == (rank + size - 1) % size);
    OK(MPI_Request_free(&request[0]));
    OK(MPI_Request_free(&request[1]));
    FOLD(in);
}

static void isendrecv(void)
{
    int in = -1, value = rank;
    MPI_Request request;
    OK(MPI_Isendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, WORLD,
                     &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Isendrecv_replace(&value, 1, MPI_INT, (rank + 1) % size, 0, (rank + size - 1) % size, 0, WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(in == value && in == (rank + size - 1) % size);
    FOLD(in);
}
#endif

const struct mpi_case cases[] = {
    {"barrier", barrier, 3, TOGETHER},
    {"bcast", bcast, 3, TOGETHER},
    {"reduce", reduce, 3, TOGETHER},
    {"allreduce", allreduce, 3, TOGETHER},
    {"gather", gather, 3, TOGETHER},
    {"gatherv", gatherv, 3, TOGETHER},
    {"scatter", scatter, 3, TOGETHER},
    {"scatterv", scatterv, 3, TOGETHER},
    {"allgather", allgather, 3, TOGETHER},
    {"allgatherv", allgatherv, 3, TOGETHER},
    {"alltoall", alltoall, 3, TOGETHER},
    {"alltoallv", alltoallv, 3, TOGETHER},
    {"alltoallw", alltoallw, 3, TOGETHER},
    {"reduce_scatter", reduce_scatter, 3, TOGETHER},
    {"scan", scan, 3, TOGETHER},
    {"own_operation", own_operation, 2, TOGETHER},
    {"ibarrier", ibarrier, 2, ALONE},
    {"icollectives_rooted", icollectives_rooted, 3, TOGETHER},
    {"icollectives_all", icollectives_all, 3, TOGETHER},
    {"icollectives_varying", icollectives_varying, 2, TOGETHER},
    {"neighbor_ring", neighbor_ring, 3, TOGETHER},
    {"neighbor_open_grid", neighbor_open_grid, 3, TOGETHER},
    {"neighbor_graph", neighbor_graph, 3, TOGETHER},
    {"intercommunicator", intercommunicator, 4, TOGETHER},
    {"derived_types", derived_types, 2, TOGETHER},
    {"coll_counted", counted, 2, TOGETHER},
#if MPI_VERSION >= 4
    {"persistent_collectives", persistent_collectives, 2, TOGETHER},
    {"large_counts", large_counts, 2, TOGETHER},
    {"partitioned", partitioned, 2, TOGETHER},
    {"isendrecv", isendrecv, 2, TOGETHER},
#endif
    {NULL, NULL, 0, TOGETHER},
};
