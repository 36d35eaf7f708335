/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run as the analysis sees it, whatever tool recorded it: definitions, and a stream of events in order of (corrected)
 * time. Made from an OTF2 archive by trace_open, or in memory by tests (tests/unit/scene). Only analyze/archive and
 * analyze/trace know OTF2.
 */
#pragma once
#include "wrap/base/containers.h"
#include "wrap/base/err.h"
#include "wrap/format.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TRACE_NONE = UINT32_MAX };

/* Numbers of CPUs, in order. */
struct trace_cpus {
    const uint32_t *at;
    uint32_t n; /* 0 = unknown */
};

/* The process's share of its node: all 0 where the archive does not say (those of other tools, older ones). */
struct trace_process {
    struct trace_cpus cpus; /* that one of its threads may use */
    struct ww_machine machine;
};

/* One stream of events: a thread of a process. Index = event.loc. */
struct trace_location {
    uint32_t rank;   /* process: rank in MPI_COMM_WORLD, 0 .. n_ranks-1 */
    uint32_t thread; /* 0 = the process's main thread */
    const char *host;
    struct trace_cpus cpus;    /* that the thread may use (the last, where it changed) */
    uint64_t sample_period_ns; /* 0 = no samples */
    uint64_t end_ns;           /* last event */
    uint64_t begin_ns;         /* events before that are missing: they were not kept; 0 = none is */
    enum ww_end end_how;       /* WW_END_NONE when unknown (foreign archives: WW_END_FINALIZE) */
    int32_t end_detail;
    uint64_t n_records; /* as the archive's definitions say; 0 = unknown */
    uint64_t n_dropped; /* records that are lost: calls within other ones, and what found no room */
    uint64_t n_nested;  /* of these, the first kind */
};

/* A region that is entered and left: an MPI function, or (foreign archives) a routine or user region. */
struct trace_region {
    const char *name; /* plain: "MPI_Barrier" also where the archive says "MPI_Barrier()" */
    const char *file; /* NULL = unknown */
    uint32_t line_first, line_last;
    bool is_mpi;
    bool is_callback;    /* a function of the program that the MPI library calls */
    bool is_on_buffer;   /* sends from the program's buffer, or takes that back */
    uint32_t call;       /* enum ww_call_id; WW_CALL_NONE when it is not MPI */
    enum ww_class class; /* when is_mpi */
    enum ww_coll coll;
};

struct trace_comm {
    const char *name;
    uint32_t parent;       /* TRACE_NONE */
    uint32_t n, n_remote;  /* n_remote > 0: an intercommunicator; for a process of the second group, that is the local
                              one and the first the remote one */
    const uint32_t *ranks; /* world ranks, local group then remote group; TRACE_NONE = outside */
};

struct trace_module {
    const char *path;
    uint8_t build_id[32];
    uint32_t build_id_bytes;
    bool has_points; /* of counters (trace_point) */
    bool is_script;  /* a source file of code that an interpreter ran: addresses as in archive/join_code.h */
};

/* A file of MPI-IO. */
struct trace_file {
    const char *name; /* as the program gave it */
};

/* A frame of a call stack: an address in a module (ours) or a region (foreign), called from `parent`. */
struct trace_frame {
    uint32_t parent;  /* index of the caller's frame; TRACE_NONE at the outermost */
    uint32_t module;  /* TRACE_NONE: `region` is what is known */
    uint64_t address; /* as in the module's file (link-time address) */
    bool is_return;   /* a return address: the call is the instruction before it */
    bool is_cut;      /* the outermost frame that was recorded, but not the outermost one */
    uint32_t region;
    uint32_t columns; /* of a script, the expression for which C code runs (WW_CODE_EXPRESSION); 0 = not known */
};

/* The code to which an address of a stack belongs: of a return address, in the call before it. */
static inline uint64_t trace_code_address(uint64_t address, bool is_return)
{
    return address - is_return;
}

