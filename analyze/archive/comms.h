/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators in the archive. OTF2's own definition of them cannot be read by its Python module (3.0.2), so they
 * are communicators of both groups one after the other, and ranks in events count through. Which group comes first is a
 * matter of the groups alone, so that all processes agree without asking each other.
 */
#pragma once
#include "wrap/format.h"
#include <stdbool.h>
#include <string.h>

enum { COMM_SELF_ID = 2 };

static inline bool comm_has_members(const struct ww_comm *comm)
{
    return !(comm->flags & WW_COMM_NO_MEMBERS);
}

/* Processes that were spawned, or that belong to another job, have no rank in MPI_COMM_WORLD. */
static inline bool comm_has_outsiders(const struct ww_comm *comm)
{
    for (int32_t i = 0; comm_has_members(comm) && i < comm->size + comm->remote_size; i++)
        if (comm->world_rank[i] < 0)
            return true;
    return false;
}

/* Of the two sides of a call there: who receives has only outsiders to receive from; all others of the communicator are
 * outsiders. */
enum { COMM_RECEIVES_FROM_OUTSIDE = 1, COMM_ALONE_WITH_OUTSIDERS = 2 };
static inline int comm_outside(const struct ww_comm *comm)
{
    int32_t n_own[2] = {0};
    for (int32_t i = 0; comm_has_members(comm) && i < comm->size + comm->remote_size; i++)
        n_own[i >= comm->size] += comm->world_rank[i] >= 0;
    bool is_alone = n_own[0] + n_own[1] <= 1;
    return (is_alone || (comm->remote_size && !n_own[1]) ? COMM_RECEIVES_FROM_OUTSIDE : 0) |
           (is_alone ? COMM_ALONE_WITH_OUTSIDERS : 0);
}

/* The smaller group is the first one, of equal sizes that of smaller ranks. */
static inline bool comm_is_remote_first(const struct ww_comm *comm)
{
    if (!comm->remote_size || !comm_has_members(comm) || comm->remote_size != comm->size)
        return comm->remote_size && comm_has_members(comm) && comm->remote_size < comm->size;
    size_t bytes = (size_t)comm->size * sizeof *comm->world_rank;
    return memcmp(comm->world_rank + comm->size, comm->world_rank, bytes) < 0;
}
