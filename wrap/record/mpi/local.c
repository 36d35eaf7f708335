/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of which enter and leave are recorded and nothing else, because they neither communicate nor wait: on
 * attributes, groups, types, info objects, errors, and what MPI 3.0 removed. Calls that give MPI a function of the
 * program are in callback.c.
 */
#include "wrap/record/pmpi/next.h"

/* LOCAL(name, (parameters), (arguments)) */
#define LOCAL(name, parameters, arguments)                                                                             \
    MPI_ENTRY(name, parameters)                                                                                        \
    {                                                                                                                  \
        struct ww_call *call = record_enter(WW_ID_##name, RECORD_HERE);                                                \
        int err = NEXT(name) arguments;                                                                                \
        record_leave(call, err);                                                                                       \
        return err;                                                                                                    \
    }

LOCAL(Attr_delete, (MPI_Comm comm, int keyval), (comm, keyval))
LOCAL(Attr_get, (MPI_Comm comm, int keyval, void *attribute_val, int *flag), (comm, keyval, attribute_val, flag))
LOCAL(Attr_put, (MPI_Comm comm, int keyval, void *attribute_val), (comm, keyval, attribute_val))
LOCAL(Cart_coords, (MPI_Comm comm, int rank, int maxdims, int coords[]), (comm, rank, maxdims, coords))
LOCAL(Cart_get, (MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]),
      (comm, maxdims, dims, periods, coords))
LOCAL(Cart_map, (MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank),
      (comm, ndims, dims, periods, newrank))
LOCAL(Cart_rank, (MPI_Comm comm, const int coords[], int *rank), (comm, coords, rank))
LOCAL(Cart_shift, (MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest),
      (comm, direction, disp, rank_source, rank_dest))
LOCAL(Cartdim_get, (MPI_Comm comm, int *ndims), (comm, ndims))
LOCAL(Close_port, (const char *port_name), (port_name))
LOCAL(Comm_call_errhandler, (MPI_Comm comm, int errorcode), (comm, errorcode))
LOCAL(Comm_compare, (MPI_Comm comm1, MPI_Comm comm2, int *result), (comm1, comm2, result))
LOCAL(Comm_delete_attr, (MPI_Comm comm, int comm_keyval), (comm, comm_keyval))
LOCAL(Comm_free_keyval, (int *comm_keyval), (comm_keyval))
LOCAL(Comm_get_attr, (MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag),
      (comm, comm_keyval, attribute_val, flag))
LOCAL(Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler *errhandler), (comm, errhandler))
LOCAL(Comm_get_info, (MPI_Comm comm, MPI_Info *info_used), (comm, info_used))
LOCAL(Comm_get_name, (MPI_Comm comm, char *comm_name, int *resultlen), (comm, comm_name, resultlen))
LOCAL(Comm_get_parent, (MPI_Comm * parent), (parent))
LOCAL(Comm_group, (MPI_Comm comm, MPI_Group *group), (comm, group))
LOCAL(Comm_rank, (MPI_Comm comm, int *rank), (comm, rank))
LOCAL(Comm_remote_group, (MPI_Comm comm, MPI_Group *group), (comm, group))
LOCAL(Comm_remote_size, (MPI_Comm comm, int *size), (comm, size))
LOCAL(Comm_set_attr, (MPI_Comm comm, int comm_keyval, void *attribute_val), (comm, comm_keyval, attribute_val))
LOCAL(Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler), (comm, errhandler))
LOCAL(Comm_set_info, (MPI_Comm comm, MPI_Info info), (comm, info))
LOCAL(Comm_size, (MPI_Comm comm, int *size), (comm, size))
LOCAL(Comm_test_inter, (MPI_Comm comm, int *flag), (comm, flag))
LOCAL(Dims_create, (int nnodes, int ndims, int dims[]), (nnodes, ndims, dims))
LOCAL(Dist_graph_neighbors,
      (MPI_Comm comm, int maxindegree, int sources[], int sourceweights[], int maxoutdegree, int destinations[],
       int destweights[]),
      (comm, maxindegree, sources, sourceweights, maxoutdegree, destinations, destweights))
