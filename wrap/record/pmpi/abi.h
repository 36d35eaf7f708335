/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI as the recorder sees it, in place of an mpi.h. There are three binary interfaces, and a recorder for each, which
 * is built from the same sources with one of these defined:
 *
 *     ABI_OPEN_MPI  libmpi.so.40 and later, of Open MPI 4, 5 and 6
 *     ABI_MPICH     libmpi.so.12 and its kin: MPICH, Intel MPI, Cray MPICH, MVAPICH
 *     ABI_STANDARD  libmpi_abi.so, of any MPI 5
 *
 * Declared are types, constants and those functions that the recorder calls itself. MPI_ENTRY declares the wrappers.
 * With an mpi.h included before this file, that one counts: so a test compiles the wrappers with the headers of the
 * MPIs that are installed, and compares the values.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

#if defined(ABI_OPEN_MPI)
#define ABI_COLUMN(open_mpi, mpich, standard) open_mpi
#elif defined(ABI_MPICH)
#define ABI_COLUMN(open_mpi, mpich, standard) mpich
#elif defined(ABI_STANDARD)
#define ABI_COLUMN(open_mpi, mpich, standard) standard
#else
#error "which binary interface?"
#endif

#ifndef MPI_VERSION
/* Of 64-bit machines. */
typedef long MPI_Aint;
typedef long MPI_Count;
typedef long MPI_Offset;
typedef int MPI_Fint;

/* A handle is an address, except in MPICH. */
#ifdef ABI_MPICH
#define ABI_HANDLE_TYPE(name) typedef int name
#else
#define ABI_HANDLE_TYPE(name) typedef struct abi_##name *name
#endif
ABI_HANDLE_TYPE(MPI_Comm);
ABI_HANDLE_TYPE(MPI_Datatype);
ABI_HANDLE_TYPE(MPI_Errhandler);
ABI_HANDLE_TYPE(MPI_Group);
ABI_HANDLE_TYPE(MPI_Info);
ABI_HANDLE_TYPE(MPI_Message);
ABI_HANDLE_TYPE(MPI_Op);
ABI_HANDLE_TYPE(MPI_Request);
ABI_HANDLE_TYPE(MPI_Session);
ABI_HANDLE_TYPE(MPI_Win);
typedef struct abi_MPI_File *MPI_File;

typedef struct {
#if defined(ABI_OPEN_MPI)
    int MPI_SOURCE, MPI_TAG, MPI_ERROR, is_cancelled;
    size_t n_bytes;
#elif defined(ABI_MPICH)
    int n_bytes[2];
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
#else
    int MPI_SOURCE, MPI_TAG, MPI_ERROR, internal[5];
#endif
} MPI_Status;

enum {
#define ABI_CONSTANT(name, open_mpi, mpich, standard) name = ABI_COLUMN(open_mpi, mpich, standard),
#include "wrap/record/pmpi/abi.def"
};
#define ABI_ADDRESS(name, type, open_mpi, mpich, standard)                                                             \
    static type *const name = (type *)(intptr_t)ABI_COLUMN(open_mpi, mpich, standard);
#include "wrap/record/pmpi/abi.def"

typedef int MPI_Copy_function(MPI_Comm, int, void *, void *, void *, int *);
typedef int MPI_Delete_function(MPI_Comm, int, void *, void *);
typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void *, void *, void *, int *);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void *, void *);
typedef int MPI_Type_copy_attr_function(MPI_Datatype, int, void *, void *, void *, int *);
typedef int MPI_Type_delete_attr_function(MPI_Datatype, int, void *, void *);
typedef int MPI_Win_copy_attr_function(MPI_Win, int, void *, void *, void *, int *);
typedef int MPI_Win_delete_attr_function(MPI_Win, int, void *, void *);
typedef void MPI_Comm_errhandler_function(MPI_Comm *, int *, ...);
typedef void MPI_File_errhandler_function(MPI_File *, int *, ...);
typedef void MPI_Session_errhandler_function(MPI_Session *, int *, ...);
typedef void MPI_Win_errhandler_function(MPI_Win *, int *, ...);
typedef int MPI_Datarep_extent_function(MPI_Datatype, MPI_Aint *, void *);
typedef int MPI_Datarep_conversion_function(void *, MPI_Datatype, int, void *, MPI_Offset, void *);
typedef int MPI_Datarep_conversion_function_c(void *, MPI_Datatype, MPI_Count, void *, MPI_Offset, void *);
typedef int MPI_Grequest_cancel_function(void *, int);
typedef int MPI_Grequest_free_function(void *);
typedef int MPI_Grequest_query_function(void *, MPI_Status *);
typedef void MPI_User_function(void *, void *, int *, MPI_Datatype *);
typedef void MPI_User_function_c(void *, void *, MPI_Count *, MPI_Datatype *);

