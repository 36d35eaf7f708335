/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a process's emitter and of its locations, and OTF2's ids of what the spool names. emit.h has what is
 * done with it.
 */
#pragma once
#include "analyze/archive/archive.h"
#include "analyze/archive/prediction.h"
#include "analyze/archive/requests.h"
#include "analyze/archive/starts.h"
#include "wrap/format.h"

/* Records that the recorder appended after a call and that belong to it. */
struct emit_attached {
    uint16_t type; /* WW_DONE or WW_STARTED */
    struct ww_done done;
};
struct emit_call {
    struct ww_call call; /* leave_ns set, also for a call that never returned */
    unsigned does;       /* enum emit_does; known from its entry on */
    bool is_unfinished;
    bool awaits_outsiders; /* a request that it completes, or waits for to the end, is a REQUEST_OUTSIDE */
    bool is_followed;      /* by records that belong to it: one of these is set, up to new_file */
    VEC(struct emit_attached) attached;
    VEC(struct ww_call) pending; /* WW_PENDING */
    VEC(int32_t) ranks;          /* WW_RANKS */
    VEC(uint32_t) new_comms;
    uint32_t old_comm; /* that it works on, also where only the region is written */
    uint32_t new_win;  /* WW_WIN; 0 = none */
    uint32_t new_file; /* WW_FILE; 0 = none */
    uint64_t io_id;    /* of the I/O operation that it began; OTF2_UNDEFINED_UINT64 = none */
};

struct emit_location {
    OTF2_EvtWriter *writer;
    OTF2_AttributeList *attributes;
    uint64_t first_ns, last_ns; /* of what was written; times never run backwards */
    uint64_t first_call_ns;     /* 0 = none yet */
    uint64_t n_events, n_calls;
    uint64_t sample_period_ns;
    uint64_t ids; /* next request id */
    struct prediction contexts;
    uint32_t thread;
    bool begins_anew; /* its next call, after a start (starts.h) */
    bool is_in_call, is_paused;
    bool is_off; /* the CPU, since a record of that number, when so many calls had been made */
    uint64_t off_at, off_calls;
    bool has_begun;      /* as a thread that was made */
    bool failed;         /* OTF2 could not write */
    bool has_lost_calls; /* from here on: none of its thread was written any more, for want of room */
};

struct emitter {
    struct requests requests;
    struct starts starts;
    struct map win_comm;                     /* window -> communicator id */
    struct map has_outsiders;                /* communicators with processes of which nothing is recorded */
    struct map peers_from;                   /* intercommunicator -> place of rank 0 of the remote group in both */
    struct intern groups;                    /* of PSCW: u32 window, then i32 ranks */
    struct map access_group, exposure_group; /* window -> 1 + group */
    struct map rma_target_of;                /* window and rank -> 1 + index */
    VEC(struct rma_target {
        uint32_t win;
        VEC(uint64_t) ids; /* of operations that nothing has completed yet */
    })
    rma_targets;
    struct map file_of; /* id of an open file -> 1 + index */
    VEC(struct emit_file {
        uint32_t comm;
        uint32_t flags;  /* WW_FILE_ */
        uint32_t handle; /* the WW_FILE id that defines it: that of an earlier opening, once that is closed */
        uint64_t key;    /* communicator, name */
        bool has_name;
        uint64_t split; /* 1 + id of the split collective that has begun on it */
    })
    files;
    uint32_t free_file; /* 1 + index; an unused entry links by its handle */
    struct intern io_names;
    struct map free_handles; /* key -> handle that was closed last; 0 = in use again */
    struct intern counters;  /* of exact counts: struct emit_counter */
    uint32_t region_used[ARCHIVE_N_REGIONS];
    struct emit_windows {
        uint32_t n, n_ended; /* begun, ended */
        uint64_t since_ns;   /* when the last one began */
        uint64_t took_ns;    /* those that have ended, together */
    } windows;
    struct emit_ids {
        struct map seen;
        VEC(uint32_t) list;
        uint32_t last; /* the one marked last */
    } comms_used, wins_used, files_used;
};

struct emit_counter {
    uint32_t counters, point; /* WW_COUNTERS id */
    uint16_t what;            /* enum ww_bin_kind */
    uint16_t zero;
};

/* Facts about a file; NULL when its WW_FILE is lost. */
static inline struct emit_file *emit_file(const struct emitter *emitter, uint32_t id)
{
    const uint64_t *index = map_get(&emitter->file_of, id);
    return index ? &emitter->files.at[*index - 1] : NULL;
}

#define WRITE(location, record, ...)                                                                                   \
    ((location)->failed |= OTF2_EvtWriter_##record((location)->writer, __VA_ARGS__) != OTF2_SUCCESS)

/* The time of the next record: not before that of the last. */
uint64_t emit_time(struct emit_location *location, uint64_t time_ns);
/* OTF2's ids of what the spool names. They are noted as used, in case that their definitions are lost. */
uint32_t emit_comm_ref(struct emitter *emitter, uint32_t id);
uint32_t emit_win_ref(struct emitter *emitter, uint32_t id);
uint32_t emit_file_ref(struct emitter *emitter, uint32_t id);
uint32_t emit_rank_ref(int32_t peer);
/* Ranks of an intercommunicator are those of the remote group. */
uint32_t emit_peer_ref(const struct emitter *emitter, uint32_t comm, int32_t peer);
uint32_t emit_root_ref(const struct emitter *emitter, uint32_t comm, int32_t peer, uint16_t flags);
