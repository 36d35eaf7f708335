/* SPDX-License-Identifier: BSD-3-Clause */
#include "wrap/record/mpi/partitioned.h"
#include "wrap/record/mpi/handle_map.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

struct parts {
    int n;
    atomic_int n_left;
};

static struct handle_map sends = HANDLE_MAP_INIT;

static struct parts *parts_of(MPI_Request request)
{
    return (struct parts *)handle_map_get(&sends, HANDLE(request));
}

void partitioned_made(MPI_Request request, int n_parts)
{
    int saved_errno = errno;
    struct parts *parts = malloc(sizeof *parts);
    if (parts) {
        parts->n = n_parts;
        atomic_init(&parts->n_left, n_parts);
        free((void *)handle_map_set(&sends, HANDLE(request), (uintptr_t)parts));
    }
    errno = saved_errno;
}

bool partitioned_started(MPI_Request request)
{
    struct parts *parts = parts_of(request);
    if (parts)
        atomic_store(&parts->n_left, parts->n);
    return parts;
}

bool partitioned_ready(MPI_Request request, int n_parts)
{
    struct parts *parts = parts_of(request);
    return parts && n_parts > 0 && atomic_fetch_sub(&parts->n_left, n_parts) == n_parts;
}

void partitioned_freed(MPI_Request request)
{
    int saved_errno = errno;
    if (parts_of(request))
        free((void *)handle_map_set(&sends, HANDLE(request), 0));
    errno = saved_errno;
}
