/* SPDX-License-Identifier: BSD-3-Clause */
/* Local calls on datatypes, operations, statuses and packed data. */
#include "wrap/record/mpi/local.h"

LOCAL(Get_address, (const void *location, MPI_Aint *address), (location, address))
LOCAL(Get_count, (const MPI_Status *status, MPI_Datatype datatype, int *count), (status, datatype, count))
LOCAL(Get_elements, (const MPI_Status *status, MPI_Datatype datatype, int *count), (status, datatype, count))
LOCAL(Get_elements_x, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count), (status, datatype, count))
LOCAL(Op_commutative, (MPI_Op op, int *commute), (op, commute))
LOCAL(Op_create, (MPI_User_function * user_fn, int commute, MPI_Op *op), (user_fn, commute, op))
LOCAL(Op_free, (MPI_Op * op), (op))
LOCAL(Pack,
      (const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int *position, MPI_Comm comm),
      (inbuf, incount, datatype, outbuf, outsize, position, comm))
LOCAL(Pack_external,
      (const char *datarep, const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, MPI_Aint outsize,
       MPI_Aint *position),
      (datarep, inbuf, incount, datatype, outbuf, outsize, position))
LOCAL(Pack_external_size, (const char *datarep, int incount, MPI_Datatype datatype, MPI_Aint *size),
      (datarep, incount, datatype, size))
LOCAL(Pack_size, (int incount, MPI_Datatype datatype, MPI_Comm comm, int *size), (incount, datatype, comm, size))
LOCAL(Reduce_local, (const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype, MPI_Op op),
      (inbuf, inoutbuf, count, datatype, op))
LOCAL(Register_datarep,
      (const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn,
       MPI_Datarep_conversion_function *write_conversion_fn, MPI_Datarep_extent_function *dtype_file_extent_fn,
       void *extra_state),
      (datarep, read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra_state))
LOCAL(Status_set_cancelled, (MPI_Status * status, int flag), (status, flag))
LOCAL(Status_set_elements, (MPI_Status * status, MPI_Datatype datatype, int count), (status, datatype, count))
LOCAL(Status_set_elements_x, (MPI_Status * status, MPI_Datatype datatype, MPI_Count count), (status, datatype, count))
LOCAL(Test_cancelled, (const MPI_Status *status, int *flag), (status, flag))
LOCAL(Type_commit, (MPI_Datatype * datatype), (datatype))
LOCAL(Type_contiguous, (int count, MPI_Datatype oldtype, MPI_Datatype *newtype), (count, oldtype, newtype))
LOCAL(Type_create_darray,
      (int size, int rank, int ndims, const int array_of_gsizes[], const int array_of_distribs[],
       const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype),
      (size, rank, ndims, array_of_gsizes, array_of_distribs, array_of_dargs, array_of_psizes, order, oldtype, newtype))
LOCAL(Type_create_f90_complex, (int p, int r, MPI_Datatype *newtype), (p, r, newtype))
LOCAL(Type_create_f90_integer, (int r, MPI_Datatype *newtype), (r, newtype))
LOCAL(Type_create_f90_real, (int p, int r, MPI_Datatype *newtype), (p, r, newtype))
LOCAL(Type_create_hindexed,
      (int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
       MPI_Datatype *newtype),
      (count, array_of_blocklengths, array_of_displacements, oldtype, newtype))
LOCAL(Type_create_hindexed_block,
      (int count, int blocklength, const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
       MPI_Datatype *newtype),
      (count, blocklength, array_of_displacements, oldtype, newtype))
LOCAL(Type_create_hvector, (int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype),
      (count, blocklength, stride, oldtype, newtype))
LOCAL(Type_create_indexed_block,
      (int count, int blocklength, const int array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype),
      (count, blocklength, array_of_displacements, oldtype, newtype))
LOCAL(Type_create_keyval,
      (MPI_Type_copy_attr_function * type_copy_attr_fn, MPI_Type_delete_attr_function *type_delete_attr_fn,
       int *type_keyval, void *extra_state),
      (type_copy_attr_fn, type_delete_attr_fn, type_keyval, extra_state))
