/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of types as abi.h declares them, and places in a status. */
#pragma once
#include <stddef.h>

#define ABI_SIZES                                                                                                      \
    sizeof(MPI_Status), offsetof(MPI_Status, MPI_SOURCE), offsetof(MPI_Status, MPI_TAG),                               \
        offsetof(MPI_Status, MPI_ERROR), _Alignof(MPI_Status), sizeof(MPI_Aint), sizeof(MPI_Count),                    \
        sizeof(MPI_Offset), sizeof(MPI_Fint), sizeof(MPI_Comm), sizeof(MPI_Datatype), sizeof(MPI_Errhandler),          \
        sizeof(MPI_File), sizeof(MPI_Group), sizeof(MPI_Info), sizeof(MPI_Message), sizeof(MPI_Op),                    \
        sizeof(MPI_Request), sizeof(MPI_Session), sizeof(MPI_Win)
extern const size_t our_sizes[];
