/* SPDX-License-Identifier: BSD-3-Clause */
/* Local calls on communicators, groups, topologies, windows and files. */
#include "wrap/record/mpi/local.h"

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
LOCAL(Comm_create_errhandler, (MPI_Comm_errhandler_function * comm_errhandler_fn, MPI_Errhandler *errhandler),
      (comm_errhandler_fn, errhandler))
LOCAL(Comm_create_keyval,
      (MPI_Comm_copy_attr_function * comm_copy_attr_fn, MPI_Comm_delete_attr_function *comm_delete_attr_fn,
       int *comm_keyval, void *extra_state),
      (comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, extra_state))
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
LOCAL(Keyval_create, (MPI_Copy_function * copy_fn, MPI_Delete_function *delete_fn, int *keyval, void *extra_state),
      (copy_fn, delete_fn, keyval, extra_state))
LOCAL(Keyval_free, (int *keyval), (keyval))
LOCAL(Lookup_name, (const char *service_name, MPI_Info info, char *port_name), (service_name, info, port_name))
LOCAL(Open_port, (MPI_Info info, char *port_name), (info, port_name))
LOCAL(Publish_name, (const char *service_name, MPI_Info info, const char *port_name), (service_name, info, port_name))
LOCAL(Topo_test, (MPI_Comm comm, int *status), (comm, status))
LOCAL(Unpublish_name, (const char *service_name, MPI_Info info, const char *port_name), (service_name, info, port_name))
LOCAL(File_call_errhandler, (MPI_File fh, int errorcode), (fh, errorcode))
LOCAL(File_create_errhandler, (MPI_File_errhandler_function * file_errhandler_fn, MPI_Errhandler *errhandler),
      (file_errhandler_fn, errhandler))
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
LOCAL(Win_create_errhandler, (MPI_Win_errhandler_function * win_errhandler_fn, MPI_Errhandler *errhandler),
      (win_errhandler_fn, errhandler))
LOCAL(Win_create_keyval,
      (MPI_Win_copy_attr_function * win_copy_attr_fn, MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval,
       void *extra_state),
      (win_copy_attr_fn, win_delete_attr_fn, win_keyval, extra_state))
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

#if MPI_HAS_4
LOCAL(Group_from_session_pset, (MPI_Session session, const char *pset_name, MPI_Group *newgroup),
      (session, pset_name, newgroup))
LOCAL(File_get_type_extent_c, (MPI_File fh, MPI_Datatype datatype, MPI_Count *extent), (fh, datatype, extent))
LOCAL(Win_shared_query_c, (MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit, void *baseptr),
      (win, rank, size, disp_unit, baseptr))
#endif
