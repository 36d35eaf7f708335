/* SPDX-License-Identifier: BSD-3-Clause */
/* The mpi.h of an installed MPI, to be compared with what pmpi/abi.h declares; and what it lacks: types of MPI 4, and
 * functions that MPI 3 removed, whose names Open MPI refuses. MPICH 4.0 declares Pready_list without const, MPICH 4.2
 * the questions to a status or to several requests. By the standard ABI MPIs differ in the count of Psend_init. */
#pragma once
#define OMPI_OMIT_MPI1_COMPAT_DECLS 1
#define MPI_Pready_list Pready_list_of_header
#define MPI_Request_get_status_all Request_get_status_all_of_header
#define MPI_Request_get_status_any Request_get_status_any_of_header
#define MPI_Request_get_status_some Request_get_status_some_of_header
#define MPI_Status_get_error Status_get_error_of_header
#define MPI_Status_get_source Status_get_source_of_header
#define MPI_Status_get_tag Status_get_tag_of_header
#ifdef ABI_STANDARD
#define MPI_Psend_init Psend_init_of_header
#define MPI_Precv_init Precv_init_of_header
#endif
#include <mpi.h>
#undef MPI_Pready_list
#undef MPI_Request_get_status_all
#undef MPI_Request_get_status_any
#undef MPI_Request_get_status_some
#undef MPI_Status_get_error
#undef MPI_Status_get_source
#undef MPI_Status_get_tag
#undef MPI_Psend_init
#undef MPI_Precv_init
#undef MPI_Address
#undef MPI_Errhandler_create
#undef MPI_Errhandler_get
#undef MPI_Errhandler_set
#undef MPI_Type_extent
#undef MPI_Type_hindexed
#undef MPI_Type_hvector
#undef MPI_Type_lb
#undef MPI_Type_struct
#undef MPI_Type_ub

#ifdef ABI_STANDARD
typedef int MPI_Fint; /* the standard ABI leaves it to Fortran */
#endif
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
