/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data that completion calls need: the request handles as they were before the call, statuses where the program wants
 * none but we do, and a WW_DONE for each request that the call completed.
 *
 * A few dozen requests fit on the wrapper's stack; more go to a block of the thread that grows and stays. Handles are
 * copied before every call, failing polls included: which one completes is not known in advance, and MPI looks into
 * every request of the list anyway, at several times the price.
 */
#pragma once
#include "wrap/record/mpi/call.h"
#include "wrap/record/threads.h"
#include <string.h>

enum { COMPLETE_FEW = 32 };

struct complete {
    MPI_Request *before;  /* copy of the handles; NULL = not recorded */
    MPI_Status *statuses; /* to pass to MPI */
    MPI_Request few_requests[COMPLETE_FEW];
};

/* For a thread whose call is recorded. Not on the stack, so that what MPICH leaves as it was (the statuses of sends) at
 * least has a value. */
static inline MPI_Status *complete_own_statuses(void)
{
    _Static_assert(COMPLETE_FEW * sizeof(MPI_Status) <= RECORDER_STATUSES_BYTES, "they have room");
    return (MPI_Status *)(void *)recorder_self->statuses;
}

/* Points before and statuses to room for n; false without memory. */
bool complete_many(struct complete *list, int n);
/* MPI_Cancel was called: from now on statuses are asked about it. */
void complete_expect_cancelled(void);
extern bool complete_may_be_cancelled;

/* Copies the handles; list->statuses becomes the program's statuses or ours. Arguments may be anything a program can
 * pass. */
static inline void complete_begin(struct complete *list, const struct ww_call *call, int n, const MPI_Request *requests,
                                  MPI_Status *statuses)
{
    list->before = NULL;
    list->statuses = statuses;
    if (!call || n <= 0 || !requests)
        return;
    list->before = list->few_requests;
    list->statuses = complete_own_statuses();
    if (n > COMPLETE_FEW && !complete_many(list, n)) {
        list->before = NULL;
        list->statuses = statuses;
        return;
    }
    memcpy(list->before, requests, (size_t)n * sizeof *requests);
    if (statuses != MPI_STATUSES_IGNORE)
        list->statuses = statuses;
}

/* The same for calls with a single status. */
static inline void complete_begin_one_status(struct complete *list, const struct ww_call *call, int n,
                                             const MPI_Request *requests, MPI_Status *status)
{
    complete_begin(list, call, n, requests, status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
    if (!list->before)
        list->statuses = status;
}

static inline void complete_request(struct ww_call *call, MPI_Request before, MPI_Status *status, uint32_t flags)
{
    if (before == mpi_handles.request_null)
        return;
    struct ww_done done = done_of(HANDLE(before), status);
    int cancelled = 0;
    done.flags = flags;
    if (__builtin_expect(complete_may_be_cancelled, 0) && PMPI(Test_cancelled)(status, &cancelled) == MPI_SUCCESS &&
        cancelled)
        done.flags |= WW_F_NULL;
    record_done(call, WW_DONE, done);
}

/* Wait and Test of one request, after the call. A request that failed is completed by it all the same. */
static inline void complete_one(struct ww_call *call, int err, MPI_Request before, const MPI_Request *after,
                                MPI_Status *status)
{
    if (call && (call_worked(call, err) || (after && *after == mpi_handles.request_null)))
        complete_request(call, before, status, err == MPI_SUCCESS ? 0 : WW_F_ERROR);
}

void complete_all(struct ww_call *call, int err, struct complete *list, int n, const MPI_Request *after);
/* The request at `index` is complete, and status number `at` is its. */
void complete_at(struct ww_call *call, struct complete *list, int n, int index, int at);
void complete_any(struct ww_call *call, int err, struct complete *list, int n, const int *index);
void complete_some(struct ww_call *call, int err, struct complete *list, int n, const int *n_done, const int *index);
/* Is there a request that is not null? */
bool complete_has_any(const struct complete *list, int n);

/* A poll that found nothing: folds it away. When this returns false, record_poll_succeeded and record_leave are due. */
static inline bool poll_folded(struct record_poll *poll, int err, bool found)
{
    if (err != MPI_SUCCESS || found)
        return false;
    record_poll_failed(poll);
    return true;
}
