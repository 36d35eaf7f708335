/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types of MPI 4, for an mpi.h that is older. A recorder that was built with such a header then covers the functions of
 * later versions as well, which have the same binary interface: Open MPI 4, 5 and 6 are one family, MPICH 3 and 4
 * another. MPI_ENTRY declares the functions themselves.
 */
#pragma once
#include <mpi.h>

#if MPI_VERSION < 4
#ifdef OPEN_MPI
typedef struct ompi_instance_t *MPI_Session;
#else
typedef int MPI_Session;
#endif
typedef void MPI_User_function_c(void *, void *, MPI_Count *, MPI_Datatype *);
typedef void MPI_Session_errhandler_function(MPI_Session *, int *, ...);
typedef int MPI_Datarep_conversion_function_c(void *, MPI_Datatype, MPI_Count, void *, MPI_Offset, void *);
int MPI_Group_from_session_pset(MPI_Session session, const char *pset_name, MPI_Group *newgroup);
MPI_Session MPI_Session_f2c(MPI_Fint session);
#endif
