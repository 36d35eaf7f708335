/* SPDX-License-Identifier: BSD-3-Clause */
/* Local calls on everything else: attributes of the library, errors, info objects, memory, sessions. */
#include "wrap/record/mpi/local.h"

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
LOCAL(Grequest_start,
      (MPI_Grequest_query_function * query_fn, MPI_Grequest_free_function *free_fn,
       MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request),
      (query_fn, free_fn, cancel_fn, extra_state, request))
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

#if MPI_HAS_4
LOCAL(Buffer_attach_c, (void *buffer, MPI_Count size), (buffer, size))
LOCAL(Buffer_detach_c, (void *buffer_addr, MPI_Count *size), (buffer_addr, size))
LOCAL(Info_create_env, (int argc, char *argv[], MPI_Info *info), (argc, argv, info))
LOCAL(Info_get_string, (MPI_Info info, const char *key, int *buflen, char *value, int *flag),
      (info, key, buflen, value, flag))
LOCAL(Session_call_errhandler, (MPI_Session session, int errorcode), (session, errorcode))
LOCAL(Session_create_errhandler, (MPI_Session_errhandler_function * session_errhandler_fn, MPI_Errhandler *errhandler),
      (session_errhandler_fn, errhandler))
LOCAL(Session_get_errhandler, (MPI_Session session, MPI_Errhandler *errhandler), (session, errhandler))
LOCAL(Session_get_info, (MPI_Session session, MPI_Info *info_used), (session, info_used))
LOCAL(Session_get_nth_pset, (MPI_Session session, MPI_Info info, int n, int *pset_len, char *pset_name),
      (session, info, n, pset_len, pset_name))
LOCAL(Session_get_num_psets, (MPI_Session session, MPI_Info info, int *npset_names), (session, info, npset_names))
LOCAL(Session_get_pset_info, (MPI_Session session, const char *pset_name, MPI_Info *info), (session, pset_name, info))
LOCAL(Session_set_errhandler, (MPI_Session session, MPI_Errhandler errhandler), (session, errhandler))
#endif