int MPI_Allreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Barrier(MPI_Comm);
int MPI_Bcast(void *, int, MPI_Datatype, int, MPI_Comm);
int MPI_Cart_shift(MPI_Comm, int, int, int *, int *);
int MPI_Cartdim_get(MPI_Comm, int *);
int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *, MPI_Comm_delete_attr_function *, int *, void *);
int MPI_Comm_dup(MPI_Comm, MPI_Comm *);
int MPI_Comm_free(MPI_Comm *);
int MPI_Comm_free_keyval(int *);
int MPI_Comm_group(MPI_Comm, MPI_Group *);
int MPI_Comm_rank(MPI_Comm, int *);
int MPI_Comm_remote_group(MPI_Comm, MPI_Group *);
int MPI_Comm_remote_size(MPI_Comm, int *);
int MPI_Comm_set_attr(MPI_Comm, int, void *);
int MPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler);
int MPI_Comm_size(MPI_Comm, int *);
int MPI_Comm_test_inter(MPI_Comm, int *);
int MPI_Dist_graph_neighbors(MPI_Comm, int, int[], int[], int, int[], int[]);
int MPI_Dist_graph_neighbors_count(MPI_Comm, int *, int *, int *);
int MPI_Error_class(int, int *);
int MPI_File_get_amode(MPI_File, int *);
int MPI_File_get_position(MPI_File, MPI_Offset *);
int MPI_Finalized(int *);
int MPI_Gather(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
int MPI_Get_count(const MPI_Status *, MPI_Datatype, int *);
int MPI_Get_elements_x(const MPI_Status *, MPI_Datatype, MPI_Count *);
int MPI_Get_library_version(char *, int *);
int MPI_Graph_neighbors(MPI_Comm, int, int, int[]);
int MPI_Graph_neighbors_count(MPI_Comm, int, int *);
int MPI_Group_free(MPI_Group *);
int MPI_Group_from_session_pset(MPI_Session, const char *, MPI_Group *);
int MPI_Group_rank(MPI_Group, int *);
int MPI_Group_size(MPI_Group, int *);
int MPI_Group_translate_ranks(MPI_Group, int, const int[], MPI_Group, int[]);
int MPI_Ibarrier(MPI_Comm, MPI_Request *);
int MPI_Ibcast(void *, int, MPI_Datatype, int, MPI_Comm, MPI_Request *);
int MPI_Init(int *, char ***);
int MPI_Initialized(int *);
int MPI_Query_thread(int *);
int MPI_Recv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
int MPI_Reduce(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
int MPI_Send(const void *, int, MPI_Datatype, int, int, MPI_Comm);
int MPI_Sendrecv(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int, MPI_Comm,
                 MPI_Status *);
int MPI_Test(MPI_Request *, int *, MPI_Status *);
int MPI_Test_cancelled(const MPI_Status *, int *);
int MPI_Topo_test(MPI_Comm, int *);
int MPI_Type_size(MPI_Datatype, int *);
int MPI_Type_size_x(MPI_Datatype, MPI_Count *);
int MPI_Win_get_group(MPI_Win, MPI_Group *);

/* From Fortran's integers to handles. In MPICH they are the same, those of files excepted. */
#define ABI_FROM_FORTRAN(kind, type) type MPI_##kind##_f2c(MPI_Fint);
ABI_FROM_FORTRAN(Comm, MPI_Comm)
ABI_FROM_FORTRAN(File, MPI_File)
ABI_FROM_FORTRAN(Group, MPI_Group)
ABI_FROM_FORTRAN(Message, MPI_Message)
ABI_FROM_FORTRAN(Request, MPI_Request)
ABI_FROM_FORTRAN(Session, MPI_Session)
ABI_FROM_FORTRAN(Type, MPI_Datatype)
ABI_FROM_FORTRAN(Win, MPI_Win)
#endif

/* So much is certain of the count of MPI_Psend_init. By the standard ABI Open MPI 6 takes an MPI_Count and MPICH 5 an
 * int: all of it is passed on. */
typedef ABI_COLUMN(MPI_Count, MPI_Count, int) abi_part_count;