enum event_kind {
    EV_ENTER,      /* region, frame: where it was called (TRACE_NONE = unknown) */
    EV_LEAVE,      /* region; tag: calls that this one stands for, beside itself (-1: it is part of one) */
    EV_SEND,       /* blocking send posted: peer, comm, tag, bytes */
    EV_RECV,       /* blocking receive done */
    EV_ISEND,      /* + request */
    EV_ISEND_DONE, /* request */
    EV_IRECV,      /* receive posted: request */
    EV_IRECV_DONE, /* peer, comm, tag, bytes, request */
    EV_CANCELLED,  /* request; of a receive that was freed and will be received unseen: peer, comm, tag */
    EV_COLL_BEGIN,
    EV_COLL_END,   /* coll, comm, peer = root or TRACE_NONE, bytes = sent, bytes_in */
    EV_ICOLL,      /* non-blocking collective started: request, coll (WW_COLL_NONE = its call does not tell), comm (not
                      in archives of others) */
    EV_ICOLL_DONE, /* coll (does not tell neighbourhoods apart), comm, peer = root, bytes, request */
    EV_POLLS,      /* inside the MPI region: this call stands for `bytes` failing polls since it was entered; 0: it
                      goes on with the polls before it, after the program has slept */
    EV_PROBED,     /* inside the MPI region: it found a message: peer, comm, tag */
    EV_OUTSIDE,    /* inside the MPI region: it needed processes outside of the run */
    EV_SAMPLE,     /* frame, weight_ns, flags WW_S_ */
    EV_OFF,        /* the thread left the CPU: flags WW_SW_PREEMPTED, WW_SW_STOPPED */
    EV_ON,         /* and came back */
    EV_BINS,       /* exact counts since the last EV_BINS of this location: bins, n_bins */
    EV_CONTROL,    /* recording off (flags 0) or on */
    EV_RMA,        /* RMA operation: peer, comm = window's communicator, window, request, tag = 1 if atomic, bytes */
    EV_RMA_DONE,   /* inside the MPI region: the operation `request` is complete here (not at the target) */
    EV_UNFINISHED, /* region: the call never returned (no EV_LEAVE follows, but EV_END); comm, peer and tag where known
                    */
    EV_PENDING,  /* inside a call that never returned, or after the last poll: a receive (flags 1: comm, peer, tag) or a
                    non-blocking collective  (flags 0: comm) is pending; the oldest first */
    EV_RMA_SYNC, /* fence, PSCW, lock, flush done: peer (TRACE_NONE = all), comm = window's communicator,
                    window, tag = WW_LOCK_ of a lock; for a
                    PSCW epoch one for each process of its group. The region tells which */
    EV_IO,       /* inside an MPI region: it worked on this file: file, bytes = read or written; comm: of a blocking
                    call whose members all take part, else TRACE_NONE */
    EV_END,      /* last event of a location; flags = enum ww_end */
};

/* An instrumentation point of a module that was built with exact counts. */
struct trace_point {
    uint32_t module, number; /* number within the module */
    bool is_bytes;           /* bytes allocated there; otherwise executions */
    bool is_young_time;      /* no point of any module: WW_YOUNG_CPU */
    bool is_young_ready;     /* likewise: WW_YOUNG_READY */
};

/* The neighbours of a process in a communicator with a topology. */
struct trace_neighbors {
    uint32_t comm, rank; /* rank in MPI_COMM_WORLD */
    uint32_t n_in, n_out;
    const uint32_t *peers; /* n_in sources, then n_out destinations, as ranks of comm; TRACE_NONE = none there */
};

/* So many collectives of a process on a communicator are before its first event. */
struct trace_before {
    uint32_t comm, rank, n;
    bool is_non_blocking;
};

struct trace_bin {
    uint32_t point; /* index into points */
    uint64_t value;
};

