/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups, communicators and windows of the archive. The members of a group are places in the group of all locations of
 * its paradigm, which is therefore defined before. Ids count from 0 without a gap:
 *
 *   0, 1               all MPI processes; MPI_COMM_SELF
 *   JOIN_SYNC_GROUPS   groups of MPI_Win_start and MPI_Win_post, from here on
 *   and then           groups of communicators, one for all communicators that have it; all threads; the threads of
 *                      each process that has several
 */
#include "analyze/archive/comms.h"
#include "analyze/archive/join_defs.h"

/* Groups. */

enum { SELF_GROUP = 1 };

static uint32_t define_group(struct def_writer *defs, const char *name, OTF2_GroupType type, OTF2_Paradigm paradigm,
                             const uint64_t *members, size_t n)
{
    uint32_t id = defs->n_groups++;
    DEFINE(defs, Group, id, defs_string_id(defs, name), type, paradigm, OTF2_GROUP_FLAG_NONE, (uint32_t)n, members);
    return id;
}

/* Members outside MPI_COMM_WORLD (dynamic processes) are in no archive of this run, and nothing in it names them. */
static void define_process_group(struct def_writer *defs, const char *name, const int32_t *ranks, size_t n)
{
    VEC(uint64_t) members = {0};
    for (size_t i = 0; i < n; i++)
        if (ranks[i] >= 0 && (uint32_t)ranks[i] < defs->join->n_ranks)
            *vec_push(&members) = (uint64_t)ranks[i];
    define_group(defs, name, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, members.at, members.n);
    vec_release(&members);
}

static void define_process_groups(struct def_writer *defs)
{
    struct join *join = defs->join;
    VEC(uint64_t) members = {0};
    for (uint32_t rank = 0; rank < join->n_ranks; rank++)
        *vec_push(&members) = archive_location(rank, 0);
    define_group(defs, "MPI processes", OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, members.at, members.n);
    vec_release(&members);
    define_group(defs, "MPI_COMM_SELF", OTF2_GROUP_TYPE_COMM_SELF, OTF2_PARADIGM_MPI, NULL, 0);
    for (uint32_t i = 0; i < join->sync_groups.n; i++) {
        const struct intern_item *item = &join->sync_groups.items[i];
        define_process_group(defs, "RMA", item->bytes, item->size / sizeof(int32_t));
    }
    for (uint32_t i = 0; i < join->groups.n; i++)
        define_process_group(defs, "", join_group(join, i) + 2, join->groups.items[i].size / sizeof(int32_t) - 2);
}

/* Communicators. */

static const char *comm_name(struct def_writer *defs, uint32_t comm, const struct join_comm_info *info)
{
    if (info->is_self)
        return "MPI_COMM_SELF";
    if (info->name)
        return info->name;
    return comm ? arena_printf(&defs->join->arena, "communicator %u", comm) : "MPI_COMM_WORLD";
}

/* Both groups of an intercommunicator lie in MPI_COMM_WORLD, the first communicator; the parent need only have the
 * local one. */
static void define_comm(struct def_writer *defs, uint32_t comm, const struct join_comm *key)
{
    struct join *join = defs->join;
    const struct join_comm_info *info = &join->comm_infos.at[comm];
    uint32_t parent = info->parent == JOIN_NONE || info->parent >= comm ? OTF2_UNDEFINED_COMM : info->parent;
    const int32_t *groups = info->is_self ? NULL : join_group(join, key->groups);
    if (groups && groups[1] && join->groups.items[key->groups].size > 2 * sizeof *groups) {
        parent = comm ? 0 : OTF2_UNDEFINED_COMM;
        defs_root_property(defs, arena_printf(&join->arena, ARCHIVE_PROP_INTERCOMM "::%u", comm),
                           arena_printf(&join->arena, "%d", groups[0]));
    }
    DEFINE(defs, Comm, comm, defs_string_id(defs, comm_name(defs, comm, info)),
           info->is_self ? SELF_GROUP : JOIN_SYNC_GROUPS + join->sync_groups.n + key->groups, parent,
           info->is_made ? OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS : OTF2_COMM_FLAG_NONE);
}

/* The threads of a process, as the contingent that its threads are created in. They stand side by side in the list of
 * locations, and so in the group of all of them. */
static void define_threads(struct def_writer *defs, uint32_t comm, uint32_t rank)
{
    struct join *join = defs->join;
    VEC(uint64_t) members = {0};
    for (size_t i = 0; i < join->locations.n; i++)
        if (join->locations.at[i].rank == rank)
            *vec_push(&members) = i;
    const char *name = arena_printf(&join->arena, "threads of rank %u", rank);
    uint32_t id = define_group(defs, name, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_PTHREAD, members.at, members.n);
    DEFINE(defs, Comm, comm, defs_string_id(defs, name), id, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    vec_release(&members);
}

static void define_all_threads(struct def_writer *defs)
{
    struct join *join = defs->join;
    VEC(uint64_t) members = {0};
    for (size_t i = 0; i < join->locations.n; i++)
        *vec_push(&members) = archive_location(join->locations.at[i].rank, join->locations.at[i].thread);
    define_group(defs, "threads", OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_PTHREAD, members.at, members.n);
    vec_release(&members);
}

static void define_comms(struct def_writer *defs)
{
    struct join *join = defs->join;
    if (join->has_threads)
        define_all_threads(defs);
    for (uint32_t i = 0; i < join->comms.n; i++) {
        struct join_comm key;
        memcpy(&key, join->comms.items[i].bytes, sizeof key);
        if (key.groups == JOIN_THREADS)
            define_threads(defs, i, key.nth);
        else
            define_comm(defs, i, &key);
    }
}

static void define_windows(struct def_writer *defs)
{
    struct join *join = defs->join;
    for (uint32_t i = 0; i < join->wins.n; i++) {
        struct join_win key;
        memcpy(&key, join->wins.items[i].bytes, sizeof key);
        const char *name = join->win_infos.at[i].name;
        if (!name)
            name = arena_printf(&join->arena, "window %u", i);
        DEFINE(defs, RmaWin, i, defs_string_id(defs, name), key.comm == JOIN_NONE ? OTF2_UNDEFINED_COMM : key.comm,
               OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS);
    }
}

void join_define_comms(struct def_writer *defs)
{
    define_process_groups(defs);
    define_comms(defs);
    define_windows(defs);
}