LOCAL(Dist_graph_neighbors_count, (MPI_Comm comm, int *indegree, int *outdegree, int *weighted),
      (comm, indegree, outdegree, weighted))
LOCAL(Graph_get, (MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]),
      (comm, maxindex, maxedges, indx, edges))
LOCAL(Graph_map, (MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank),
      (comm, nnodes, indx, edges, newrank))
LOCAL(Graph_neighbors, (MPI_Comm comm, int rank, int maxneighbors, int neighbors[]),
      (comm, rank, maxneighbors, neighbors))
LOCAL(Graph_neighbors_count, (MPI_Comm comm, int rank, int *nneighbors), (comm, rank, nneighbors))
LOCAL(Graphdims_get, (MPI_Comm comm, int *nnodes, int *nedges), (comm, nnodes, nedges))
LOCAL(Group_compare, (MPI_Group group1, MPI_Group group2, int *result), (group1, group2, result))
LOCAL(Group_difference, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup), (group1, group2, newgroup))
LOCAL(Group_excl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup), (group, n, ranks, newgroup))
LOCAL(Group_free, (MPI_Group * group), (group))
LOCAL(Group_incl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup), (group, n, ranks, newgroup))
LOCAL(Group_intersection, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup), (group1, group2, newgroup))
LOCAL(Group_range_excl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup), (group, n, ranges, newgroup))
LOCAL(Group_range_incl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup), (group, n, ranges, newgroup))
LOCAL(Group_rank, (MPI_Group group, int *rank), (group, rank))
LOCAL(Group_size, (MPI_Group group, int *size), (group, size))
LOCAL(Group_translate_ranks, (MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]),
      (group1, n, ranks1, group2, ranks2))
LOCAL(Group_union, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup), (group1, group2, newgroup))
LOCAL(Keyval_free, (int *keyval), (keyval))
LOCAL(Lookup_name, (const char *service_name, MPI_Info info, char *port_name), (service_name, info, port_name))
LOCAL(Open_port, (MPI_Info info, char *port_name), (info, port_name))
LOCAL(Publish_name, (const char *service_name, MPI_Info info, const char *port_name), (service_name, info, port_name))
LOCAL(Topo_test, (MPI_Comm comm, int *status), (comm, status))
LOCAL(Unpublish_name, (const char *service_name, MPI_Info info, const char *port_name), (service_name, info, port_name))
LOCAL(File_call_errhandler, (MPI_File fh, int errorcode), (fh, errorcode))
LOCAL(File_get_amode, (MPI_File fh, int *amode), (fh, amode))
LOCAL(File_get_atomicity, (MPI_File fh, int *flag), (fh, flag))
LOCAL(File_get_byte_offset, (MPI_File fh, MPI_Offset offset, MPI_Offset *disp), (fh, offset, disp))
LOCAL(File_get_errhandler, (MPI_File file, MPI_Errhandler *errhandler), (file, errhandler))
LOCAL(File_get_group, (MPI_File fh, MPI_Group *group), (fh, group))
LOCAL(File_get_info, (MPI_File fh, MPI_Info *info_used), (fh, info_used))
LOCAL(File_get_position, (MPI_File fh, MPI_Offset *offset), (fh, offset))
LOCAL(File_get_type_extent, (MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent), (fh, datatype, extent))
LOCAL(File_get_view, (MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char *datarep),
      (fh, disp, etype, filetype, datarep))
LOCAL(File_set_errhandler, (MPI_File file, MPI_Errhandler errhandler), (file, errhandler))
LOCAL(File_set_info, (MPI_File fh, MPI_Info info), (fh, info))
LOCAL(Win_attach, (MPI_Win win, void *base, MPI_Aint size), (win, base, size))
LOCAL(Win_call_errhandler, (MPI_Win win, int errorcode), (win, errorcode))
LOCAL(Win_delete_attr, (MPI_Win win, int win_keyval), (win, win_keyval))
LOCAL(Win_detach, (MPI_Win win, const void *base), (win, base))
LOCAL(Win_free_keyval, (int *win_keyval), (win_keyval))
LOCAL(Win_get_attr, (MPI_Win win, int win_keyval, void *attribute_val, int *flag),
      (win, win_keyval, attribute_val, flag))
