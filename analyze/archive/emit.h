/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From spool records to OTF2 event records. One emitter a process, one location a thread. The caller feeds calls in
 * order of time, entries and returns separately, so that requests are matched across threads.
 */
#pragma once
#include "analyze/archive/archive.h"
#include "analyze/archive/prediction.h"
#include "analyze/archive/requests.h"
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
    bool is_followed; /* by records that belong to it: one of these is set, up to new_file */
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
    bool has_begun;      /* as a thread that was made */
    bool failed;         /* OTF2 could not write */
    bool has_lost_calls; /* from here on: none of its thread was written any more, for want of room */
};

struct emitter {
    struct requests requests;
    struct map win_comm;                     /* window -> communicator id */
    struct map has_outsiders;                /* communicators with processes of which nothing is recorded */
    struct map peers_from;                   /* intercommunicator -> place of rank 0 of the remote group in both */
    struct intern groups;                    /* of PSCW: u32 window, then i32 ranks */
    struct map access_group, exposure_group; /* window -> 1 + group */
    struct map rma_target_of;                /* window and rank -> 1 + index */
    VEC(struct rma_target {
        uint32_t win;
        int32_t rank;
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

/* Of a communicator, before the first event that names it. */
void emit_define_comm(struct emitter *emitter, const struct ww_comm *comm);
/* False: it takes a handle that is defined already. */
bool emit_define_file(struct emitter *emitter, const struct ww_file *file);
/* A call on a communicator with processes that are not in the archive: only its region can be. */
bool emit_is_outside(const struct emitter *emitter, const struct ww_call *call);
void emitter_release(struct emitter *emitter);
int emit_location_begin(struct emit_location *location, OTF2_Archive *archive, uint64_t id);
void emit_location_end(struct emit_location *location);

/* A worker thread, which the recorder saw first at time_ns; `main` is the location of the process's first thread. */
void emit_thread_begin(struct emit_location *main, struct emit_location *worker, uint64_t time_ns);
/* `context`: 0 = not known, else 1 + local calling context. */
void emit_enter(struct emitter *emitter, struct emit_location *location, struct emit_call *call, uint32_t context);
/* In a call: the MPI library calls a function of the program, which returns. */
void emit_callback(struct emitter *emitter, struct emit_location *location, uint32_t context, uint64_t time_ns);
void emit_return(struct emit_location *location, uint64_t time_ns);
void emit_leave(struct emitter *emitter, struct emit_location *location, struct emit_call *call);
/* After the leave of failing polls that are the last that a process did before it was ended: what is pending. */
void emit_polls_to_the_end(struct emitter *emitter, struct emit_location *location, const struct emit_call *emit);
void emit_sample(struct emit_location *location, const struct ww_sample *sample, uint32_t context,
                 uint32_t unwind_distance);
void emit_switch(struct emit_location *location, const struct ww_switch *record);
void emit_control(struct emitter *emitter, struct emit_location *location, const struct ww_control *record);
void emit_bins(struct emitter *emitter, struct emit_location *location, const struct ww_bins *bins, uint64_t time_ns);