/* A line of the cache. */
struct event {
    uint64_t time_ns;
    uint32_t loc;
    uint16_t kind, flags;
    uint32_t region; /* ENTER, LEAVE */
    union {
        uint32_t frame;  /* ENTER, SAMPLE: index into frames */
        uint32_t window; /* RMA, RMA_SYNC: one of the trace's windows; TRACE_NONE = unknown */
    };
    uint32_t comm;
    union {
        uint32_t peer; /* rank within comm (of the remote group for an intercommunicator) */
        uint32_t file; /* IO: index into files */
    };
    union {
        int32_t tag;
        uint32_t n_bins; /* BINS */
    };
    uint16_t coll; /* enum ww_coll */
    uint64_t bytes, bytes_in;
    union {
        uint64_t request;
        uint64_t weight_ns;           /* SAMPLE */
        const struct trace_bin *bins; /* BINS: valid until the next event */
    };
};
/* It names nothing. */
static inline struct event event_plain(enum event_kind kind, uint32_t loc, uint64_t time_ns)
{
    return (struct event){.time_ns = time_ns,
                          .kind = (uint16_t)kind,
                          .loc = loc,
                          .region = TRACE_NONE,
                          .frame = TRACE_NONE,
                          .comm = TRACE_NONE,
                          .peer = TRACE_NONE};
}
static inline uint32_t event_n_bins(const struct event *event)
{
    return event->kind == EV_BINS ? event->n_bins : 0;
}

/* Events that follow each other, read at one time: what is done for each of them stays in loops of its own. */
enum { EVENTS_READY = 64 };
struct event_block {
    const struct event *at[EVENTS_READY];
    uint32_t n, next; /* which of them is handed out next */
};

/* Repairs of the clocks before events were handed out. */
struct trace_clocks {
    bool measured;         /* offsets came from the recorder */
    bool aligned;          /* offsets were derived from messages and collectives */
    uint64_t n_violations; /* effects before their cause, as recorded */
    uint64_t largest_violation_ns;
    uint64_t n_repaired;
    /* Two processes' times may be wrong by so much relative to each other: a tick, the error of offsets as measured or
     * left open by what they were derived from, or what is known to be wrong and had to be moved. */
    uint64_t error_ns;
};

struct trace {
    struct arena arena;   /* owns everything below */
    const char *path;     /* anchor file */
    const char *run_dir;  /* NULL for a foreign archive */
    const char *code_dir; /* where builds that ran may be, named by build id; NULL for a foreign archive */
    const char *program;  /* base name */
    const char *title;    /* "app.py (python3.11)"; NULL = the program runs no script */
    const char *command;
    const char *mpi;         /* library and version; NULL = unknown */
    const char *only;        /* patterns of the functions whose counts were recorded; NULL = all */
    const char *recorder;    /* "whywait 0.1.0", "Score-P ..." */
    bool counts_all_threads; /* also of threads that do not call MPI no counts are missing */
    bool is_ours;
    bool is_damaged;      /* a part of the archive could not be read; notes say which */
    bool is_going;        /* what there is of a run that goes on; set by who looks at it meanwhile */
    bool is_last_reading; /* set before trace_rewind: nothing need be kept for another one, which takes longer then */
    bool has_failed;      /* reading had to be given up, after error(): what was handed out is not all */
    bool lacks_records;   /* some were lost, damaged or found no room before there was an archive */
    bool lacks_counts;    /* of a module they cannot be read, which was said */
    uint32_t n_ranks;
    uint64_t start_ns, end_ns;        /* first and last event of the run */
    uint64_t n_records;               /* as its definitions tell; 0 = unknown */
    uint64_t realtime_ns;             /* since 1970 at start_ns, or a little before; 0 = unknown */
    struct trace_process *processes;  /* n_ranks */
    struct trace_location *locations; /* by rank, its first thread first */
    struct trace_region *regions;
    struct trace_comm *comms;
    struct trace_module *modules;
    struct trace_file *files;
    struct trace_frame *frames;
    struct trace_point *points;
    uint32_t first_counter; /* the attribute of points[0] */
    bool is_counted;        /* points of modules are among them */
    struct trace_neighbors *neighbors;
    struct trace_before *before;
    const char **notes; /* what was degraded or lost, in whole sentences */
    uint32_t n_locations, n_regions, n_comms, n_modules, n_files, n_frames, n_points, n_neighbors, n_before, n_notes;
    struct trace_clocks clocks;
    struct meter meter;          /* records read, where a stage has been named */
    struct trace_source *source; /* where events come from */
    struct event_block ready;    /* those that are handed out next */
    struct trace_part *part;     /* NULL = all of them are handed out */
};

