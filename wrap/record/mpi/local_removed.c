/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that MPI 3.0 removed. Open MPI's library still has them, for programs compiled against older headers, but
 * its mpi.h refuses their names; so they are declared here.
 */
#define OMPI_OMIT_MPI1_COMPAT_DECLS 1
#include "wrap/record/mpi/local.h"

#ifdef OPEN_MPI
#undef MPI_Address
#undef MPI_Type_extent
#undef MPI_Type_hindexed
#undef MPI_Type_hvector
#undef MPI_Type_lb
#undef MPI_Type_struct
#undef MPI_Type_ub
#undef MPI_Errhandler_create
#undef MPI_Errhandler_get
#undef MPI_Errhandler_set
int MPI_Address(void *location, MPI_Aint *address);
int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent);
int MPI_Type_hindexed(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                      MPI_Datatype *newtype);
int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement);
int MPI_Type_struct(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[],
                    MPI_Datatype array_of_types[], MPI_Datatype *newtype);
int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement);
int MPI_Errhandler_create(MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler);
int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler);
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler);
#endif

LOCAL(Address, (void *location, MPI_Aint *address), (location, address))
LOCAL(Type_extent, (MPI_Datatype datatype, MPI_Aint *extent), (datatype, extent))
LOCAL(Type_hindexed,
      (int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
       MPI_Datatype *newtype),
      (count, array_of_blocklengths, array_of_displacements, oldtype, newtype))
LOCAL(Type_hvector, (int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype),
      (count, blocklength, stride, oldtype, newtype))
LOCAL(Type_lb, (MPI_Datatype datatype, MPI_Aint *displacement), (datatype, displacement))
LOCAL(Type_struct,
      (int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], MPI_Datatype array_of_types[],
       MPI_Datatype *newtype),
      (count, array_of_blocklengths, array_of_displacements, array_of_types, newtype))
LOCAL(Type_ub, (MPI_Datatype datatype, MPI_Aint *displacement), (datatype, displacement))
LOCAL(Errhandler_create, (MPI_Comm_errhandler_function * comm_errhandler_fn, MPI_Errhandler *errhandler),
      (comm_errhandler_fn, errhandler))
LOCAL(Errhandler_get, (MPI_Comm comm, MPI_Errhandler *errhandler), (comm, errhandler))
LOCAL(Errhandler_set, (MPI_Comm comm, MPI_Errhandler errhandler), (comm, errhandler))
