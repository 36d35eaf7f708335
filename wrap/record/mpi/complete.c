/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wait, Test and their families: the call, then one WW_DONE for each request that it completed.
 *
 * Null requests complete nothing and leave no WW_DONE. A Test that completes nothing is a failing poll, whether a
 * request was pending or all were null: programs poll on empty lists by the million, too.
 */
#include "wrap/record/mpi/complete.h"
#include "wrap/record/process/thread_key.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

bool complete_may_be_cancelled;

/* One block a thread, freed with the thread by the key's destructor. */
static __thread struct {
    void *block;
    int n;
} many;
static pthread_key_t many_key;
static pthread_once_t many_once = PTHREAD_ONCE_INIT;

static void release(void *block)
{
    many.block = NULL;
    many.n = 0;
    free(block);
}

static void make_key(void)
{
    many_key = thread_key_new(release);
}

bool complete_many(struct complete *list, int n)
{
    int saved_errno = errno;
    if (n > many.n) {
        size_t room = 1024;
        while (room < (size_t)n)
            room *= 2;
        pthread_once(&many_once, make_key);
        void *block = malloc(room * (sizeof(MPI_Request) + sizeof(MPI_Status)));
        if (block) {
            free(many.block);
            many.block = block;
            many.n = (int)room;
            pthread_setspecific(many_key, block);
        }
    }
    errno = saved_errno;
    list->before = many.block;
    list->statuses = (void *)((MPI_Request *)many.block + many.n);
    return n <= many.n;
}

void complete_expect_cancelled(void)
{
    __atomic_store_n(&complete_may_be_cancelled, true, __ATOMIC_RELAXED);
}

/* Of a request whose call returned this error. In statuses, all but those with MPI_ERR_PENDING are complete. */
static bool is_complete(int class, const MPI_Status *status, MPI_Request after)
{
    if (class == MPI_ERR_IN_STATUS)
        return call_error_class(status->MPI_ERROR) != MPI_ERR_PENDING;
    return class == MPI_SUCCESS || after == mpi_handles.request_null;
}

static uint32_t done_flags(int class, const MPI_Status *status)
{
    return class == MPI_ERR_IN_STATUS && status->MPI_ERROR != MPI_SUCCESS ? WW_F_ERROR : 0;
}

void complete_all(struct ww_call *call, int err, struct complete *list, int n, const MPI_Request *after)
{
    if (!call || !list->before)
        return;
    int class = call_error_class(err);
    for (int i = 0; i < n; i++)
        if (is_complete(class, &list->statuses[i], after[i]))
            complete_request(call, list->before[i], &list->statuses[i], done_flags(class, &list->statuses[i]));
}

void complete_at(struct ww_call *call, struct complete *list, int n, int index, int at)
{
    if (call && list->before && index >= 0 && index < n)
        complete_request(call, list->before[index], &list->statuses[at], 0);
}

void complete_any(struct ww_call *call, int err, struct complete *list, int n, const int *index)
{
    if (call && call_worked(call, err))
        complete_at(call, list, n, *index, 0);
}

void complete_some(struct ww_call *call, int err, struct complete *list, int n, const int *n_done, const int *index)
{
    int class = call_error_class(err);
    if (!call || !list->before || (class != MPI_SUCCESS && class != MPI_ERR_IN_STATUS))
        return;
    for (int i = 0; i < *n_done; i++)
        if (index[i] >= 0 && index[i] < n)
            complete_request(call, list->before[index[i]], &list->statuses[i], done_flags(class, &list->statuses[i]));
}

bool complete_has_any(const struct complete *list, int n)
{
    for (int i = 0; list->before && i < n; i++)
        if (list->before[i] != mpi_handles.request_null)
            return true;
    return false;
}

static void wait_begin(struct ww_call *call)
{
    if (call)
        call->peer = WW_NO_PEER;
}

MPI_ENTRY(Wait, (MPI_Request * request, MPI_Status *status))
{
    MPI_Status own = {0};
    struct ww_call *call = record_enter(WW_ID_Wait, RECORD_HERE);
    MPI_Request before = call && request ? *request : mpi_handles.request_null;
    wait_begin(call);
    status = STATUS_OR_OWN(call, status, own);
    int err = NEXT(Wait)(request, status);
    complete_one(call, err, before, request, status);
    record_leave(call, err);
    return err;
}

MPI_ENTRY(Waitall, (int n, MPI_Request requests[], MPI_Status statuses[]))
{
    struct complete list;
    struct ww_call *call = record_enter(WW_ID_Waitall, RECORD_HERE);
    wait_begin(call);
    complete_begin(&list, call, n, requests, statuses);
    int err = NEXT(Waitall)(n, requests, list.statuses);
    complete_all(call, err, &list, n, requests);
    record_leave(call, err);
    return err;
}

MPI_ENTRY(Waitany, (int n, MPI_Request requests[], int *index, MPI_Status *status))
{
    struct complete list;
    struct ww_call *call = record_enter(WW_ID_Waitany, RECORD_HERE);
    wait_begin(call);
    complete_begin_one_status(&list, call, n, requests, status);
    int err = NEXT(Waitany)(n, requests, index, list.statuses);
    complete_any(call, err, &list, n, index);
    record_leave(call, err);
    return err;
}