/*
 * From a frame out to its callers: `at` is each in turn. No turn for TRACE_NONE. It ends without a count of turns:
 * who makes a trace drops callers that are defined later, and so every circle, and steps/cut_stacks.h makes none.
 */
#define trace_walk(trace, at, frame)                                                                                   \
    for (uint32_t at = (frame); at < (trace)->n_frames; at = (trace)->frames[at].parent)

/* What people call the program. */
static inline const char *trace_title(const struct trace *trace)
{
    return trace->title ? trace->title : trace->program ? trace->program : "unknown program";
}

/* The location of a rank's first thread, or NULL. */
static inline const struct trace_location *trace_main_thread(const struct trace *trace, uint32_t rank)
{
    uint32_t low = 0;
    bisect(low, trace->n_locations, trace->locations[low].rank < rank);
    const struct trace_location *found = low < trace->n_locations ? &trace->locations[low] : NULL;
    return found && found->rank == rank && found->thread == 0 ? found : NULL;
}

/* The process ended otherwise than by MPI_Finalize, within the events that are handed out: it was killed, crashed,
 * aborted or left. */
static inline bool trace_broke_off(const struct trace *trace, const struct trace_location *location)
{
    switch (location->end_how) {
    case WW_END_NONE:
        return trace->is_ours && !trace->is_going && location->end_ns <= trace->end_ns;
    case WW_END_SIGNAL:
    case WW_END_ABORT:
    case WW_END_EXIT:
        return location->end_ns <= trace->end_ns;
    default: /* recording stopped before: how the process ended is not known */
        return false;
    }
}

/* Opens an archive by its anchor (.otf2). Returns NULL after error() has said why. */
struct trace *trace_open(const char *anchor);
/* Whether effects come after their causes takes a reading to find out, where clocks may disagree. This leaves it to the
 * first one, on condition that trace_settle is asked when that is over. */
struct trace *trace_open_unchecked(const char *anchor);
/* After the first reading: 1 = its times hold; 0 = they did not, and have been repaired: what was read is to be thrown
 * away, and read again; -1 after error(). */
int trace_settle(struct trace *trace);
/* That has been asked, or need not be. */
bool trace_is_settled(const struct trace *trace);
/* The same, of a trace that is not settled, where processes have each read a piece of the run: what each has found out,
 * all of it together, and what follows for each. */
struct trace_watched {
    bool holds;
    uint64_t last_ns, n_records, n_regions;
};
struct trace_watched trace_watched(struct trace *trace);
void trace_watched_add(struct trace_watched *all, const struct trace_watched *more);
int trace_settle_by(struct trace *trace, const struct trace_watched *all);
/* A piece does not begin where causes and effects are all before or all behind: nothing can be found out from it. */
void trace_cannot_watch(struct trace *trace);
void trace_close(struct trace *trace);

/* Starts reading events again from the first. Returns 0, or -1 after error(). */
int trace_rewind(struct trace *trace);
/* Makes more events ready; false at the end. */
bool trace_read(struct trace *trace);
/* The next event in time order (ties: by location, then as recorded), or NULL at the end, and where has_failed says so.
 * Valid until the next call. A part that cannot be read ends that location early and adds a note. */
static inline const struct event *trace_next(struct trace *trace)
{
    struct event_block *ready = &trace->ready;
    return ready->next < ready->n || trace_read(trace) ? ready->at[ready->next++] : NULL;
}
/* With many locations each event is another one's, and nothing of that one is in the cache. Of few, some 2 KB each, all
 * are in the second cache as they are, and to fetch them takes longer than it saves. */
enum { FEW_LOCATIONS = 128 };
/* The event that comes so many after the last one, from 1 on, where it is ready by now; else NULL. */
static inline const struct event *trace_ahead(const struct trace *trace, uint32_t n_after)
{
    uint32_t at = trace->ready.next + n_after - 1;
    return at < trace->ready.n ? trace->ready.at[at] : NULL;
}