LOCAL(Win_get_errhandler, (MPI_Win win, MPI_Errhandler *errhandler), (win, errhandler))
LOCAL(Win_get_group, (MPI_Win win, MPI_Group *group), (win, group))
LOCAL(Win_get_info, (MPI_Win win, MPI_Info *info_used), (win, info_used))
LOCAL(Win_get_name, (MPI_Win win, char *win_name, int *resultlen), (win, win_name, resultlen))
LOCAL(Win_set_attr, (MPI_Win win, int win_keyval, void *attribute_val), (win, win_keyval, attribute_val))
LOCAL(Win_set_errhandler, (MPI_Win win, MPI_Errhandler errhandler), (win, errhandler))
LOCAL(Win_set_info, (MPI_Win win, MPI_Info info), (win, info))
LOCAL(Win_shared_query, (MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr),
      (win, rank, size, disp_unit, baseptr))

LOCAL(Group_from_session_pset, (MPI_Session session, const char *pset_name, MPI_Group *newgroup),
      (session, pset_name, newgroup))
LOCAL(File_get_type_extent_c, (MPI_File fh, MPI_Datatype datatype, MPI_Count *extent), (fh, datatype, extent))
LOCAL(Win_shared_query_c, (MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void *baseptr),
      (win, rank, size, disp_unit, baseptr))

LOCAL(Get_address, (const void *location, MPI_Aint *address), (location, address))
LOCAL(Get_count, (const MPI_Status *status, MPI_Datatype datatype, int *count), (status, datatype, count))
LOCAL(Get_elements, (const MPI_Status *status, MPI_Datatype datatype, int *count), (status, datatype, count))
LOCAL(Get_elements_x, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count), (status, datatype, count))
LOCAL(Op_commutative, (MPI_Op op, int *commute), (op, commute))
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

LOCAL(Get_count_c, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count), (status, datatype, count))
LOCAL(Get_elements_c, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count), (status, datatype, count))
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

LOCAL(Add_error_class, (int *errorclass), (errorclass))
LOCAL(Add_error_code, (int errorclass, int *errorcode), (errorclass, errorcode))
LOCAL(Add_error_string, (int errorcode, const char *string), (errorcode, string))
LOCAL(Alloc_mem, (MPI_Aint size, MPI_Info info, void *baseptr), (size, info, baseptr))
LOCAL(Buffer_attach, (void *buffer, int size), (buffer, size))
LOCAL(Buffer_detach, (void *buffer_addr, int *size), (buffer_addr, size))
LOCAL(Errhandler_free, (MPI_Errhandler * errhandler), (errhandler))
LOCAL(Error_class, (int errorcode, int *errorclass), (errorcode, errorclass))
LOCAL(Error_string, (int errorcode, char *string, int *resultlen), (errorcode, string, resultlen))
LOCAL(Finalized, (int *flag), (flag))
LOCAL(Free_mem, (void *base), (base))
LOCAL(Get_library_version, (char *version, int *resultlen), (version, resultlen))
LOCAL(Get_processor_name, (char *name, int *resultlen), (name, resultlen))
LOCAL(Get_version, (int *version, int *subversion), (version, subversion))
LOCAL(Grequest_complete, (MPI_Request request), (request))
LOCAL(Info_create, (MPI_Info * info), (info))
LOCAL(Info_delete, (MPI_Info info, const char *key), (info, key))
LOCAL(Info_dup, (MPI_Info info, MPI_Info *newinfo), (info, newinfo))
LOCAL(Info_free, (MPI_Info * info), (info))
LOCAL(Info_get, (MPI_Info info, const char *key, int valuelen, char *value, int *flag),
      (info, key, valuelen, value, flag))
