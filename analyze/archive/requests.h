/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which operation does a request handle mean? Handles are reused as soon as a request completes, persistent ones are
 * started many times, and with MPI_THREAD_MULTIPLE a handle may be given out anew before the call that completed it has
 * returned. Calls are fed in order of their return.
 */
#pragma once
#include "wrap/base/containers.h"
#include <stdbool.h>
#include <stdint.h>

enum request_kind {
    REQUEST_NOTHING,
    REQUEST_SEND,
    REQUEST_RECV,
    REQUEST_SENDRECV,
    REQUEST_COLL,
    REQUEST_RMA,
    REQUEST_IO,
    REQUEST_OUTSIDE /* it ends once processes outside of the run have come, and has no records */
};

struct request {
    enum request_kind kind;
    uint16_t call; /* enum ww_call_id that made it */
    uint32_t comm; /* or window, or file */
    int32_t peer, tag;
    uint64_t bytes_out, bytes_in;
    uint64_t id, recv_id; /* unique among those pending; recv_id: of the receive half of a REQUEST_SENDRECV */
    uint64_t start_ns;    /* when the call that started it returned */
    uint32_t begun;       /* as starts_begin has it (starts.h) */
};

struct requests {
    struct map newest;     /* handle -> 1 + index of the newest pending request with this handle */
    struct map persistent; /* handle -> 1 + index of the template */
    VEC(struct request_entry {
        struct request request;
        uint32_t older; /* 1 + index; of a free entry: the next free one */
    })
    entries;
    uint32_t free; /* 1 + index */
    uint64_t n_ids;
    uint64_t from_ns; /* those that started before have ended unseen */
    VEC(uint64_t) free_ids;
    bool keeps_ids; /* ids are not given out again: calls overlap, and readers might meet the second use first */
};

/* An id that no pending request, RMA or I/O operation has; small, for it takes fewer bytes in the archive. */
uint64_t requests_new_id(struct requests *table);
void requests_free_id(struct requests *table, uint64_t id);
void requests_start(struct requests *table, uint64_t handle, const struct request *request);
/* The newest pending request of this handle; NULL = there is none. Borrowed until the next call. */
const struct request *requests_find(const struct requests *table, uint64_t handle);
/* The request that completed in a call entered at enter_ns; false when none of this handle is pending. */
bool requests_finish(struct requests *table, uint64_t handle, uint64_t enter_ns, struct request *request);
/* A persistent request was made: what MPI_Start will start. */
void requests_keep(struct requests *table, uint64_t handle, const struct request *request);
bool requests_kept(const struct requests *table, uint64_t handle, struct request *request);
/* MPI_Request_free of a persistent request that is not pending. */
void requests_forget(struct requests *table, uint64_t handle);
struct request_list {
    VEC(struct request) all;
};
/* Receives, collective operations and REQUEST_OUTSIDE that are still pending, the oldest first. */
void requests_pending(const struct requests *table, struct request_list *list);
void requests_release(struct requests *table);