MPI_ENTRY(Waitsome, (int n, MPI_Request requests[], int *n_done, int indices[], MPI_Status statuses[]))
{
    struct complete list;
    struct ww_call *call = record_enter(WW_ID_Waitsome, RECORD_HERE);
    wait_begin(call);
    complete_begin(&list, call, n, requests, statuses);
    int err = NEXT(Waitsome)(n, requests, n_done, indices, list.statuses);
    complete_some(call, err, &list, n, n_done, indices);
    record_leave(call, err);
    return err;
}

MPI_ENTRY(Test, (MPI_Request * request, int *flag, MPI_Status *status))
{
    MPI_Status own = {0};
    struct record_poll poll = record_poll_begin(WW_ID_Test, RECORD_HERE);
    MPI_Request before = poll.call && request ? *request : mpi_handles.request_null;
    status = STATUS_OR_OWN(poll.call, status, own);
    int err = NEXT(Test)(request, flag, status);
    if (poll_folded(&poll, err, err || (*flag && before != mpi_handles.request_null)))
        return err;
    struct ww_call *call = record_poll_succeeded(&poll);
    complete_one(call, err, before, request, status);
    record_leave(call, err);
    return err;
}

MPI_ENTRY(Testall, (int n, MPI_Request requests[], int *flag, MPI_Status statuses[]))
{
    struct complete list;
    struct record_poll poll = record_poll_begin(WW_ID_Testall, RECORD_HERE);
    complete_begin(&list, poll.call, n, requests, statuses);
    int err = NEXT(Testall)(n, requests, flag, list.statuses);
    if (poll_folded(&poll, err, err || (*flag && complete_has_any(&list, n))))
        return err;
    struct ww_call *call = record_poll_succeeded(&poll);
    complete_all(call, err, &list, n, requests);
    record_leave(call, err);
    return err;
}

MPI_ENTRY(Testany, (int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status))
{
    struct complete list;
    struct record_poll poll = record_poll_begin(WW_ID_Testany, RECORD_HERE);
    complete_begin_one_status(&list, poll.call, n, requests, status);
    int err = NEXT(Testany)(n, requests, index, flag, list.statuses);
    if (poll_folded(&poll, err, err || (*flag && *index != MPI_UNDEFINED)))
        return err;
    struct ww_call *call = record_poll_succeeded(&poll);
    complete_any(call, err, &list, n, index);
    record_leave(call, err);
    return err;
}

MPI_ENTRY(Testsome, (int n, MPI_Request requests[], int *n_done, int indices[], MPI_Status statuses[]))
{
    struct complete list;
    struct record_poll poll = record_poll_begin(WW_ID_Testsome, RECORD_HERE);
    complete_begin(&list, poll.call, n, requests, statuses);
    int err = NEXT(Testsome)(n, requests, n_done, indices, list.statuses);
    if (poll_folded(&poll, err, err || *n_done > 0))
        return err;
    struct ww_call *call = record_poll_succeeded(&poll);
    complete_some(call, err, &list, n, n_done, indices);
    record_leave(call, err);
    return err;
}

/* Leaves requests as they are: no WW_DONE. */
#define ASK(name, parameters, arguments, is_found)                                                                     \
    MPI_ENTRY(name, parameters)                                                                                        \
    {                                                                                                                  \
        struct record_poll poll = record_poll_begin(WW_ID_##name, RECORD_HERE);                                        \
        int err = NEXT(name) arguments;                                                                                \
        if (poll_folded(&poll, err, err || (is_found)))                                                                \
            return err;                                                                                                \
        record_leave(record_poll_succeeded(&poll), err);                                                               \
        return err;                                                                                                    \
    }

ASK(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status), (request, flag, status), *flag)
ASK(Request_get_status_all, (int n, const MPI_Request requests[], int *flag, MPI_Status statuses[]),
    (n, requests, flag, statuses), *flag)
ASK(Request_get_status_any, (int n, const MPI_Request requests[], int *index, int *flag, MPI_Status *status),
    (n, requests, index, flag, status), *flag)
ASK(Request_get_status_some, (int n, const MPI_Request requests[], int *n_done, int indices[], MPI_Status statuses[]),
    (n, requests, n_done, indices, statuses), *n_done > 0)
ASK(Parrived, (MPI_Request request, int partition, int *flag), (request, partition, flag), *flag)

MPI_ENTRY(Cancel, (MPI_Request * request))
{
    struct ww_call *call = record_enter(WW_ID_Cancel, RECORD_HERE);
    complete_expect_cancelled();
    request_begin(call, request);
    int err = NEXT(Cancel)(request);
    record_leave(call, err);
    return err;
}

MPI_ENTRY(Request_free, (MPI_Request * request))
{
    struct ww_call *call = record_enter(WW_ID_Request_free, RECORD_HERE);
    request_begin(call, request);
    if (request)
        partitioned_freed(*request);
    int err = NEXT(Request_free)(request);
    record_leave(call, err);
    return err;
}

MPI_ENTRY(Start, (MPI_Request * request))
{
    struct ww_call *call = record_enter(WW_ID_Start, RECORD_HERE);
    wait_begin(call);
    int err = NEXT(Start)(request);
    started(call, err, 1, request);
    record_leave(call, err);
    return err;
}

MPI_ENTRY(Startall, (int n, MPI_Request requests[]))
{
    struct ww_call *call = record_enter(WW_ID_Startall, RECORD_HERE);
    wait_begin(call);
    int err = NEXT(Startall)(n, requests);
    started(call, err, n, requests);
    record_leave(call, err);
    return err;
}