LOCAL(Info_get_nkeys, (MPI_Info info, int *nkeys), (info, nkeys))
LOCAL(Info_get_nthkey, (MPI_Info info, int n, char *key), (info, n, key))
LOCAL(Info_get_valuelen, (MPI_Info info, const char *key, int *valuelen, int *flag), (info, key, valuelen, flag))
LOCAL(Info_set, (MPI_Info info, const char *key, const char *value), (info, key, value))
LOCAL(Initialized, (int *flag), (flag))
LOCAL(Is_thread_main, (int *flag), (flag))
LOCAL(Query_thread, (int *provided), (provided))

LOCAL(Buffer_attach_c, (void *buffer, MPI_Count size), (buffer, size))
LOCAL(Buffer_detach_c, (void *buffer_addr, MPI_Count *size), (buffer_addr, size))
LOCAL(Info_create_env, (int argc, char *argv[], MPI_Info *info), (argc, argv, info))
LOCAL(Info_get_string, (MPI_Info info, const char *key, int *buflen, char *value, int *flag),
      (info, key, buflen, value, flag))
LOCAL(Session_call_errhandler, (MPI_Session session, int errorcode), (session, errorcode))
LOCAL(Session_get_errhandler, (MPI_Session session, MPI_Errhandler *errhandler), (session, errhandler))
LOCAL(Session_get_info, (MPI_Session session, MPI_Info *info_used), (session, info_used))
LOCAL(Session_get_nth_pset, (MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name),
      (session, info, n, pset_len, pset_name))
LOCAL(Session_get_num_psets, (MPI_Session session, MPI_Info info, int *npset_names), (session, info, npset_names))
LOCAL(Session_get_pset_info, (MPI_Session session, const char *pset_name, MPI_Info *info), (session, pset_name, info))
LOCAL(Session_set_errhandler, (MPI_Session session, MPI_Errhandler errhandler), (session, errhandler))

/* Of MPI 4.1 and 5.0. */
#define LOCAL_BUFFER(kind, type)                                                                                       \
    LOCAL(kind##_attach_buffer, (type owner, void *buffer, int size), (owner, buffer, size))                           \
    LOCAL(kind##_attach_buffer_c, (type owner, void *buffer, MPI_Count size), (owner, buffer, size))                   \
    LOCAL(kind##_detach_buffer, (type owner, void *buffer, int *size), (owner, buffer, size))                          \
    LOCAL(kind##_detach_buffer_c, (type owner, void *buffer, MPI_Count *size), (owner, buffer, size))                  \
    LOCAL(kind##_flush_buffer, (type owner), (owner))                                                                  \
    LOCAL(kind##_iflush_buffer, (type owner, MPI_Request * request), (owner, request))
LOCAL_BUFFER(Comm, MPI_Comm)
LOCAL_BUFFER(Session, MPI_Session)
LOCAL(Buffer_flush, (void), ())
LOCAL(Buffer_iflush, (MPI_Request * request), (request))
LOCAL(Get_hw_resource_info, (MPI_Info * info), (info))
LOCAL(Remove_error_class, (int errorclass), (errorclass))
LOCAL(Remove_error_code, (int errorcode), (errorcode))
LOCAL(Remove_error_string, (int errorcode), (errorcode))
LOCAL(Status_get_error, (const MPI_Status *status, int *error), (status, error))
LOCAL(Status_get_source, (const MPI_Status *status, int *source), (status, source))
LOCAL(Status_get_tag, (const MPI_Status *status, int *tag), (status, tag))
LOCAL(Status_set_elements_c, (MPI_Status * status, MPI_Datatype datatype, MPI_Count count), (status, datatype, count))
LOCAL(Status_set_error, (MPI_Status * status, int error), (status, error))
LOCAL(Status_set_source, (MPI_Status * status, int source), (status, source))
LOCAL(Status_set_tag, (MPI_Status * status, int tag), (status, tag))
LOCAL(Type_get_value_index, (MPI_Datatype value, MPI_Datatype index, MPI_Datatype *pair), (value, index, pair))

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
LOCAL(Errhandler_get, (MPI_Comm comm, MPI_Errhandler *errhandler), (comm, errhandler))
LOCAL(Errhandler_set, (MPI_Comm comm, MPI_Errhandler errhandler), (comm, errhandler))