LOCAL(Type_create_resized, (MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype),
      (oldtype, lb, extent, newtype))
LOCAL(Type_create_struct,
      (int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
       const MPI_Datatype array_of_types[], MPI_Datatype *newtype),
      (count, array_of_blocklengths, array_of_displacements, array_of_types, newtype))
LOCAL(Type_create_subarray,
      (int ndims, const int array_of_sizes[], const int array_of_subsizes[], const int array_of_starts[], int order,
       MPI_Datatype oldtype, MPI_Datatype *newtype),
      (ndims, array_of_sizes, array_of_subsizes, array_of_starts, order, oldtype, newtype))
LOCAL(Type_delete_attr, (MPI_Datatype datatype, int type_keyval), (datatype, type_keyval))
LOCAL(Type_dup, (MPI_Datatype oldtype, MPI_Datatype *newtype), (oldtype, newtype))
LOCAL(Type_free, (MPI_Datatype * datatype), (datatype))
LOCAL(Type_free_keyval, (int *type_keyval), (type_keyval))
LOCAL(Type_get_attr, (MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag),
      (datatype, type_keyval, attribute_val, flag))
LOCAL(Type_get_contents,
      (MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes, int array_of_integers[],
       MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[]),
      (datatype, max_integers, max_addresses, max_datatypes, array_of_integers, array_of_addresses, array_of_datatypes))
LOCAL(Type_get_envelope,
      (MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes, int *combiner),
      (datatype, num_integers, num_addresses, num_datatypes, combiner))
LOCAL(Type_get_extent, (MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent), (datatype, lb, extent))
LOCAL(Type_get_extent_x, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent), (datatype, lb, extent))
LOCAL(Type_get_name, (MPI_Datatype datatype, char *type_name, int *resultlen), (datatype, type_name, resultlen))
LOCAL(Type_get_true_extent, (MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent),
      (datatype, true_lb, true_extent))
LOCAL(Type_get_true_extent_x, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent),
      (datatype, true_lb, true_extent))
LOCAL(Type_indexed,
      (int count, const int array_of_blocklengths[], const int array_of_displacements[], MPI_Datatype oldtype,
       MPI_Datatype *newtype),
      (count, array_of_blocklengths, array_of_displacements, oldtype, newtype))
LOCAL(Type_match_size, (int typeclass, int size, MPI_Datatype *datatype), (typeclass, size, datatype))
LOCAL(Type_set_attr, (MPI_Datatype datatype, int type_keyval, void *attribute_val),
      (datatype, type_keyval, attribute_val))
LOCAL(Type_set_name, (MPI_Datatype datatype, const char *type_name), (datatype, type_name))
LOCAL(Type_size, (MPI_Datatype datatype, int *size), (datatype, size))
LOCAL(Type_size_x, (MPI_Datatype datatype, MPI_Count *size), (datatype, size))
LOCAL(Type_vector, (int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype),
      (count, blocklength, stride, oldtype, newtype))
LOCAL(Unpack,
      (const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype datatype, MPI_Comm comm),
      (inbuf, insize, position, outbuf, outcount, datatype, comm))
LOCAL(Unpack_external,
      (const char datarep[], const void *inbuf, MPI_Aint insize, MPI_Aint *position, void *outbuf, int outcount,
       MPI_Datatype datatype),
      (datarep, inbuf, insize, position, outbuf, outcount, datatype))

#if MPI_HAS_4
LOCAL(Get_count_c, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count), (status, datatype, count))
LOCAL(Get_elements_c, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count), (status, datatype, count))
LOCAL(Op_create_c, (MPI_User_function_c * user_fn, int commute, MPI_Op *op), (user_fn, commute, op))
LOCAL(Pack_c,
      (const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
       MPI_Count *position, MPI_Comm comm),
      (inbuf, incount, datatype, outbuf, outsize, position, comm))
LOCAL(Pack_external_c,
      (const char *datarep, const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf,
       MPI_Count outsize, MPI_Count *position),
      (datarep, inbuf, incount, datatype, outbuf, outsize, position))
