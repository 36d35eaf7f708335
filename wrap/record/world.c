/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See world.h. Predefined handles are looked up by name where they are symbols (Open MPI) and are constants elsewhere.
 */
#include "wrap/record/world.h"
#include "wrap/record/mpi/next.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_VALUES = 16 };

static MPI_Comm private_world;
static int my_rank;

static MPI_Errhandler errors_return(void)
{
#ifdef OPEN_MPI
    return (MPI_Errhandler)next_find_data("ompi_mpi_errors_return");
#else
    return MPI_ERRORS_RETURN;
#endif
}

bool world_is_up(void)
{
    int is_initialized = 0, is_finalized = 1;
    return PMPI(Initialized)(&is_initialized) == MPI_SUCCESS && PMPI(Finalized)(&is_finalized) == MPI_SUCCESS &&
           is_initialized && !is_finalized;
}

bool world_open(int32_t *rank, int32_t *n_ranks)
{
    int world_size = 0;
    if (next_load_handles() != 0 || PMPI(Comm_dup)(mpi_handles.comm_world, &private_world) != MPI_SUCCESS)
        return false;
    MPI_Errhandler quiet = errors_return();
    if (quiet)
        PMPI(Comm_set_errhandler)(private_world, quiet);
    PMPI(Comm_rank)(private_world, &my_rank);
    PMPI(Comm_size)(private_world, &world_size);
    *rank = my_rank;
    *n_ranks = world_size;
    return true;
}

bool world_broadcast(void *data, size_t size_bytes)
{
    return PMPI(Bcast)(data, (int)size_bytes, mpi_handles.byte, 0, private_world) == MPI_SUCCESS;
}

static void sum_handles(MPI_Datatype *type, MPI_Op *op)
{
#ifdef OPEN_MPI
    *type = (MPI_Datatype)next_find_data("ompi_mpi_uint64_t");
    *op = (MPI_Op)next_find_data("ompi_mpi_op_sum");
#else
    *type = MPI_UINT64_T;
    *op = MPI_SUM;
#endif
}

bool world_sum(uint64_t *values, unsigned n)
{
    uint64_t sums[MAX_VALUES] = {0};
    MPI_Datatype type;
    MPI_Op op;
    sum_handles(&type, &op);
    if (n > MAX_VALUES || PMPI(Reduce)(values, sums, (int)n, type, op, 0, private_world) != MPI_SUCCESS)
        return false;
    if (my_rank == 0)
        memcpy(values, sums, n * sizeof *values);
    return true;
}

bool world_barrier(void)
{
    return PMPI(Barrier)(private_world) == MPI_SUCCESS;
}

void world_close(void)
{
    PMPI(Comm_free)(&private_world);
}

void world_library(char *text, size_t size_bytes)
{
    char full[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    if (PMPI(Get_library_version)(full, &length) != MPI_SUCCESS)
        full[0] = '\0';
    const char *version = full;
    while (*version && !isdigit((unsigned char)*version))
        version++;
    size_t n = strcspn(version, ", \t\n");
#ifdef OPEN_MPI
    snprintf(text, size_bytes, "openmpi %.*s", (int)n, version);
#else
    snprintf(text, size_bytes, "mpich %.*s", (int)n, version);
#endif
}
