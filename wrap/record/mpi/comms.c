/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of handles, and the records that describe communicators and windows.
 *
 * A communicator gets its id when the call that makes it returns, because analysis tells communicators of equal groups
 * apart by their order. Its record is written at once, or with the first successful call on it if recording was paused
 * or the communicator not yet complete (MPI_Comm_idup).
 */
#include "wrap/record/mpi/comms.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct {
    struct handle_map comms, wins, messages;
    pthread_mutex_t lock; /* of everything below, and of learning */
    uint32_t n_comms, n_wins;
    struct comm_info *free;
    bool started;
} tables = {
    .comms = HANDLE_MAP_INIT,
    .wins = HANDLE_MAP_INIT,
    .messages = HANDLE_MAP_INIT,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

/* Ranks in MPI_COMM_WORLD of the members of a group, -1 for those outside. */
static void translate(MPI_Group group, int n, MPI_Group world, int *world_rank)
{
    int *rank = malloc((size_t)n * sizeof *rank);
    for (int i = 0; rank && i < n; i++)
        rank[i] = i;
    if (!rank || PMPI(Group_translate_ranks)(group, n, rank, world, world_rank) != MPI_SUCCESS) {
        for (int i = 0; i < n; i++)
            world_rank[i] = -1;
    }
    for (int i = 0; i < n; i++)
        world_rank[i] = world_rank[i] < 0 ? -1 : world_rank[i];
    free(rank);
}

static void members_of(MPI_Comm comm, const struct comm_info *info, int *world_rank)
{
    MPI_Group world, group;
    if (PMPI(Comm_group)(mpi_handles.comm_world, &world) != MPI_SUCCESS)
        return;
    if (PMPI(Comm_group)(comm, &group) == MPI_SUCCESS) {
        translate(group, info->size, world, world_rank);
        PMPI(Group_free)(&group);
    }
    if (info->remote_size && PMPI(Comm_remote_group)(comm, &group) == MPI_SUCCESS) {
        translate(group, info->remote_size, world, world_rank + info->size);
        PMPI(Group_free)(&group);
    }
    PMPI(Group_free)(&world);
}

static void write_comm(MPI_Comm comm, struct comm_info *info)
{
    size_t n = (size_t)info->size + (size_t)info->remote_size;
    size_t bytes = sizeof(struct ww_comm) + n * sizeof(int32_t);
    bool fits = bytes <= (size_t)RECORD_UNITS_MOST * WW_UNIT;
    uint16_t units = record_units(fits ? bytes : sizeof(struct ww_comm));
    int *world_rank = calloc(n, sizeof *world_rank);
    if (world_rank)
        members_of(comm, info, world_rank);
    struct ww_comm *record = world_rank ? record_define(units) : NULL;
    if (record) {
        record->id = info->id;
        record->parent = info->parent;
        record->flags = fits ? 0 : WW_COMM_NO_MEMBERS;
        record->rank = info->rank;
        record->size = info->size;
        record->remote_size = info->remote_size;
        if (fits)
            memcpy(record->world_rank, world_rank, n * sizeof *world_rank);
        record_commit(record, WW_COMM, units);
        __atomic_store_n(&info->written, true, __ATOMIC_RELEASE);
    }
    free(world_rank);
}

static int list_neighbors(MPI_Comm comm, int kind, struct comm_info *info)
{
    size_t n_in = (size_t)info->n_in, n_out = (size_t)info->n_out;
    int *list = info->neighbors;
    if (kind == MPI_CART) {
        int n_dims = info->n_in / 2;
        for (int i = 0; i < n_dims; i++)
            if (PMPI(Cart_shift)(comm, i, 1, &list[2 * i], &list[2 * i + 1]) != MPI_SUCCESS)
                return -1;
        memcpy(list + 2 * n_dims, list, (size_t)n_dims * 2 * sizeof *list);
        return 0;
    }
    if (kind == MPI_GRAPH) {
        int err = PMPI(Graph_neighbors)(comm, info->rank, info->n_in, list);
        memcpy(list + n_in, list, n_out * sizeof *list);
        return err;
    }
    int *weights = malloc((n_in + n_out + 1) * sizeof *weights);
    int err =
        weights ? PMPI(Dist_graph_neighbors)(comm, info->n_in, list, weights, info->n_out, list + n_in, weights + n_in)
                : MPI_ERR_OTHER;
    free(weights);
    return err;
}

static void write_neighbors(const struct comm_info *info)
{
    size_t n = (size_t)info->n_in + (size_t)info->n_out;
    size_t bytes = sizeof(struct ww_neighbors) + n * sizeof(int32_t);
    if (bytes > (size_t)RECORD_UNITS_MOST * WW_UNIT)
        return;
    struct ww_neighbors *record = record_define(record_units(bytes));
    if (!record)
        return;
    record->comm = info->id;
    record->n_in = (uint32_t)info->n_in;
    record->n_out = (uint32_t)info->n_out;
    for (size_t i = 0; i < n; i++)
        record->rank[i] = info->neighbors[i] == MPI_PROC_NULL ? WW_NO_PEER : info->neighbors[i];
    record_commit(record, WW_NEIGHBORS, record_units(bytes));
}

static void learn_topology(MPI_Comm comm, struct comm_info *info)
{
    int kind = MPI_UNDEFINED;
    info->n_in = info->n_out = 0;
    if (info->remote_size || PMPI(Topo_test)(comm, &kind) != MPI_SUCCESS || kind == MPI_UNDEFINED)
        return;
    int weighted, n_around = 0, err;
    if (kind == MPI_DIST_GRAPH)
        err = PMPI(Dist_graph_neighbors_count)(comm, &info->n_in, &info->n_out, &weighted);
    else {
        bool is_grid = kind == MPI_CART;
        err = is_grid ? PMPI(Cartdim_get)(comm, &n_around) : PMPI(Graph_neighbors_count)(comm, info->rank, &n_around);
        info->n_in = info->n_out = is_grid ? 2 * n_around : n_around;
    }
    if (err != MPI_SUCCESS)
        return;
    size_t n = (size_t)info->n_in + (size_t)info->n_out;
    free(info->neighbors);
    info->neighbors = calloc(n + 1, sizeof *info->neighbors);
    if (!info->neighbors || list_neighbors(comm, kind, info) != MPI_SUCCESS)
        info->n_in = info->n_out = 0;
}

static int ask_comm(MPI_Comm comm, struct comm_info *info)
{
    int inter = 0;
    if (PMPI(Comm_rank)(comm, &info->rank) != MPI_SUCCESS || PMPI(Comm_size)(comm, &info->size) != MPI_SUCCESS ||
        PMPI(Comm_test_inter)(comm, &inter) != MPI_SUCCESS)
        return -1;
    info->remote_size = 0;
    if (inter && PMPI(Comm_remote_size)(comm, &info->remote_size) != MPI_SUCCESS)
        return -1;
    learn_topology(comm, info);
    info->known = true;
    return 0;
}

static struct comm_info *enter_comm(MPI_Comm comm, uint32_t parent)
{
    uint32_t id = ++tables.n_comms;
    struct comm_info *info = tables.free;
    if (info)
        tables.free = info->next_free;
    else
        info = calloc(1, sizeof *info);
    if (info) {
        info->id = id;
        info->parent = parent;
        info->known = info->written = false;
    }
    struct comm_info *before = (void *)handle_map_set(&tables.comms, HANDLE(comm), (uintptr_t)info);
    if (before) {
        before->next_free = tables.free;
        tables.free = before;
    }
    return info;
}

static const struct comm_info *learn_locked(MPI_Comm comm)
{
    struct comm_info *info = (void *)handle_map_get(&tables.comms, HANDLE(comm));
    if (!info)
        info = enter_comm(comm, 0);
    if (!info || (!info->known && ask_comm(comm, info) != 0))
        return NULL;
    if (!info->written) {
        write_comm(comm, info);
        if (info->written && info->n_in + info->n_out)
            write_neighbors(info);
    }
    return info;
}

const struct comm_info *comm_learn(MPI_Comm comm)
{
    if (!tables.started || comm == mpi_handles.comm_null)
        return NULL;
    int saved_errno = errno;
    pthread_mutex_lock(&tables.lock);
    const struct comm_info *info = learn_locked(comm);
    pthread_mutex_unlock(&tables.lock);
    errno = saved_errno;
    return info;
}

const struct comm_info *comm_find(MPI_Comm comm)
{
    return (void *)handle_map_get(&tables.comms, HANDLE(comm));
}

void comm_created(MPI_Comm comm, uint32_t parent, bool pending)
{
    if (!tables.started || comm == mpi_handles.comm_null)
        return;
    pthread_mutex_lock(&tables.lock);
    enter_comm(comm, parent);
    pthread_mutex_unlock(&tables.lock);
    if (!pending)
        comm_learn(comm);
}

struct comm_info *comm_forget(MPI_Comm comm)
{
    return (void *)handle_map_set(&tables.comms, HANDLE(comm), 0);
}

void comm_restore(MPI_Comm comm, struct comm_info *info)
{
    if (info)
        handle_map_set(&tables.comms, HANDLE(comm), (uintptr_t)info);
}

void comm_drop(struct comm_info *info)
{
    if (!info)
        return;
    pthread_mutex_lock(&tables.lock);
    info->next_free = tables.free;
    tables.free = info;
    pthread_mutex_unlock(&tables.lock);
}

bool comms_are_started(void)
{
    return tables.started;
}

void comms_start(void)
{
    tables.started = true;
    comm_created(mpi_handles.comm_world, 0, false);
    if (mpi_handles.comm_self != mpi_handles.comm_null)
        comm_created(mpi_handles.comm_self, 0, false);
    else
        tables.n_comms++; /* no such communicator without MPI_Init; its id stays its own */
}

void comms_end(void)
{
    tables.started = false;
}

uint32_t win_find(MPI_Win win)
{
    return (uint32_t)handle_map_get(&tables.wins, HANDLE(win));
}

uint32_t win_learn(MPI_Win win, uint32_t comm)
{
    if (!tables.started || win == mpi_handles.win_null)
        return 0;
    uint32_t id = __atomic_add_fetch(&tables.n_wins, 1, __ATOMIC_RELAXED);
    handle_map_set(&tables.wins, HANDLE(win), id);
    struct ww_win *record = record_define(1);
    if (record) {
        record->id = id;
        record->comm = comm;
        record->flags = 0;
        record_commit(record, WW_WIN, 1);
    }
    return id;
}

uint32_t win_forget(MPI_Win win)
{
    return (uint32_t)handle_map_set(&tables.wins, HANDLE(win), 0);
}

void win_restore(MPI_Win win, uint32_t id)
{
    if (id)
        handle_map_set(&tables.wins, HANDLE(win), id);
}

/* Messages come by the thousand, mostly with handles that came before on the same communicator: no lock for those. */
void message_set(MPI_Message message, uint32_t comm)
{
    if (message_find(message) != comm)
        handle_map_set(&tables.messages, HANDLE(message), comm);
}

uint32_t message_find(MPI_Message message)
{
    return (uint32_t)handle_map_get(&tables.messages, HANDLE(message));
}

void name_write(enum ww_named what, uint32_t id, const char *text, size_t bytes)
{
    size_t longest = (size_t)RECORD_UNITS_MOST * WW_UNIT - sizeof(struct ww_name) - 1;
    bytes = bytes < longest ? bytes : longest;
    uint16_t units = record_units(sizeof(struct ww_name) + bytes + 1);
    struct ww_name *record = id ? record_define(units) : NULL;
    if (!record)
        return;
    record->what = what;
    record->id = id;
    record->bytes = (uint32_t)bytes;
    memcpy(record->text, text, bytes);
    record_commit(record, WW_NAME, units);
}