LOCAL(Pack_external_size_c, (const char *datarep, MPI_Count incount, MPI_Datatype datatype, MPI_Count *size),
      (datarep, incount, datatype, size))
LOCAL(Pack_size_c, (MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size),
      (incount, datatype, comm, size))
LOCAL(Reduce_local_c, (const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op),
      (inbuf, inoutbuf, count, datatype, op))
LOCAL(Register_datarep_c,
      (const char *datarep, MPI_Datarep_conversion_function_c *read_conversion_fn,
       MPI_Datarep_conversion_function_c *write_conversion_fn, MPI_Datarep_extent_function *dtype_file_extent_fn,
       void *extra_state),
      (datarep, read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra_state))
LOCAL(Type_contiguous_c, (MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype), (count, oldtype, newtype))
LOCAL(Type_create_darray_c,
      (int size, int rank, int ndims, const MPI_Count array_of_gsizes[], const int array_of_distribs[],
       const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype),
      (size, rank, ndims, array_of_gsizes, array_of_distribs, array_of_dargs, array_of_psizes, order, oldtype, newtype))
LOCAL(Type_create_hindexed_block_c,
      (MPI_Count count, MPI_Count blocklength, const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
       MPI_Datatype *newtype),
      (count, blocklength, array_of_displacements, oldtype, newtype))
LOCAL(Type_create_hindexed_c,
      (MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[],
       MPI_Datatype oldtype, MPI_Datatype *newtype),
      (count, array_of_blocklengths, array_of_displacements, oldtype, newtype))
LOCAL(Type_create_hvector_c,
      (MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype),
      (count, blocklength, stride, oldtype, newtype))
LOCAL(Type_create_indexed_block_c,
      (MPI_Count count, MPI_Count blocklength, const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
       MPI_Datatype *newtype),
      (count, blocklength, array_of_displacements, oldtype, newtype))
LOCAL(Type_create_resized_c, (MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype *newtype),
      (oldtype, lb, extent, newtype))
LOCAL(Type_create_struct_c,
      (MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[],
       const MPI_Datatype array_of_types[], MPI_Datatype *newtype),
      (count, array_of_blocklengths, array_of_displacements, array_of_types, newtype))
LOCAL(Type_create_subarray_c,
      (int ndims, const MPI_Count array_of_sizes[], const MPI_Count array_of_subsizes[],
       const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype),
      (ndims, array_of_sizes, array_of_subsizes, array_of_starts, order, oldtype, newtype))
LOCAL(Type_get_contents_c,
      (MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_large_counts,
       MPI_Count max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[],
       MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[]),
      (datatype, max_integers, max_addresses, max_large_counts, max_datatypes, array_of_integers, array_of_addresses,
       array_of_large_counts, array_of_datatypes))
LOCAL(Type_get_envelope_c,
      (MPI_Datatype datatype, MPI_Count *num_integers, MPI_Count *num_addresses, MPI_Count *num_large_counts,
       MPI_Count *num_datatypes, int *combiner),
      (datatype, num_integers, num_addresses, num_large_counts, num_datatypes, combiner))
LOCAL(Type_get_extent_c, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent), (datatype, lb, extent))
LOCAL(Type_get_true_extent_c, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent),
      (datatype, true_lb, true_extent))
LOCAL(Type_indexed_c,
      (MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[],
       MPI_Datatype oldtype, MPI_Datatype *newtype),
      (count, array_of_blocklengths, array_of_displacements, oldtype, newtype))
LOCAL(Type_size_c, (MPI_Datatype datatype, MPI_Count *size), (datatype, size))
LOCAL(Type_vector_c,
      (MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype),
      (count, blocklength, stride, oldtype, newtype))
LOCAL(Unpack_c,
      (const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount,
       MPI_Datatype datatype, MPI_Comm comm),
      (inbuf, insize, position, outbuf, outcount, datatype, comm))
LOCAL(Unpack_external_c,
      (const char datarep[], const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount,
       MPI_Datatype datatype),
      (datarep, inbuf, insize, position, outbuf, outcount, datatype))
#endif
